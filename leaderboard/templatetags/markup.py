"""Text that becomes markup: task statements, source lines, and links to the built bundles."""

from functools import lru_cache

from django import template
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.template.context import Context
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from leaderboard.markdown import render

register = template.Library()

#: Past this many lines a source is shown as one block: a span per line would only slow the page.
MOST_NUMBERED_LINES = 5000


@register.filter
def markdown(text: str) -> SafeString:
    """A task statement as HTML."""
    return _rendered(text)


@lru_cache(maxsize=128)
def _rendered(text: str) -> SafeString:
    return render(text)


@register.filter
def lines(text: str) -> list[str]:
    """The lines of a text. Only line feeds part them, as compilers count."""
    return text.removesuffix("\n").replace("\r\n", "\n").split("\n")


@register.filter
def is_long(text: str) -> bool:
    return text.count("\n") > MOST_NUMBERED_LINES


@register.simple_tag(takes_context=True)
def script(context: Context, name: str, mode: str = "defer") -> SafeString | str:
    """The script element of a bundle, or nothing where it was not built.

    It carries the page's nonce, which the editor needs for the style sheet that it writes.
    """
    if not _is_built(name):
        return ""
    request = context.get("request")
    nonce = format_html(' nonce="{}"', request.csp_nonce) if mode == "nonce" and request is not None else ""
    wait = "" if mode == "now" else mark_safe(" defer")
    return format_html('<script src="{}"{}{}></script>', _url(name), nonce, wait)


@register.simple_tag
def stylesheet(name: str) -> SafeString | str:
    """The link to a style sheet, or nothing where it was not built."""
    if not _is_built(name):
        return ""
    return format_html('<link rel="stylesheet" href="{}">', _url(name))


@register.simple_tag
def refresh_without_scripts(seconds: int) -> SafeString:
    """Has browsers load the page again by themselves where no script keeps it up to date."""
    element = format_html('<meta http-equiv="refresh" content="{}">', seconds)
    return format_html("<noscript>{}</noscript>", element) if _is_built("site.js") else element


def _url(name: str) -> str:
    path = f"kernelhub/{name}"
    try:
        return static(path)
    except (
        ValueError
    ):  # a manifest storage before collectstatic ran: the finders' file has no hashed name yet
        return f"{settings.STATIC_URL}{path}"


_built: set[str] = set()


def _is_built(name: str) -> bool:
    """Whether the file can be served. Only a yes is remembered: a build may end while the site runs."""
    if name not in _built:
        path = f"kernelhub/{name}"
        if finders.find(path) is None and not staticfiles_storage.exists(path):
            return False
        _built.add(name)
    return True
