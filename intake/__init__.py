"""From pictures and fields that are known to be right to an accepted job: for requests and for backfills alike."""
