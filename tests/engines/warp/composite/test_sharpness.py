import cv2
import numpy as np
import pytest

from engines.warp.composite.sharpness import FALLBACK, crisper, edge_blur

AREA = np.ones((200, 200), bool)


@pytest.mark.parametrize("sigma", [0.7, 1.2, 2.0])
def test_blur_of_a_step_is_recovered(sigma: float) -> None:
    step = np.zeros((200, 200, 3), np.float32)
    step[:, 100:] = 0.9
    blurred = cv2.GaussianBlur(step, (0, 0), sigma)
    assert edge_blur(blurred, AREA) == pytest.approx(sigma, rel=0.25)


def test_flat_picture_gets_the_usual_value() -> None:
    assert edge_blur(np.full((200, 200, 3), 0.5, np.float32), AREA) == FALLBACK


def test_cloth_in_a_crisp_photo_is_crisper_inside_and_the_same_at_its_edge() -> None:
    cloth = np.zeros((120, 120, 3), np.float32)
    cloth[:, 60:] = 0.8
    cloth = cv2.GaussianBlur(cloth, (0, 0), 0.9)
    cover = np.zeros((120, 120), np.float32)
    cover[20:100, 20:100] = 1
    crisp = crisper(cloth, cover, 0.45)
    assert np.diff(crisp[60, :, 0]).max() > 1.15 * np.diff(cloth[60, :, 0]).max()
    assert np.array_equal(crisp[:20], cloth[:20])
    assert np.array_equal(crisper(cloth, cover, 1.2), cloth)


def test_no_line_is_drawn_beside_a_seam_of_two_colours() -> None:
    cloth = np.full((120, 120, 3), 0.2, np.float32)
    cloth[:, 60:] = 0.7
    cloth = np.asarray(cv2.GaussianBlur(cloth, (0, 0), 0.7), np.float32)
    crisp = crisper(cloth, np.ones((120, 120), np.float32), 0.45)
    assert crisp.min() > 0.2 - 1e-3
    assert crisp.max() < 0.7 + 1e-3
