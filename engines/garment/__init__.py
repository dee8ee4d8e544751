"""What a product photo shows: the garment cut from its ground, and where its neck, sleeves and hems are."""
