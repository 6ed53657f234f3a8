"""The addresses of the door, and of the API."""

from django.urls import path

from lseval.door import api, invitation_views, member_views, views
from lseval.query_parameters import takes

urlpatterns = [
    path("login/", takes("next")(views.Login.as_view()), name="login"),
    path("logout/", views.Logout.as_view(), name="logout"),
    path("password/", views.ChangePassword.as_view(), name="password_change"),
    path("password/forgotten/", views.ForgottenPassword.as_view(), name="password_reset"),
    path("password/forgotten/sent/", views.reset_sent, name="password_reset_done"),
    path("reset/<slug:uidb64>/<slug:token>/", views.NewPassword.as_view(), name="password_reset_confirm"),
    path("account/", views.account, name="account"),
    path("account/email/", views.change_email, name="account_email"),
    path("account/tokens/", views.token_create, name="token_create"),
    path("account/tokens/<uuid:token_id>/revoke/", views.token_revoke, name="token_revoke"),
    path("invitations/<slug:token>/", invitation_views.open_link, name="invitation_link"),
    path("invitation/", invitation_views.invitation, name="invitation"),
    path("studies/<slug:slug>/members/", member_views.members, name="members"),
    path("studies/<slug:slug>/members/<int:member_id>/role/", member_views.member_role, name="member_role"),
    path("studies/<slug:slug>/members/<int:member_id>/remove/", member_views.member_remove, name="member_remove"),
    path("studies/<slug:slug>/invitations/", member_views.invite, name="invite"),
    path(
        "studies/<slug:slug>/invitations/<int:invitation_id>/revoke/",
        member_views.invitation_revoke,
        name="invitation_revoke",
    ),
    path("api/me/", api.Me.as_view(), name="api_me"),
    path("api/studies/", api.Studies.as_view(), name="api_studies"),
    path("api/studies/<slug:slug>/", api.OneStudy.as_view(), name="api_study"),
]
