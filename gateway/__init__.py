"""The one way to Temporal for whoever is no worker: runs, task queues, schedules."""
