"""What the program says to models: text files with a version, and the digest that names them."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lseval.domain.chat import ToolSchema

PROMPT_VERSION = "v1"
_NAMES = ("system.txt", "text_tools.txt", "final_only.txt", "notices.toml")


@dataclass(frozen=True, slots=True)
class Wording:
    """One version of the prompts. `digest` is the SHA-256 of all its files, which is stored with every run."""

    version: str
    digest: str
    system: str
    text_tools: str
    final_only: str
    notices: Mapping[str, str]

    def notice(self, name: str, **values: object) -> str:
        """The notice of that name with its values filled in."""
        return self.notices[name].format(**values)

    def opening(self, tools: Sequence[ToolSchema], *, is_text: bool) -> str:
        """The system message; with the tools described in it for a model that is to call them by writing."""
        if not is_text:
            return self.system
        described = "\n".join(
            f"- {tool.name}: {tool.description}\n  {json.dumps(tool.parameters, ensure_ascii=False)}"
            for tool in tools
        )
        return f"{self.system}\n{self.text_tools}\n{described}\n"


@cache
def wording(version: str = PROMPT_VERSION) -> Wording:
    """The prompts of a version, read once."""
    folder = files("lseval.agent") / "prompts" / version
    contents = {name: (folder / name).read_text(encoding="utf-8") for name in _NAMES}
    digest = hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
    return Wording(
        version=version,
        digest=digest,
        system=contents["system.txt"],
        text_tools=contents["text_tools.txt"],
        final_only=contents["final_only.txt"].strip(),
        notices=tomllib.loads(contents["notices.toml"]),
    )
