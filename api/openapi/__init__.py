"""The OpenAPI document: what routes say of themselves, and what cannot be read off the code."""
