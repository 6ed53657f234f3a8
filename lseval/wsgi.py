"""The WSGI application that gunicorn serves."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from agreement.charts import warm_up

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")

application = get_wsgi_application()

# The code of every page is loaded now, so that nobody's first page waits for it. It stays as long as the process,
# so the garbage collector need not go through it again and again while somebody waits. Nearly all that a page makes
# goes away by itself; looking for cycles every 700 objects, as is usual, takes a tenth of the time and much more of
# the slowest pages'.
_ = get_resolver().url_patterns
warm_up()
gc.collect()
gc.freeze()
gc.set_threshold(50_000, 20, 50)
