"""How the account stands, on one page."""
