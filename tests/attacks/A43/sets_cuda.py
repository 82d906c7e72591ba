"""Tries to set what an administrator may set, each to the value that it has, so that success harms nobody."""

import ctypes

import torch


def attempt():
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError as error:
        print("no library to ask:", error)
        return
    if nvml.nvmlInit_v2() != 0:
        print("the library does not start")
        return
    device = ctypes.c_void_p()
    if nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) != 0:
        print("no device")
        return
    value, other = ctypes.c_uint(), ctypes.c_uint()
    if nvml.nvmlDeviceGetComputeMode(device, ctypes.byref(value)) == 0:
        said = nvml.nvmlDeviceSetComputeMode(device, value)
        print("CHANGED the compute mode" if said == 0 else f"compute mode: {said}")
    if nvml.nvmlDeviceGetPersistenceMode(device, ctypes.byref(value)) == 0:
        said = nvml.nvmlDeviceSetPersistenceMode(device, value)
        print("CHANGED the persistence mode" if said == 0 else f"persistence mode: {said}")
    if nvml.nvmlDeviceGetPowerManagementLimit(device, ctypes.byref(value)) == 0:
        said = nvml.nvmlDeviceSetPowerManagementLimit(device, value)
        print("CHANGED the power limit" if said == 0 else f"power limit: {said}")
    if nvml.nvmlDeviceGetApplicationsClock(device, 2, ctypes.byref(value)) == 0:
        if nvml.nvmlDeviceGetApplicationsClock(device, 0, ctypes.byref(other)) == 0:
            said = nvml.nvmlDeviceSetApplicationsClocks(device, value, other)
            print("CHANGED the clocks" if said == 0 else f"clocks: {said}")


attempt()


def kernel(x):
    return torch.add(2 * x, 1)
