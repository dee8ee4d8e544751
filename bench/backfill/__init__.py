"""A long backfill through the whole service, while its parts are killed."""
