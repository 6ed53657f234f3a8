"""Turning the bytes of a page into the text that a reader would see."""

from lseval.providers.extract.pool import ExtractLimits, Extractor, default_extractor
from lseval.providers.extract.result import Extracted
from lseval.providers.extract.routing import extract

__all__ = ["ExtractLimits", "Extracted", "Extractor", "default_extractor", "extract"]
