"""How often a key may call: which policy a call falls under, where calls are counted, what the answer says of it."""
