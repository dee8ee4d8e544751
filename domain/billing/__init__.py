"""What is bought: orders, what becomes of them, statements."""
