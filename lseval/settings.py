"""Django's settings. What depends on the place comes from `lseval.environment`."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from lseval.environment import read_environment
from lseval.errors import SettingsError
from lseval.mail import read_mail

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = read_environment(os.environ, BASE_DIR)
IS_LOCAL = ENVIRONMENT.is_local

SECRET_KEY = ENVIRONMENT.secret_key
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(ENVIRONMENT.csrf_trusted_origins)
BEHIND_PROXY = ENVIRONMENT.is_behind_proxy

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "axes",
    "rest_framework",
    "knox",
    "lseval",
    "lseval.site",
    "lseval.door",
    "lseval.sandbox",
    "annotation",
    "agreement",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "lseval.site.middleware.SitePolicyMiddleware",
    "lseval.door.denials.log_denials",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "lseval.door.backends.PeopleMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "lseval.site.middleware.no_store",
    "lseval.site.middleware.errors_as_pages",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "lseval.urls"
WSGI_APPLICATION = "lseval.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "lseval.site.context.study_navigation",
            ],
        },
    },
]


def _database() -> dict[str, Any]:
    common: dict[str, Any] = {
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "TEST": {"NAME": os.environ.get("LSEVAL_TEST_DATABASE", "test_lseval")},
    }
    if not ENVIRONMENT.database_url:
        return {
            "ENGINE": "lseval.database",
            "EMBEDDED_DIR": str(ENVIRONMENT.var),
            "NAME": "lseval",
            "USER": "postgres",
            **common,
        }
    try:
        given = conninfo_to_dict(ENVIRONMENT.database_url)
    except ProgrammingError:
        # The reason quotes the address, and with it the password.
        raise SettingsError("DATABASE_URL cannot be read: use postgresql://user:password@host:5432/name.") from None
    known = {key: str(given.pop(name, "") or "") for key, name in _CONNECTION_NAMES.items()}
    return {"ENGINE": "django.db.backends.postgresql", **known, "OPTIONS": given, **common}


_CONNECTION_NAMES = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}

DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "lseval.User"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "studies"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "lseval.door.backends.PeopleBackend"]
PASSWORD_RESET_TIMEOUT = 24 * 3600
CSRF_FAILURE_VIEW = "lseval.door.denials.csrf_failure"

# How many failures shut the door is in lseval.door.throttling; here is what axes itself asks for.
AXES_HANDLER = "lseval.door.throttling.Throttle"
AXES_FAILURE_LIMIT = 1
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_CLIENT_IP_CALLABLE = "lseval.door.client.address_of"
AXES_LOCKOUT_CALLABLE = "lseval.door.throttling.locked_page"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = [
    "username",
    "ip_address",
    "csrfmiddlewaretoken",
    "old_password",
    "password1",
    "password2",
    "new_password1",
    "new_password2",
]

REST_FRAMEWORK = {
    # The token first: it names the way to authenticate, so that a refusal is 401.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "lseval.door.tokens.BearerToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "lseval.door.api_errors.as_problem",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "LongSearchEval",
    "DESCRIPTION": "A study's rows, exports and reports for other programs, to read only; see docs/api.md.",
    "VERSION": "1",
    "SERVE_PUBLIC": True,
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "token": {"type": "http", "scheme": "bearer", "description": "an API token of your account's page"},
            "session": {"type": "apiKey", "in": "cookie", "name": "sessionid"},
        }
    },
}
KNOX_TOKEN_MODEL = "lseval_door.ApiToken"  # noqa: S105
# Its migrations make its own table of tokens even where another model stands in for it.
MIGRATION_MODULES = {"knox": None}
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_PREFIX": "lst_", "TOKEN_TTL": timedelta(days=90)}

_MAIL = read_mail(os.environ, is_local=IS_LOCAL)
MAIL_IS_CONFIGURED = _MAIL.is_configured
EMAIL_BACKEND = _MAIL.backend
DEFAULT_FROM_EMAIL = _MAIL.sender
EMAIL_FILE_PATH = _MAIL.folder
EMAIL_HOST = _MAIL.host
EMAIL_PORT = _MAIL.port
EMAIL_HOST_USER = _MAIL.user
EMAIL_HOST_PASSWORD = _MAIL.password
EMAIL_USE_SSL = _MAIL.is_tls_from_start
EMAIL_USE_TLS = _MAIL.is_starttls
EMAIL_TIMEOUT = 20

# Where jobs are sent; without it `manage.py work` takes them from the database.
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "").strip()
# Kinds of provider that the pipeline does not know itself, by the name that a study's settings give them.
LSEVAL_PROVIDERS = {"sandbox": "lseval.sandbox.providers"}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Files are served straight from the packages: there is no collectstatic to forget.
WHITENOISE_USE_FINDERS = True

SESSION_ENGINE = "lseval.door.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
if not IS_LOCAL:
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz/$"]  # a probe from beside the program speaks plain http
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "lseval.door.log_lines.OneLine",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        # Strangers sent to the log-in are told of at INFO: for a deployment's log, not for a demo's terminal.
        "lseval.denials": {"level": "WARNING" if IS_LOCAL else "INFO"},
        "django.request": {"level": "ERROR"},
        # What these would say of a refusal, `lseval.denials` says in one line.
        "django.security.csrf": {"level": "ERROR"},
        "axes": {"level": "ERROR"},
        # A foreign Host header is refused with 400; a traceback each time would only fill the log.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}
