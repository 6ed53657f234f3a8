"""The automatic pipeline as a Django app."""

from django.apps import AppConfig


class LsevalConfig(AppConfig):
    name = "lseval"
    label = "lseval"
