"""Try a garment on: ``python try_on.py PERSON GARMENT CATEGORY RESULT``.

Such as ``me.jpg shirt.jpg upper_body out.jpg``. ``VTO_BASE_URL`` and ``VTO_API_KEY`` say where the service is and who
is calling.
"""

from __future__ import annotations

import sys
from typing import cast

from tryon_client import Category, Garment, JobFailed, TryOnClient, TryOnError


def main(person: str, garment: str, category: str, result: str) -> int:
    """Make the picture and write it; returns the process's exit code."""
    with TryOnClient() as client:
        try:
            picture = client.run_and_wait(person, Garment(garment, cast("Category", category)))
        except JobFailed as failed:
            print(f"No picture: {failed}", file=sys.stderr)
            return 1
        except (TryOnError, ValueError, OSError) as error:
            print(error, file=sys.stderr)
            if isinstance(error, TryOnError) and error.job_id:
                print(f"Job: {error.job_id}", file=sys.stderr)
            return 1
    print(f"{picture.save(result)} after {picture.generation_ms} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
