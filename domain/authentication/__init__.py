"""How an owner gets into the dashboard: addresses, passwords, sessions, mailed links, and what stops guessing."""
