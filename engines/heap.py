"""How the C library keeps freed memory: a render allocates and frees a thousand pictures."""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -2, -3, -8
"""Parameters of ``mallopt`` in glibc's ``malloc.h``."""

KEPT = 256 << 20
"""Free memory at the end of the heap, bytes, that is kept and not returned to the system: about as much as a render
uses at a time."""

MAPPED_FROM = 32 << 20
"""Size from which a block is mapped by itself and given back at once, bytes: the largest that glibc takes. A plane of a
photo at its working size has a tenth of that, the photos of large cameras more."""

GROWTH = 64 << 20
"""How much the heap grows at a time, bytes; untouched pages of it take no memory."""


def keep_freed_memory() -> bool:
    """Let this process reuse the memory of pictures instead of asking the system for each anew.

    The system hands out memory page by page and zeroed, which took an eighth of the time of a render. All threads share
    one heap, so that no thread keeps memory that another could use.

    Returns:
        Whether the C library supports it; only glibc does.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    settings = ((M_ARENA_MAX, 1), (M_MMAP_THRESHOLD, MAPPED_FROM), (M_TRIM_THRESHOLD, KEPT), (M_TOP_PAD, GROWTH))
    return all(mallopt(name, value) for name, value in settings)
