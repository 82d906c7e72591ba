"""Addresses below /searches/."""

from django.urls import path

from leaderboard.search.pages import candidate, run, starting, steering

urlpatterns = [
    path("", run.index, name="searches"),
    path("new/", starting.new, name="search-new"),
    path("<uuid:run_id>/", run.run, name="search"),
    path("<uuid:run_id>/live/", run.live, name="search-live"),
    path("<uuid:run_id>/table/", run.table, name="search-table"),
    path("<uuid:run_id>/record/", run.record, name="search-record"),
    path("<uuid:run_id>/data/", run.data, name="search-data"),
    path("<uuid:run_id>/candidates.csv", run.rows, name="search-csv"),
    path("<uuid:run_id>/candidates/<int:number>/", candidate.candidate, name="search-candidate"),
    path("<uuid:run_id>/candidates/<int:number>/source/", candidate.source, name="search-source"),
    path("<uuid:run_id>/lineage/", candidate.lineage, name="search-lineage"),
    path("<uuid:run_id>/lineage/<int:number>/", candidate.children, name="search-children"),
    path("<uuid:run_id>/pause/", steering.pause, name="search-pause"),
    path("<uuid:run_id>/resume/", steering.resume, name="search-resume"),
    path("<uuid:run_id>/cancel/", steering.cancel, name="search-cancel"),
    path("<uuid:run_id>/extend/", steering.extend, name="search-extend"),
    path("<uuid:run_id>/stop/", steering.stop, name="search-stop"),
    path("<uuid:run_id>/visibility/", steering.visibility, name="search-visibility"),
    path("<uuid:run_id>/enter/", steering.enter, name="search-enter"),
]
