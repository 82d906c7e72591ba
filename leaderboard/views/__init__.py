"""Pages. A view asks a selector or a service and renders; it decides nothing that the API would have to decide too."""
