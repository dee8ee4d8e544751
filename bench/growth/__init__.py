"""What things cost as work grows: rows of jobs, rows of a backfill, workers that draw."""
