"""The embedded stack: real servers and our own processes on one machine, started, watched and stopped together."""
