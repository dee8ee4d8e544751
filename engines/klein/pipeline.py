"""The stock pipeline, handed references that are encoded already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from diffusers.pipelines.flux2.pipeline_flux2_klein import Flux2KleinPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import FlowMatchEulerDiscreteScheduler
from PIL import Image

from engines.base import Picture
from engines.klein.networks import Networks


class LatentReferencePipeline(Flux2KleinPipeline):
    """The stock pipeline, all but where the latents of its references come from; made by `pipeline_for`.

    Attributes:
        reference_latents: One ``(1, channels, h, w)`` per picture, as `encode_reference` made them. Any list of
            pictures that the pipeline is called with is passed over for these.
    """

    reference_latents: Sequence[torch.Tensor] = ()

    def encode_reference(self, picture: Picture) -> torch.Tensor:
        """What the stock pipeline makes of a picture, ``(1, channels, h / 16, w / 16)`` on the VAE's device.

        Args:
            picture: ``(h, w, 3)``, sides multiples of 16.
        """
        height, width = picture.shape[:2]
        image = Image.fromarray(picture)
        pixels = self.image_processor.preprocess(image, height=height, width=width, resize_mode="crop")
        with torch.no_grad():
            # The generator is not used: the mean is taken and nothing is sampled.
            latents: torch.Tensor = super()._encode_vae_image(pixels.to(self.vae.device, self.vae.dtype), None)  # type: ignore[arg-type]
        return latents

    def unpacked(self, latents: torch.Tensor, height: int, width: int) -> torch.Tensor:
        """Latents as the stock pipeline hands them to its callback, in the form in which it takes them up again.

        Args:
            latents: ``(1, tokens, channels)``.
            height: Of the picture in pixels, a multiple of 16, which is a token's side.
            width: The same.

        Returns:
            ``(1, channels, height / 16, width / 16)``.
        """
        side = 2 * self.vae_scale_factor
        return latents.transpose(1, 2).reshape(1, -1, height // side, width // side)

    def prepare_image_latents(
        self,
        images: list[torch.Tensor],
        batch_size: int,
        generator: torch.Generator,
        device: torch.device,
        dtype: torch.dtype,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Number and pack the latents that are there instead of pictures; called by the stock pipeline."""
        del images
        packed: tuple[torch.Tensor, torch.Tensor] = super().prepare_image_latents(
            list(self.reference_latents), batch_size, generator, device, dtype
        )
        return packed

    def _encode_vae_image(self, image: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Latents pass; called by the stock pipeline for each reference."""
        del generator
        return image


def pipeline_for(networks: Networks, reference_latents: Sequence[torch.Tensor] = ()) -> LatentReferencePipeline:
    """A pipeline for one picture: what changes while it draws is its own, the networks are shared."""
    pipeline = LatentReferencePipeline(
        scheduler=FlowMatchEulerDiscreteScheduler.from_config(networks.scheduler.config),
        vae=networks.vae,
        text_encoder=None,  # type: ignore[arg-type]  # it works without one where it is given embeddings
        tokenizer=None,
        transformer=networks.transformer,
        is_distilled=networks.is_distilled,
    )
    pipeline.set_progress_bar_config(disable=True)  # type: ignore[no-untyped-call]
    pipeline.reference_latents = reference_latents
    return pipeline


def sigmas_after(done: int, steps: int) -> list[float] | None:
    """The noise levels of the steps that are left, before the pipeline shifts them; None has it choose them all."""
    return None if done == 0 else [float(level) for level in np.linspace(1.0, 1 / steps, steps)[done:]]
