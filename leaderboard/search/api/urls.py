"""Addresses below /api/v1/searches/."""

from django.urls import path

from leaderboard.search.api import views

urlpatterns = [
    path("", views.SearchList.as_view(), name="searches"),
    path("<uuid:run_id>/", views.SearchDetail.as_view(), name="search"),
    path("<uuid:run_id>/events/", views.SearchEvents.as_view(), name="search-events"),
    path("<uuid:run_id>/candidates/", views.SearchCandidates.as_view(), name="search-candidates"),
    path(
        "<uuid:run_id>/candidates/<int:number>/",
        views.SearchCandidateDetail.as_view(),
        name="search-candidate",
    ),
    path("<uuid:run_id>/pool/", views.SearchPool.as_view(), name="search-pool"),
    path("<uuid:run_id>/pause/", views.SearchPause.as_view(), name="search-pause"),
    path("<uuid:run_id>/resume/", views.SearchResume.as_view(), name="search-resume"),
    path("<uuid:run_id>/cancel/", views.SearchCancel.as_view(), name="search-cancel"),
    path("<uuid:run_id>/extend/", views.SearchExtend.as_view(), name="search-extend"),
    path("<uuid:run_id>/enter/", views.SearchEnter.as_view(), name="search-enter"),
    path("<uuid:run_id>/stop/", views.SearchStop.as_view(), name="search-stop"),
]
