"""The site's icon, at the address that browsers ask also beside an answer of the API or a file."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

SVG = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
    "<path fill='#0b5cad' d='M1 1h3v14H1zM6 7h3v8H6zM11 4h3v11h-3z'/></svg>"
)
_DAY = 86_400  # seconds


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    return HttpResponse(
        SVG, content_type="image/svg+xml", headers={"Cache-Control": f"public, max-age={7 * _DAY}"}
    )
