"""The door: logging in, people's roles, invitations, tokens, and the API that they open."""

from django.apps import AppConfig


class DoorConfig(AppConfig):
    name = "lseval.door"
    label = "lseval_door"

    def ready(self) -> None:
        from lseval.door import denials  # noqa: F401 - listens for failed log-ins
