"""Data-sheet figures of the devices that public measurements name. Our own devices are measured instead."""

from surrogate.contract.request import DeviceFacts

#: slug → (name, words in published device names, memory GB/s, float32 TFLOP/s, multiprocessors, L2 MiB)
_SHEET: dict[str, tuple[str, tuple[str, ...], float, float, int, float]] = {
    "a100": ("NVIDIA A100", ("a100",), 1555, 19.5, 108, 40),
    "h100": ("NVIDIA H100", ("h100",), 3350, 67.0, 132, 50),
    "h20": ("NVIDIA H20", ("h20",), 4000, 44.0, 78, 60),
    "l40": ("NVIDIA L40", ("l40",), 864, 90.5, 142, 96),
    "rtx-3090": ("NVIDIA GeForce RTX 3090", ("3090",), 936, 35.6, 82, 6),
    "rtx-4090": ("NVIDIA GeForce RTX 4090", ("4090",), 1008, 82.6, 128, 72),
    "rtx-a4000": ("NVIDIA RTX A4000", ("a4000",), 448, 19.2, 48, 4),
    "rtx-a6000": ("NVIDIA RTX A6000", ("a6000",), 768, 38.7, 84, 6),
    "pro-w6600": ("AMD Radeon PRO W6600", ("w6600",), 224, 10.4, 28, 2),
    "pro-w7800": ("AMD Radeon PRO W7800", ("w7800",), 576, 45.2, 70, 6),
}


def device_of(published_name: str) -> DeviceFacts:
    """The device a published name means; one with no figures when it is not in the list."""
    lowered = published_name.lower()
    for slug, (name, words, gigabytes, teraflops, units, l2) in _SHEET.items():
        if any(word in lowered for word in words):
            return DeviceFacts(
                slug,
                "cuda",
                name,
                {"multiprocessors": units, "l2_bytes": int(l2 * 2**20), "figures": "data sheet"},
                {"copy_bytes_per_s": gigabytes * 1e9, "flops_per_s": {"float32": teraflops * 1e12}},
            )
    slug = "-".join(lowered.split()) or "unknown"
    return DeviceFacts(slug, "cuda", published_name)
