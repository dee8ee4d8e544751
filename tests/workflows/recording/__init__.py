"""Saved histories, and what tells that they are out of date; docs/versions.md says when to use it."""
