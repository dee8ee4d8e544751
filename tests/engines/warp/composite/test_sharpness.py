import cv2
import numpy as np
import pytest

from engines.warp.composite.sharpness import FALLBACK, edge_blur

AREA = np.ones((200, 200), bool)


@pytest.mark.parametrize("sigma", [0.7, 1.2, 2.0])
def test_blur_of_a_step_is_recovered(sigma: float) -> None:
    step = np.zeros((200, 200, 3), np.float32)
    step[:, 100:] = 0.9
    blurred = cv2.GaussianBlur(step, (0, 0), sigma)
    assert edge_blur(blurred, AREA) == pytest.approx(sigma, rel=0.25)


def test_flat_picture_gets_the_usual_value() -> None:
    assert edge_blur(np.full((200, 200, 3), 0.5, np.float32), AREA) == FALLBACK
