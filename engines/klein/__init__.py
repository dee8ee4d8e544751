"""FLUX.2 [klein] 4B: a general picture editor that is shown person and garments and told in words what to draw."""
