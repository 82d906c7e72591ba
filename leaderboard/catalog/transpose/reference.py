def reference(x):
    return x.t().contiguous()
