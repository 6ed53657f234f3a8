"""Every address of the site."""

from django.urls import include, path

# Addresses are tried in order: those of a person who labels, and waits for each page, come first.
urlpatterns = [
    path("", include("annotation.urls")),
    path("", include("lseval.site.urls")),
    path("", include("lseval.door.urls")),
    path("", include("agreement.urls")),
]

handler404 = "lseval.door.api_errors.not_found"
