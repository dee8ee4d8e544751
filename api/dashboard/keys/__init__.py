"""API keys of an account: made and shown once, listed, replaced, revoked."""
