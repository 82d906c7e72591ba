"""A language model writes kernels: prompts, replies, whom to ask, and what was learned from the answers.

``prompts``, ``replies``, ``bandit``, ``breaker``, ``votes`` and ``examples`` are pure. ``journal`` keeps what
was paid for, ``desk`` asks, and ``generator`` is the search's generator made of them.
"""
