"""Events of the demo data (who does what, where, when and how), their similarity and their wordings.

An event has many wordings: templates and synonyms are drawn at random. A pair's gold score is computed from its two
events and never from their wordings, so that shared words alone do not predict it.
"""

import re
from dataclasses import dataclass
from random import Random

from clrepro.demo.words_daily import DAILY_FRAMES
from clrepro.demo.words_public import PUBLIC_FRAMES

Event = dict[str, str | None]  # slot -> entry of a word list with all its synonyms; None: not said

# How much an equal slot adds to the similarity of two events.
SLOT_WEIGHTS = {
    "object": 1.1,
    "agent": 1.0,
    "action": 0.9,
    "place": 0.5,
    "time": 0.5,
    "domain": 0.5,
    "adjective": 0.25,
    "manner": 0.25,
}
STYLE_KINDS = {  # style -> the kinds of frames that it can render
    "news": ("scene", "lab", "formal", "past", "static"),
    "forum": ("scene", "lab", "formal", "past", "static"),
    "question": ("scene", "lab", "formal", "past"),
    "headline": ("scene", "lab", "formal"),
    "tweet": ("scene", "lab", "formal"),
    "definition": ("scene", "lab"),
    "caption": ("scene",),
}
EMPTY_SHARE = {"adjective": 0.4, "time": 0.4, "manner": 0.6}  # how often an event leaves these slots empty
UNSAID = {"definition": ("agent", "adjective", "time"), "headline": ("manner",), "tweet": ("manner",)}
TELEGRAPHIC = ("headline", "tweet")  # styles without articles and auxiliaries

ANY_TIMES = """in the morning/early in the day, at noon/at midday, in the afternoon/after lunch, in the evening,
    at night/after dark, before dawn/before sunrise, at dusk/at sunset"""
PAST_TIMES = """yesterday, last week/a week ago, last month/a month ago, on Monday/at the start of the week,
    on Friday/at the end of the week, on Sunday, last summer/during the summer, last winter/during the winter, in April,
    two days ago/the day before yesterday"""

OPENING_SHARE = {"news": 0.45, "caption": 0.5, "forum": 0.85, "tweet": 0.7, "question": 1.0}
OPENINGS = {  # words before the event that carry none of its meaning
    "news": "according to the local paper,/the paper reports that/reports say that/it was reported on the radio that/"
    "it is said that/we have learned that/as the report points out,/a spokesman told the press that/"
    "people who were there say that/the record shows that",
    "caption": "in this picture,/this is a picture in which/the photo shows how/here we can see how/"
    "in the background of the picture,/you can see in this photo that/what we see is that",
    "forum": "I think that/I heard that/it seems that/someone told me that/I am fairly sure that/my friend says that/"
    "I read somewhere that/they say that/to be honest, I believe that/if I remember it right,",
    "tweet": "breaking news:/just in:/update:/latest:/this just in:/read all about it:/in the news today:",
    "question": "does anyone know why/can you explain why/do you know why/could someone tell me why/any idea why/"
    "I would like to know why/what is the reason why/is there a good reason why",
}

# verb, past and, where it differs, participle
IRREGULAR = """build built, buy bought, catch caught, cut cut, dig dug, eat ate eaten, feed fed, find found,
    forecast forecast, hold held, lose lost, make made, meet met, read read, ride rode ridden, sell sold, shut shut,
    strike struck, teach taught, throw threw thrown, win won, write wrote written, beat beat beaten, draw drew drawn,
    bring brought, put put, tear tore torn"""
DOUBLED = ("cut", "dig", "drop", "grab", "put", "shut", "stir", "stop", "win")  # cut -> cutting


def items(text: str) -> list[str]:
    """The entries of a comma-separated list."""
    return [entry.strip() for entry in text.split(",")]


@dataclass(frozen=True)
class Frame:
    """Words that go together: any agent can do any action at any place."""

    domain: str
    kind: str
    agents: list[str]
    adjectives: list[str]
    actions: dict[str, list[str]]  # verb -> objects
    places: list[str]
    manners: list[str]
    times: list[str]
    past_times: list[str]  # for a report of the past


def _frame(words: dict) -> Frame:
    lists = {key: items(words[key]) for key in ("agents", "adjectives", "places", "manners")}
    actions = {verb: items(objects) for verb, objects in words["actions"].items()}
    times = items(words.get("times", ANY_TIMES))
    past_times = times if "times" in words else times + items(PAST_TIMES)
    return Frame(words["domain"], words["kind"], actions=actions, times=times, past_times=past_times, **lists)


FRAMES = [_frame(words) for words in DAILY_FRAMES + PUBLIC_FRAMES]
KINDS = {(frame.domain, agent): frame.kind for frame in FRAMES for agent in frame.agents}
VERBS = {forms[0]: (forms[1], forms[-1]) for forms in map(str.split, items(IRREGULAR))}


# events and their similarity


def frames_for(style: str, domains: str = "") -> list[Frame]:
    """The frames that a style can render, of the listed domains or of all."""
    return [f for f in FRAMES if f.kind in STYLE_KINDS[style] and (not domains or f.domain in items(domains))]


def draw_event(frame: Frame, style: str, rng: Random) -> Event:
    """A random event of the frame, with the slots that the style expresses."""
    action = rng.choice(list(frame.actions))
    event: Event = {
        "domain": frame.domain,
        "agent": rng.choice(frame.agents),
        "adjective": rng.choice(frame.adjectives),
        "action": action,
        "object": rng.choice(frame.actions[action]),
        "place": rng.choice(frame.places),
        "time": rng.choice(frame.times if style in ("caption", "headline") else frame.past_times),
        "manner": rng.choice(frame.manners),
    }
    empty = [slot for slot, share in EMPTY_SHARE.items() if rng.random() < share]
    return event | dict.fromkeys([*empty, *UNSAID.get(style, ())])


def similarity(a: Event, b: Event) -> float:
    """The gold score 0-5: the weighted share of equal slots among those that either event fills."""
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
        varied["object"] = rng.choice(frame.actions[event["action"]])
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


# wordings


def pick(entry: str | None, rng: Random) -> str:
    """One of the synonyms of an entry."""
    return rng.choice(entry.split("/")) if entry else ""


def with_article(noun: str) -> str:
    """The noun after "a" or "an"."""
    vowel = noun[0] in "aeiouEI" and not noun.startswith(("Euro", "use"))
    return f"{'an' if vowel else 'a'} {noun}"


def conjugate(verb: str) -> dict[str, str]:
    """The forms of a verb; only the first word of "dig up" changes."""
    base, _, rest = verb.partition(" ")
    third, past, ing = base + "s", base + "ed", base + "ing"
    if base in DOUBLED:
        past, ing = base + base[-1] + "ed", base + base[-1] + "ing"
    elif base.endswith("e"):
        past, ing = base + "d", base[:-1] + "ing"
    elif base.endswith(("s", "sh", "ch", "x")):
        third = base + "es"
    elif base.endswith("y") and base[-2] not in "aeiou":
        third, past = base[:-1] + "ies", base[:-1] + "ied"
    past, participle = VERBS.get(base, (past, past))
    forms = {"base": base, "third": third, "past": past, "participle": participle, "ing": ing}
    return {name: f"{form} {rest}".strip() for name, form in forms.items()}


def predicate(verb: str, tense: str, passive: bool, plural: bool) -> tuple[str, str]:
    """The auxiliary and the main verb."""
    forms = conjugate(verb)
    main = forms["participle"]
    be, was = ("are", "were") if plural else ("is", "was")
    if tense == "progressive":
        return (f"{be} being", main) if passive else ("is", forms["ing"])
    if tense == "telegraphic":
        return "", main if passive else forms["third"]
    if tense == "present":
        return (be, main) if passive else ("", forms["third"])
    return (was, main) if passive else ("", forms["past"])


def join(*parts: str) -> str:
    """The non-empty parts, one space between them."""
    return " ".join(part for part in parts if part)


def capitalise(sentence: str) -> str:
    """The sentence with a capital, its other letters as they are."""
    return sentence[0].upper() + sentence[1:]


def tokenise(sentence: str, lower: bool = True) -> str:
    """The sentence with punctuation as separate tokens, as the evaluation sets have it."""
    spaced = re.sub(r"([.,?!:;]|'s\b|s'(?= ))", r" \1", sentence)
    return re.sub(r" +", " ", spaced.lower() if lower else spaced).strip()


def clause(event: Event, style: str, rng: Random, front: bool = True, negate: bool = False) -> str:
    """The event as a main clause without capital and full stop; `front` lets time or place begin it.

    Only clauses with "is" or "are" can be negated, the others stay as they are.
    """
    kind = KINDS[event["domain"], event["agent"]]
    text = {slot: pick(entry, rng) for slot, entry in event.items()}
    place, time, manner, obj = text["place"], text["time"], text["manner"], text["object"].rstrip("*")
    noun = join(text["adjective"], text["agent"])
    definite = kind in ("formal", "static") or rng.random() < (0.3 if style == "caption" else 0.7)
    agent = f"the {noun}" if definite else with_article(noun)
    passive = rng.random() < 0.3
    tenses = {"caption": "progressive"} | dict.fromkeys(TELEGRAPHIC, "telegraphic")
    tense = tenses.get(style, "present" if kind == "static" else "past")
    auxiliary, verb = predicate(text["action"], tense, passive, plural=event["object"].endswith("*"))
    if negate:
        auxiliary = re.sub(r"^(is|are)", r"\1 not", auxiliary)
    subject, rest = (obj, f"by {agent}") if passive else (agent, obj)
    early = manner.endswith("ly") and " " not in manner and rng.random() < 0.6
    adverb, manner = (manner, "") if early else ("", manner)
    core = join(subject, auxiliary, adverb, verb, rest, manner)
    order = rng.choice(["place time", "place time", "time place", "time first", "place first"])
    if style in TELEGRAPHIC:
        return re.sub(r"\b(a|an|the|some) ", "", join(core, place, time))
    if order == "time first" and front and time:
        return f"{time}, {join(core, place)}"
    if order == "place first" and front:
        return f"{place}, {join(core, time)}"
    return join(core, time, place) if order == "time place" else join(core, place, time)


def definition(event: Event, rng: Random) -> str:
    """The event without an agent: "the act of peeling the potatoes in the kitchen"."""
    text = {slot: pick(entry, rng).rstrip("*") for slot, entry in event.items()}
    form = rng.choice(["the act of {ing}", "{ing}", "to {base}", "the work of {ing}", "how to {base}"])
    tail = [text["manner"], text["place"]]
    rng.shuffle(tail)
    return join(form.format(**conjugate(text["action"])), text["object"], *tail)


def render(event: Event, style: str, rng: Random, negate: bool = False) -> str:
    """The event as a cased sentence with its final punctuation."""
    if style == "definition":
        return capitalise(definition(event, rng)) + "."
    opened = rng.random() < OPENING_SHARE.get(style, 0)
    text = clause(event, style, rng, front=not opened, negate=negate)
    if opened:
        text = f"{pick(OPENINGS[style], rng)} {text}"
    return capitalise(text) + ("?" if style == "question" else ".")


def sentence_pair(level: int, style: str, domains: str, rng: Random) -> tuple[str, str, float]:
    """Two different sentences and the gold score of their events."""
    while True:
        a, b, score = event_pair(level, style, domains, rng)
        first, second = render(a, style, rng), render(b, style, rng)
        if first != second:
            return first, second, score
