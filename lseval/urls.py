"""Every address of the site."""

from django.urls import include, path

urlpatterns = [
    path("", include("lseval.site.urls")),
    path("", include("lseval.door.urls")),
    path("", include("annotation.urls")),
    path("", include("agreement.urls")),
]
