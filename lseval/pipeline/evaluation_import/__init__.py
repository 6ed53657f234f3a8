"""Reading an exported evaluation back: pages, answers, verdicts and judgements out of files."""

from __future__ import annotations

from lseval.pipeline.evaluation_import.reports import OUTCOMES, EvaluationReport
from lseval.pipeline.evaluation_import.service import import_evaluation

__all__ = ["OUTCOMES", "EvaluationReport", "import_evaluation"]
