"""The routes of the catalogue: transport only."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from api import openapi
from api.body_limit import body_of
from api.json_body import check_media_type, ignored_header
from api.openapi import GATE, JSON_BODY, PICTURES, SENDING, read_by_hand, refusals, success
from api.parts import Decoders
from api.products.schemas import CreateProduct, Cursor, ProductBody, ProductId, ProductList, UpdateProduct
from api.products.service import ProductService, ReadProduct, Service, read_body
from api.routes import RoutePolicy
from domain.products import public_id
from domain.tables import Product
from imaging.decoder_pool import DecoderPool
from runtime.settings import IN_PRODUCT

PRODUCTS_PATH = "/api/v1/products"
PRODUCT_PATH = PRODUCTS_PATH + "/{productId}"

LATER_USES = {
    name: {"operationId": name, "parameters": {"productId": "$response.body#/id"}}
    for name in ("getProduct", "updateProduct", "archiveProduct")
}

REGISTRATION = (*GATE, *JSON_BODY, *PICTURES, "product_picture_refused")
"""How adding and changing a product may be refused."""

router = APIRouter(tags=["products"])


@router.post(
    PRODUCTS_PATH,
    operation_id="createProduct",
    summary="Register a garment, or update the one with the same externalId",
    status_code=201,
    response_description="Registered.",
    response_model=ProductBody,
    responses={
        200: success(
            model=ProductBody,
            description="The product with this externalId was updated.",
            always=["Location"],
            sometimes=["X-Ignored-Fields"],
            examples=openapi.PRODUCTS,
        ),
        201: success(always=["Location"], sometimes=["X-Ignored-Fields"], examples=openapi.PRODUCTS, links=LATER_USES),
        **refusals(*REGISTRATION),
    },
    openapi_extra=read_by_hand(CreateProduct, examples=openapi.CREATE_PRODUCTS),
)
@RoutePolicy(scope="products", pictures=IN_PRODUCT)
async def create_product(request: Request, decoders: Decoders, service: Service) -> Response:
    """Copy the pictures, so that later try-ons do not depend on the shop's address; wait until that is done."""
    read = await _read(request, decoders, service, CreateProduct)
    product, created = await service.register(read, decoders)
    headers = {"Location": f"{PRODUCTS_PATH}/{public_id(product.id)}", **ignored_header(read.ignored_fields)}
    return _answer(product, 201 if created else 200, headers)


@router.get(
    PRODUCTS_PATH,
    operation_id="listProducts",
    summary="The account's products, newest first",
    response_description="One page.",
    responses={200: success(examples=openapi.PRODUCT_PAGES), **refusals(*GATE, "field_invalid")},
)
@RoutePolicy(scope="products")
async def list_products(
    service: Service,
    limit: Annotated[int, Query(ge=1, le=100, description="Products on a page.")] = 50,
    cursor: Cursor = None,
    status: Annotated[Literal["active", "archived", "all"], Query(description="Which ones.")] = "active",
) -> ProductList:
    """Follow nextCursor until it is null."""
    found, next_cursor = await service.page(limit=limit, status=status, cursor=cursor)
    return ProductList(products=[ProductBody.of(product) for product in found], next_cursor=next_cursor)


@router.get(
    PRODUCT_PATH,
    operation_id="getProduct",
    summary="One product, archived or not",
    response_description="The product.",
    responses={200: success(examples=openapi.PRODUCTS), **refusals(*GATE, "product_not_found")},
)
@RoutePolicy(scope="products")
async def get_product(service: Service, productId: ProductId) -> ProductBody:
    """Find it by the id that the service gave it."""
    return ProductBody.of(await service.find(productId))


@router.patch(
    PRODUCT_PATH,
    operation_id="updateProduct",
    summary="Change some fields of a product",
    response_description="The product as it is now.",
    response_model=ProductBody,
    responses={
        200: success(sometimes=["X-Ignored-Fields"], examples=openapi.PRODUCTS),
        **refusals(*REGISTRATION, "product_not_found", "external_id_taken"),
    },
    openapi_extra=read_by_hand(UpdateProduct, examples=openapi.UPDATE_PRODUCTS),
)
@RoutePolicy(scope="products", pictures=IN_PRODUCT)
async def update_product(request: Request, decoders: Decoders, service: Service, productId: ProductId) -> Response:
    """Set what is sent, empty what is null, leave the rest; jobs that were accepted before keep what they had."""
    read = await _read(request, decoders, service, UpdateProduct)
    await service.find(productId)
    product, _ = await service.register(read, decoders, productId)
    return _answer(product, 200, ignored_header(read.ignored_fields))


@router.delete(
    PRODUCT_PATH,
    operation_id="archiveProduct",
    summary="Archive a product",
    status_code=204,
    response_description="It can no longer be tried on.",
    responses={204: success(), **refusals(*GATE, *SENDING, "product_not_found")},
)
@RoutePolicy(scope="products")
async def archive_product(service: Service, productId: ProductId) -> None:
    """Hide it from try-ons; a PATCH with status active brings it back."""
    await service.archive(productId)


async def _read(
    request: Request, decoders: DecoderPool, service: ProductService, model: type[CreateProduct | UpdateProduct]
) -> ReadProduct:
    check_media_type(request.headers)
    return await decoders.in_thread(service.account_id, read_body, body_of(request), model, service.parts.limits)


def _answer(product: Product, status: int, headers: dict[str, str]) -> JSONResponse:
    return JSONResponse(ProductBody.of(product).model_dump(mode="json"), status, headers=headers)
