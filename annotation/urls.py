"""The addresses of the annotation app."""

from django.urls import path

from annotation import labeler_views, views

urlpatterns = [
    path("studies/<slug:slug>/audit/", views.audit, name="audit"),
    path("studies/<slug:slug>/audit/draw/", views.draw_audit, name="draw_audit"),
    path("studies/<slug:slug>/audit/<int:audit_id>/seats/", views.seat_labeler, name="seat_labeler"),
    path("queues/<int:queue_id>/label/", labeler_views.label, name="label"),
    path("queues/<int:queue_id>/skip/", labeler_views.label_skip, name="label_skip"),
    path("queues/<int:queue_id>/undo/", labeler_views.label_undo, name="label_undo"),
    path("queues/<int:queue_id>/heartbeat/", labeler_views.label_heartbeat, name="label_heartbeat"),
    path(
        "queues/<int:queue_id>/slots/<int:slot_id>/pages/<int:number>/", labeler_views.label_page, name="label_page"
    ),
    path("queues/<int:queue_id>/guidelines/", labeler_views.guidelines, name="guidelines"),
]
