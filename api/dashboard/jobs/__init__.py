"""The account's jobs: pages of them, and one with everything that is known about it."""
