"""Names of optimisers, schedules and scaling rules, for settings that are checked without torch."""

from typing import Literal, get_args

SentenceOptimiser = Literal["adamw", "adamw_transformers"]
ImageOptimiser = Literal["adam", "adamw", "sgd", "lars"]
Schedule = Literal["constant", "linear", "cosine"]
RateRule = Literal["fixed", "linear", "square_root", "linear_above_256"]

OPTIMISERS = tuple(dict.fromkeys((*get_args(SentenceOptimiser), *get_args(ImageOptimiser))))
SCHEDULES = get_args(Schedule)
RATE_RULES = get_args(RateRule)
