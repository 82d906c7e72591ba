def reference(x):
    y = x
    for _ in range(96):
        y = y - 0.0001 * y * y
    return y
