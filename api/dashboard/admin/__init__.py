"""Pages for those who run the service; `api.dashboard.admission` shows them to nobody else."""
