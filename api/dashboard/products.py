"""The account's products in the browser: a grid with pictures, one product, adding, changing and archiving it.

A form is judged by the models of the API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from api.dashboard.forms import CATEGORIES, PRODUCT_HINTS, RULES, FieldsRefused, Form, SentForm, Upload, capitalised
from api.dashboard.rendering import YEAR_SECONDS, page, query_with, redirect
from api.errors import PageRefused
from api.json_body import PictureReader
from api.parts import PageDecoders, parts_of
from api.products import imports
from api.products.schemas import CreateProduct, ProductBody, UpdateProduct
from api.products.service import ProductService, ReadProduct, Service, read_product
from api.routes import PAGES, RoutePolicy
from domain.errors import TryOnError
from domain.products import ACTIVE, ARCHIVED, public_id
from domain.tables import Product
from imaging.decode import decode_image
from imaging.decoder_pool import DecoderPool
from imaging.encode import encode_webp
from imaging.limits import STORED_LIMITS, ImageLimits
from intake.complaints import complaints_of, field_name
from intake.job import Picture
from runtime.object_store import ObjectMissingError
from runtime.settings import IN_PRODUCT
from workflows.contracts import BACK, FRONT

PAGE_PRODUCTS = 48
"""Divides by two, three, four and six columns."""

STATUSES = ((ACTIVE, "Active"), (ARCHIVED, "Archived"), ("all", "All"))
LONGEST_SEARCH = 200

WIDTHS = (240, 480)
"""Pixels that the longer side has at most: in a grid, and on a product's own page."""

VERSION_DIGITS = 8
UNKNOWN_PICTURE = "There is no such picture."

TEXTS = ("name", "externalId", "category", *PRODUCT_HINTS)
FIELDS = (*TEXTS, FRONT, BACK)
FILES = {FRONT: "frontFile", BACK: "backFile"}
REMOVE_BACK = "removeBack"
WHOLE = ""
"""The name under which stands what is wrong with the product as a whole."""

CHANGED_MEANWHILE = "The product was changed after this form was opened. Save again to have it as it stands here."

NEEDED = {"name": "Enter a name.", "category": "Choose the part of the body.", FRONT: "Choose a file or enter a link."}
"""What is said where a field is empty that nothing goes without."""

_UPLOADED = "a file that came along"

router = APIRouter()
router.include_router(imports.router)  # before the address of one product, which would fit it as well


@router.get("/products")
async def list_products(request: Request, service: Service) -> Response:
    """The catalogue, newest first."""
    query = request.query_params
    search = query.get("q", "").strip()[:LONGEST_SEARCH]
    status = next((each for each, _ in STATUSES if each == query.get("status")), ACTIVE)
    found, next_cursor = await service.page(
        limit=PAGE_PRODUCTS, status=status, cursor=query.get("after") or None, search=search
    )
    return page(
        request,
        "products/list.html",
        products=found,
        search=search,
        wanted=status,
        statuses=STATUSES,
        first=query_with(query, "/products", after=None) if query.get("after") else None,
        older=query_with(query, "/products", after=next_cursor) if next_cursor else None,
        bare=not (search or query.get("status") or query.get("after")),
        address=picture_address,
        public_id=public_id,
        category=CATEGORIES.get,
    )


@router.get("/products/new")
async def show_new(request: Request) -> Response:
    """An empty form."""
    return _form_page(request)


@router.post("/products/new")
@RoutePolicy(pictures=IN_PRODUCT)
async def create_product(request: Request, form: SentForm, decoders: PageDecoders, service: Service) -> Response:
    """Register a garment; the page waits until its pictures are copied."""
    external_id = form.text("externalId")
    holder = await service.named(external_id) if external_id else None
    if holder is not None:
        return _form_page(request, None, form, {"externalId": "Another product already uses this SKU."}, holder=holder)
    return await _saved(request, form, decoders, service)


@router.get("/products/{productId}")
async def show_product(request: Request, service: Service, productId: str) -> Response:
    """One product, archived or not."""
    product = await service.find(productId)
    return page(
        request,
        "products/show.html",
        product=product,
        address=picture_address,
        product_id=public_id(product.id),
        category=CATEGORIES.get,
    )


@router.get("/products/{productId}/edit")
async def show_edit(request: Request, service: Service, productId: str) -> Response:
    """A form with what the product is now."""
    return _form_page(request, await service.find(productId))


@router.post("/products/{productId}/edit")
@RoutePolicy(pictures=IN_PRODUCT)
async def change_product(
    request: Request, form: SentForm, decoders: PageDecoders, service: Service, productId: str
) -> Response:
    """Change it; jobs that were accepted before keep what they had."""
    return await _saved(request, form, decoders, service, await service.find(productId))


@router.get("/products/{productId}/archive")
async def ask_to_archive(request: Request, service: Service, productId: str) -> Response:
    """Ask before it can no longer be tried on."""
    product = await service.find(productId)
    return page(request, "products/archive.html", product=product, product_id=public_id(product.id))


@router.post("/products/{productId}/archive")
async def archive_product(service: Service, productId: str) -> Response:
    """Hide it from try-ons."""
    await service.archive(productId)
    return redirect(f"/products/{productId}", "product_archived")


@router.post("/products/{productId}/bring-back")
async def bring_back(service: Service, productId: str) -> Response:
    """Let it be tried on again."""
    await service.bring_back(productId)
    return redirect(f"/products/{productId}", "product_active")


@router.get("/products/{productId}/picture/{side}.webp")
async def show_picture(
    request: Request, decoders: PageDecoders, service: Service, productId: str, side: str
) -> Response:
    """Its front or back, no larger than asked for; browsers that have it already get none."""
    product = await service.find(productId)
    reference = _reference(product, side)
    if reference is None:
        raise PageRefused(404, UNKNOWN_PICTURE)
    asked = request.query_params.get("w", "")
    width = int(asked) if asked in map(str, WIDTHS) else WIDTHS[-1]
    tag = f'"{reference["sha256"][:32]}-{width}"'
    lasting = request.query_params.get("v") == reference["sha256"][:VERSION_DIGITS]
    keeping = f"private, max-age={YEAR_SECONDS}, immutable" if lasting else "private, no-cache"
    headers = {"ETag": tag, "Cache-Control": keeping}
    if tag in request.headers.get("If-None-Match", ""):
        return Response(status_code=304, headers=headers)
    try:
        data = await service.parts.store.get(reference["key"])
    except ObjectMissingError:
        raise PageRefused(404, UNKNOWN_PICTURE) from None
    small = await decoders.in_thread(
        product.account_id, lambda: encode_webp(decode_image(data, STORED_LIMITS, max_side=width))
    )
    return Response(small, media_type="image/webp", headers=headers)


def _reference(product: Product, side: str) -> dict[str, Any] | None:
    return {"front": product.front, "back": product.back}.get(side)


def picture_address(product: Product, side: str, width: int = WIDTHS[-1]) -> str | None:
    """Where the page finds it: an address that changes with the picture. None where there is no picture."""
    reference = _reference(product, side)
    if reference is None:
        return None
    query = urlencode({"v": reference["sha256"][:VERSION_DIGITS], "w": width})
    return f"{PAGES}/products/{public_id(product.id)}/picture/{side}.webp?{query}"


async def _saved(
    request: Request, form: Form, decoders: DecoderPool, service: ProductService, product: Product | None = None
) -> Response:
    """Carry a form out, or show it again with what is wrong beside its fields."""
    product_id, holder = None if product is None else public_id(product.id), None
    try:
        if product is not None and form.text("revision") not in ("", str(product.revision)):
            raise FieldsRefused({WHOLE: CHANGED_MEANWHILE}, 409)
        read = read_sent(form, service.parts.limits, changes=product is not None)
        saved, _ = await service.register(read, decoders, product_id)
    except FieldsRefused as refused:
        errors, status = refused.errors, refused.status
    except TryOnError as error:
        if error.code == "product_not_found":
            raise
        about_fields = error.fields and error.fields.keys() <= set(FIELDS)
        errors, status = (
            capitalised(error.fields) if about_fields else {WHOLE: error.sentence},
            error.entry.status or 422,
        )
        if error.code == "external_id_taken":
            errors, holder = {"externalId": error.sentence}, await service.named(form.text("externalId"))
    else:
        notice = "product_created" if product is None else "product_saved"
        return redirect(f"/products/{public_id(saved.id)}", notice)
    return _form_page(request, product, form, errors, status=status, holder=holder)


def _form_page(
    request: Request,
    product: Product | None = None,
    sent: Form | None = None,
    errors: Mapping[str, str] | None = None,
    *,
    status: int = 422,
    holder: Product | None = None,
) -> Response:
    return page(
        request,
        "products/form.html",
        status if errors else 200,
        product=product,
        product_id=None if product is None else public_id(product.id),
        values=values_of(product, sent),
        errors={**dict.fromkeys(FIELDS, ""), **(errors or {})},
        whole=(errors or {}).get(WHOLE, ""),
        wrong=bool(errors),
        files_chosen=sent is not None and any(map(sent.file, FILES.values())),
        holder=holder,
        holder_id=None if holder is None else public_id(holder.id),
        address=picture_address,
        hints=PRODUCT_HINTS,
        rules=RULES,
        limits=parts_of(request).limits,
    )


class UploadReader(PictureReader):
    """Takes pictures from a form's files, and from addresses where there is no file."""

    def __init__(self, limits: ImageLimits, uploads: Mapping[str, Upload]) -> None:
        super().__init__(limits)
        self._longest = limits.max_bytes
        self._uploads = uploads

    def picture(self, field: str, value: str | None) -> Picture | str | None:
        """As the base class; too large a file is refused further on, like an inline picture that is too large."""
        if field not in self._uploads:
            return super().picture(field, value)
        data = self._uploads[field].data
        return Picture(field, data if len(data) <= self._longest else None)


def values_of(product: Product | None, sent: Form | None) -> dict[str, str]:
    """What a form shows: again what was sent and not right, or else what the product is."""
    if sent is not None:
        return {name: sent.text(name) for name in FIELDS}
    body = {} if product is None else ProductBody.of(product).model_dump(mode="json")
    return {name: body.get(name) or "" for name in FIELDS}


def read_sent(form: Form, limits: ImageLimits, *, changes: bool) -> ReadProduct:
    """Judge a form.

    Args:
        form: As it came.
        limits: What its pictures have to meet.
        changes: Whether the product is there already: what is empty becomes empty then, but pictures stay as they are.

    Raises:
        FieldsRefused: Some fields are not right.
        TryOnError: An address is not one that is dialled.
    """
    uploads = {field: upload for field, name in FILES.items() if (upload := form.file(name)) is not None}
    if both := [field for field in uploads if form.text(field)]:
        raise FieldsRefused(dict.fromkeys(both, "Choose a file or enter a link, not both."))
    values = {name: _UPLOADED if name in uploads else form.text(name) or None for name in FIELDS}
    if changes and (empty := {name: NEEDED[name] for name in ("name", "category") if values[name] is None}):
        raise FieldsRefused(empty)
    stays = {FRONT} if form.text(REMOVE_BACK) else {FRONT, BACK}
    said = {name: value for name, value in values.items() if value is not None or (changes and name not in stays)}
    try:
        product = UpdateProduct.model_validate(said) if changes else CreateProduct.model_validate(said)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)
        missing = {field_name(each["loc"]) for each in wrong if each["type"] == "missing"}
        errors = {name: NEEDED[name] if name in missing else said for name, said in complaints_of(wrong).items()}
        raise FieldsRefused(capitalised(errors)) from None
    return read_product(product, UploadReader(limits, uploads))
