"""Where pictures lie in the object store.

Keys follow from the job, the account or the registration alone, so that a step that runs twice writes the same object
twice, and never over what another has written.
"""

from __future__ import annotations

import uuid

JOBS, RESULTS = "jobs/", "results/"
ACCOUNTS, PRODUCTS, BACKFILLS, IMPORTS = "accounts/", "products/", "backfills/", "imports/"
PICTURES = "pictures/"
"""Below a backfill's prefix: what was uploaded for it, named by its content."""


def job_prefix(job_id: str) -> str:
    """Everything that goes when the job ends."""
    return f"{JOBS}{job_id}/"


def job_of_key(key: str) -> uuid.UUID | None:
    """Whose object this is, for keys that `job_prefix` begins."""
    try:
        return uuid.UUID(key.removeprefix(JOBS).partition("/")[0])
    except ValueError:
        return None


def input_key(job_id: str, name: str) -> str:
    """A picture that came with the request, as it came."""
    return f"{job_prefix(job_id)}input/{name}"


def work_key(job_id: str, name: str) -> str:
    """What one step leaves for the next."""
    return f"{job_prefix(job_id)}work/{name}"


def result_key(job_id: str) -> str:
    """The picture that the client fetches."""
    return f"{RESULTS}{job_id}.jpg"


def job_of_result(key: str) -> uuid.UUID | None:
    """Whose result this is, for keys that `result_key` makes."""
    try:
        return uuid.UUID(key.removeprefix(RESULTS).removesuffix(".jpg"))
    except ValueError:
        return None


def account_prefix(account_id: str) -> str:
    """Everything that is kept for the account itself."""
    return f"{ACCOUNTS}{account_id}/"


def catalogue_prefix(account_id: str) -> str:
    """Pictures of all the account's products."""
    return f"{PRODUCTS}{account_id}/"


def logo_prefix(account_id: str) -> str:
    """Everything that is kept for the account's watermark."""
    return f"{account_prefix(account_id)}logo/"


def logo_key(account_id: str, sha256: str) -> str:
    """A logo, named by its content: another logo never takes the place of one that a job is just reading."""
    return f"{logo_prefix(account_id)}{sha256}.png"


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


def account_of_product_key(key: str) -> str:
    """Whose picture this is, for keys that `catalogue_prefix` begins."""
    return key.removeprefix(PRODUCTS).partition("/")[0]


def registration_of_key(key: str) -> str:
    """Which registration wrote this object, for keys that `registration_prefix` begins."""
    return key.removeprefix(PRODUCTS).partition("/")[2].partition("/")[0]


def own_backfills_prefix(account_id: str) -> str:
    """Below it, an empty object for each backfill that is the account's: folders of backfills do not tell whose."""
    return f"{account_prefix(account_id)}backfills/"


def own_backfill_key(account_id: str, backfill_id: str) -> str:
    """Says that a backfill is the account's."""
    return f"{own_backfills_prefix(account_id)}{backfill_id}"


def backfill_picture_key(backfill_id: str, sha256: str) -> str:
    """A picture that was uploaded for a backfill."""
    return f"{backfill_prefix(backfill_id)}{PICTURES}{sha256[:32]}"


def backfill_uses_key(backfill_id: str) -> str:
    """Names of other folders that hold pictures of its items."""
    return f"{backfill_prefix(backfill_id)}uses.json"


def backfill_prefix(backfill_id: str) -> str:
    """Everything that a backfill keeps."""
    return f"{BACKFILLS}{backfill_id}/"


def backfill_of_key(key: str) -> str:
    """Whose object this is, for keys that `backfill_prefix` begins."""
    return key.removeprefix(BACKFILLS).partition("/")[0]


def backfill_page_key(backfill_id: str, kind: str, page: int) -> str:
    """One page of a backfill's ``items`` or ``outcomes``."""
    return f"{backfill_prefix(backfill_id)}{kind}/{page:06}.jsonl"


def backfill_result_key(backfill_id: str, item_key: str) -> str:
    """An item's picture."""
    return f"{backfill_prefix(backfill_id)}results/{item_key}.jpg"


def backfill_progress_key(backfill_id: str) -> str:
    """How far the backfill is, written as it goes."""
    return f"{backfill_prefix(backfill_id)}progress.json"


def backfill_outcomes_key(backfill_id: str) -> str:
    """How every item ended, written at the end."""
    return f"{backfill_prefix(backfill_id)}outcomes.jsonl"


def backfill_failures_key(backfill_id: str) -> str:
    """A manifest of the items that failed, written at the end."""
    return f"{backfill_prefix(backfill_id)}failed.jsonl"


def imports_prefix(account_id: str) -> str:
    """Every file of products that an account has uploaded of late."""
    return f"{IMPORTS}{account_id}/"


def import_prefix(account_id: str, import_id: str) -> str:
    """Everything that one such file's import keeps."""
    return f"{imports_prefix(account_id)}{import_id}/"


def import_of_key(key: str) -> tuple[str, str]:
    """The account and the import whose object this is, for keys that `import_prefix` begins."""
    account_id, _, rest = key.removeprefix(IMPORTS).partition("/")
    return account_id, rest.partition("/")[0]


def import_plan_key(account_id: str, import_id: str) -> str:
    """What the file holds, and which of its rows are not registered."""
    return f"{import_prefix(account_id, import_id)}plan.json"


def import_page_key(account_id: str, import_id: str, kind: str, page: int) -> str:
    """One page of an import's ``rows`` or ``outcomes``."""
    return f"{import_prefix(account_id, import_id)}{kind}/{page:06}.jsonl"
