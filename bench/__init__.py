"""Measurements of the service and of the embedded engine: tables, and JSON beside them. Nothing asserts anything."""
