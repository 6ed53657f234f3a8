"""The addresses of the site."""

from django.urls import path

from lseval.site import views

urlpatterns = [
    path("", views.studies, name="studies"),
    path("healthz/", views.healthz, name="healthz"),
    path("styleguide/", views.styleguide, name="styleguide"),
    path("studies/<slug:slug>/", views.study_home, name="study_home"),
    path("studies/<slug:slug>/outcome/", views.outcome, name="outcome"),
    path("studies/<slug:slug>/runs/<int:run_id>/", views.run, name="run"),
    path("studies/<slug:slug>/runs/<int:run_id>/calls/<int:call_id>/", views.observation, name="observation"),
    path("studies/<slug:slug>/pages/<int:page_id>/", views.page, name="page"),
    path("studies/<slug:slug>/process/", views.process, name="process"),
    path("studies/<slug:slug>/report/", views.report, name="report"),
    path("studies/<slug:slug>/report.json", views.report_json, name="report_json"),
    path("studies/<slug:slug>/report.md", views.report_md, name="report_md"),
]
