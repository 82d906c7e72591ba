"""Where candidates come from. One interface (``base``), so that a search does not know what writes them."""
