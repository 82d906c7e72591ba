"""What stands between a stranger's code and the machine. One layer per file; no Django, no torch."""
