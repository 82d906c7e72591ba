"""How the surrogate tells higher layers what happened, without importing them."""

from django.dispatch import Signal

#: ``evaluation=``: a question was answered, by a forecast or by the reason why there is none.
forecast_answered = Signal()
