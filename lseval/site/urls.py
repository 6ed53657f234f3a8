"""The addresses of the site."""

from django.urls import include, path

from lseval.site import collection_views, evaluation_views, views
from lseval.site.comparison.views import compare
from lseval.site.import_page import import_runs
from lseval.site.layout import page_layout
from lseval.site.new_study import new_study
from lseval.site.tables import views as tables
from lseval.site.validity.views import validity

urlpatterns = [
    path("", views.studies, name="studies"),
    path("new-study/", new_study, name="new_study"),
    path("api/", include("lseval.site.api.urls")),
    path("healthz/", views.healthz, name="healthz"),
    path("styleguide/", views.styleguide, name="styleguide"),
    path("studies/<slug:slug>/", views.study_home, name="study_home"),
    path("studies/<slug:slug>/collection/", collection_views.collection, name="collection"),
    path("studies/<slug:slug>/collection/progress/", collection_views.progress, name="collection_progress"),
    path("studies/<slug:slug>/collection/act/", collection_views.act, name="collection_act"),
    path("studies/<slug:slug>/costs/", collection_views.costs, name="costs"),
    path("studies/<slug:slug>/evaluation/", evaluation_views.evaluation, name="evaluation"),
    path("studies/<slug:slug>/evaluation/progress/", evaluation_views.progress, name="evaluation_progress"),
    path("studies/<slug:slug>/evaluation/act/", evaluation_views.act, name="evaluation_act"),
    path("studies/<slug:slug>/runs/<int:run_id>/groups/<int:number>/", evaluation_views.group, name="run_group"),
    path(
        "studies/<slug:slug>/runs/<int:run_id>/groups/<int:number>/again/",
        evaluation_views.judge_again,
        name="judge_group_again",
    ),
    path("studies/<slug:slug>/import/", import_runs, name="import_runs"),
    path("studies/<slug:slug>/outcome/", views.outcome, name="outcome"),
    path("studies/<slug:slug>/runs/<int:run_id>/", views.run, name="run"),
    path("studies/<slug:slug>/runs/<int:run_id>/rounds/<int:number>/", views.run_round, name="run_round"),
    path("studies/<slug:slug>/runs/<int:run_id>/calls/<int:call_id>/", views.observation, name="observation"),
    path("studies/<slug:slug>/pages/<int:page_id>/", views.page, name="page"),
    path("studies/<slug:slug>/pages/<int:page_id>/layout/", page_layout, name="page_layout"),
    path("studies/<slug:slug>/process/", views.process, name="process"),
    path("studies/<slug:slug>/validity/", validity, name="validity"),
    path("studies/<slug:slug>/tables/", tables.tables, name="tables"),
    path("studies/<slug:slug>/tables/<slug:key>.<slug:ending>", tables.table_file, name="table_file"),
    path("studies/<slug:slug>/figures/<slug:key>.<slug:ending>", tables.figure_file, name="figure_file"),
    path("studies/<slug:slug>/compare/", compare, name="compare"),
    path("studies/<slug:slug>/report/", views.report, name="report"),
    path("studies/<slug:slug>/report.json", views.report_json, name="report_json"),
    path("studies/<slug:slug>/report.md", views.report_md, name="report_md"),
]
