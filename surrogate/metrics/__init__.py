"""How good forecasts are: ranking, distributions, calibration, selection and search."""

from surrogate.metrics.forecast import forecast_metrics
from surrogate.metrics.selective import selective_metrics

__all__ = ["forecast_metrics", "selective_metrics"]
