"""The process that polls the CPU queue: workflows, downloads, encoding, bookkeeping, and the relay beside them."""
