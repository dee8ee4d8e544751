"""An object store without a server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from runtime.object_store import PAGE, ObjectMissingError, StoredKey


class MemoryObjectStore:
    """`runtime.object_store.ObjectStore` in a dictionary."""

    def __init__(self, bucket: str = "tryon") -> None:
        self.bucket = bucket
        self.objects: dict[str, tuple[bytes, str]] = {}
        self.written_at: dict[str, datetime] = {}

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        self.objects[key] = (data, content_type)
        self.written_at[key] = datetime.now(UTC)

    async def get(self, key: str) -> bytes:
        if key not in self.objects:
            raise ObjectMissingError(key)
        return self.objects[key][0]

    async def delete(self, key: str) -> None:
        self.objects.pop(key, None)

    async def delete_prefix(self, prefix: str) -> int:
        keys = await self.list_keys(prefix)
        for start in range(0, len(keys), PAGE):
            await self.delete_keys(keys[start : start + PAGE])
        return len(keys)

    async def list_keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.objects if key.startswith(prefix))

    async def list_page(self, prefix: str, *, after: str = "", limit: int = PAGE) -> list[StoredKey]:
        keys = [key for key in await self.list_keys(prefix) if key > after][:limit]
        return [StoredKey(key, self.written_at[key]) for key in keys]

    async def list_folders(self, prefix: str) -> list[str]:
        rests = (key.removeprefix(prefix) for key in self.objects if key.startswith(prefix))
        return sorted({rest.partition("/")[0] for rest in rests if "/" in rest})

    async def delete_keys(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.objects.pop(key, None)

    async def ensure_bucket(self) -> None:
        pass

    async def ping(self) -> None:
        pass
