"""SentEval under its own interface: ``from clrepro import senteval``, then ``senteval.engine.SE(params, batcher)``."""

from clrepro.senteval import engine

__all__ = ["engine"]
