"""A backfill's file made ready for the object store: pictures that lie beside it are uploaded, its rows rewritten."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import TypeVar

from domain.object_keys import BACKFILLS, backfill_picture_key, backfill_prefix
from imaging.errors import ImageError
from imaging.limits import ImageLimits
from imaging.opening import inspect_image
from intake.backfill_items import CONTENT_TYPE, WholeItems, lines_of, whole_items
from intake.backfill_rows import Problem, read_rows
from intake.pictures import naming
from runtime.object_store import ObjectStore
from workflows.backfills.contracts import BackfillItem, ItemDefaults, ItemGarment

Fields = TypeVar("Fields", bound=ItemGarment)


class PictureFolder:
    """Pictures on this machine that rows refer to by paths, relative to the file or absolute.

    Attributes:
        found: What has to be uploaded: its file and its type, by key.
    """

    def __init__(self, folder: Path, backfill_id: str, limits: ImageLimits) -> None:
        self.found: dict[str, tuple[Path, str]] = {}
        self._folder = folder
        self._backfill_id = backfill_id
        self._limits = limits
        self._keys: dict[str, str] = {}

    def key_of(self, field: str, value: str | None) -> str | None:
        """What the service finds the picture by; keys and addresses stay what they are.

        Raises:
            ValueError: There is no such file, or it is no picture that can be used.
        """
        if value is None or value.startswith((BACKFILLS, "https:", "http:")):
            return value
        if value not in self._keys:
            self._keys[value] = self._add(field, self._folder / value)
        return self._keys[value]

    def _add(self, field: str, path: Path) -> str:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ValueError(f"{field}: {path} cannot be read ({error.strerror}).") from None
        try:
            facts = inspect_image(data, self._limits)
        except ImageError as error:
            raise ValueError(f"{naming(field, error).sentence} ({path})") from None
        key = backfill_picture_key(self._backfill_id, hashlib.sha256(data).hexdigest())
        self.found[key] = (path, facts.content_type)
        return key


def read_backfill_file(data: bytes, defaults: ItemDefaults, pictures: PictureFolder) -> WholeItems:
    """Every row judged, with keys in place of paths."""
    rows, problems = read_rows(data), []
    try:
        stored_defaults = _with_keys(defaults, pictures)
    except ValueError as error:
        return WholeItems(problems=[Problem(0, f"defaults: {error}")])
    moved = []
    for row, item in rows.items:
        try:
            own = _with_keys(item, pictures)
            garments = [_with_keys(garment, pictures) for garment in item.garments]
            moved.append((row, own.model_copy(update={"garments": garments})))
        except ValueError as error:
            problems.append(Problem(row, str(error)))
    whole = whole_items(moved, stored_defaults)
    whole.problems = sorted([*rows.problems, *problems, *whole.problems], key=lambda problem: problem.row)
    return whole


async def upload(store: ObjectStore, backfill_id: str, items: list[BackfillItem], pictures: PictureFolder) -> str:
    """Put pictures and manifest where the service finds them; returns the manifest's key."""
    for key, (path, content_type) in pictures.found.items():
        await store.put(key, await asyncio.to_thread(path.read_bytes), content_type)
    manifest = f"{backfill_prefix(backfill_id)}manifest.jsonl"
    await store.put(manifest, lines_of(items), CONTENT_TYPE)
    return manifest


def _with_keys(fields: Fields, pictures: PictureFolder) -> Fields:
    names = {"garment_image_url": "garmentImageUrl", "garment_back_image_url": "garmentBackImageUrl"}
    changes = {name: pictures.key_of(alias, getattr(fields, name)) for name, alias in names.items()}
    if isinstance(fields, ItemDefaults):
        changes["person"] = pictures.key_of("person", fields.person)
    return fields.model_copy(update=changes)
