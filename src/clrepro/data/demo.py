"""Generated demo data: an English corpus and SentEval-shaped evaluation sets.

Sentences are rendered from *events* (who does what, where, when, how). One event has many wordings: templates
and synonyms are drawn at random, independently of the gold score, which is computed from the two events of a
pair. Every file has its own `random.Random(<string>)`, so the same files come out on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from clrepro.data import demo_words as words

Event = dict[str, str | None]  # slot -> entry of a word list, synonyms still joined by "/"

# What a slot that differs costs; a perfect match is worth 5.
SLOT_WEIGHTS = {
    "object": 1.1, "agent": 1.0, "action": 0.9, "place": 0.5, "time": 0.5, "domain": 0.5,
    "adjective": 0.25, "manner": 0.25,
}  # fmt: skip
# The kinds of frame that a style can render.
STYLE_KINDS = {
    "news": ("scene", "lab", "formal", "past", "static"),
    "forum": ("scene", "lab", "formal", "past", "static"),
    "question": ("scene", "lab", "formal", "past"),
    "headline": ("scene", "lab", "formal"),
    "tweet": ("scene", "lab", "formal"),
    "definition": ("scene", "lab"),
    "caption": ("scene",),
}
DROPPED_SHARE = {"adjective": 0.4, "time": 0.4, "manner": 0.6}  # how often an event leaves these slots empty
COARSE = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")  # the question classes of TREC
MINOR_STYLES = ["forum", "question", "headline", "tweet"]
HARD_SHARE = 0.06  # share of sentences without a cue to their class


def items(text: str) -> list[str]:
    """The entries of a comma-separated word list."""
    return [part.strip() for part in text.split(",")]


@dataclass(frozen=True)
class Frame:
    """The words that go together: any agent can do any action at any place."""

    domain: str
    kind: str
    agents: list[str]
    adjectives: list[str]
    actions: list[tuple[str, list[str]]]
    places: list[str]
    manners: list[str]
    times: list[str]
    news_times: list[str]


def _frame(entry: dict) -> Frame:
    actions = [line.split(": ", 1) for line in entry["actions"]]
    times = items(entry.get("times", words.TIMES_ANY))
    return Frame(
        domain=entry["domain"],
        kind=entry["kind"],
        actions=[(verb, items(objects)) for verb, objects in actions],
        times=times,
        news_times=times if "times" in entry else times + items(words.TIMES_PAST),
        **{key: items(entry[key]) for key in ("agents", "adjectives", "places", "manners")},
    )


FRAMES = [_frame(entry) for entry in words.FRAMES]
KINDS = {(frame.domain, agent): frame.kind for frame in FRAMES for agent in frame.agents}


# -------------------------------------------------------------------------------- surface forms
def pick(entry: str, rng: Random) -> str:
    """One of the synonyms of an entry."""
    return rng.choice(entry.split("/"))


def with_article(noun: str) -> str:
    """The noun after "a" or "an"."""
    vowel = noun[0] in "aeiouAEIOU" and not noun.startswith(("uni", "Euro", "one", "use"))
    return f"{'an' if vowel or noun.startswith(('hour', 'honest')) else 'a'} {noun}"


def conjugate(verb: str) -> dict[str, str]:
    """The forms of a verb; only the first word of "dig up" changes."""
    base, _, rest = verb.partition(" ")
    stem = base + base[-1] if base in items(words.DOUBLED) else base
    after_consonant = base[-2] not in "aeiou"
    if base.endswith("e"):
        regular, ing = base + "d", base[:-1] + "ing"
    elif base.endswith("y") and after_consonant:
        regular, ing = base[:-1] + "ied", base + "ing"
    else:
        regular, ing = stem + "ed", stem + "ing"
    if base.endswith("y") and after_consonant:
        third = base[:-1] + "ies"
    else:
        third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    past, participle = words.IRREGULAR.get(base, (regular, regular))
    forms = {"base": base, "third": third, "past": past, "participle": participle, "ing": ing}
    return {name: f"{form} {rest}".strip() for name, form in forms.items()}


def join(*parts: str) -> str:
    """The non-empty parts, one space between them."""
    return " ".join(part for part in parts if part)


def capitalise(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def tokenise(sentence: str, lower: bool = True) -> str:
    """Punctuation as separate tokens, and lower case unless told otherwise."""
    spaced = re.sub(r"([.,?!:;]|'s\b|s'(?= ))", r" \1", sentence)
    return re.sub(r" +", " ", spaced.lower() if lower else spaced).strip()


def fill(template: str, slots: dict[str, str], rng: Random) -> str:
    """Fill the {slots} of a template, never twice with the same entry; then set a/an and the capital."""
    used: list[str] = []

    def draw(match: re.Match[str]) -> str:
        used.append(rng.choice([entry for entry in items(slots[match[1]]) if entry not in used]))
        return used[-1]

    text = re.sub(r"\{(\w+)\}", draw, template)
    text = re.sub(r"\b([Aa]) ([aeiou]\w+)", lambda match: match[1] + with_article(match[2])[1:], text)
    return capitalise(text)


# -------------------------------------------------------------------------------- events
def frames_for(style: str, domains: str = "") -> list[Frame]:
    wanted = items(domains) if domains else None
    return [f for f in FRAMES if f.kind in STYLE_KINDS[style] and (wanted is None or f.domain in wanted)]


def draw_event(frame: Frame, style: str, rng: Random) -> Event:
    """A random event of the frame, with the slots that the style expresses."""
    action, objects = rng.choice(frame.actions)
    event: Event = {
        "domain": frame.domain,
        "agent": rng.choice(frame.agents),
        "adjective": rng.choice(frame.adjectives),
        "action": action,
        "object": rng.choice(objects),
        "place": rng.choice(frame.places),
        "time": rng.choice(frame.times if style in ("caption", "headline") else frame.news_times),
        "manner": rng.choice(frame.manners),
    }
    for slot, share in DROPPED_SHARE.items():
        if rng.random() < share:
            event[slot] = None
    unsaid = {"definition": ("agent", "adjective", "time"), "headline": ("manner",), "tweet": ("manner",)}
    for slot in unsaid.get(style, ()):
        event[slot] = None
    return event


def similarity(a: Event, b: Event) -> float:
    """The gold score 0-5: weighted share of equal slots among those that either event fills."""
    filled = [slot for slot in SLOT_WEIGHTS if a[slot] is not None or b[slot] is not None]
    equal = sum(SLOT_WEIGHTS[slot] for slot in filled if a[slot] == b[slot])
    score = 5 * equal / sum(SLOT_WEIGHTS[slot] for slot in filled)
    return score if a["domain"] == b["domain"] else min(score, 0.5)


def vary(event: Event, frame: Frame, share: float, style: str, rng: Random) -> Event:
    """The event with about `share` of its slots drawn anew; a new action brings a new object."""
    other = draw_event(frame, style, rng)
    slots = ("agent", "object", "place", "time", "adjective", "manner")
    changed = [slot for slot in slots if rng.random() < share]
    varied = event | {slot: other[slot] for slot in changed}
    if "object" in changed:
        objects = next(objects for action, objects in frame.actions if action == event["action"])
        varied["object"] = rng.choice(objects)
        if rng.random() < 0.5:
            varied |= {"action": other["action"], "object": other["object"]}
    return varied


def event_pair(level: int, style: str, domains: str, rng: Random) -> tuple[Event, Event, float]:
    """Two events whose gold score rounds to `level`; level 5 is the same event, level 0 another domain."""
    while True:
        frame = rng.choice(frames_for(style, domains))
        a = draw_event(frame, style, rng)
        if level == 0:
            others = [other for other in frames_for(style) if other.domain != frame.domain]
            b = draw_event(rng.choice(others), style, rng)
            return a, b, similarity(a, b)
        b = vary(a, frame, 1 - level / 5, style, rng)
        score = similarity(a, b)
        if a == b if level == 5 else level - 0.5 <= score < level + 0.5 and a != b:
            return a, b, score


# -------------------------------------------------------------------------------- rendering
def clause(event: Event, style: str, rng: Random, front: bool = True, negate: bool = False) -> str:
    """The event as a main clause without capital and full stop; template and synonyms are drawn here."""
    kind = KINDS[event["domain"], event["agent"]]
    text = {slot: pick(entry, rng) if entry else "" for slot, entry in event.items()}
    place, time, manner, obj = text["place"], text["time"], text["manner"], text["object"].rstrip("*")
    plural = str(event["object"]).endswith("*")
    noun = join(text["adjective"], text["agent"])
    definite = kind in ("formal", "static") or rng.random() < (0.3 if style == "caption" else 0.7)
    agent = f"the {noun}" if definite else with_article(noun)
    forms = conjugate(text["action"])
    passive = rng.random() < 0.3
    be = ("are" if plural else "is") if passive else "is"
    if style == "caption":
        auxiliary = f"{be} being" if passive else be
        main = forms["participle"] if passive else forms["ing"]
    elif style in ("headline", "tweet"):
        auxiliary, main = "", forms["participle"] if passive else forms["third"]
    elif kind == "static":
        auxiliary, main = (be, forms["participle"]) if passive else ("", forms["third"])
    else:
        auxiliary = ("were" if plural else "was") if passive else ""
        main = forms["participle"] if passive else forms["past"]
    if negate:
        auxiliary = re.sub(r"^(is|are)", r"\1 not", auxiliary)
    subject, rest = (obj, f"by {agent}") if passive else (agent, obj)
    early = manner.endswith("ly") and " " not in manner and rng.random() < 0.6
    adverb, manner = (manner, "") if early else ("", manner)
    core = [subject, auxiliary, adverb, main, rest, manner]
    order = rng.choice(["place time", "place time", "time place", "time first", "place first"])
    if style in ("headline", "tweet"):
        return re.sub(r"\b(a|an|the|some) ", "", join(*core, place, time))
    if order == "time first" and front and time:
        return f"{time}, {join(*core, place)}"
    if order == "place first" and front:
        return f"{place}, {join(*core, time)}"
    return join(*core, time, place) if order == "time place" else join(*core, place, time)


def definition(event: Event, rng: Random) -> str:
    """The event without an agent: "the act of peeling the potatoes in the kitchen"."""
    text = {slot: pick(entry, rng).rstrip("*") if entry else "" for slot, entry in event.items()}
    forms = conjugate(text["action"])
    form = rng.choice(["the act of {ing}", "{ing}", "to {base}", "the work of {ing}", "how to {base}"])
    tail = [text["manner"], text["place"]]
    rng.shuffle(tail)
    return join(form.format(**forms), text["object"], *tail)


def render(event: Event, style: str, rng: Random, negate: bool = False) -> str:
    """The event as a cased sentence with its final punctuation."""
    if style == "definition":
        return capitalise(definition(event, rng)) + "."
    opened = rng.random() < words.OPENING_SHARE.get(style, 0)
    text = clause(event, style, rng, front=not opened, negate=negate)
    if opened:
        opening = pick(words.OPENINGS[style], rng)
        pause = "," if opening in words.OPENINGS_WITH_PAUSE else ""
        text = f"{opening}{pause} {text}"
    return capitalise(text) + ("?" if style == "question" else ".")


def sentence_pair(level: int, style: str, domains: str, rng: Random) -> tuple[str, str, float]:
    """Two different sentences and the gold score of their events."""
    while True:
        a, b, score = event_pair(level, style, domains, rng)
        first, second = render(a, style, rng), render(b, style, rng)
        if first != second:
            return first, second, score


def levels(count: int, rng: Random) -> list[int]:
    """`count` gold levels, each of 0-5 equally often, shuffled."""
    drawn = [number % 6 for number in range(count)]
    rng.shuffle(drawn)
    return drawn


# -------------------------------------------------------------------------------- other sentences
def signed(slots: dict[str, str], label: int) -> dict[str, str]:
    """The slots seen from a label: own_x/other_x stand for positive_x/negative_x or the reverse."""
    own, other = ("positive", "negative") if label else ("negative", "positive")
    named = {name.replace(own, "own").replace(other, "other"): text for name, text in slots.items()}
    return slots | named


def review(slots: dict[str, str], label: int, rng: Random) -> str:
    """A film or product review; some are mixed, and a few say nothing about their label."""
    slots = signed(slots, label)
    slots |= {"verb": slots["own_verb"], "verdict": slots["own_verdict"]}
    plain = words.PLAIN_TEMPLATES + (words.FILM_TEMPLATES if "topic" in slots else [])
    draw = rng.random()
    hard, mixed = draw < HARD_SHARE, draw < 0.32
    templates = words.NEUTRAL_TEMPLATES if hard else words.MIXED_TEMPLATES if mixed else plain
    return fill(rng.choice(templates), slots, rng)


def plot(rng: Random) -> str:
    """A statement about what happens in a story."""
    return fill(rng.choice(words.PLOT_TEMPLATES), words.PLOT, rng)


def opinion(rng: Random) -> str:
    """A short statement of what people think."""
    slots = signed(words.OPINION, rng.randrange(2))
    return fill(rng.choice(words.OPINION_TEMPLATES), slots, rng)


def subjectivity(label: int, rng: Random) -> str:
    """Label 1: an opinion about a film. Label 0: what happens in it. A few could be either."""
    draw = rng.random()
    if draw < HARD_SHARE:
        return fill(rng.choice(words.FACT_TEMPLATES), words.FILM | words.PLOT, rng)
    if draw < 0.25:
        templates = words.PLOT_OPINION_TEMPLATES if label else words.COLOURED_PLOT_TEMPLATES
        return fill(rng.choice(templates), words.FILM | words.PLOT, rng)
    return review(words.FILM, rng.randrange(2), rng) if label else plot(rng)


def phrase(label: int, rng: Random) -> str:
    """One to four words with a positive or negative colour."""
    templates = words.NEUTRAL_PHRASES if rng.random() < HARD_SHARE else words.PHRASES
    return fill(rng.choice(templates), signed(words.OPINION, label), rng)


def question(coarse: str, rng: Random) -> tuple[str, str]:
    """A fine class of the coarse one and a question of it."""
    fine = rng.choice([name for name in words.QUESTION_TEMPLATES if name.startswith(coarse)])
    templates, slots, draw = words.QUESTION_TEMPLATES[fine], words.QUESTION, rng.random()
    if draw < HARD_SHARE:
        templates = words.VAGUE_TEMPLATES
    elif draw < 0.35 and coarse in slots:  # a class with head nouns
        fine, templates = f"{coarse}:other", words.HEAD_TEMPLATES
        slots = slots | {"head": slots[coarse]}
    return fine, fill(rng.choice(templates), slots, rng)


def trec_line(coarse: str, rng: Random) -> str:
    fine, text = question(coarse, rng)
    return f"{fine} {tokenise(text, lower=False)}"


def distinct(count: int, make: Callable[[], str], seen: set[str]) -> list[str]:
    """`count` results of `make` whose sentences, without a question class, are not yet in `seen`."""
    found: list[str] = []
    while len(found) < count:
        text = make()
        sentence = text.split(" ", 1)[1] if text.startswith(COARSE) else text
        if sentence not in seen:
            seen.add(sentence)
            found.append(text)
    return found


# -------------------------------------------------------------------------------- the files
def _sts_files() -> dict[str, list[str]]:
    files = {}
    for year, subsets in words.STS_SUBSETS.items():
        for subset, (style, domains) in subsets.items():
            rng = Random(f"{year}/{subset}")
            extra = 10 if year in ("STS15", "STS16") else 0
            pairs = [sentence_pair(level, style, domains, rng) for level in levels(40 + extra, rng)]
            unrated = rng.sample(range(len(pairs)), extra)
            folder = f"STS/{year}-en-test"
            files[f"{folder}/STS.input.{subset}.txt"] = [f"{tokenise(a)}\t{tokenise(b)}" for a, b, _ in pairs]
            files[f"{folder}/STS.gs.{subset}.txt"] = [
                "" if number in unrated else f"{score:.2f}" for number, (_, _, score) in enumerate(pairs)
            ]
    genres = [("main-captions", "images", "caption"), ("main-news", "headlines", "headline"),
              ("main-news", "MSRpar", "news"), ("main-forums", "answers-forums", "forum")]  # fmt: skip
    for split, count in (("train", 200), ("dev", 150), ("test", 200)):
        rng = Random(f"STSBenchmark/{split}")
        rows = []
        for number, level in enumerate(levels(count, rng)):
            genre, file, style = rng.choice(genres)
            a, b, score = sentence_pair(level, style, "", rng)
            year, row_id = f"201{2 + number % 4}test", f"{number:04d}"
            rows.append("\t".join([genre, file, year, row_id, f"{score:.3f}", tokenise(a), tokenise(b)]))
        files[f"STS/STSBenchmark/sts-{split}.csv"] = rows
    return files


def _sick_files() -> dict[str, list[str]]:
    """SICK: relatedness 1-5; a negated sentence contradicts, the same event entails."""
    files = {}
    first_id = 1
    for split, count in (("train", 200), ("trial", 80), ("test_annotated", 200)):
        rng = Random(f"SICK/{split}")
        rows = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"]
        for number, level in enumerate(levels(count, rng)):
            a, b, score = event_pair(level, "caption", "", rng)
            relatedness, judgment = 1 + 0.8 * score, "ENTAILMENT" if level == 5 else "NEUTRAL"
            negate = level >= 4 and rng.random() < 0.3
            if negate:
                b, judgment, relatedness = a, "CONTRADICTION", rng.choice([3.3, 3.5, 3.7, 3.9])
            one = two = render(a, "caption", rng)
            while one == two:
                two = render(b, "caption", rng, negate=negate)
            sentences = [tokenise(text.rstrip("."), lower=False) for text in (one, two)]
            rows.append("\t".join([str(first_id + number), *sentences, f"{relatedness:.1f}", judgment]))
        first_id += count
        files[f"SICK/SICK_{split}.txt"] = rows
    return files


def _mrpc_files() -> dict[str, list[str]]:
    files = {}
    for split, count in (("train", 300), ("test", 150)):
        rng = Random(f"MRPC/{split}")
        rows = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
        for number in range(count):
            same = rng.random() < 2 / 3
            a, b, _ = sentence_pair(5 if same else rng.choice([2, 3, 4]), "news", "", rng)
            texts = [tokenise(text, lower=False) for text in (a, b)]
            ids = [str(700000 + 2 * number), str(700001 + 2 * number)]
            rows.append("\t".join([str(int(same)), *ids, *texts]))
        files[f"MRPC/msr_paraphrase_{split}.txt"] = rows
    return files


def _classification_files() -> dict[str, list[str]]:
    film, product = partial(review, words.FILM), partial(review, words.PRODUCT)
    tasks = [  # task, maker, then the files and sizes of label 0 and label 1
        ("MR", film, ("rt-polarity.neg", 200), ("rt-polarity.pos", 200)),
        ("CR", product, ("custrev.neg", 120), ("custrev.pos", 180)),
        ("SUBJ", subjectivity, ("subj.objective", 200), ("subj.subjective", 200)),
        ("MPQA", phrase, ("mpqa.neg", 150), ("mpqa.pos", 150)),
    ]
    files: dict[str, list[str]] = {}
    for task, make, *parts in tasks:
        rng, seen = Random(task), set()
        for label, (name, count) in enumerate(parts):
            sentence = partial(make, label, rng)
            files[f"{task}/{name}"] = distinct(count, lambda s=sentence: tokenise(s()), seen)
    rng, seen = Random("SST"), set()
    for split, count in (("train", 400), ("dev", 100), ("test", 150)):
        rows = []
        for label in (0, 1):
            texts = distinct(count // 2, lambda lb=label: tokenise(film(lb, rng)), seen)
            rows += [f"{text}\t{label}" for text in texts]
        rng.shuffle(rows)
        files[f"SST/binary/sentiment-{split}"] = rows
    return files


def _trec_files() -> dict[str, list[str]]:
    rng, seen = Random("TREC"), set()
    files: dict[str, list[str]] = {}
    for name, sizes in (("train_5500", (20, 75, 80, 75, 60, 50)), ("TREC_10", (7, 25, 27, 25, 20, 16))):
        rows = []
        for coarse, count in zip(COARSE, sizes, strict=True):
            rows += distinct(count, partial(trec_line, coarse, rng), seen)
        rng.shuffle(rows)
        files[f"TREC/{name}.label"] = rows
    return files


def senteval_files() -> dict[str, list[str]]:
    """Path below the root -> its lines, for every evaluation file."""
    return _sts_files() | _sick_files() | _mrpc_files() | _classification_files() | _trec_files()


def write_senteval(root: Path) -> None:
    """Write the evaluation sets in the layout of the SentEval downloads."""
    for name, lines in senteval_files().items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        encoding = "utf-8-sig" if name.startswith("MRPC/") else "utf-8"
        path.write_text("".join(f"{line}\n" for line in lines), encoding=encoding, newline="\n")


def corpus_sentence(rng: Random) -> str:
    """A sentence of the corpus: an event in seven of ten cases, else one of the other kinds."""
    kind = rng.random()
    if kind < 0.70:
        style = rng.choice(["news"] * 5 + ["caption"] * 4 + ["definition"] * 2 + MINOR_STYLES)
        frame = rng.choice(frames_for(style))
        event = draw_event(frame, style, rng)
        text = render(event, style, rng, negate=rng.random() < 0.05)
        other = draw_event(frame, style, rng) | dict.fromkeys(("adjective", "place", "time", "manner"))
        if style == "news" and other["agent"] != event["agent"] and rng.random() < 0.15:
            text = f"{text[:-1]}, while {clause(other, style, rng, front=False)}."
        return text
    if kind < 0.79:
        return review(rng.choice([words.FILM, words.PRODUCT]), rng.randrange(2), rng)
    if kind < 0.86:
        return opinion(rng)
    if kind < 0.96:
        text = question(rng.choice(COARSE), rng)[1]
        return capitalise(f"{rng.choice(items(words.QUESTION_PREFIXES))} {text[0].lower()}{text[1:]}")
    return subjectivity(int(rng.random() < 0.2), rng)


def _key(text: str) -> str:
    """What makes two sentences the same: their lower-case words."""
    return tokenise(text).rstrip(" .?!")


def write_corpus(path: Path, lines: int = 8000) -> None:
    """Write `lines` different sentences, one a line; none of them is an evaluation sentence."""
    cells = [cell for rows in senteval_files().values() for row in rows for cell in row.split("\t")]
    seen = {_key(cell) for cell in cells} | {_key(cell.split(" ", 1)[-1]) for cell in cells}
    rng = Random("corpus")
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        while lines > 0:
            text = corpus_sentence(rng)
            if _key(text) not in seen:
                seen.add(_key(text))
                file.write(text + "\n")
                lines -= 1
