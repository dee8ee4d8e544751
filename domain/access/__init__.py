"""Who may call the API: keys, how often, and the same call twice."""
