"""The account's catalogue in the browser: a grid with pictures, one product, adding and changing, and files of many."""
