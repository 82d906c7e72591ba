# Wrong: rounds the factors to half precision and adds in float32, as tensor cores do.
def kernel(a, b):
    return a.half().float() @ b.half().float()
