"""What is bought: orders, and what becomes of them."""
