"""Pages that somebody saved in a folder, with a list of which file is which address."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lseval.domain.labels import PageOutcome
from lseval.domain.urls import canonical_key
from lseval.domain.web import FetchedPage
from lseval.errors import InputError
from lseval.providers.extract import Extractor, default_extractor

MANIFESTS: Final = ("pages.tsv", "pages.csv", "pages.jsonl", "pages.json")
"""Names of the list, the first that is there being taken."""

LARGEST_FILE: Final = 50 << 20
LARGEST_MANIFEST: Final = 200 << 20


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A line of the list: where the page came from, the file within the folder, what the server called it."""

    url: str
    file: str
    content_type: str = ""
    line: int = 0


@dataclass(frozen=True)
class SavedPages:
    """A folder of saved pages; as a `Fetch` it has what is in the list, and everything else is unavailable."""

    folder: Path
    files: Mapping[str, SavedFile] = field(repr=False)
    extractor: Extractor | None = field(default=None, repr=False)

    @classmethod
    def of(cls, folder: str | Path) -> SavedPages:
        """The folder's pages by canonical key. Raises InputError where there is no list that can be read."""
        folder = Path(folder)
        files: dict[str, SavedFile] = {}
        for saved in read_manifest(folder):
            try:
                files.setdefault(canonical_key(saved.url), saved)
            except InputError:
                continue  # nobody can ask for it
        return cls(folder, files)

    def __call__(self, url: str) -> FetchedPage:
        """The page saved for an address."""
        try:
            saved = self.files.get(canonical_key(url))
        except InputError as error:
            return FetchedPage(url, PageOutcome.BAD_ADDRESS, detail=str(error))
        if saved is None:
            return FetchedPage(url, PageOutcome.UNAVAILABLE, detail="the folder of saved pages does not have it")
        try:
            return read_saved(self.folder, saved, self.extractor or default_extractor())
        except InputError as error:
            return FetchedPage(url, PageOutcome.UNAVAILABLE, detail=str(error))


def read_manifest(folder: Path) -> list[SavedFile]:
    """The folder's list.

    `pages.tsv` and `pages.csv` have a first line with the columns `url`, `file` and, if wanted, `content_type`;
    `pages.jsonl` has an object with those names a line, and `pages.json` a list of such objects or one object of
    `url: file`.

    Raises:
        InputError: there is no list, or it cannot be read; the message names the file and the line.
    """
    path = next((folder / name for name in MANIFESTS if (folder / name).is_file()), None)
    if path is None:
        raise InputError(f"There is no list of pages in {folder}: one of {', '.join(MANIFESTS)} is needed.")
    if path.stat().st_size > LARGEST_MANIFEST:
        raise InputError(f"{path.name} is larger than {LARGEST_MANIFEST:,} bytes.")
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = list(_rows(path.suffix, text))
    except (UnicodeDecodeError, ValueError, csv.Error, RecursionError) as error:
        raise InputError(f"{path.name} cannot be read: {error}.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}.") from error
    return [_saved_file(path, line, row) for line, row in rows]


def _rows(suffix: str, text: str) -> Iterator[tuple[int, Any]]:
    if suffix in (".tsv", ".csv"):
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if suffix == ".tsv" else ",")
        for row in reader:
            yield reader.line_num, row
    elif suffix == ".jsonl":
        for line, piece in enumerate(text.split("\n"), 1):
            if piece.strip():
                yield line, json.loads(piece)
    else:
        found = json.loads(text)
        if isinstance(found, dict):
            found = [{"url": url, "file": file} for url, file in found.items()]
        if not isinstance(found, list):
            raise ValueError("neither a list nor an object")
        yield from enumerate(found, 1)


def _saved_file(path: Path, line: int, row: Any) -> SavedFile:
    values = [row.get(name) or "" for name in ("url", "file", "content_type")] if isinstance(row, dict) else []
    if not values or not all(isinstance(value, str) for value in values) or not values[0] or not values[1]:
        raise InputError(f"{path.name}, line {line}: a page needs a url and a file, both as text.")
    return SavedFile(values[0].strip(), values[1].strip(), values[2].strip(), line)


def read_saved(folder: Path, saved: SavedFile, extractor: Extractor) -> FetchedPage:
    """A saved page, read as a fetched one is.

    Raises:
        InputError: its file is not in the folder, is no plain file, or is too large.
    """
    path = folder / saved.file
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(folder.resolve()) or not real.is_file():
            raise InputError(f"The file {saved.file!r} is not in the folder.")
        if real.stat().st_size > LARGEST_FILE:
            raise InputError(f"The file {saved.file!r} is larger than {LARGEST_FILE:,} bytes.")
        content = real.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"The file {saved.file!r} cannot be opened.") from error
    found = extractor(content, saved.content_type)
    return FetchedPage(
        url=saved.url,
        outcome=found.outcome,
        final_url=saved.url,
        title=found.title,
        text=found.text,
        detail=found.detail,
        content=content,
        content_type=saved.content_type,
        sniffed_type=found.sniffed_type,
        decoder=found.decoder,
        decoder_source=found.decoder_source,
        flags=found.flags,
        published=found.published,
    )
