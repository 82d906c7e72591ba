"""HTTP and WebSocket entry point."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kernelhub.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()  # before the imports below, which need the applications loaded

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings

from kernelhub.body_limit import BodyLimit
from leaderboard.live.routing import websocket_urlpatterns

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(http, settings.MAX_BODY_BYTES),
        # Without the origin check another site could open a visitor's socket with his cookies.
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
