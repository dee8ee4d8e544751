"""Writes ``.env`` from ``.env.example`` in the working folder, with a secret for each one that is missing."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

TARGET, EXAMPLE = Path(".env"), Path(".env.example")
BYTES = 32
"""As hexadecimal digits, which need no quoting in an address."""

STAYS_EMPTY = (
    *("KEY_PEPPER_PREVIOUS=", "BUILD_ID=", "PUBLIC_URL=", "SIGNING_CERTIFICATES=", "SIGNING_KEY=", "SIGNING_EARLIER="),
    *("MAIL_HOST=", "MAIL_USER=", "MAIL_PASSWORD=", "STRIPE_SECRET_KEY=", "STRIPE_WEBHOOK_SECRET="),
)
"""What is no secret, is none before the first one, or is given by somebody else."""


def main() -> None:
    """Write the file, readable by its owner alone; a file that is there is left alone."""
    lines = [
        f"{line}{secrets.token_hex(BYTES)}" if line.endswith("=") and not line.startswith(("#", *STAYS_EMPTY)) else line
        for line in EXAMPLE.read_text().splitlines()
    ]
    try:
        handle = os.open(TARGET, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        sys.exit(f"{TARGET} is there already. Its secrets belong to the data in the volumes, so it is not replaced.")
    with os.fdopen(handle, "w") as file:
        file.write("\n".join(lines) + "\n")
    sys.stdout.write(f"{TARGET} has its secrets. Keep a copy in a safe place: backups are worth nothing without it.\n")


if __name__ == "__main__":
    main()
