# Wrong: gives the right shape without moving an element.
def kernel(x):
    return x.clone().reshape(x.shape[1], x.shape[0])
