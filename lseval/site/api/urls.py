"""The addresses of the API, below `/api/`."""

from django.urls import path

from lseval.site.api.docs_page import api_page
from lseval.site.api.document_view import Document
from lseval.site.api.export_views import Exports, OneExport
from lseval.site.api.progress import OwnLabels, OwnProgress, Progress
from lseval.site.api.reports import Agreement, OneReport, Reports
from lseval.site.api.resources import LISTS
from lseval.site.api.rows import one_of

_STUDY = "studies/<slug:slug>"

urlpatterns = [
    path("", api_page, name="api"),
    path("schema/", Document.as_view(), name="api_schema"),
    *(path(f"{_STUDY}/{name}/", view.as_view(), name=f"api_{view.operation}") for name, (view, _) in LISTS.items()),
    *(
        path(
            f"{_STUDY}/{name}/<int:row_id>/",
            one_of(view, view.operation, what).as_view(),
            name=f"api_{view.operation}_one",
        )
        for name, (view, what) in LISTS.items()
    ),
    path(f"{_STUDY}/progress/", Progress.as_view(), name="api_progress"),
    path(f"{_STUDY}/own/progress/", OwnProgress.as_view(), name="api_own_progress"),
    path(f"{_STUDY}/own/labels/", OwnLabels.as_view(), name="api_own_labels"),
    path(f"{_STUDY}/agreement/", Agreement.as_view(), name="api_agreement"),
    path(f"{_STUDY}/reports/", Reports.as_view(), name="api_reports"),
    path(f"{_STUDY}/reports/<slug:name>/", OneReport.as_view(), name="api_report"),
    path(f"{_STUDY}/exports/", Exports.as_view(), name="api_exports"),
    path(f"{_STUDY}/exports/<slug:what>.<slug:file_format>", OneExport.as_view(), name="api_export"),
]
