"""Products registered one by one, or by the thousand from a file."""
