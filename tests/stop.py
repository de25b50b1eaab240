"""A request to stop, at a moment that a test chooses."""


class Stop:
    """Asks to stop at its given look, or never."""

    def __init__(self, after=None):
        self.after, self.looks = after, 0

    @property
    def requested(self):
        self.looks += 1
        return self.looks == self.after
