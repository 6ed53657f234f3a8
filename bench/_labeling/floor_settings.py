"""The floor's settings: the program's database, and nothing else of it."""

from lseval.settings import DATABASES as DATABASES
from lseval.settings import SECRET_KEY as SECRET_KEY

DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "bench._labeling.floor"
INSTALLED_APPS: list[str] = []
MIDDLEWARE: list[str] = []
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
