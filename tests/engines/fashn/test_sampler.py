import pytest
import torch

from engines.base import RenderStopped
from engines.fashn.network import Conditions, FashnNetwork
from engines.fashn.sampler import STEP, Sampler, schedule, start_noise
from tests.engines.fashn.numbers import CLOSE, Numbers


def go_on() -> bool:
    return False


def sample(network: FashnNetwork, numbers: Numbers, rows: slice = slice(None), steps: int = 5) -> torch.Tensor:
    conditions: Conditions = numbers.conditions.each(lambda tensor: tensor[rows])
    sampler = Sampler(network, steps=steps, guidance=1.5)
    return sampler.sample(conditions, numbers.input["noise"][rows], lambda _: None, go_on)


@pytest.mark.parametrize("steps", [4, 20, 30, 50])
def test_times_are_those_of_the_published_sampler(numbers: Numbers, steps: int) -> None:
    assert (schedule(steps).sigmas - numbers.expected[f"schedule_{steps}"]).abs().max() < CLOSE


def test_five_steps_are_those_of_the_published_sampler(network: FashnNetwork, numbers: Numbers) -> None:
    assert (sample(network, numbers) - numbers.expected["sample_5_steps"]).abs().max() < CLOSE


def test_picture_does_not_depend_on_its_company(network: FashnNetwork, numbers: Numbers) -> None:
    together = sample(network, numbers)
    alone = torch.cat([sample(network, numbers, slice(0, 1)), sample(network, numbers, slice(1, 2))])
    assert (together - alone).abs().max() < CLOSE


def test_noise_depends_on_its_own_seed_alone() -> None:
    noise = start_noise([3, 2**40, 3], (48, 36))
    assert torch.equal(noise[0], noise[2])
    assert torch.equal(noise[1:2], start_noise([2**40], (48, 36)))
    assert not torch.equal(noise[0], noise[1])
    assert abs(float(noise.std()) - 1.0) < 0.05


def test_every_step_is_told(network: FashnNetwork, numbers: Numbers) -> None:
    told: list[str] = []
    Sampler(network, steps=4, guidance=1.5).sample(numbers.conditions, numbers.input["noise"], told.append, go_on)
    assert told == [STEP] * 4


def test_last_step_goes_without_guidance(network: FashnNetwork, numbers: Numbers) -> None:
    sizes: list[int] = []
    watching = network.register_forward_pre_hook(lambda _module, given: sizes.append(len(given[0])))
    try:
        sample(network, numbers, steps=3)
    finally:
        watching.remove()
    assert sizes == [4, 4, 2]


def test_null_branch_says_nothing(numbers: Numbers) -> None:
    doubled = numbers.conditions.with_null_branch()
    assert torch.equal(doubled.person[:2], numbers.conditions.person)
    for tensor in (doubled.person, doubled.person_pose, doubled.garment, doubled.garment_pose, doubled.category):
        assert not tensor[2:].any()


def test_stops_between_steps(network: FashnNetwork, numbers: Numbers) -> None:
    told: list[str] = []
    sampler = Sampler(network, steps=5, guidance=1.5)
    with pytest.raises(RenderStopped):
        sampler.sample(numbers.conditions, numbers.input["noise"], told.append, lambda: len(told) == 2)
    assert len(told) == 2
