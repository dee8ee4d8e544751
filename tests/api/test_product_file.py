from __future__ import annotations

import pytest

from api.products.imports import ProductFile, read_product_file
from imaging.limits import ImageLimits
from intake.pages import SkippedRow
from tests.pictures import data_uri, encoded

URL = "https://shop.example/a.jpg"
HEADER = "externalId,name,category,garmentImageUrl"


def read(text: str, encoding: str = "utf-8") -> ProductFile:
    return read_product_file(text.encode(encoding), ImageLimits())


def row(**cells: str) -> str:
    values = {"externalId": "SKU-1", "name": "Shirt", "category": "upper_body", "garmentImageUrl": URL, **cells}
    return ",".join(values.values())


def complaint_about(line: str, header: str = HEADER) -> str:
    found = read(f"{header}\n{line}\n")
    assert found.good == []
    (bad,) = found.bad
    assert bad.number == 2
    return bad.sentence


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_is_read_however_a_spreadsheet_wrote_it(encoding: str, delimiter: str, line_end: str) -> None:
    lines = [
        'size,externalId,"name",category,garmentImageUrl,tuckState',
        f'W32/L34,SKU-1,"Jeans, blue; ""slim""",lower_body,{URL},tucked',
        ",,,,,",
        f" ,SKU-2, Größe Ü ,upper_body,{URL},",
    ]
    if delimiter == ";":
        lines = [line if '"Jeans' in line else line.replace(",", ";") for line in lines]
        lines[1] = f'W32/L34;SKU-1;"Jeans, blue; ""slim""";lower_body;{URL};tucked'
    found = read(line_end.join(lines), encoding)
    assert found.bad == []
    first, second = found.good
    assert (first.number, first.fields.external_id, second.number) == (2, "SKU-1", 4)
    assert (first.fields.name, first.fields.size) == ('Jeans, blue; "slim"', "W32/L34")
    assert (first.fields.tuck_state, first.front) == ("tucked", URL)
    assert second.fields.name == "Größe Ü"
    assert {"size", "tuck_state", "back"} <= set(second.clear), "an empty cell empties the field"


BAD_ROWS = {
    "no externalId": (row(externalId=""), "externalId: required."),
    "no name": (row(name="  "), "name: required."),
    "no category": (row(category=""), "category: required."),
    "no picture": (row(garmentImageUrl=""), "garmentImageUrl: required."),
    "another category": (row(category="feet"), "category: must be upper_body, lower_body or full_body."),
    "a reserved name": (row(externalId="prod_1"), "externalId: "),
    "a picture over http": (row(garmentImageUrl="http://shop.example/a.jpg"), "garmentImageUrl: "),
    "a picture inside": ('SKU-1,Shirt,upper_body,"data:image/png;base64,AAAA"', "garmentImageUrl: must be"),
    "a row that is too short": ("SKU-1,Shirt", "category: required."),
    "a row that is too long": (row() + ",and,more", "there are 6 cells and 4 columns."),
}


@pytest.mark.parametrize(("line", "sentence"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_named_with_its_field(line: str, sentence: str) -> None:
    assert complaint_about(line).startswith(sentence)


def test_an_optional_cell_is_judged_too() -> None:
    assert complaint_about(row() + ",half", HEADER + ",garmentState") == "garmentState: must be open or closed."


def test_one_name_twice_is_refused() -> None:
    found = read("\n".join([HEADER, row(), row(externalId="SKU-2"), row(name="Blouse")]))
    assert [good.number for good in found.good] == [2, 3]
    assert found.bad == [SkippedRow(number=4, sentence="externalId: already used in row 2.", external_id="SKU-1")]


def test_a_bad_row_says_which_name_the_file_gives_it() -> None:
    lines = [HEADER, row(name=""), row(externalId="x" * 5000), row(externalId="prod_1"), row(externalId="")]
    assert [bad.external_id for bad in read("\n".join(lines)).bad] == ["SKU-1", "x" * 128, "prod_1", ""]


def test_sentences_are_for_people() -> None:
    assert complaint_about(row(name="x" * 201)) == "name: must have at most 200 characters."
    assert complaint_about(row(externalId="prod_1")).startswith("externalId: names that begin with prod_")


def test_unknown_columns_are_ignored_and_named() -> None:
    found = read(f"{HEADER},price\n{row()},9.99\n")
    assert (len(found.good), found.bad, found.ignored_columns) == (1, [], ["price"])


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf\r\n", "the file is empty"),
        (b"price", "externalId, name, category, garmentImageUrl"),
        (b"externalId,name,category\n", "garmentImageUrl"),
        (f"{HEADER},name\n".encode(), "two columns name"),
        (f"{HEADER}\n".encode("utf-16"), "not UTF-8 .* Save as, then CSV UTF-8"),
        (f"{HEADER}\nSKU-1,Gr".encode() + b"\xf6\xdfe", "not UTF-8 .* Save as, then CSV UTF-8"),
        (b"%PDF-1.7\n", "the file is no text"),
        (encoded(), "the file is no text"),
        (b"PK\x03\x04xl/workbook.xml", "the file is no text"),
        (b"a\0b", "the file is no text"),
        (f"{HEADER}\n{row(garmentImageUrl=data_uri(bytes(200_000)))}".encode(), "row 2"),
    ],
)
def test_what_is_no_such_file_is_refused_as_a_whole(data: bytes, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        read_product_file(data, ImageLimits())
