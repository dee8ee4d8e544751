"""The first page: how the account stands, and how its jobs went lately."""
