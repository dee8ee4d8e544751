"""A page for everybody: drop a picture, and read what it says of itself."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from api.dashboard.forms import SentForm
from api.dashboard.rendering import page
from api.errors import as_tryon_error
from api.parts import PageDecoders, Parts
from api.routes import RoutePolicy
from imaging.errors import ImageError
from imaging.provenance import OwnCertificates, sentences_of

PATH = "/verify-picture"

VISITORS = "visitors"
"""Share the decoders among themselves, whoever they are: half of them at most."""

router = APIRouter()


@router.get(PATH)
@RoutePolicy(public=True)
async def ask_for_picture(request: Request) -> Response:
    """The form."""
    return page(request, "signed_pictures.html", told=None)


@router.post(PATH)
@RoutePolicy(public=True, pictures=1)
async def read_picture(request: Request, form: SentForm, parts: Parts, decoders: PageDecoders) -> Response:
    """The picture is read in memory, kept nowhere, and forgotten with the answer."""
    upload = form.file("picture")
    if upload is None:
        return page(request, "signed_pictures.html", 422, told=None, error="Choose a picture.")
    own = parts.signer.own if parts.signer else OwnCertificates()
    try:
        told = await decoders.read_manifest(VISITORS, upload.data, own)
    except ImageError as error:
        refused = as_tryon_error(error)
        return page(request, "signed_pictures.html", refused.entry.status or 422, told=None, error=refused.sentence)
    sentences = sentences_of(told, parts.settings.dashboard.name)
    return page(request, "signed_pictures.html", told=told, sentences=sentences, name=upload.filename)
