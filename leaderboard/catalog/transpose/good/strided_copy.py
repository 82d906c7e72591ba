# One strided copy straight into the preallocated output.
def kernel(x, out):
    out.copy_(x.t())
