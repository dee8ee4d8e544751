"""The engine: prepares references and words, and lets the stock pipeline draw."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from engines.accelerator import (
    DTYPES,
    chosen_dtype,
    device_failure,
    found_device,
    free_cached_memory,
    memory_readings,
    name_of,
    named_device,
    wait_for,
)
from engines.base import (
    DeviceOutOfMemory,
    EngineError,
    EngineInfo,
    EngineUnavailable,
    Garment,
    OnStep,
    Picture,
    RenderStopped,
    ShouldStop,
)
from engines.errors import first_line
from engines.generative.engine import GenerativeEngine
from engines.generative.painter import PaintRequest
from engines.klein.about import ENGINE, KLEIN, MAX_GARMENTS, MODEL, REVISION, KleinOptions
from engines.klein.embeddings import EmbeddingCache
from engines.klein.latents import LatentCache
from engines.klein.loading import load_networks
from engines.klein.networks import Networks
from engines.klein.pipeline import pipeline_for
from engines.klein.prompt import prompt_for, refusal
from engines.klein.references import prepared_garment, prepared_person
from engines.klein.speed import Fp8, Speed, apply_speed
from engines.klein.turn import Turn
from engines.klein.warm_up import warm_up_request
from engines.pace import Pace, Step
from engines.registration import Workplace
from engines.weights.origin import info_of

MIB = 1 << 20

STEP, DECODING = "denoise", "decode"
"""Stages: the first is told at every step of the network."""


class KleinPainter:
    """FLUX.2 [klein] through the stock pipeline of diffusers.

    Args:
        model: A folder in diffusers' layout, or a hub id that is in the hub's local cache.
        revision: The commit of the hub's repository.
        device: ``cuda``, ``cuda:1``, ``mps`` or ``cpu``, which takes more than an hour for a picture at full size.
        dtype: ``bfloat16``, ``float16`` or ``float32``.
        steps: Of the network; the distilled weights want 4.
        guidance: Above 1 the network runs twice per step; without effect on distilled weights.
        person_megapixels: At most so large is the photo shown and the picture drawn; in units of 2^20 pixels.
        garment_megapixels: At most so large is each garment shown. The network's time grows with the pixels it is
            shown.
        latent_cache_mb: MiB of the device for the latents of garments.
        embedding_cache_entries: Prompts whose embeddings are kept in the main memory, 7.5 MiB each.
        embeddings_folder: What the text encoder made is written there and read again after a restart; made where it is
            missing. None: it is not kept.
        compile: See `engines.klein.speed.Speed`, like the next two.
        attention_backend: See there.
        fp8: See there.
        text_encoder_device: Where the text encoder lies and computes. None: it lies on the CPU and is copied to
            ``device`` for each new prompt, so the device needs room for it, but only then.
        networks: Ones that are loaded already; nothing is read from disk then.
    """

    def __init__(
        self,
        model: str = MODEL,
        *,
        revision: str = REVISION,
        device: str = "cuda",
        dtype: str = "bfloat16",
        steps: int = 4,
        guidance: float = 1.0,
        person_megapixels: float = 1.0,
        garment_megapixels: float = 0.35,
        latent_cache_mb: int = 256,
        embedding_cache_entries: int = 256,
        embeddings_folder: Path | None = None,
        compile: bool = False,  # noqa: A002 - the setting's name
        attention_backend: str | None = None,
        fp8: str = Fp8.OFF,
        text_encoder_device: str | None = None,
        networks: Networks | None = None,
    ) -> None:
        self._model, self._revision, self._device_name = model, revision, device
        self._info = info_of(KLEIN, ENGINE.licences, model, revision=revision, device=device)
        self._dtype = DTYPES[dtype]
        self._steps, self._guidance = steps, guidance
        self._person_megapixels, self._garment_megapixels = person_megapixels, garment_megapixels
        self._speed = Speed(compile, attention_backend, Fp8(fp8))
        self._text_encoder_device = text_encoder_device
        self._networks = networks
        self.latents = LatentCache(latent_cache_mb * MIB)
        self.embeddings = EmbeddingCache(
            embedding_cache_entries,
            revision=self._info.revision,
            dtype=self._dtype,
            folder=embeddings_folder,
            pinned=device.startswith("cuda"),
        )
        self._drawing, self._reading = Turn(), Turn()
        self._ready = False

    @property
    def info(self) -> EngineInfo:
        """What this engine is; its licence is that of the weights in use."""
        return self._info

    @property
    def garments_per_pass(self) -> int:
        """All of them at once."""
        return MAX_GARMENTS

    def setup(self) -> None:
        """Load the networks and draw once.

        Raises:
            EngineUnavailable: The device, the weights or a speed setting cannot be used.
        """
        device = found_device(self._device_name, KLEIN.name)
        text_device = None if self._text_encoder_device is None else found_device(self._text_encoder_device, KLEIN.name)
        try:
            networks = self._networks or load_networks(
                self._model, self._revision, device=device, dtype=self._dtype, text_encoder_device=text_device
            )
            apply_speed(networks.transformer, networks.vae, self._speed, self._dtype)
            self.embeddings.check_folder(networks.transformer.config["joint_attention_dim"])
            warm_up, share = warm_up_request(device, MAX_GARMENTS, self._person_megapixels)
            step_s = self._step_seconds(networks, warm_up) * share
        except (RuntimeError, ValueError, ImportError, EngineError) as error:
            if isinstance(device_failure(error, self._device_name), DeviceOutOfMemory):
                raise EngineUnavailable(
                    f"The engine klein does not fit into the memory of {device}: free some, choose smaller megapixels, "
                    "fp8 or another text_encoder_device, or use a larger GPU."
                ) from None
            raise EngineUnavailable(f"The engine klein cannot draw on {device}: {first_line(error)}") from error
        self._networks, self._ready = networks, True
        pace = Pace(str(device), name_of(self._dtype), step_s, self._steps, MAX_GARMENTS)
        self._info = replace(self._info, pace=pace)
        self.free_memory()

    def paint(self, request: PaintRequest, on_step: OnStep, should_stop: ShouldStop) -> Picture:
        """Draw the whole photo anew, see `engines.generative.painter.Painter.paint`.

        Raises:
            EngineError: ``result_not_usable`` where the network made numbers that are no colours.
            RenderStopped: ``should_stop`` said so.
            DeviceOutOfMemory: The device's memory did not suffice; nothing is left allocated by this call.
            DeviceBroken: The device failed; it may be that nothing can be drawn with it in this process.
        """
        if self._networks is None or not self._ready:
            raise RuntimeError("The engine klein was not set up.")
        # The new exception is raised after the first one's frames are gone, because they hold tensors.
        failure: Exception | None
        try:
            return self._painted(self._networks, request, on_step, should_stop)
        except (RenderStopped, EngineError) as error:
            failure = error.with_traceback(None)
        except RuntimeError as error:
            failure = device_failure(error, self._device_name)
            if failure is None:
                raise
        if isinstance(failure, DeviceOutOfMemory):
            self.free_memory()
        try:
            raise failure
        finally:
            del failure  # otherwise it and this frame, which holds the customer's photo, would keep each other alive

    def refusal(self, garment: Garment, name: str) -> str | None:
        """Why a hint is not said to the network; None where it is."""
        return refusal(garment, name)

    def free_memory(self) -> None:
        """Forget the latents of garments and give back what torch keeps for later."""
        self.latents.clear()
        free_cached_memory(self._device_name)

    def readings(self) -> Mapping[str, float]:
        """Hits and misses of both caches, and bytes of the device."""
        return {
            "latent_cache_hits": self.latents.hits,
            "latent_cache_misses": self.latents.misses,
            "latent_cache_bytes": self.latents.size_bytes,
            "embedding_cache_hits": self.embeddings.hits,
            "embedding_cache_reads": self.embeddings.reads,
            "embedding_cache_misses": self.embeddings.misses,
            **memory_readings(None if self._networks is None else self._networks.device),
        }

    def _step_seconds(self, networks: Networks, request: PaintRequest) -> float:
        """Draw, and tell how long the quickest of the steps took: the first one may have compiled something."""
        moments: list[float] = []

        def on_step(stage: str) -> None:
            if stage in (STEP, DECODING):
                wait_for(networks.device)
                moments.append(time.perf_counter())

        self._painted(networks, request, on_step, lambda: False)
        return min(after - before for before, after in itertools.pairwise(moments))

    def _painted(self, networks: Networks, request: PaintRequest, on_step: OnStep, should_stop: ShouldStop) -> Picture:
        watch = partial(_watch, on_step, should_stop)
        watch("prepare")
        person, frame = prepared_person(request.person, self._person_megapixels)
        shown = [
            prepared_garment(picture, self._garment_megapixels)
            for reference in request.references
            for picture in (reference.picture, reference.back)
            if picture is not None
        ]
        embed = partial(self._embedding, networks, on_step, should_stop)
        embedding = embed(prompt_for(request.references))
        guided = self._guidance > 1.0 and not networks.is_distilled
        negative = embed("") if guided else None
        encoder = pipeline_for(networks)
        watch("encode pictures")
        # The photo's latents are not kept: a customer's picture stays no longer than the job.
        references = [encoder.encode_reference(person)]
        for picture in shown:
            watch("encode pictures")
            references.append(self.latents.get(picture, encoder.encode_reference))
        with self._drawing.taken("wait for the device", on_step, should_stop) as on_turn:
            watch = partial(_watch, on_turn, should_stop)

            def on_step_end(_pipeline: object, done: int, *_more: object) -> dict[str, torch.Tensor]:
                if networks.device.type == "mps":  # it would be given all steps at once, and could not be stopped
                    wait_for(networks.device)
                begun = done + 2  # the pipeline counts from 0 what has ended
                return watch(Step(STEP, begun, self._steps) if begun <= self._steps else DECODING)

            watch(Step(STEP, 1, self._steps))
            drawn = pipeline_for(networks, references)(
                image=[],
                height=frame.canvas_height,
                width=frame.canvas_width,
                num_inference_steps=self._steps,
                guidance_scale=self._guidance if guided else 1.0,
                # On the CPU, so that the same seed gives the same noise on every device.
                generator=torch.Generator("cpu").manual_seed(request.seed),
                prompt_embeds=embedding.to(networks.device),
                negative_prompt_embeds=None if negative is None else negative.to(networks.device),
                callback_on_step_end=on_step_end,
                callback_on_step_end_tensor_inputs=[],
                output_type="np",  # as numbers, because pixels do not show whether a number was NaN
            ).images[0]
        if not np.isfinite(drawn).all():
            raise EngineError("result_not_usable", "The network made numbers that are no colours.")
        return frame.cut_out((255 * drawn).round().astype(np.uint8))

    def _embedding(self, networks: Networks, on_step: OnStep, should_stop: ShouldStop, prompt: str) -> torch.Tensor:
        """From the cache, or from the text encoder, which takes its turn at the device where it needs the same one."""
        found = self.embeddings.find(prompt)
        if found is not None:
            return found
        turn = self._drawing if networks.words.device == networks.device else self._reading
        with turn.taken("wait for the text encoder", on_step, should_stop) as on_turn:
            # The thread that had the turn before may have encoded the same words.
            found = self.embeddings.find(prompt)
            if found is not None:
                return found
            return self.embeddings.keep(prompt, networks.words.encode(prompt, on_turn, should_stop))


def _watch(on_step: OnStep, should_stop: ShouldStop, stage: str) -> dict[str, torch.Tensor]:
    """A sign of life at a stage, and the end where it is asked for; nothing of the step is changed."""
    on_step(stage)
    if should_stop():
        raise RenderStopped
    return {}


def build(options: KleinOptions, workplace: Workplace) -> GenerativeEngine:
    """The engine with the settings of a worker, not yet loaded."""
    device = named_device(workplace.device)
    painter = KleinPainter(
        str(workplace.weights),
        revision=options.revision or REVISION,
        device=device,
        dtype=name_of(chosen_dtype(workplace.precision, device)),
        steps=options.steps,
        person_megapixels=options.person_megapixels,
        garment_megapixels=options.garment_megapixels,
        embeddings_folder=options.embeddings_dir,
        compile=workplace.compile,
        attention_backend=options.attention_backend,
        fp8=options.fp8,
        text_encoder_device=options.text_encoder_device,
    )
    return GenerativeEngine(painter, workplace.segmenter)
