"""What can be read from a request without running anything: text, similarity, numbers."""
