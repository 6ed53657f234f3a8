"""What a labeler's guidelines page shows: the codebook version that is in force in their audit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from annotation.codebook import QUESTIONS
from annotation.codebook_meanings import meanings_in_force
from annotation.codebook_text import LABEL_EXAMPLES, TYPE_EXAMPLES
from annotation.codebooks import codebook_text
from annotation.models import Audit
from annotation.presenting import choices_of
from lseval.domain.taxonomy import ErrorType
from lseval.rendering import render_markdown


def guidelines_shown(audit: Audit) -> dict[str, Any]:
    """A published version as HTML, with the labels and keys beside it; version 1 with its examples laid out."""
    text = codebook_text(audit.study_id, audit.codebook_version)
    return {
        "html": render_markdown(text, highest_heading=2) if text else "",
        "questions": [
            {
                "title": question.title,
                "ask": question.ask,
                "choices": [
                    {**asdict(choice), "example": LABEL_EXAMPLES[question.kind, choice.value]}
                    for choice in choices_of(question.kind, "", meanings_in_force(audit, question.kind))
                ],
            }
            for question in QUESTIONS.values()
        ],
        "types": [{"type": kind, "example": TYPE_EXAMPLES[kind]} for kind in ErrorType],
    }
