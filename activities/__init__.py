"""One step of a job each: what the CPU worker does for a workflow. Parts are handed in, never looked up."""
