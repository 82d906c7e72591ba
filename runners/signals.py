"""How the measuring side tells higher layers what happened, without importing them."""

from django.dispatch import Signal

#: ``evaluation=``: new progress was stored. Receivers must not raise for a failed publication.
evaluation_progressed = Signal()
#: ``evaluation=``: the verdict was stored. Sent inside the transaction that stores it.
evaluation_finished = Signal()
#: ``device=``: a runner registered the device, so it can take work.
device_registered = Signal()
