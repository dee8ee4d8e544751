"""Folds: cloth that is longer than the body under it, buckled once and kept as reliefs that light falls on."""
