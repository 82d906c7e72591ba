"""WebSockets. A frame is a doorbell: the page that hears it reads the truth over HTTP."""
