"""Pages for those who run the service; `api.dashboard.door` shows them to nobody else."""
