"""The steps after every engine: its drawing is put back into the photo and judged."""
