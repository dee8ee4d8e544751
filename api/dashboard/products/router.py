"""The pages of one account's products: transport only."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from api.dashboard.forms import CATEGORIES, PRODUCT_HINTS, RULES, Form, read_form
from api.dashboard.products import imports
from api.dashboard.products.form import (
    FIELDS,
    FILES,
    WHOLE,
    FormRefused,
    placed,
    read_sent,
    values_of,
)
from api.dashboard.products.pictures import picture_address, picture_answer
from api.dashboard.rendering import page, query_with, redirect
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from api.products.service import ProductService
from api.routes import RoutePolicy
from domain.errors import TryOnError
from domain.products import ACTIVE, ARCHIVED, public_id
from domain.tables import Product
from intake.job import inspect_pictures
from runtime.settings import IN_PRODUCT

PAGE_PRODUCTS = 48
"""Divides by two, three, four and six columns."""

STATUSES = ((ACTIVE, "Active"), (ARCHIVED, "Archived"), ("all", "All"))
LONGEST_SEARCH = 200

router = APIRouter()
router.include_router(imports.router)  # before the address of one product, which would fit it as well


@router.get("/products")
async def list_products(request: Request) -> Response:
    """The catalogue, newest first."""
    query = request.query_params
    search = query.get("q", "").strip()[:LONGEST_SEARCH]
    status = next((each for each, _ in STATUSES if each == query.get("status")), ACTIVE)
    found = await _service(request).page(
        limit=PAGE_PRODUCTS,
        status=None if status == "all" else status,
        cursor=query.get("after") or None,
        search=search,
    )
    return page(
        request,
        "products/list.html",
        products=found.products,
        search=search,
        wanted=status,
        statuses=STATUSES,
        first=query_with(query, after=None) if query.get("after") else None,
        older=query_with(query, after=found.next_cursor) if found.next_cursor else None,
        bare=not (search or query.get("status") or query.get("after")),
        address=picture_address,
        public_id=public_id,
        category=CATEGORIES.get,
    )


@router.get("/products/new")
async def show_new(request: Request) -> Response:
    """An empty form."""
    return _form_page(request, None, None)


@router.post("/products/new")
@RoutePolicy(pictures=IN_PRODUCT)
async def create_product(request: Request) -> Response:
    """Register a garment; the page waits until its pictures are copied."""
    form, service = await read_form(request), _service(request)
    external_id = form.text("externalId")
    holder = await service.named(external_id) if external_id else None
    if holder is not None:
        return _form_page(request, None, form, {"externalId": "Another product already uses this SKU."}, holder=holder)
    return await _saved(request, form, None)


@router.get("/products/{productId}")
async def show_product(request: Request, productId: str) -> Response:
    """One product, archived or not."""
    product = await _service(request).find(productId)
    return page(
        request,
        "products/show.html",
        product=product,
        address=picture_address,
        product_id=public_id(product.id),
        category=CATEGORIES.get,
    )


@router.get("/products/{productId}/edit")
async def show_edit(request: Request, productId: str) -> Response:
    """A form with what the product is now."""
    product = await _service(request).find(productId)
    return _form_page(request, product, None)


@router.post("/products/{productId}/edit")
@RoutePolicy(pictures=IN_PRODUCT)
async def change_product(request: Request, productId: str) -> Response:
    """Change it; jobs that were accepted before keep what they had."""
    form = await read_form(request)
    return await _saved(request, form, await _service(request).find(productId))


@router.get("/products/{productId}/archive")
async def ask_to_archive(request: Request, productId: str) -> Response:
    """Ask before it can no longer be tried on."""
    product = await _service(request).find(productId)
    return page(request, "products/archive.html", product=product, product_id=public_id(product.id))


@router.post("/products/{productId}/archive")
async def archive_product(request: Request, productId: str) -> Response:
    """Hide it from try-ons."""
    await read_form(request)
    await _service(request).archive(productId)
    return redirect(f"/products/{productId}", "product_archived")


@router.post("/products/{productId}/bring-back")
async def bring_back(request: Request, productId: str) -> Response:
    """Let it be tried on again."""
    await read_form(request)
    await _service(request).bring_back(productId)
    return redirect(f"/products/{productId}", "product_active")


@router.get("/products/{productId}/picture/{side}.webp")
async def show_picture(request: Request, productId: str, side: str) -> Response:
    """Its front or back, small."""
    return await picture_answer(request, await _service(request).find(productId), side)


async def _saved(request: Request, form: Form, product: Product | None) -> Response:
    """Carry a form out, or show it again with what is wrong beside its fields."""
    parts, service, holder = parts_of(request), _service(request), None
    product_id = None if product is None else public_id(product.id)
    try:
        read = read_sent(form, parts.limits, changes=product is not None)
        account_id = visitor_of(request).account_id
        media_types = await inspect_pictures(read.pictures, parts.limits, request.app.state.page_decoders, account_id)
        saved, _ = await service.register(read, media_types, product_id)
    except FormRefused as error:
        errors, status = error.errors, 422
    except TryOnError as error:
        if error.code == "product_not_found":
            raise
        errors, status = placed(error), error.entry.status or 422
        if error.code == "external_id_taken":
            errors, holder = {"externalId": error.sentence}, await service.named(form.text("externalId"))
    else:
        notice = "product_created" if product is None else "product_saved"
        return redirect(f"/products/{public_id(saved.id)}", notice)
    return _form_page(request, product, form, errors, status=status, holder=holder)


def _form_page(
    request: Request,
    product: Product | None,
    sent: Form | None,
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


def _service(request: Request) -> ProductService:
    return ProductService(parts_of(request), visitor_of(request).account_id)
