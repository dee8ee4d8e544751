"""Accounts, keys, jobs and the ledger: rules and tables. Knows no HTTP, no pixels and no Temporal."""
