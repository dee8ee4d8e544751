"""The products of an account, and how they come to be registered."""
