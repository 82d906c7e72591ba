"""Pages. A view asks a selector or a service and renders; what is allowed is decided there, as in the API."""
