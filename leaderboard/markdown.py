"""Task statements as HTML. Raw HTML in the text stays text."""

from collections.abc import Sequence
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token


class _Renderer(RendererHTML):
    """Column alignment as a class: the content security policy forbids style attributes."""

    def renderToken(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        style = tokens[idx].attrs.pop("style", None)
        if style:
            tokens[idx].attrs["class"] = str(style).replace("text-align:", "align-")
        return super().renderToken(tokens, idx, options, env)


_parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")


def render(text: str) -> SafeString:
    """HTML of a Markdown text, safe to put into a page."""
    html: SafeString = mark_safe(_parser.render(text))  # noqa: S308 the parser escapes everything
    return html
