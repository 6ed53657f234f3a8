"""The addresses of the agreement pages."""

from django.urls import path

from agreement import views

urlpatterns = [
    path("studies/<slug:slug>/agreement/", views.agreement, name="agreement"),
    path("studies/<slug:slug>/agreement.json", views.agreement_json, name="agreement_json"),
    path("studies/<slug:slug>/agreement/groups.csv", views.agreement_groups, name="agreement_groups"),
    path("studies/<slug:slug>/agreement/scores.<str:file_format>", views.agreement_scores, name="agreement_scores"),
]
