"""The service as an end-to-end test needs it: pages from a real stack, its command line, and its tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from domain import accounts, watermarks
from domain.object_keys import logo_key
from runtime.database import Database
from runtime.object_store import S3ObjectStore
from runtime.settings import Settings
from tests.logos import logo_file
from tests.stack.stack import Stack
from workflows.contracts import ObjectRef


@dataclass(frozen=True)
class Site:
    """A running stack."""

    stack: Stack

    @property
    def address(self) -> str:
        """Without a slash at the end."""
        return self.stack.record.addresses["API"]

    @property
    def settings(self) -> Settings:
        """Those of the stack's processes."""
        return self.stack.settings

    def tryon(self, *arguments: str) -> str:
        """What a command prints; it has to succeed."""
        done = self.stack.tryon(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def keep_logo(self, email: str) -> None:
        """What fetching a logo leaves behind; there is no public address that a test could have it fetched from."""
        database, store = Database(self.settings.database), S3ObjectStore(self.settings.object_store)
        data = logo_file()
        unnamed = ObjectRef.of(store.bucket, "", data, "image/png")
        with database.transaction() as session:
            account = accounts.find_account_by_email(session, email=email)
            assert account is not None
            logo = unnamed.model_copy(update={"key": logo_key(str(account.id), unnamed.sha256)})
            await store.put(logo.key, data, "image/png")
            watermarks.save_watermark(
                session,
                account_id=account.id,
                logo_url="https://shop.example/logo.png",
                logo=logo.model_dump(mode="json"),
                enabled=False,
                now=datetime.now(UTC),
            )
        database.close()
