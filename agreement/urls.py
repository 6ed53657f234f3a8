"""The addresses of the agreement pages."""

from django.urls import path

from agreement import downloads, views

_PAGES = "studies/<slug:slug>/agreement/"

urlpatterns = [
    path(_PAGES, views.agreement, name="agreement"),
    path(f"{_PAGES}people/", views.agreement_people, name="agreement_people"),
    path(f"{_PAGES}process/", views.agreement_process, name="agreement_process"),
    path(f"{_PAGES}study/", views.agreement_study, name="agreement_study"),
    path(f"{_PAGES}leaderboard/", views.agreement_leaderboard, name="agreement_leaderboard"),
    path(f"{_PAGES}items/", views.agreement_items, name="agreement_items"),
    path(f"{_PAGES}responses/", views.agreement_responses, name="agreement_responses"),
    path(f"{_PAGES}files/<slug:section>.<slug:file_format>", downloads.agreement_file, name="agreement_file"),
    path(f"{_PAGES}groups.csv", downloads.agreement_groups, name="agreement_groups"),
    path(f"{_PAGES}figures/<slug:figure>.<slug:file_format>", downloads.agreement_figure, name="agreement_figure"),
    path(
        f"{_PAGES}leaderboard/<slug:score>.<slug:file_format>",
        downloads.agreement_leaderboard_figure,
        name="agreement_leaderboard_figure",
    ),
]
