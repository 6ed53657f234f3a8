"""Invented names: of places, bodies and things. None is meant to be anyone's."""

from __future__ import annotations

from random import Random
from typing import Final

_START_WORDS: Final = """
Ar Bel Bran Cal Cor Dal Dren Elv Fen Fal Gor Gal Hes Hol Ilv Jor Kel Kes Lor Lun Mar Mel Nor Nev Orv Osk Pel Quil
Ras Ros Sel Sor Tav Tes Ulv Ur Vel Vor Wen Yar Zel
"""
_MIDDLE_WORDS: Final = "a e i o u an en il or ua ava eli imo ora une ista ando elo ari ento"
_END_WORDS: Final = """
bask drun fess gault hollin kest lunde mough nock pell quist rand sforth strow tasse thorne vane vick wynd xell zeth
brand dask fleet garn
"""
_STARTS: Final = _START_WORDS.split()
_MIDDLES: Final = _MIDDLE_WORDS.split()
_ENDS: Final = _END_WORDS.split()
_REGIONS: Final = ("Hills", "Coast", "Vale", "Uplands", "Fens", "Shore", "Plateau", "March")
_BODIES: Final = ("Trust", "Board", "Council", "Society", "Foundation", "Association", "Office")


class Names:
    """Draws names, never the same twice."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._taken: set[str] = set()

    def stem(self) -> str:
        """A single invented word."""
        while True:
            draw = self._random
            name = draw.choice(_STARTS) + draw.choice(_MIDDLES) + draw.choice(_ENDS)
            if name not in self._taken:
                self._taken.add(name)
                return name

    def region(self) -> str:
        form = self._random.choice(_REGIONS)
        return f"{self.stem()} {form}"

    def body(self) -> str:
        form = self._random.choice(_BODIES)
        return f"{self.stem()} {form}"


def slug(name: str) -> str:
    """A name as it stands in an address."""
    return "-".join("".join(sign if sign.isalnum() else " " for sign in name.lower()).split())
