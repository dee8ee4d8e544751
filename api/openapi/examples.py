"""Bodies that the document shows. Requests among them are accepted as they are, and the tests send them.

FastAPI drops fields that are null from the document, so no example has any.
"""

from __future__ import annotations

from typing import Any

PICTURE = "data:image/webp;base64,UklGRiIAAABXRUJQVlA4TBYAAAAv/8A/AAcQEf0PACjS//8U0f/U//4D"
"""A plain square of 256 pixels in 42 bytes: a stand-in for a photo."""

SHIRT = "https://shop.example/pictures/shirt.jpg"
JEANS = "https://shop.example/pictures/jeans.jpg"

JOB_ID = "7d9f3c52-1f0e-4c5b-9a53-0b9a4f2f6c11"
PRODUCT_ID = "prod_3f0c1e6a5b7d4c2e9a8b7c6d5e4f3a2b"

SINGLE_REQUESTS: dict[str, Any] = {
    "shirt": {
        "customerPhotoBase64": PICTURE,
        "garmentImageUrl": PICTURE,
        "category": "upper_body",
        "garmentCategory": "t-shirt",
        "size": "M",
        "customerSize": "L",
        "tuckState": "untucked",
        "viewAngle": "front",
    },
    "picture in a shop": {"customerPhotoBase64": PICTURE, "garmentImageUrl": JEANS, "category": "lower_body"},
    "registered garment": {"customerPhotoBase64": PICTURE, "productId": "SHIRT-0815-M"},
}

COMBO_REQUESTS: dict[str, Any] = {
    "shirt and jeans": {
        "customerPhotoBase64": PICTURE,
        "garments": [
            {"garmentImageUrl": SHIRT, "category": "upper_body", "garmentCategory": "t-shirt", "tuckState": "tucked"},
            {"garmentImageUrl": JEANS, "category": "lower_body", "garmentCategory": "jeans", "size": "W32/L34"},
        ],
    },
}

CREATE_PRODUCTS: dict[str, Any] = {
    "shirt": {
        "name": "Linen shirt",
        "category": "upper_body",
        "garmentImageUrl": PICTURE,
        "externalId": "SHIRT-0815-M",
        "garmentCategory": "shirt",
        "size": "M",
    },
}

UPDATE_PRODUCTS: dict[str, Any] = {
    "another size": {"size": "L"},
    "brought back": {"status": "active"},
}

ACCEPTED: dict[str, Any] = {"accepted": {"jobId": JOB_ID, "status": "processing"}}

POLLS: dict[str, Any] = {
    "processing": {"status": "processing"},
    "completed": {
        "status": "completed",
        "resultImageBase64": "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wBD",
        "generationTimeMs": 11840,
    },
    "failed": {"status": "failed", "error": "No person was found in the photo. Use a photo that shows you."},
}

PRODUCT: dict[str, Any] = {
    "id": PRODUCT_ID,
    "externalId": "SHIRT-0815-M",
    "name": "Linen shirt",
    "category": "upper_body",
    "garmentCategory": "shirt",
    "garmentState": "closed",
    "tuckState": "untucked",
    "size": "M",
    "hasBackImage": False,
    "status": "active",
    "revision": 1,
    "createdAt": "2026-03-01T09:30:00.250000Z",
    "updatedAt": "2026-03-01T09:30:00.250000Z",
}

PRODUCTS: dict[str, Any] = {"product": PRODUCT}
PRODUCT_PAGES: dict[str, Any] = {
    "not the last page": {
        "products": [PRODUCT],
        "nextCursor": "MjAyNi0wMy0wMVQwOTozMDowMC4yNTAwMDArMDA6MDAgM2YwYzFlNmE1YjdkNGMyZTlhOGI3YzZkNWU0ZjNhMmI=",
    }
}

USAGE: dict[str, Any] = {
    "free trial": {
        "plan": "trial",
        "period": {"start": "2026-03-01T09:00:00Z", "end": "2026-03-08T09:00:00Z"},
        "included": 10,
        "used": 4,
        "reserved": 1,
        "topUpRemaining": 0,
        "dailyCap": 10,
        "dailyUsed": 2,
        "trialEndsAt": "2026-03-08T09:00:00Z",
    },
}
