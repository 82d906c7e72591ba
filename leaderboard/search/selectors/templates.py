"""The template of a run, as the catalogue has it now."""

from leaderboard.catalog.loader import CatalogError
from leaderboard.search.generators.template import Template, load_templates
from leaderboard.search.models import SearchRun


def template_of(run: SearchRun) -> Template | None:
    """None when the task has no such template any more, or a broken one."""
    try:
        return load_templates(run.version.task.slug).get(run.language)
    except CatalogError:
        return None
