from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("leaderboard.urls")),
    path("api/v1/", include("leaderboard.api.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
