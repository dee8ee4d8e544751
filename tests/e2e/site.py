"""The service as an end-to-end test needs it: pages from a real stack, and its command line."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.stack.stack import Stack


@dataclass(frozen=True)
class Site:
    """A running stack."""

    stack: Stack

    @property
    def address(self) -> str:
        """Without a slash at the end."""
        return self.stack.record.addresses["API"]

    def tryon(self, *arguments: str) -> str:
        """What a command prints; it has to succeed."""
        done = self.stack.tryon(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def account_id(self, email: str) -> str:
        """The id of the account that signed up with an address."""
        usage = self.stack.tryon("account", "usage", "--account", email, "--json")
        assert usage.returncode == 0, usage.stderr
        return str(json.loads(usage.stdout).get("accountId", email))
