"""Trying the service by hand: the same call that a program makes, from a form."""
