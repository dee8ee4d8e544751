from __future__ import annotations

from pathlib import Path

from bench.growth import rows
from bench.growth.curve import Point, markdown


def test_every_question_is_asked_at_every_size(tmp_path: Path) -> None:
    points = list(rows.measure(tmp_path, sizes=(150, 300)))
    names = [point.curve for point in points if point.size == 150]
    assert len(names) == len(set(names)) == 10
    assert [point.curve for point in points if point.size == 300] == names
    assert all(point.value > 0 for point in points)


def test_a_table_has_a_row_for_each_curve_and_a_column_for_each_size() -> None:
    points = [Point("a poll", 10, 0.25, "ms"), Point("a poll", 1000, 0.5, "ms"), Point("a page", 1000, 12.345, "ms")]
    assert markdown(points).splitlines() == [
        "|  | 10 | 1,000 |",
        "| --- | --- | --- |",
        "| a poll | 0.25 ms | 0.5 ms |",
        "| a page |  | 12.3 ms |",
    ]
