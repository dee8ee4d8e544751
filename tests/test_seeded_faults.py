from __future__ import annotations

from tests.seeded_faults import FAULTS, PROJECT


def test_every_seeded_fault_can_be_put_in() -> None:
    """Its line is still there, once, and so are the tests that find it; they are run by `tests.seeded_faults`."""
    assert [each for each in FAULTS if (PROJECT / each.file).read_text().count(each.right) != 1] == []
    named = {PROJECT / "tests" / test for each in FAULTS for test in each.tests}
    assert [each for each in named if not each.is_file()] == []
