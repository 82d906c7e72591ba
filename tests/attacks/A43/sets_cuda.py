"""Tries to set what an administrator may set, each to the value that it has, so that success harms nobody."""

import ctypes

import torch


def tell(what, said):
    print(f"CHANGED the {what}" if said == 0 else f"tried the {what}: {said}")


def attempt():
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError as error:
        print("no library to ask:", error)
        return
    if (said := nvml.nvmlInit_v2()) != 0:
        print("the library does not start:", said)
        return
    device = ctypes.c_void_p()
    if (said := nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))) != 0:
        print("no device:", said)
        return
    value, other = ctypes.c_uint(), ctypes.c_uint()
    for what, ask, change in (
        ("compute mode", nvml.nvmlDeviceGetComputeMode, nvml.nvmlDeviceSetComputeMode),
        ("persistence mode", nvml.nvmlDeviceGetPersistenceMode, nvml.nvmlDeviceSetPersistenceMode),
        ("power limit", nvml.nvmlDeviceGetPowerManagementLimit, nvml.nvmlDeviceSetPowerManagementLimit),
    ):
        if (said := ask(device, ctypes.byref(value))) == 0:
            tell(what, change(device, value))
        else:
            print(f"does not know the {what}: {said}")
    clock = nvml.nvmlDeviceGetApplicationsClock
    if (said := clock(device, 2, ctypes.byref(value)) or clock(device, 0, ctypes.byref(other))) == 0:
        tell("clocks", nvml.nvmlDeviceSetApplicationsClocks(device, value, other))
    else:
        print("does not know the clocks:", said)


attempt()


def kernel(x):
    return torch.add(2 * x, 1)
