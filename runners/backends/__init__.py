"""One small package per language: what is looked at before anything runs, and how a source becomes
loadable.
"""
