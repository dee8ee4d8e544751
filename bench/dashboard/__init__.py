"""How quickly the dashboard's pages are made for an account that has been busy for months."""
