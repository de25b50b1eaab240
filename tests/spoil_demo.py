"""Spoil copies of a finished demo, each in one way, and demand that check_demo.py notices every one.

Run by `python tests/check_demo.py --spoil` in the folder of a finished demo.
"""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import check_demo
import demo_numbers
import demo_report
import pandas as pd
from PIL import Image
from tqdm import tqdm

RESULTS = demo_numbers.RESULTS
FIRST = "figures/nie2023/figure_1b"


def text_of(name: str, change: Callable[[str], str]) -> Callable[[], None]:
    """Change the text of a file of the results."""

    def spoil() -> None:
        write(RESULTS / name, change((RESULTS / name).read_text("utf-8")))

    return spoil


def write(file: Path, content: str) -> None:
    """Replace a file; the original, whose content it shares, stays as it is."""
    file.unlink(missing_ok=True)
    file.write_text(content, "utf-8")


def csv_of(name: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[], None]:
    def spoil() -> None:
        frame = change(demo_numbers.frame(name))
        write(RESULTS / name, frame.to_csv(index=False))

    return spoil


def column(name: str, of: str, value: object, where: Callable = lambda frame: slice(None)) -> Callable[[], None]:
    """One column of a csv file the same everywhere, or where a condition holds."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[where(frame), of] = value
        return frame

    return csv_of(name, change)


def raw_scores(name: str, change: Callable[[float], float], only: str = "") -> Callable[[], None]:
    """The rows of an evaluation changed in all runs, or in those whose folder has a word."""

    def spoil() -> None:
        for file in RESULTS.glob(f"runs/**/{name}.json"):
            if only in str(file):
                content = json.loads(file.read_text("utf-8"))
                content["rows"] = [[*row[:3], change(row[3])] for row in content["rows"]]
                write(file, json.dumps(content))

    return spoil


def blank(*names: str) -> Callable[[], None]:
    """Pictures of one colour."""

    def spoil() -> None:
        for file in sorted(RESULTS.glob("figures/*/*.png")) if not names else [RESULTS / f"{one}.png" for one in names]:
            with Image.open(file) as picture:
                size = picture.size
            file.unlink()
            Image.new("RGB", size, "white").save(file)

    return spoil


def gone(name: str) -> Callable[[], None]:
    return lambda: (RESULTS / name).unlink()


def said(line: str) -> Callable[[], None]:
    """A line at the end of a job's log."""

    def spoil() -> None:
        file = next(iter(sorted(Path("logs/demo/train").glob("*.log"))))
        write(file, file.read_text("utf-8") + line + "\n")

    return spoil


def of_data(change: Callable[[dict], None]) -> Callable[[], None]:
    """The report's own data changed, its page left as it is."""

    def replaced(text: str) -> str:
        start = text.index(">", text.index('id="data"')) + 1
        end = text.index("</script>", start)
        data = json.loads(text[start:end])
        change(data)
        return text[:start] + json.dumps(data).replace("<", "\\u003c") + text[end:]

    return text_of("report.html", replaced)


def trained(frame: pd.DataFrame) -> pd.Series:
    return frame["runs"].str.contains("lr", regex=False) & (frame["ours"] != "")


def without_a_place(text: str) -> str:
    """A page that has lost the first place that one of its links leads to."""
    places = set(re.findall(r'\bid="([^"]+)"', text))
    place = next(one for one in re.findall(r'href="#([^"]+)"', text) if one in places)
    return text.replace(f'id="{place}"', 'id="lost"')


SPOILED: dict[str, Callable[[], None]] = {
    "all pictures are white": blank(),
    "one picture is white": blank(FIRST),
    "a picture is missing": gone(f"{FIRST}.png"),
    "a drawing has no shapes": text_of(f"{FIRST}.svg", lambda text: '<svg xmlns="http://www.w3.org/2000/svg"></svg>'),
    "a drawing is cut off": text_of(f"{FIRST}.svg", lambda text: text[: len(text) // 2]),
    "a figure's numbers are all the same": column(f"{FIRST}.csv", "value", 1.0),
    "a figure has no numbers": csv_of(f"{FIRST}.csv", lambda frame: frame.iloc[:0]),
    "every claim fails": column("claims.csv", "verdict", "fails"),
    "every claim is seen": column("claims.csv", "verdict", "seen"),
    "claims without runs": column("claims.csv", "verdict", "missing"),
    "a claim's estimate is another": column(
        "claims.csv", "estimate", "7.77", lambda f: f["claim"] == "infonce_beats_dcl_sts"
    ),
    "half of the claims are gone": csv_of("claims.csv", lambda frame: frame.iloc[::2]),
    "every trained score is 12.0, in the ledger": column("ledger.csv", "ours", "12.0", trained),
    "every trained score is 12.0, in the runs": raw_scores("sts", lambda value: 0.12, only="lr0.001"),
    "one run's transfer scores are a point higher": raw_scores(
        "transfer", lambda value: value + 1, only="RoBERTa_large/infonce"
    ),
    "a linear probe's accuracies are exchanged": raw_scores("linear", lambda value: 100 - value, only="macl"),
    "an SVM's accuracies are fractions": raw_scores("svm", lambda value: value / 100),
    "a table's numbers are moved by a row": csv_of(
        "tables/nie2023/table_1.csv", lambda frame: frame.assign(ours=frame["ours"].shift(1).fillna("1.0"))
    ),
    "a table is empty": csv_of("tables/huang2023/table_4.csv", lambda frame: frame.iloc[:0]),
    "a table is missing": gone("tables/li2024/table_3.csv"),
    "a table's page is empty": text_of("tables/oar2024/table_3.html", lambda text: ""),
    "a cell is a hole": column("ledger.csv", "verdict", "missing", lambda f: f["table"] == "table_9"),
    "a cell is reproduced": column("ledger.csv", "verdict", "reproduced", lambda f: f["row"] == "L_mpt"),
    "published numbers are ours": csv_of("ledger.csv", lambda frame: frame.assign(published=frame["ours"])),
    "the report is a megabyte of x": text_of("report.html", lambda text: "x" * 1_000_000),
    "the report is empty": text_of("report.html", lambda text: ""),
    "the report ends in the middle": text_of("report.html", lambda text: text[: len(text) * 2 // 3]),
    "the report opens with a box of 400 problems": text_of(
        "report.html",
        lambda text: text.replace("<main", f'<div class="problems">{"<p>broken</p>" * 400}</div><main', 1),
    ),
    "the report's pictures are empty": text_of(
        "report.html", lambda text: re.sub(r"(src=\"data:image/[a-z+]+;base64,)[^\"]+", r"\1", text)
    ),
    "the report's numbers are others": of_data(lambda data: [one.update(ours=12.0) for one in data["cells"].values()]),
    "the report's claims all fail": of_data(lambda data: [one.update(verdict="fails") for one in data["claims"]]),
    "the report knows of 400 problems": of_data(lambda data: data["state"].update(problems=400)),
    "the report has no runs": of_data(lambda data: data["runs"].clear()),
    "a link of the report leads nowhere": text_of("report.html", without_a_place),
    "a table of the report is empty": text_of(
        "report.html", lambda text: re.sub(r"(<tbody[^>]*>).*?(</tbody>)", r"\1\2", text, count=1, flags=re.S)
    ),
    "theory.csv has lost a paper": csv_of("theory.csv", lambda frame: frame[frame["paper"] != "oar2024"]),
    "every check of the theory holds": column("theory.csv", "verdict", "holds"),
    "a run's record is gone": lambda: next(iter(sorted(RESULTS.glob("runs/**/record.json")))).unlink(),
    "a job warns": said("UserWarning: something is deprecated"),
    "a loss is not a number": said("    step 20/50: loss nan, score 0.1"),
}


def main() -> None:
    origin, missed = Path.cwd(), []
    with tempfile.TemporaryDirectory(dir=origin, prefix=".spoiled-") as folder:
        for name, spoil in tqdm(SPOILED.items(), unit="way", disable=None):
            copy = Path(folder) / "demo"
            for part in ("results/demo", "logs/demo"):
                shutil.copytree(
                    origin / part, copy / part, copy_function=os.link, ignore=shutil.ignore_patterns("model")
                )
            (copy / "data").symlink_to(origin / "data")
            os.chdir(copy)
            forget()
            spoil()
            forget()
            found = next(check_demo.findings(), None)
            os.chdir(origin)
            shutil.rmtree(copy)
            if found is None:
                missed.append(name)
    forget()
    for name in missed:
        print(f"NOT NOTICED: {name}")
    if missed:
        sys.exit(1)
    print(f"{len(SPOILED)} ways to spoil a finished demo: each was noticed")


def forget() -> None:
    demo_numbers.raw.cache_clear()
    demo_report.page.cache_clear()


if __name__ == "__main__":
    main()
