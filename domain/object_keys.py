"""Where pictures lie in the object store.

Keys follow from the job, the account or the registration alone, so that a step that runs twice writes the same object
twice, and never over what another has written.
"""

from __future__ import annotations

import uuid

JOBS, RESULTS = "jobs/", "results/"
ACCOUNTS, PRODUCTS, BACKFILLS, IMPORTS, CHECKS = "accounts/", "products/", "backfills/", "imports/", "checks/"
WORKERS = "workers/"  # what GPU workers tell of themselves
PICTURES = "pictures/"  # below a backfill's prefix: what was uploaded for it, named by its content

PROGRESS, OUTCOMES, FAILURES, USES = "progress.json", "outcomes.jsonl", "failed.jsonl", "uses.json"
"""Of a backfill, see `backfill_key`: how far it is, written as it goes; at its end, how every item ended and a manifest
of those that failed; and the names of other folders that hold pictures of its items."""


def folder_of(key: str, depth: int) -> str:
    """The name of a folder that an object lies in; 1 is the one below ``jobs/``, ``products/`` and their like."""
    return (key.split("/") + [""] * depth)[depth]


def job_of_key(key: str) -> uuid.UUID | None:
    """Whose object this is, for keys that `job_prefix` begins and those that `result_key` makes."""
    try:
        return uuid.UUID(folder_of(key, 1).removesuffix(".jpg"))
    except ValueError:
        return None


def job_prefix(job_id: str) -> str:
    """Everything that goes when the job ends."""
    return f"{JOBS}{job_id}/"


def input_key(job_id: str, name: str) -> str:
    """A picture that came with the request, as it came."""
    return f"{job_prefix(job_id)}input/{name}"


def work_key(job_id: str, name: str) -> str:
    """What one step leaves for the next."""
    return f"{job_prefix(job_id)}work/{name}"


def result_key(job_id: str) -> str:
    """The picture that the client fetches."""
    return f"{RESULTS}{job_id}.jpg"


def checks_prefix(account_id: str) -> str:
    """Pictures of all the account's checks that are under way."""
    return f"{CHECKS}{account_id}/"


def check_prefix(account_id: str, check_id: str) -> str:
    """Everything that goes when a check is over: what was sent, and what one step leaves for the next."""
    return f"{checks_prefix(account_id)}{check_id}/"


def pace_key(host: str) -> str:
    """How long drawing takes on the machine of a GPU worker."""
    return f"{WORKERS}{host}.json"


def account_prefix(account_id: str) -> str:
    """Everything that is kept for the account itself."""
    return f"{ACCOUNTS}{account_id}/"


def logo_prefix(account_id: str) -> str:
    """Everything that is kept for the account's watermark."""
    return f"{account_prefix(account_id)}logo/"


def logo_key(account_id: str, sha256: str) -> str:
    """A logo, named by its content: another logo never takes the place of one that a job is just reading."""
    return f"{logo_prefix(account_id)}{sha256}.png"


def catalogue_prefix(account_id: str) -> str:
    """Pictures of all the account's products."""
    return f"{PRODUCTS}{account_id}/"


def registration_prefix(account_id: str, registration_id: str) -> str:
    """Everything that one registration of a product has written."""
    return f"{catalogue_prefix(account_id)}{registration_id}/"


def product_upload_key(account_id: str, registration_id: str, side: str) -> str:
    """A product's picture as it came; goes when the registration is over."""
    return f"{registration_prefix(account_id, registration_id)}upload-{side}"


def product_picture_key(account_id: str, registration_id: str, side: str) -> str:
    """A product's picture as engines use it."""
    return f"{registration_prefix(account_id, registration_id)}{side}.png"


def is_product_picture(key: str) -> bool:
    """Whether the object is a product's picture, which engines can use as it lies there."""
    return key.startswith(PRODUCTS) and key.endswith(".png")


def own_backfills_prefix(account_id: str) -> str:
    """Below it, an empty object for each backfill that is the account's: folders of backfills do not tell whose."""
    return f"{account_prefix(account_id)}backfills/"


def backfill_prefix(backfill_id: str) -> str:
    """Everything that a backfill keeps."""
    return f"{BACKFILLS}{backfill_id}/"


def backfill_key(backfill_id: str, name: str) -> str:
    """One of the objects that a backfill has once."""
    return f"{backfill_prefix(backfill_id)}{name}"


def backfill_picture_key(backfill_id: str, sha256: str) -> str:
    """A picture that was uploaded for a backfill."""
    return f"{backfill_prefix(backfill_id)}{PICTURES}{sha256[:32]}"


def backfill_page_key(backfill_id: str, kind: str, page: int) -> str:
    """One page of a backfill's ``items`` or ``outcomes``."""
    return f"{backfill_prefix(backfill_id)}{kind}/{page:06}.jsonl"


def backfill_result_key(backfill_id: str, item_key: str) -> str:
    """An item's picture."""
    return f"{backfill_prefix(backfill_id)}results/{item_key}.jpg"


def imports_prefix(account_id: str) -> str:
    """Every file of products that an account has uploaded of late."""
    return f"{IMPORTS}{account_id}/"


def import_prefix(account_id: str, import_id: str) -> str:
    """Everything that one such file's import keeps."""
    return f"{imports_prefix(account_id)}{import_id}/"


def import_plan_key(account_id: str, import_id: str) -> str:
    """What the file holds, and which of its rows are not registered."""
    return f"{import_prefix(account_id, import_id)}plan.json"


def import_page_key(account_id: str, import_id: str, kind: str, page: int) -> str:
    """One page of an import's ``rows`` or ``outcomes``."""
    return f"{import_prefix(account_id, import_id)}{kind}/{page:06}.jsonl"
