from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from kernelhub.icon import icon

# The admin's own form knows no limit on attempts; this sends people to the site's log-in page.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

handler500 = "kernelhub.server_errors.server_error"

urlpatterns = [
    path("favicon.ico", icon, name="icon"),
    path("", include("leaderboard.urls")),
    path("api/v1/", include("leaderboard.api.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
