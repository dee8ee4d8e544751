"""Which kind of number the networks use."""

from __future__ import annotations

import torch

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
"""Kinds of numbers by the names that settings use; the weights were published in bfloat16."""
