"""Every address of the site."""

from django.urls import include, path

urlpatterns = [
    path("", include("annotation.urls")),
    path("", include("lseval.site.urls")),
    path("", include("lseval.door.urls")),
    path("", include("agreement.urls")),
]
