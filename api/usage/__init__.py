"""How much of its volume an account has used."""
