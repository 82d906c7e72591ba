"""The template of a run, as the catalogue has it now, or what a language model has in its place."""

from leaderboard.catalog.loader import CatalogError
from leaderboard.search.generators.template import Template, load_templates
from leaderboard.search.llm.pens import Pen
from leaderboard.search.models import SearchRun


def template_of(run: SearchRun) -> Template | Pen | None:
    """None when the task has no such template any more, or a broken one."""
    if run.generator == "llm":
        return Pen(run.language)
    try:
        return load_templates(run.version.task.slug).get(run.language)
    except CatalogError:
        return None
