"""What a page's words give away: orders to whoever judges it, a wall before the text, a shell that scripts fill."""

from __future__ import annotations

import re
from typing import Final

from lseval.domain.labels import PageOutcome

INSTRUCTIONS: Final = "instructions_in_page"
"""Flag: the page, seen or hidden, speaks to a judge or an agent. Its words are evidence only, never obeyed."""

_WALL_LENGTH: Final = 1_500
_CONSENT_LENGTH: Final = 600
_SHELL_LENGTH: Final = 250
_SCANNED: Final = 2_000_000

_ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|these|those|every)\s+){0,3}"
    r"(?:previous|prior|above|earlier|preceding|other|foregoing)(?:\s+\w+){0,2}\s+"
    r"(?:instructions?|prompts?|rules?|directions?|guidelines?|messages?|context)\b"
    r"|\b(?:ignore|disregard)\s+(?:previous|prior|above|everything\s+(?:above|before))\b"
    r"|\b(?:mark|label|rate|judge|grade|score|count|treat|report)\s+(?:(?:this|the|it|all|every|any|these|each)\s*)"
    r"(?:\w+\s+){0,3}as\s+(?:fully\s+)?(?:correct|true|supported|verified|valid|passing)\b"
    r"|\byou\s+are\s+(?:now\s+)?(?:an?\s+|the\s+)?(?:ai|llm|language\s+model|assistant|judge|grader"
    r"|evaluator|agent)\b"
    r"|\b(?:system|hidden|developer)\s+(?:prompt|message|instruction)s?\s*:"
    r"|\b(?:ai|llm|language\s+model)s?(?:\s+(?:agents?|assistants?|judges?|graders?|evaluators?|crawlers?))?\s*"
    r"(?:reading\s+this|who\s+read|that\s+read|:|,)\s*(?:please\s+)?(?:must|should|ignore|mark|output"
    r"|respond|answer)\b"
    r"|\b(?:respond|reply|answer|output)\s+(?:only\s+)?with\s+(?:the\s+(?:word|verdict|label)\s+)?[\"'{]?"
    r"(?:correct|supported|verdict)\b",
    re.IGNORECASE,
)
_PAYWALL: Final = re.compile(
    r"subscribe\s+(?:now\s+)?to\s+(?:continue|keep|read|unlock)|to\s+continue\s+reading"
    r"|already\s+a\s+(?:subscriber|member)"
    r"|(?:sign|log)\s*in\s+to\s+(?:continue|read|view|see|access)|(?:please\s+)?(?:sign"
    r"|log)\s*in\s+or\s+(?:register|sign)"
    r"|create\s+(?:a\s+free|an?)\s+account\s+to|(?:subscribers?|members?)[\s-]only|this\s+(?:article"
    r"|content|page)\s+is\s+"
    r"(?:only\s+)?(?:for|available\s+to)\s+(?:\w+\s+)?(?:subscribers|members)",
    re.IGNORECASE,
)
_ROBOTS: Final = re.compile(
    r"verif(?:y|ying)\s+(?:that\s+)?you\s+are\s+(?:a\s+)?human|are\s+you\s+a\s+(?:ro)?bot|\bcaptcha\b"
    r"|checking\s+(?:if\s+the\s+site|your\s+browser)|^just\s+a\s+moment|unusual\s+traffic"
    r"|you\s+have\s+been\s+blocked"
    r"|access\s+(?:to\s+this\s+\w+\s+)?(?:has\s+been\s+)?denied|not\s+a\s+robot",
    re.IGNORECASE | re.MULTILINE,
)
_CONSENT: Final = re.compile(
    r"before\s+you\s+continue|we\s+(?:value|respect|care\s+about)\s+your\s+privacy"
    r"|accept\s+(?:all\s+)?(?:the\s+)?cookies"
    r"|(?:cookie|privacy)\s+(?:consent|preferences|choices)|consent\s+to\s+(?:the\s+use\s+of|our|cookies)"
    r"|(?:agree|accept)\s+(?:and|&)\s+(?:continue|close|proceed)|(?:we\s+and\s+our|our)\s+(?:\d+\s+)?partners",
    re.IGNORECASE,
)
_NEEDS_SCRIPT: Final = re.compile(
    r"(?:enable|turn\s+on|activate|requires?|needs?|without|disabled|supports?)\s+(?:\w+\s+){0,3}java\s*script"
    r"|java\s*script\s+(?:is|must\s+be|to\s+be|has\s+to\s+be)\s+(?:\w+\s+)?(?:required|enabled|disabled"
    r"|needed|off)",
    re.IGNORECASE,
)


def gives_orders(text: str) -> bool:
    """Whether a text speaks to a judge or an agent, telling it what to do or to find."""
    return _ORDERS.search(" ".join(text[:_SCANNED].split())) is not None


def outcome_of_html(text: str, *, title: str, unscripted: str, scripts: int) -> tuple[str, str]:
    """The outcome of a page that came whole, and why, as (`PageOutcome`, detail).

    `unscripted` is what the page tells readers without scripts, `scripts` how many scripts it has. Walls and
    shells are told by their words and only on short pages: a long page that speaks of cookies is a page.
    """
    said = f"{title}\n{text}"
    if len(text) < _WALL_LENGTH and _ROBOTS.search(said):
        return PageOutcome.WALLED, "the page asks for proof that a person reads it"
    if len(text) < _WALL_LENGTH and _PAYWALL.search(said):
        return PageOutcome.WALLED, "the page asks to subscribe or to log in"
    if len(text) < _CONSENT_LENGTH and _CONSENT.search(said):
        return PageOutcome.WALLED, "the page asks for consent first"
    if len(text) < _SHELL_LENGTH and _NEEDS_SCRIPT.search(f"{said}\n{unscripted}"):
        return PageOutcome.NEEDS_JS, "the page says that it needs scripts"
    if not text.strip():
        if scripts:
            return PageOutcome.NEEDS_JS, "the page has scripts and no text"
        return PageOutcome.EMPTY, "the page has no text"
    return PageOutcome.OK, ""
