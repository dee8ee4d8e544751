"""What a generation costs whom: plans, allowances, the ledger and its check."""
