"""Usage and billing: how an account stands, what it may buy, what it ordered, and every movement of generations."""
