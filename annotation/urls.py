"""The addresses of the annotation app."""

from django.urls import path

from annotation import adjudication_views, administration_views, codebook_views, labeler_views, reveal_views, views

urlpatterns = [
    path("queues/<int:queue_id>/label/", labeler_views.label, name="label"),
    path("queues/<int:queue_id>/skip/", labeler_views.label_skip, name="label_skip"),
    path("queues/<int:queue_id>/undo/", labeler_views.label_undo, name="label_undo"),
    path("queues/<int:queue_id>/flag/", labeler_views.label_flag, name="label_flag"),
    path("queues/<int:queue_id>/ahead/", labeler_views.label_ahead, name="label_ahead"),
    path("queues/<int:queue_id>/recent/", labeler_views.label_recent, name="label_recent"),
    path("queues/<int:queue_id>/heartbeat/", labeler_views.label_heartbeat, name="label_heartbeat"),
    path(
        "queues/<int:queue_id>/slots/<int:slot_id>/pages/<int:number>/", labeler_views.label_page, name="label_page"
    ),
    path(
        "queues/<int:queue_id>/slots/<int:slot_id>/verdict/",
        reveal_views.revealed_verdict,
        name="revealed_verdict",
    ),
    path("queues/<int:queue_id>/guidelines/", labeler_views.guidelines, name="guidelines"),
    path("queues/<int:queue_id>/adjudicate/", adjudication_views.adjudicate, name="adjudicate"),
    path("queues/<int:queue_id>/adjudicate/skip/", adjudication_views.adjudicate_skip, name="adjudicate_skip"),
    path("queues/<int:queue_id>/adjudicate/undo/", adjudication_views.adjudicate_undo, name="adjudicate_undo"),
    path(
        "queues/<int:queue_id>/adjudicate/heartbeat/",
        adjudication_views.adjudicate_heartbeat,
        name="adjudicate_heartbeat",
    ),
    path(
        "queues/<int:queue_id>/adjudicate/<int:slot_id>/pages/<int:number>/",
        adjudication_views.adjudicate_page,
        name="adjudicate_page",
    ),
    path("studies/<slug:slug>/audit/", views.audit, name="audit"),
    path("studies/<slug:slug>/audit/draw/", views.draw_audit, name="draw_audit"),
    path("studies/<slug:slug>/audit/<int:audit_id>/seats/", views.seat_labeler, name="seat_labeler"),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/progress/",
        administration_views.audit_progress,
        name="audit_progress",
    ),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/status/<str:change>/",
        administration_views.change_audit,
        name="change_audit",
    ),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/leases/<int:slot_id>/release/",
        administration_views.release_lease,
        name="release_lease",
    ),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/seats/reassign/",
        administration_views.reassign_seat,
        name="reassign_seat",
    ),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/extend/", administration_views.extend_audit, name="extend_audit"
    ),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/labels.<str:file_format>",
        administration_views.export_labels,
        name="export_labels",
    ),
    path("studies/<slug:slug>/codebook/", codebook_views.codebook, name="codebook"),
    path("studies/<slug:slug>/codebook/<int:version>/", codebook_views.codebook, name="codebook_version"),
    path("studies/<slug:slug>/codebook/publish/", codebook_views.publish_codebook, name="publish_codebook"),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/adjudication/",
        adjudication_views.adjudication_page,
        name="adjudication",
    ),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/adjudication/rebuild/",
        adjudication_views.rebuild_adjudication,
        name="rebuild_adjudication",
    ),
    path(
        "studies/<slug:slug>/audit/<int:audit_id>/adjudication/seats/",
        adjudication_views.seat_adjudicator,
        name="seat_adjudicator",
    ),
]
