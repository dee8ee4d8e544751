"""Letters to owners, and the rows that hold them until they are sent."""
