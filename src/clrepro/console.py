"""What a job says while it works: lines on standard error, which is its log in the workflow."""

import sys


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
