"""Jobs from acceptance to their end, and what can be told of them afterwards."""
