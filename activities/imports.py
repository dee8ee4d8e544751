"""The steps of importing a file of products: ``take_up_rows`` and ``record_rows``. Each may run any number of times."""

from __future__ import annotations

import uuid

from temporalio import activity

from domain import accounts
from domain.object_keys import import_page_key
from domain.products import new_registration_id
from intake.backfill_items import lines_of
from intake.import_pages import CONTENT_TYPE, PAGE_ROWS, read_row_outcomes, read_rows_of
from runtime.database import Database
from runtime.object_store import ObjectMissingError, ObjectStore
from workflows import steps
from workflows.products.contracts import RecordedRows, RecordRowsInput, StartedRow, TakenUpRows, TakeUpRowsInput


class ImportActivities:
    """Steps that read and write pages below the import's prefix."""

    def __init__(self, database: Database, store: ObjectStore) -> None:
        self._database = database
        self._store = store

    @activity.defn(name=steps.TAKE_UP_ROWS.name)
    async def take_up_rows(self, request: TakeUpRowsInput) -> TakenUpRows:
        """Read the next rows; none of an account that is blocked or erased, or whose file is gone."""
        account = await self._database.read(accounts.find_account, account_id=uuid.UUID(request.account_id))
        if account is None or account.blocked_at is not None or account.erased_at is not None:
            return TakenUpRows(stopped=True)
        key = import_page_key(request.account_id, request.import_id, "rows", request.first // PAGE_ROWS)
        try:
            page = await self._store.get(key)
        except ObjectMissingError:
            return TakenUpRows(stopped=True)
        rows = read_rows_of(page, request.first)
        return TakenUpRows(rows=[StartedRow(registration_id=new_registration_id(), row=row) for row in rows])

    @activity.defn(name=steps.RECORD_ROWS.name)
    async def record_rows(self, request: RecordRowsInput) -> RecordedRows:
        """Add outcomes to their page, unless the account is being erased: nothing may be written behind that."""
        account = await self._database.read(accounts.find_account, account_id=uuid.UUID(request.account_id))
        if account is None or account.erased_at is not None:
            return RecordedRows()
        key = import_page_key(request.account_id, request.import_id, "outcomes", request.first // PAGE_ROWS)
        try:
            known = read_row_outcomes(await self._store.get(key))
        except ObjectMissingError:
            known = {}
        known |= {outcome.number: outcome for outcome in request.outcomes}
        await self._store.put(key, lines_of(known[number] for number in sorted(known)), CONTENT_TYPE)
        return RecordedRows(written=len(request.outcomes))
