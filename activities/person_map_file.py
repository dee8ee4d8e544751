"""A `PersonMap` as bytes, on its way from one step to the next."""

from __future__ import annotations

import io

import numpy as np

from engines.base import PersonMap

CONTENT_TYPE = "application/x-npz"


def pack_person_map(person_map: PersonMap) -> bytes:
    """Compressed NumPy archive."""
    archive = io.BytesIO()
    np.savez_compressed(
        archive,
        labels=person_map.labels,
        matte=person_map.matte,
        landmarks=person_map.landmarks,
        score=np.float64(person_map.score),
    )
    return archive.getvalue()


def unpack_person_map(data: bytes) -> PersonMap:
    """The reverse of `pack_person_map`; never unpickles anything."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return PersonMap(
            labels=archive["labels"],
            matte=archive["matte"],
            landmarks=archive["landmarks"],
            score=float(archive["score"]),
        )
