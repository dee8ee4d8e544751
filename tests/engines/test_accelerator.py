from __future__ import annotations

import gc

import pytest
import torch
from onnxruntime.capi.onnxruntime_pybind11_state import Fail

import engines.accelerator
from engines.accelerator import (
    chosen_dtype,
    device_failure,
    found_device,
    free_cached_memory,
    memory_readings,
    named_device,
)
from engines.base import DeviceBroken, DeviceOutOfMemory, EngineUnavailable


def test_a_cpu_is_always_there() -> None:
    assert found_device("cpu", "klein") == torch.device("cpu")


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_fastest_kind_of_device_is_chosen(
    monkeypatch: pytest.MonkeyPatch, *, cuda: bool, mps: bool, chosen: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    assert named_device("auto") == chosen
    assert found_device("auto", "fashn").type == chosen
    assert named_device("cpu") == "cpu"


def test_apples_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(EngineUnavailable, match="fashn finds no GPU of Apple's; set the device to auto or cpu"):
        found_device("mps", "fashn")


@pytest.mark.parametrize(("faster", "chosen"), [(torch.bfloat16, "bfloat16"), (torch.float32, "float32")])
def test_a_cpu_computes_in_what_it_does_faster(
    monkeypatch: pytest.MonkeyPatch, faster: torch.dtype, chosen: str
) -> None:
    monkeypatch.setattr(engines.accelerator, "_product_seconds", lambda dtype: 1.0 if dtype == faster else 2.0)
    assert chosen_dtype("auto", "cpu") == getattr(torch, chosen)
    assert chosen_dtype("float32", "cpu") == torch.float32
    assert chosen_dtype("auto", "cuda:1") == torch.bfloat16


def test_apples_gpus_compute_in_bfloat16_where_their_system_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines.accelerator, "_can_multiply", lambda _device, _dtype: True)
    assert chosen_dtype("auto", "mps") == torch.bfloat16
    monkeypatch.undo()
    # Here there is none: the try fails as it does where the system is too old.
    assert torch.backends.mps.is_available() or chosen_dtype("auto", "mps") == torch.float32


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_without_a_gpu_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(EngineUnavailable, match="klein needs a CUDA GPU and torch finds none; use the engine warp"):
        found_device(device, "klein")


@pytest.mark.parametrize(("name", "sentence"), [("graphics card", "is not the name"), ("meta", "fashn runs on cuda")])
def test_other_devices_are_refused(name: str, sentence: str) -> None:
    with pytest.raises(EngineUnavailable, match=sentence):
        found_device(name, "fashn")


def test_gpus_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    assert found_device("cuda", "klein") == torch.device("cuda:0")
    assert found_device("cuda:1", "klein") == torch.device("cuda:1")
    with pytest.raises(EngineUnavailable, match="no GPU cuda:2; torch finds 2"):
        found_device("cuda:2", "klein")


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."),
        torch.AcceleratorError("CUDA error: out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
        RuntimeError(
            "MPS backend out of memory (MPS allocated: 7.9 GB, other allocations: 1.2 GB, max allowed: 9 GB)."
        ),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."),
        RuntimeError("Unable to find a valid cuDNN algorithm to run convolution"),
        Fail("CUDA failure 2: out of memory ; GPU=0"),
        Fail("BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 9"),
    ],
    ids=str,
)
def test_memory_that_does_not_suffice(error: Exception) -> None:
    failure = device_failure(error, "cuda:1")
    assert isinstance(failure, DeviceOutOfMemory)
    assert "cuda:1" in str(failure)
    assert (failure.__cause__, failure.__context__, failure.__traceback__) == (None, None, None)


@pytest.mark.parametrize(
    "error",
    [
        torch.AcceleratorError("an illegal memory access was encountered"),
        RuntimeError("CUDA error: unspecified launch failure\nCUDA kernel errors might be reported later"),
        RuntimeError("CUDA driver error: unknown error"),
        RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx(...)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"),
        Fail("CUDNN failure 4: CUDNN_STATUS_INTERNAL_ERROR ; GPU=0"),
    ],
    ids=str,
)
def test_device_that_failed(error: Exception) -> None:
    failure = device_failure(error, "cuda")
    assert isinstance(failure, DeviceBroken)
    assert str(failure) == f"cuda failed: {str(error).splitlines()[0]}"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        RuntimeError("Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"),
        NotImplementedError("Could not run 'aten::x' with arguments from the 'CUDA' backend"),
        ValueError("CUDA"),
        Fail("Invalid rank for input"),
    ],
    ids=str,
)
def test_faults_that_are_not_the_devices(error: Exception) -> None:
    assert device_failure(error, "cuda") is None


def test_memory_is_given_back_on_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(gc, "collect", lambda: done.append("collected"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: done.append("emptied"))
    free_cached_memory("cpu")
    assert done == []
    free_cached_memory("cuda:0")
    assert done == ["collected", "emptied"]


def test_only_a_gpus_memory_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _device: 5)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda _device: 7)
    assert memory_readings(None) == memory_readings(torch.device("cpu")) == {}
    assert memory_readings(torch.device("cuda:0")) == {"memory_bytes": 5, "memory_peak_bytes": 7}
