"""The keys of a page's requests."""

from __future__ import annotations

import uuid
from typing import Final

from django.utils.crypto import salted_hmac

_SALT: Final = "annotation.request_key"


def request_key(action: str, place: int, version: int, user_id: int) -> uuid.UUID:
    """The key of a page's request.

    It follows from what the page shows, so that a second click and a second window are known as the same request.
    Nobody can work it out who was not given the page: a decision that carries it comes from whoever was.
    """
    digest = salted_hmac(_SALT, f"{action} {place} {version} {user_id}", algorithm="sha256").digest()
    return uuid.UUID(bytes=digest[:16])
