"""What operators do, and the trace that it leaves."""
