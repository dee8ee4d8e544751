"""How true and how fast the embedded engine's pictures are, as figures and as a gallery to look at."""
