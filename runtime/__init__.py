"""How a process gets its settings, database, object store, Temporal client and logs. Knows no rules of the business."""
