"""What runs inside the sandbox. Standard library only, but for torch where the submission is Python.

Nothing here is trusted by the supervisor: the submission shares the process and can change any of it.
"""
