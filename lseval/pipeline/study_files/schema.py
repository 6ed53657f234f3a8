"""What a study file may say: a strict model for each of its tables, and for the settings in the database."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from lseval.domain.controls import MOST_READ_CHARS, MOST_SEARCH_RESULTS, Controls
from lseval.domain.pricing import PRICE_PLACES, Budget, Price
from lseval.domain.urls import canonical_key
from lseval.errors import InputError

JudgeRole = Literal["stage1", "stage1_second", "stage2_a", "stage2_b", "rubric", "grouping"]
JUDGE_ROLES: Final[tuple[JudgeRole, ...]] = (
    "stage1",
    "stage1_second",
    "stage2_a",
    "stage2_b",
    "rubric",
    "grouping",
)
KEY_ENV_ADVICE: Final = (
    "looks like a secret: put the key in an environment variable and name that variable in key_env"
)

_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_PREFIX = re.compile(
    r"(?:sk|pk|rk|key|tvly|gsk|xai|hf|ghp|BSA|AIza)[-_]?[A-Za-z0-9_-]{16,}|Bearer\s+\S{16,}"
)
_OURS_IN_SAMPLING = frozenset({"model", "messages", "tools", "stream", "n", "response_format", "tool_choice"})
LARGEST_COUNT: Final = 1_000_000
_LARGEST_USD = Decimal(10) ** 7


def looks_like_secret(text: str) -> bool:
    """Whether a value looks like an API key: a known prefix with a long tail, or a long mix of characters."""
    text = text.strip()
    if _SECRET_PREFIX.fullmatch(text):
        return True
    is_one_word = re.fullmatch(r"[A-Za-z0-9_+/=-]{32,}", text) is not None
    kinds = sum(any(test(char) for char in text) for test in (str.isupper, str.islower, str.isdigit))
    return is_one_word and kinds == 3 and "_" not in text


def _decimal(given: Any) -> Any:
    """An exact decimal of what stands in the file: a number as it is written, or a text."""
    if isinstance(given, bool) or not isinstance(given, int | float | str | Decimal):
        raise ValueError("must be a number, such as 1.25")
    try:
        found = Decimal(repr(given) if isinstance(given, float) else given)
    except InvalidOperation as error:
        raise ValueError(f"{given!r} is no number") from error
    if not found.is_finite() or not 0 <= found < _LARGEST_USD:
        raise ValueError(f"must be from 0 to less than {_LARGEST_USD:,f}")
    exponent = found.normalize().as_tuple().exponent
    if isinstance(exponent, int) and exponent < -PRICE_PLACES:
        raise ValueError(f"has more than {PRICE_PLACES} decimal places")
    return found.normalize()


def _address(given: str) -> str:
    if "@" in given.split("//", 1)[-1].split("/", 1)[0]:
        raise ValueError("must not hold a user or a password: put the key in an environment variable (key_env)")
    try:
        canonical_key(given)
    except InputError as error:
        raise ValueError(str(error)) from error
    if "?" in given or "#" in given:
        raise ValueError("must be an address without ? and #; a key belongs in an environment variable (key_env)")
    return given.strip().rstrip("/")


def _environment_name(given: str) -> str:
    if given and looks_like_secret(given):
        raise ValueError(KEY_ENV_ADVICE)
    if given and not _ENVIRONMENT_NAME.fullmatch(given):
        raise ValueError("must be the name of an environment variable, such as MY_API_KEY")
    return given


def _json_only(given: Mapping[str, Any]) -> Mapping[str, Any]:
    for name, value in given.items():
        if name in _OURS_IN_SAMPLING:
            raise ValueError(f"{name} is set by the program; leave it out")
        _check_json(name, value)
    return given


def _check_json(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        for inner, deeper in value.items():
            _check_json(f"{name}.{inner}", deeper)
    elif isinstance(value, list):
        for deeper in value:
            _check_json(name, deeper)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number")
    elif isinstance(value, str):
        _storable(value)
    elif not isinstance(value, int | float | bool | None):
        raise ValueError(f"{name} is a {type(value).__name__}: use text, numbers, true or false")


def _text_of(value: Decimal) -> str:
    return f"{value:f}"


Dollars = Annotated[Decimal, BeforeValidator(_decimal), PlainSerializer(_text_of)]
Address = Annotated[str, AfterValidator(_address)]
EnvironmentName = Annotated[str, AfterValidator(_environment_name)]
JsonMap = Annotated[dict[str, Any], AfterValidator(_json_only)]
Seconds = Annotated[float, Field(gt=0, le=86_400, strict=False)]


def _storable(given: str) -> str:
    if "\x00" in given:
        raise ValueError("holds a NUL character, which cannot be stored")
    return given


def _telling(given: str) -> str:
    if not given.strip():
        raise ValueError("must not be blank")
    return _storable(given)


Text = Annotated[str, AfterValidator(_storable)]
Telling = Annotated[str, AfterValidator(_telling)]


class Strict(BaseModel):
    """A table of the file: unknown keys and other types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def stored(self) -> dict[str, Any]:
        """What is kept in the database: JSON without what is left at its default."""
        return self.model_dump(mode="json", exclude_defaults=True)


class PriceSettings(Strict):
    """US dollars per million tokens."""

    input_usd_per_mtok: Dollars
    cached_usd_per_mtok: Dollars | None = None
    output_usd_per_mtok: Dollars

    @model_validator(mode="after")
    def _cached_is_a_discount(self) -> PriceSettings:
        if self.cached_usd_per_mtok is not None and self.cached_usd_per_mtok > self.input_usd_per_mtok:
            raise ValueError("cached_usd_per_mtok must not be above input_usd_per_mtok")
        return self

    @property
    def price(self) -> Price:
        return Price(self.input_usd_per_mtok, self.output_usd_per_mtok, self.cached_usd_per_mtok)


class EndpointSettings(Strict):
    """Where a model is served and how it is asked. `timeout_s` None takes the study's control."""

    provider: Literal["openai", "sandbox"] = "openai"
    base_url: Address | None = None
    model: str = Field(default="", max_length=200)
    key_env: EnvironmentName = ""
    sampling: JsonMap = {}
    timeout_s: Seconds | None = None
    price: PriceSettings | None = None
    concurrency: int | None = Field(default=None, ge=1, le=10_000)

    @model_validator(mode="after")
    def _is_reachable(self) -> EndpointSettings:
        if self.provider == "openai" and not self.base_url:
            raise ValueError("base_url is missing: the address of the OpenAI-compatible server, up to and with /v1")
        if self.provider == "openai" and not self.model:
            raise ValueError("model is missing: the name by which the server knows the model")
        return self


class ModelSettings(EndpointSettings):
    """Settings of an evaluated model. `profile` is a simulated model's skill, for the sandbox only."""

    tool_calls: Literal["native", "text"] = "native"
    profile: JsonMap = {}

    @model_validator(mode="after")
    def _profile_is_simulated(self) -> ModelSettings:
        if self.profile and self.provider != "sandbox":
            raise ValueError('profile describes a simulated model: it goes with provider = "sandbox"')
        return self


class ControlSettings(Strict):
    """The rules of collection (`lseval.domain.controls.Controls`)."""

    iterations: int = Field(default=120, ge=1, le=10_000)
    early_stopping: Literal["generate", "stop"] = "generate"
    search_results: int = Field(default=MOST_SEARCH_RESULTS, ge=1, le=MOST_SEARCH_RESULTS)
    read_chars: int = Field(default=3_000, ge=1, le=MOST_READ_CHARS)
    read_chars_cap: int = Field(default=MOST_READ_CHARS, ge=1, le=MOST_READ_CHARS)
    llm_timeout_s: Seconds = 600.0
    search_connect_s: Seconds = 10.0
    search_read_s: Seconds = 20.0
    watchdog_s: Seconds = 7_200.0
    stagnation_warn: int = Field(default=3, ge=1, le=10_000)
    stagnation_cut: int = Field(default=6, ge=1, le=10_000)

    @model_validator(mode="after")
    def _fit_together(self) -> ControlSettings:
        if self.read_chars > self.read_chars_cap:
            raise ValueError("read_chars must not be above read_chars_cap")
        if self.stagnation_cut < self.stagnation_warn:
            raise ValueError("stagnation_cut must not be below stagnation_warn")
        return self

    @property
    def controls(self) -> Controls:
        return Controls(**self.model_dump())

    def stored(self) -> dict[str, Any]:
        """All of them: what a study's runs were made under must not move with the program's defaults."""
        return self.model_dump(mode="json")


class SearchSettings(Strict):
    """The search engine. `price_usd_per_call` None leaves searches unpriced."""

    provider: Literal["searxng", "brave", "serper", "tavily", "sandbox"]
    base_url: Address | None = None
    key_env: EnvironmentName = ""
    price_usd_per_call: Dollars | None = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> SearchSettings:
        if self.provider == "searxng" and not self.base_url:
            raise ValueError("base_url is missing: the address of your SearXNG")
        if self.provider in ("brave", "serper", "tavily") and not self.key_env:
            raise ValueError(f"key_env is missing: the environment variable with the key of {self.provider}")
        return self


class FetchSettings(Strict):
    """Where pages come from. `folder` is that of saved pages, for provider `folder`.

    `citations` says whether Stage 1 fetches cited pages that no run has read; None leaves it to whether the study
    collects its own runs.
    """

    provider: Literal["web", "sandbox", "folder"] = "web"
    folder: str = ""
    citations: bool | None = None

    @model_validator(mode="after")
    def _has_a_folder(self) -> FetchSettings:
        if self.provider == "folder" and not self.folder:
            raise ValueError("folder is missing: where the saved pages are")
        return self


class BudgetSettings(Strict):
    """Where the study stops; it goes on when the budget is raised."""

    usd: Dollars | None = None
    calls: int | None = Field(default=None, ge=0, le=10**12)

    @property
    def budget(self) -> Budget:
        return Budget(self.usd, self.calls)


class AuditSettings(Strict):
    """The plan of the audit that is drawn when the runs are in; the defaults are the paper's."""

    tasks: int = Field(default=100, ge=1)
    responses_per_task: int = Field(default=2, ge=1)
    h2_tasks: int | None = Field(default=None, ge=0)
    link_trajectories: int = Field(default=100, ge=0)
    round_trajectories: int = Field(default=100, ge=0)


class ProviderSettings(Strict):
    """Addresses on private networks or this machine that may be asked all the same."""

    allow: list[Address] = []


class SandboxSettings(Strict):
    """The made-up world: its seed, and how many tasks are set in it."""

    seed: int = Field(default=1, ge=0, lt=2**63)
    tasks: int = Field(default=10, ge=1, le=10_000)


class StudySettings(Strict):
    """All that `Study.settings` may hold."""

    controls: ControlSettings = ControlSettings()
    search: SearchSettings | None = None
    fetch: FetchSettings = FetchSettings()
    judges: dict[JudgeRole, EndpointSettings] = {}
    budget: BudgetSettings = BudgetSettings()
    link_policy: Literal["both", "either"] = "both"
    rubric_per: Literal["run", "task"] = "run"
    audit: AuditSettings | None = None
    providers: ProviderSettings = ProviderSettings()
    sandbox: SandboxSettings | None = None

    def stored(self) -> dict[str, Any]:
        return {**super().stored(), "controls": self.controls.stored()}


class RubricEntry(Strict):
    """A rubric given with a task."""

    required_count: int = Field(ge=1, le=LARGEST_COUNT)
    constraints: list[Telling] = []
    grouping_rule: Text = ""
    required_fields: list[Telling] = []


class TaskEntry(Strict):
    """An evaluation question."""

    key: Telling = Field(max_length=200)
    question: Telling
    topic: Text = Field(default="", max_length=200)
    language: Text = Field(default="", max_length=20)
    gold: Text = ""
    rubric: RubricEntry | None = None


class ModelEntry(ModelSettings):
    """An evaluated model with its name and family in the study."""

    name: Telling = Field(max_length=200)
    family: Text = Field(default="", max_length=200)

    @property
    def settings(self) -> ModelSettings:
        return ModelSettings.model_validate(self.model_dump(exclude={"name", "family"}))


class StudyTable(Strict):
    """What the study is. `tasks_file` is read beside the study file."""

    slug: str = Field(max_length=60, pattern=r"^[a-z0-9][a-z0-9-]*$")
    name: Text = Field(default="", max_length=200)
    description: Text = ""
    link_policy: Literal["both", "either"] = "both"
    rubric_per: Literal["run", "task"] = "run"
    tasks_file: Text = ""


class StudyFile(Strict):
    """A whole study file."""

    study: StudyTable
    controls: ControlSettings = ControlSettings()
    search: SearchSettings | None = None
    fetch: FetchSettings = FetchSettings()
    judges: dict[JudgeRole, EndpointSettings] = {}
    budget: BudgetSettings = BudgetSettings()
    audit: AuditSettings | None = None
    providers: ProviderSettings = ProviderSettings()
    sandbox: SandboxSettings | None = None
    models: list[ModelEntry] = []
    tasks: list[TaskEntry] = []

    @property
    def settings(self) -> StudySettings:
        return StudySettings(
            controls=self.controls,
            search=self.search,
            fetch=self.fetch,
            judges=self.judges,
            budget=self.budget,
            link_policy=self.study.link_policy,
            rubric_per=self.study.rubric_per,
            audit=self.audit,
            providers=self.providers,
            sandbox=self.sandbox,
        )
