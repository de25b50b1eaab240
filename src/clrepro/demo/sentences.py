"""Generated demo data: an English corpus and evaluation sets in SentEval's layout.

The demo must run without a download, and its encoders must have something to learn and the tasks something to
measure. Every file has its own `random.Random(<its name>)`, so the same bytes come out on every machine.
"""

import json
from pathlib import Path
from random import Random

from clrepro.demo.events import (
    capitalise,
    clause,
    draw_event,
    event_pair,
    frames_for,
    items,
    render,
    sentence_pair,
    tokenise,
)
from clrepro.demo.tasks import COARSE, classification_files, opinion, question, review, subjectivity
from clrepro.demo.words_questions import QUESTION_PREFIXES
from clrepro.demo.words_reviews import FILM, PRODUCT

Files = dict[str, list[str]]  # path below the root -> lines

# year -> subset -> its style and the domains that it is about; "": all
STS_SUBSETS = {
    "STS12": {
        "MSRpar": ("news", "business, politics, city"),
        "MSRvid": ("caption", ""),
        "SMTeuroparl": ("news", "politics"),
        "surprise.OnWN": ("definition", ""),
        "surprise.SMTnews": ("news", "business, weather, politics"),
    },
    "STS13": {
        "FNWN": ("definition", "cooking, music, science, transport"),
        "headlines": ("headline", "business, politics, sports, city, weather"),
        "OnWN": ("definition", ""),
    },
    "STS14": {
        "deft-forum": ("forum", ""),
        "deft-news": ("news", "politics, city, weather"),
        "headlines": ("headline", "business, politics, sports, city, weather"),
        "images": ("caption", "everyday, animals, sports, cooking"),
        "OnWN": ("definition", ""),
        "tweet-news": ("tweet", "sports, weather, politics, music"),
    },
    "STS15": {
        "answers-forums": ("forum", "cooking, transport, everyday, music"),
        "answers-students": ("news", "science, geography"),
        "belief": ("forum", "politics, business, science"),
        "headlines": ("headline", "business, politics, sports, city, weather"),
        "images": ("caption", "everyday, animals, sports, transport"),
    },
    "STS16": {
        "answer-answer": ("forum", "cooking, animals, transport, science"),
        "headlines": ("headline", "business, politics, sports, city, weather"),
        "plagiarism": ("news", "science, history, biography"),
        "postediting": ("news", ""),
        "question-question": ("question", ""),
    },
}
STSB_SOURCES = [  # genre, file, style
    ("main-captions", "images", "caption"),
    ("main-news", "headlines", "headline"),
    ("main-news", "MSRpar", "news"),
    ("main-forums", "answers-forums", "forum"),
]
# each as often as the corpus has it
CORPUS_STYLES = ["news"] * 5 + ["caption"] * 4 + ["definition"] * 2 + ["forum", "question", "headline", "tweet"]


def _levels(count: int, rng: Random) -> list[int]:
    """`count` gold levels, each of 0-5 equally often, shuffled."""
    levels = [number % 6 for number in range(count)]
    rng.shuffle(levels)
    return levels


def _sts_files() -> Files:
    """STS 2012-2016; as in the originals, some pairs of the last two years have no gold score."""
    files = {}
    for year, subsets in STS_SUBSETS.items():
        for subset, (style, domains) in subsets.items():
            rng = Random(f"{year}/{subset}")
            extra = 10 if year in ("STS15", "STS16") else 0
            pairs = [sentence_pair(level, style, domains, rng) for level in _levels(40 + extra, rng)]
            unrated = rng.sample(range(len(pairs)), extra)
            gold = ["" if number in unrated else f"{score:.2f}" for number, (_, _, score) in enumerate(pairs)]
            folder = f"STS/{year}-en-test"
            files[f"{folder}/STS.input.{subset}.txt"] = [f"{tokenise(a)}\t{tokenise(b)}" for a, b, _ in pairs]
            files[f"{folder}/STS.gs.{subset}.txt"] = gold
    return files


def _stsb_files() -> Files:
    files = {}
    for split, count in (("train", 200), ("dev", 150), ("test", 200)):
        rng = Random(f"STSBenchmark/{split}")
        rows = []
        for number, level in enumerate(_levels(count, rng)):
            genre, file, style = rng.choice(STSB_SOURCES)
            a, b, score = sentence_pair(level, style, "", rng)
            year = f"201{2 + number % 4}test"
            rows.append("\t".join([genre, file, year, f"{number:04d}", f"{score:.3f}", tokenise(a), tokenise(b)]))
        files[f"STS/STSBenchmark/sts-{split}.csv"] = rows
    return files


def _sick_files() -> Files:
    """SICK: relatedness 1-5; a negated sentence contradicts, the same event entails."""
    files = {}
    pair_id = 0
    for split, count in (("train", 200), ("trial", 80), ("test_annotated", 200)):
        rng = Random(f"SICK/{split}")
        rows = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"]
        for level in _levels(count, rng):
            pair_id += 1
            a, b, score = event_pair(level, "caption", "", rng)
            relatedness, judgment = 1 + 0.8 * score, "ENTAILMENT" if level == 5 else "NEUTRAL"
            negate = level >= 4 and rng.random() < 0.3
            if negate:
                b, judgment, relatedness = a, "CONTRADICTION", rng.choice([3.3, 3.5, 3.7, 3.9])
            one = two = render(a, "caption", rng)
            while one == two:
                two = render(b, "caption", rng, negate=negate)
            sentences = [tokenise(text.rstrip("."), lower=False) for text in (one, two)]
            rows.append("\t".join([str(pair_id), *sentences, f"{relatedness:.1f}", judgment]))
        files[f"SICK/SICK_{split}.txt"] = rows
    return files


def _mrpc_files() -> Files:
    """MRPC: two wordings of one event are paraphrases, those of two similar events are not."""
    files = {}
    for split, count in (("train", 300), ("test", 150)):
        rng = Random(f"MRPC/{split}")
        rows = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
        for number in range(count):
            same = rng.random() < 2 / 3
            a, b, _ = sentence_pair(5 if same else rng.choice([2, 3, 4]), "news", "", rng)
            first_id = 700000 + 2 * number
            texts = [tokenise(text, lower=False) for text in (a, b)]
            rows.append("\t".join([str(int(same)), str(first_id), str(first_id + 1), *texts]))
        files[f"MRPC/msr_paraphrase_{split}.txt"] = rows
    return files


def _senteval_files() -> Files:
    return _sts_files() | _stsb_files() | _sick_files() | _mrpc_files() | classification_files()


def _counts(files: Files) -> dict[str, int]:
    """The examples of every file with sentences, as counts.json tells the loaders: no header, no unrated pair."""
    counts = {}
    for name, lines in files.items():
        if "STS.gs." in name:
            counts[name.replace("STS.gs.", "STS.input.")] = sum(line != "" for line in lines)
        elif "STS.input." not in name:
            counts[name] = len(lines) - name.startswith(("SICK/", "MRPC/"))
    return counts


def write_senteval(root: Path) -> None:
    """Write the evaluation sets in the layout of the SentEval downloads, with counts.json."""
    files = _senteval_files()
    sizes = json.dumps(_counts(files), indent=1, sort_keys=True).split("\n")
    for name, lines in (files | {"counts.json": sizes}).items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        encoding = "utf-8-sig" if name.startswith("MRPC/") else "utf-8"  # the original MRPC begins with a BOM
        path.write_text("".join(f"{line}\n" for line in lines), encoding=encoding, newline="\n")


def _corpus_sentence(rng: Random) -> str:
    """A sentence of the corpus: an event in seven of ten cases, else a review, an opinion, a question or a plot."""
    kind = rng.random()
    if kind < 0.70:
        style = rng.choice(CORPUS_STYLES)
        frame = rng.choice(frames_for(style))
        event = draw_event(frame, style, rng)
        text = render(event, style, rng, negate=rng.random() < 0.05)
        other = draw_event(frame, style, rng) | dict.fromkeys(("adjective", "place", "time", "manner"))
        if style == "news" and other["agent"] != event["agent"] and rng.random() < 0.15:
            text = f"{text[:-1]}, while {clause(other, style, rng, front=False)}."
        return text
    if kind < 0.79:
        return review(rng.choice([FILM, PRODUCT]), rng.randrange(2), rng)
    if kind < 0.86:
        return opinion(rng)
    if kind < 0.96:
        _, text = question(rng.choice(COARSE), rng)
        return capitalise(f"{rng.choice(items(QUESTION_PREFIXES))} {text[0].lower()}{text[1:]}")
    return subjectivity(int(rng.random() < 0.2), rng)


def _key(text: str) -> str:
    """What makes two sentences the same: their lower-case words."""
    return tokenise(text).rstrip(" .?!")


def write_corpus(path: Path, lines: int) -> None:
    """Write `lines` different sentences, one a line; none of them is an evaluation sentence."""
    cells = [cell for rows in _senteval_files().values() for row in rows for cell in row.split("\t")]
    without_class = [cell.split(" ", 1)[-1] for cell in cells]  # TREC's rows are "class sentence"
    seen = {_key(cell) for cell in cells + without_class}
    rng = Random("corpus")
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        while lines > 0:
            text = _corpus_sentence(rng)
            if _key(text) not in seen:
                seen.add(_key(text))
                file.write(text + "\n")
                lines -= 1
