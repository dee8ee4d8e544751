"""Folds: cloth that is longer than the body under it, buckled once or drawn, as reliefs that light falls on."""
