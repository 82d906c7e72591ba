"""What changes search runs. Lock order everywhere: evaluation, spend, site's day, board, search run."""
