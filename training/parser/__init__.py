"""The person's parser."""
