"""The site that joins the pipeline, the audits and the agreement."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "lseval.site"
    label = "lseval_site"
