"""The embedded engine: a garment photo bent onto the body on a CPU, without a generative model."""
