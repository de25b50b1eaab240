"""The demo's labelled sentences: reviews, plots, opinions and questions, and the classification sets made of them.

A small share of the sentences carries no cue to its class, and some carry a misleading one, so that the tasks are not
solved by looking for single words.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from random import Random

from clrepro.demo import words_questions as asked
from clrepro.demo import words_reviews as said
from clrepro.demo.events import capitalise, items, tokenise, with_article

COARSE = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")  # the question classes of TREC
HARD_SHARE = 0.06  # share of sentences without a cue to their class

Slots = dict[str, str]  # name in a template -> comma-separated entries


def fill(templates: list[str], slots: Slots, rng: Random) -> str:
    """A random template with its {slots} filled, no entry twice, a/an set and a capital at the start."""
    used: list[str] = []

    def draw(match: re.Match[str]) -> str:
        used.append(rng.choice([entry for entry in items(slots[match[1]]) if entry not in used]))
        return used[-1]

    text = re.sub(r"\{(\w+)\}", draw, rng.choice(templates))
    text = re.sub(r"\b([Aa]) ([aeiou]\w+)", lambda match: match[1] + with_article(match[2])[1:], text)
    return capitalise(text)


def signed(slots: Slots, label: int) -> Slots:
    """The slots as a label sees them: own_x and other_x are positive_x and negative_x for label 1, else the reverse."""
    own, other = ("positive", "negative") if label else ("negative", "positive")
    return slots | {name.replace(own, "own").replace(other, "other"): text for name, text in slots.items()}


# sentences


def review(product: Slots, label: int, rng: Random) -> str:
    """A review of a film or another product; some are mixed, and a few say nothing about their label."""
    templates = said.PLAIN_TEMPLATES + (said.FILM_TEMPLATES if product is said.FILM else [])
    kind = rng.random()
    if kind < HARD_SHARE:
        templates = said.NEUTRAL_TEMPLATES
    elif kind < 0.32:
        templates = said.MIXED_TEMPLATES
    return fill(templates, signed(product, label), rng)


def opinion(rng: Random) -> str:
    """A short statement of what people think."""
    slots = signed(said.OPINION, rng.randrange(2))
    return fill(said.OPINION_TEMPLATES, slots, rng)


def subjectivity(label: int, rng: Random) -> str:
    """Label 1: an opinion about a film. Label 0: what happens in it. A few could be either."""
    kind, both = rng.random(), said.FILM | said.PLOT
    if kind < HARD_SHARE:
        return fill(said.FACT_TEMPLATES, both, rng)
    if kind < 0.25:
        return fill(said.PLOT_OPINION_TEMPLATES if label else said.COLOURED_PLOT_TEMPLATES, both, rng)
    return review(said.FILM, rng.randrange(2), rng) if label else fill(said.PLOT_TEMPLATES, said.PLOT, rng)


def phrase(label: int, rng: Random) -> str:
    """One to four words with a positive or negative colour."""
    phrases = said.NEUTRAL_PHRASES if rng.random() < HARD_SHARE else said.PHRASES
    return fill(items(phrases), signed(said.OPINION, label), rng)


def question(coarse: str, rng: Random) -> tuple[str, str]:
    """A fine class of the coarse one and a question of it."""
    fine = rng.choice([name for name in asked.QUESTION_TEMPLATES if name.startswith(coarse)])
    templates, slots, kind = asked.QUESTION_TEMPLATES[fine], asked.QUESTION, rng.random()
    if kind < HARD_SHARE:
        templates = asked.VAGUE_TEMPLATES
    elif kind < 0.35 and coarse in asked.HEADS:
        fine, templates, slots = f"{coarse}:other", asked.HEAD_TEMPLATES, slots | {"head": asked.HEADS[coarse]}
    return fine, fill(templates, slots, rng)


# the files


def _distinct(count: int, make: Callable[[], str], seen: set[str]) -> list[str]:
    """`count` tokenised results of `make` that are not yet in `seen`, where they are then noted."""
    found: list[str] = []
    while len(found) < count:
        text = tokenise(make())
        if text not in seen:
            seen.add(text)
            found.append(text)
    return found


def _two_classes(task: str, make: Callable[[int, Random], str], *parts: tuple[str, int]) -> Iterable[tuple[str, list]]:
    """The files of a task with one file for each label; `parts` are their names and sizes."""
    rng, seen = Random(task), set()
    for label, (name, count) in enumerate(parts):
        yield f"{task}/{name}", _distinct(count, partial(make, label, rng), seen)


def _sst() -> Iterable[tuple[str, list[str]]]:
    rng, seen = Random("SST"), set()
    for split, count in (("train", 400), ("dev", 100), ("test", 150)):
        rows = []
        for label in (0, 1):
            texts = _distinct(count // 2, partial(review, said.FILM, label, rng), seen)
            rows += [f"{text}\t{label}" for text in texts]
        rng.shuffle(rows)
        yield f"SST/binary/sentiment-{split}", rows


def _trec() -> Iterable[tuple[str, list[str]]]:
    rng, seen = Random("TREC"), set()
    for name, sizes in (("train_5500", (20, 75, 80, 75, 60, 50)), ("TREC_10", (7, 25, 27, 25, 20, 16))):
        rows = []
        for coarse, count in zip(COARSE, sizes, strict=True):
            end = len(rows) + count
            while len(rows) < end:
                fine, text = question(coarse, rng)
                if text not in seen:
                    seen.add(text)
                    rows.append(f"{fine} {tokenise(text, lower=False)}")
        rng.shuffle(rows)
        yield f"TREC/{name}.label", rows


def classification_files() -> dict[str, list[str]]:
    """Path below the root -> lines, for MR, CR, SUBJ, MPQA, SST-2 and TREC."""
    film, product = partial(review, said.FILM), partial(review, said.PRODUCT)
    return {
        **dict(_two_classes("MR", film, ("rt-polarity.neg", 200), ("rt-polarity.pos", 200))),
        **dict(_two_classes("CR", product, ("custrev.neg", 120), ("custrev.pos", 180))),
        **dict(_two_classes("SUBJ", subjectivity, ("subj.objective", 200), ("subj.subjective", 200))),
        **dict(_two_classes("MPQA", phrase, ("mpqa.neg", 150), ("mpqa.pos", 150))),
        **dict(_sst()),
        **dict(_trec()),
    }
