from __future__ import annotations

import json

import pytest

from intake.backfills import read_rows
from workflows.backfills.contracts import BackfillItem, ItemGarment

SHIRT = {"productId": "SKU-1", "person": "backfills/a/anna.jpg"}


def lines(*values: object) -> bytes:
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values).encode()


def problems_of(data: bytes) -> list[str]:
    return [str(problem) for problem in read_rows(data).problems]


def test_json_lines_keep_their_numbers() -> None:
    rows = read_rows(lines({"key": "one", **SHIRT}, "", {"key": "three", **SHIRT}))
    assert [(row, item.key) for row, item in rows.items] == [(1, "one"), (3, "three")]
    assert rows.problems == []


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_spreadsheet_with_any_delimiter_is_read(sign: str) -> None:
    text = "\ufeffkey,person,productId,size\r\none, backfills/a/anna.jpg ,SKU-1,\r\n".replace(",", sign)
    ((row, item),) = read_rows(text.encode()).items
    assert row == 2
    assert item == BackfillItem(key="one", person="backfills/a/anna.jpg", product_id="SKU-1")


def test_further_garments_have_numbered_columns() -> None:
    text = (
        "person,productId,category2,garmentImageUrl2,productId3\nbackfills/p,top,lower_body,https://a.example/b,hat\n"
    )
    ((_, item),) = read_rows(text.encode()).items
    assert item.garments == [
        ItemGarment(product_id="top"),
        ItemGarment(category="lower_body", garment_image_url="https://a.example/b"),
        ItemGarment(product_id="hat"),
    ]
    assert item.product_id is None


def test_quoted_cells_may_hold_line_ends_and_the_row_is_where_the_cell_ends() -> None:
    data = b'key,person,garmentCategory,category\n1,p,"a\nb",upper_body\n2,p,c,nowhere\n'
    rows = read_rows(data)
    assert [row for row, _ in rows.items] == [3]
    assert [problem.row for problem in rows.problems] == [4]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (lines({**SHIRT, "catgory": "upper_body"}), ["row 1: catgory: is not a known field."]),
        (lines({**SHIRT, "garments": [{"colour": 1}]}), ["row 1: garments[0].colour: is not a known field."]),
        (lines({**SHIRT, "key": "a key"}), ["row 1: key: String should match pattern '^[A-Za-z0-9._-]{1,64}$'."]),
        (lines(SHIRT, "[1]"), ["row 2: must be an object."]),
        (b"key,persona\n1,p\n", ["row 1: persona: is not a known field."]),
        (b"key,person,person\n1,p,p\n", ["row 1: person: appears twice."]),
        (b"key,person\n1,p,q\n", ["row 2: has 3 cells for 2 columns."]),
        (b"key,person\n1,\xff\n", ["row 2: is not UTF-8."]),
    ],
)
def test_what_is_wrong_is_named_with_its_row_and_field(data: bytes, said: list[str]) -> None:
    assert problems_of(data) == said


def test_a_line_that_is_not_json_does_not_hide_the_others() -> None:
    rows = read_rows(lines(SHIRT, "{", SHIRT))
    assert [row for row, _ in rows.items] == [1, 3]
    assert [problem.row for problem in rows.problems] == [2]


def test_a_file_of_something_else_says_what_a_header_holds() -> None:
    (problem,) = problems_of(b"\x89PNG is not a table\n")[:1]
    assert problem.startswith("row 1:")
    assert "names none of the columns key, person, engine, productId" in problems_of(b"Hello\nworld\n")[0]


def test_a_line_that_is_nested_too_deeply_is_named() -> None:
    (problem,) = problems_of(b'{"key": ' + b"[" * 100_000 + b"}")
    assert problem.startswith("row 1: is not JSON")
