"""The stylesheet's colours keep WCAG 2.2 AA in both themes, and the files keep the content security policy."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "lseval" / "static" / "lseval"
CSS = (STATIC / "css" / "lseval.css").read_text(encoding="utf-8")
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
THEMES = ("light", "dark")

_TOKEN = re.compile(r"--([a-z0-9-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\);")
COLOURS = {name: {"light": light, "dark": dark} for name, light, dark in _TOKEN.findall(CSS)}

GROUNDS = ("paper", "sunken", "raised")
TONES = ("correct", "incorrect", "unverifiable", "unjudged", "caution")
TEXT_PAIRS = [
    *[(text, ground) for text in ("ink", "ink-soft", "accent", "accent-strong") for ground in GROUNDS],
    *[
        (text, ground)
        for text in ("correct", "incorrect", "unverifiable", "unjudged", "caution")
        for ground in GROUNDS
    ],
    *[(text, "accent-soft") for text in ("ink", "ink-soft", "accent", "correct", "incorrect", "unverifiable")],
    *[("ink", ground) for ground in ("caution-soft", "incorrect-soft", "mark", "hit")],
    ("ink-soft", "caution-soft"),
    ("accent", "caution-soft"),
    ("accent", "incorrect-soft"),
    ("caution", "caution-soft"),
    ("incorrect", "incorrect-soft"),
    ("unverifiable", "unverifiable-soft"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("on-correct", "correct"),
    ("on-incorrect", "incorrect"),
    ("on-hit-current", "hit-current"),
    ("paper", "ink"),
    *[("on-heat-low", f"heat-{step}") for step in range(6)],
    *[("on-heat-high", f"heat-{step}") for step in range(6, 10)],
]
UI_PAIRS = [
    *[(part, ground) for part in ("edge", "focus") for ground in GROUNDS],
    ("focus", "accent-soft"),
    ("edge", "accent-soft"),
    ("accent", "paper"),
    ("on-incorrect", "incorrect"),
]


def _linear(colour: str) -> np.ndarray:
    """Linear RGB, shape (3,), in 0 to 1, of `#rrggbb` (IEC 61966-2-1)."""
    encoded = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def contrast(first: str, second: str) -> float:
    """The contrast ratio of WCAG 2.2, 1 to 21."""
    lighter, darker = sorted((float(_linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (first, second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_matches_known_values():
    # Black on white is (1 + 0.05) / (0 + 0.05) = 21; #767676 is the lightest grey that passes on white.
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    assert contrast("#777777", "#ffffff") < 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("text", "ground"), TEXT_PAIRS)
def test_text_has_contrast_of_at_least_4_5(text: str, ground: str, theme: str):
    assert contrast(COLOURS[text][theme], COLOURS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("part", "ground"), UI_PAIRS)
def test_controls_and_focus_have_contrast_of_at_least_3(part: str, ground: str, theme: str):
    assert contrast(COLOURS[part][theme], COLOURS[ground][theme]) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_heat_steps_move_steadily_away_from_the_ground(theme: str):
    steps = [contrast(COLOURS[f"heat-{step}"][theme], COLOURS["paper"][theme]) for step in range(10)]
    assert all(later > earlier * 1.1 for earlier, later in pairwise(steps))


# Full deficiency, G. M. Machado, M. M. Oliveira and L. A. F. Fernandes (2009), "A Physiologically-based Model
# for Simulation of Color Vision Deficiency", table of matrices for severity 1.0; linear RGB.
_DEFICIENCIES = {
    "protanopia": (0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998),
    "deuteranopia": (0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881),
    "tritanopia": (1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039),
}
_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def _lab(linear: np.ndarray) -> np.ndarray:
    """CIE L*a*b* under D65 of linear RGB."""
    ratios = (_TO_XYZ @ np.clip(linear, 0, 1)) / np.array([0.9505, 1.0, 1.089])
    x, y, z = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("deficiency", _DEFICIENCIES)
def test_label_colours_stay_apart_for_colour_blind_eyes(deficiency: str, theme: str):
    # A difference of 15 in L*a*b* is far beyond what is just noticeable (about 2.3).
    matrix = np.array(_DEFICIENCIES[deficiency]).reshape(3, 3)
    seen = [_lab(matrix @ _linear(COLOURS[name][theme])) for name in ("correct", "incorrect", "unverifiable")]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 15


def test_every_variable_that_is_used_is_defined():
    local = set(re.findall(r"[{;\s]--([a-z0-9-]+):", CSS))
    assert set(re.findall(r"var\(--([a-z0-9-]+)", CSS)) <= local


def test_rules_take_their_colours_from_tokens():
    rules = CSS[CSS.index("/* ---------- 2 Page") :]
    # A chart's plate stays white in both themes: charts are drawn for white paper.
    rules = re.sub(r"\.figure \.plate \{[^}]*\}", "", rules)
    assert re.findall(r"#[0-9a-f]{3,8}\b(?=[\s;,)])", rules) == []


def test_both_themes_can_be_forced_and_print_is_light():
    assert ':root[data-theme="light"] { color-scheme: light; }' in CSS
    assert ':root[data-theme="dark"] { color-scheme: dark; }' in CSS
    printed = CSS[CSS.index("@media print") :]
    assert ":root, :root[data-theme] { color-scheme: light; }" in printed


def test_motion_only_where_no_preference_was_stated():
    allowed = re.search(r"@media \(prefers-reduced-motion: no-preference\) \{.*?\n\}", CSS, re.DOTALL)
    assert allowed is not None
    assert re.findall(r"(?:transition|animation|scroll-behavior: smooth)[^;]*;", CSS.replace(allowed[0], "")) == []


@pytest.mark.parametrize("file", [p for p in sorted(STATIC.rglob("*")) if p.is_file()], ids=lambda p: p.name)
def test_static_files_ask_nothing_of_the_network(file: Path):
    text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?://|@import|url\(", text) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda p: str(p.relative_to(ROOT)))
def test_templates_keep_the_content_security_policy(template: Path):
    text = template.read_text(encoding="utf-8")
    assert re.findall(r"\sstyle\s*=|<style\b|\son[a-z]+\s*=|javascript:", text, re.IGNORECASE) == []
    assert [tag for tag in re.findall(r"<script\b[^>]*>", text) if "src=" not in tag] == []
