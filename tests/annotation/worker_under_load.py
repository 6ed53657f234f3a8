"""A person who labels as fast as the program lets them, in a process of its own that a test kills.

`python -m tests.annotation.worker_under_load DATABASE QUEUE USERNAME` labels until nothing is left, and prints the
request's key once the program has acknowledged it, and never before.
"""

from __future__ import annotations

import os
import re
import sys

import django

_FIELD = r'name="{name}" value="([^"]+)"'


def main(database: str, queue_id: str, username: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")
    django.setup()
    from django.conf import settings
    from django.db import connections
    from django.test import Client

    from lseval.models import User

    connections["default"].settings_dict["NAME"] = database
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.SECURE_SSL_REDIRECT = False
    client = Client()
    client.force_login(User.objects.get(username=username))
    url = f"/queues/{queue_id}/label/"
    print("ready", flush=True)
    while True:
        bar = client.get(url).content.decode().partition('class="decision-bar"')[2]
        if not bar:
            return
        sent = {name: _found(name, bar) for name in ("slot", "request_key", "base_version", "evidence")}
        reply = client.post(url, {**sent, "label": "C"})
        if reply.status_code == 302:
            print(sent["request_key"], flush=True)


def _found(name: str, text: str) -> str:
    match = re.search(_FIELD.format(name=name), text)
    if match is None:
        raise ValueError(f"the page has no field {name}")
    return match.group(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
