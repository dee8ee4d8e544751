"""The service broken on purpose, as real processes with jobs in flight: ``make faults``."""
