import numpy as np

from engines.warp.drape.taut import bridged, tautened


def test_hollow_is_bridged_and_a_bump_is_kept() -> None:
    positions = np.arange(7.0)
    heights = np.array([6.0, 3.0, 2.0, 3.0, 3.5, 2.0, -1.0])
    line = bridged(positions, heights)
    assert (line >= heights - 1e-9).all()
    assert (np.diff(line, 2) <= 1e-9).all()
    assert line[[0, 4, 5, 6]].tolist() == heights[[0, 4, 5, 6]].tolist()


def test_line_is_tautened_on_either_side_of_the_body() -> None:
    right = np.array([[0.0, 0.0], [5.0, 6.0], [10.0, 3.0], [14.0, 8.0], [15.0, 16.0], [15.0, 24.0]])
    for side in (1, -1):
        line = tautened(right * (side, 1), side) * (side, 1)
        assert np.allclose(line[[0, 2, 3, 4, 5]], right[[0, 2, 3, 4, 5]])
        # The second point lay below the straight way from the first to the third.
        assert abs(line[1, 1] - 0.3 * line[1, 0]) < 1e-9
