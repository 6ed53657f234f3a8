"""Parts of a page that are rendered once."""

from __future__ import annotations

from django.template import Context, Template
from django.urls import set_script_prefix


def test_addresses_follow_the_prefix_under_which_the_site_is_asked_for() -> None:
    part = Template("{% load once %}{% once %}{% url 'login' %}{% endonce %}")
    try:
        set_script_prefix("/elsewhere/")
        assert part.render(Context()) == "/elsewhere/login/"
    finally:
        set_script_prefix("/")
    assert part.render(Context()) == "/login/"
