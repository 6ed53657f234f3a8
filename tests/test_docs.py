"""The documents: links lead somewhere, the overview has every page, the commands are those of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
OURS = ("lseval.", "annotation", "agreement")
OF_DJANGO = "migrate"
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def _prose(page: Path) -> str:
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them: lower case, signs left out, spaces to hyphens."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(_prose(page))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in _LINK.findall(_prose(page)):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in _anchors(target), link


def test_overview_has_every_page() -> None:
    overview = {name.partition("#")[0] for name in _LINK.findall(_prose(DOCS / "README.md"))}
    assert overview >= {page.name for page in DOCS.glob("*.md")} - {"README.md"}


def _commands() -> Iterator[tuple[str, BaseCommand]]:
    for name, app in get_commands().items():
        if str(app).startswith(OURS):
            yield name, load_command_class(str(app), name)


def _options(name: str, command: BaseCommand) -> set[str]:
    """The long options that a command has beyond those of every Django command."""
    every = set(BaseCommand().create_parser("manage.py", name)._option_string_actions)
    own = set(command.create_parser("manage.py", name)._option_string_actions)
    return {option for option in own - every if option.startswith("--")}


def test_reference_has_every_command_with_exactly_its_options() -> None:
    lines = re.findall(r"^\| `(\w+)(?: [^`]*)?` \| (.*)$", (DOCS / "commands.md").read_text(), re.MULTILINE)
    told = {name: set(re.findall(r"`(--[\w-]+)`", rest)) for name, rest in lines}
    assert len(lines) == len(told)
    assert told == {name: set() if name == OF_DJANGO else _options(name, command) for name, command in _commands()}
