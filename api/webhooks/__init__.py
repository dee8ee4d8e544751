"""Where an account is told of events, and what became of it."""
