"""Person and garments in, picture out. Knows nothing of databases, object stores, HTTP or Temporal."""
