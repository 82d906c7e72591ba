"""Reading measured kernels from files: three public formats, never shipped, and our own export."""
