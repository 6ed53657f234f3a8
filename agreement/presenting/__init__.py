"""A report's numbers in the shapes that the pages' templates take: one module per page or part of one."""

from agreement.presenting.report import report_view

__all__ = ["report_view"]
