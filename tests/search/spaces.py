"""Small made-up tuning spaces: one kernel on several devices that agree more or less."""

import math
from random import Random

from leaderboard.search.generators.recorded import Pool
from leaderboard.search.grid import settings_of

PARAMETERS = {
    "block": (16, 32, 64, 128, 256),
    "tile": (1, 2, 4, 8),
    "unroll": (1, 2, 4),
    "memory": ("a", "b"),
}


def made_up(
    device: str, *, best_block: int = 64, shared: str = "a", seed: int = 0, noise: float = 0.1
) -> Pool:
    """Fastest near ``best_block`` with memory ``shared``; blocks of 256 fail with tile 8."""
    random = Random(f"{device}:{seed}")
    seconds = {}
    for block in PARAMETERS["block"]:
        for tile in PARAMETERS["tile"]:
            for unroll in PARAMETERS["unroll"]:
                for memory in PARAMETERS["memory"]:
                    settings = settings_of({"block": block, "tile": tile, "unroll": unroll, "memory": memory})
                    octaves = abs(math.log2(block / best_block)) + 0.5 * abs(math.log2(tile / 4))
                    octaves += (memory != shared) + 0.2 * (unroll == 1) + random.uniform(0, noise)
                    failed = block == 256 and tile == 8
                    seconds[settings] = None if failed else 1e-3 * 2**octaves
    return Pool(device, "cuda", "__global__ void kernel();", seconds)
