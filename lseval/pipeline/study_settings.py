"""A study's settings with their types: whoever needs `Study.settings` or `EvaluatedModel.settings` asks here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from lseval.domain.chat import Endpoint
from lseval.domain.controls import Controls
from lseval.domain.pricing import Budget, Price
from lseval.errors import InputError
from lseval.models import EvaluatedModel, Study
from lseval.pipeline.study_files.schema import (
    BudgetSettings,
    ControlSettings,
    EndpointSettings,
    FetchSettings,
    JudgeRole,
    ModelSettings,
    ProviderSettings,
    SandboxSettings,
    SearchSettings,
    Strict,
)

Settings = TypeVar("Settings", bound=Strict)


def controls_of(study: Study) -> Controls:
    """The rules that the study's runs are made under; the paper's where none are set."""
    return _part(study, "controls", ControlSettings).controls


def search_settings_of(study: Study) -> SearchSettings:
    """The study's search engine.

    Raises:
        InputError: the study names none, so nothing can be collected.
    """
    if not study.settings.get("search"):
        raise InputError(
            f"Study {study.slug} names no search engine. Add a [search] table to its file and run "
            "create_study again."
        )
    return _part(study, "search", SearchSettings)


def fetch_settings_of(study: Study) -> FetchSettings:
    """Where the study's pages come from; the web where nothing is set."""
    return _part(study, "fetch", FetchSettings)


def budget_of(study: Study) -> Budget:
    """Where the study stops; no bound where none is set."""
    return _part(study, "budget", BudgetSettings).budget


def allow_of(study: Study) -> tuple[str, ...]:
    """The addresses on private networks that this study's providers may have."""
    return tuple(_part(study, "providers", ProviderSettings).allow)


def sandbox_settings_of(study: Study) -> SandboxSettings:
    """The study's made-up world."""
    return _part(study, "sandbox", SandboxSettings)


def model_settings_of(model: EvaluatedModel) -> ModelSettings:
    """How an evaluated model is asked.

    Raises:
        InputError: it cannot be asked as it stands, for instance because its runs were imported.
    """
    if not model.settings:
        raise InputError(
            f"Model {model.name} has no endpoint, so it cannot be asked. Describe it in the study's file and run "
            "create_study again."
        )
    return _checked(ModelSettings, model.settings, f"model {model.name} of study {model.study.slug}")


def endpoint_of(model: EvaluatedModel) -> Endpoint:
    """Where an evaluated model is served; without a timeout of its own it has the study's."""
    return _endpoint(model_settings_of(model), model.study)


def price_of(model: EvaluatedModel) -> Price | None:
    """The model's price; None where the study states none: its calls are unpriced."""
    settings = model_settings_of(model)
    return settings.price.price if settings.price else None


def judge_settings_of(study: Study, role: JudgeRole) -> EndpointSettings | None:
    """The model that judges in that role, with its price and concurrency; None for the embedded judge."""
    given = study.settings.get("judges", {}).get(role)
    if not given:
        return None
    return _checked(EndpointSettings, given, f"judges.{role} of study {study.slug}")


def judge_endpoint_of(study: Study, role: JudgeRole) -> Endpoint | None:
    """Where the model that judges in that role is served; None for the embedded judge."""
    settings = judge_settings_of(study, role)
    return _endpoint(settings, study) if settings else None


def judge_price_of(study: Study, role: JudgeRole) -> Price | None:
    """That judge's price; None for the embedded judge and where the study states none."""
    settings = judge_settings_of(study, role)
    return settings.price.price if settings and settings.price else None


def _endpoint(settings: EndpointSettings, study: Study) -> Endpoint:
    return Endpoint(
        base_url=settings.base_url or "",
        model=settings.model,
        key_env=settings.key_env,
        sampling=dict(settings.sampling),
        timeout_s=settings.timeout_s or controls_of(study).llm_timeout_s,
    )


def _part(study: Study, name: str, kind: type[Settings]) -> Settings:
    return _checked(kind, study.settings.get(name) or {}, f"{name} of study {study.slug}")


def _checked(kind: type[Settings], given: Mapping[str, Any], place: str) -> Settings:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"The settings of {place} cannot be used: {field + ' ' if field else ''}{first['msg']}. "
            "Mend the study's file and run create_study again."
        ) from error
