"""The one way to Temporal for everything but workers: runs, task queues, schedules."""
