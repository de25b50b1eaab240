"""Use a report in a real browser as its readers do, and stop at the first thing that is wrong.

    python tests/browser/check_report.py results/demo/report.html --screenshots /tmp/shots

Needs Chromium or Chrome on the machine, and the packages of requirements.lock beside this file. Each width and colour
scheme gets: the first screen as a newcomer sees it, no message in the console, no request but to the file itself, no
page wider than its screen, no serious finding of axe; then a walk from a verdict to a run's record and back, by mouse
and by keyboard, sorting, filtering, printing. A report of unfinished or broken results, or of made-up ones (sample.py),
needs --unfinished: otherwise any problem, stale run or hole that a command fills is a finding.
"""

import argparse
import shutil
import sys
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, sync_playwright
from walk import WALK, Finding, expect, is_open, linked

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SIZES = {"desktop": (1400, 900), "phone": (390, 844)}
ROWS = 12  # of a long table, axe sees the first; all are alike

# names of the figures whose picture does not load, or has the same colour everywhere
BLANK = """async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 64 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const found = [];
  for (const image of document.querySelectorAll("figure img")) {
    const copy = Object.assign(new Image(), { src: image.src });
    const loaded = await copy.decode().then(() => true, () => false);
    if (loaded) pen.drawImage(copy, 0, 0, 64, 64);
    const pixels = loaded ? new Uint32Array(pen.getImageData(0, 0, 64, 64).data.buffer) : [];
    if (pixels.length === 0 || pixels.every((pixel) => pixel === pixels[0])) found.push(image.alt);
  }
  return found;
}"""


def executable() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        sys.exit(f"No browser found. Install one of: {', '.join(BROWSERS)}.")
    return found


def opened(browser: Browser, file: Path, size: str, scheme: str, troubles: list[str]) -> Page:
    """The report in a tab that writes down every message and every request for anything but the file."""
    width, height = SIZES[size]
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", has_touch=width < 500
    )
    page.on("console", lambda message: troubles.append(f"console {message.type}: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on("request", lambda request: allowed(request.url) or troubles.append(f"request: {request.url[:200]}"))
    page.goto(file.as_uri())
    return page


def allowed(url: str) -> bool:
    return url.startswith(("file:", "data:"))


def first_sight(page: Page, where: str, unfinished: bool) -> None:
    """What a newcomer looks at first: leading words, no box of problems, no table or picture without content."""
    state = page.evaluate("data.state")
    if not unfinished:
        expect(not page.locator(".problems").count(), f"{where}: it opens with a box of problems")
        wrong = [
            f"{state.get(name)} {name}"
            for name in ("problems", "stale", "to_fill", "unexplained")
            if state.get(name) != 0
        ]
        expect(not wrong, f"{where}: a finished report has nothing wrong with it, this one has {', '.join(wrong)}")
    leading = page.locator(".headline")
    if leading.count():  # a scale that cannot judge the papers says so, and what it did, before one scrolls
        box, height = leading.bounding_box(), page.viewport_size["height"]
        expect(box["y"] + box["height"] <= height, f"{where}: the leading words are not on the first screen")
        for words in ("no number here is comparable", "trained", "regenerated"):
            expect(words in leading.inner_text(), f"{where}: the leading words lack '{words}': {leading.inner_text()}")
        said = set(page.evaluate("data.claims.map((claim) => claim.verdict)"))
        expect(not said & {"holds", "fails"}, f"{where}: claims are judged at a scale that cannot judge them")
    empty = page.evaluate(
        "[...document.querySelectorAll('table')].filter((table) => ![...table.querySelectorAll('tbody td')]"
        ".some((cell) => cell.textContent.trim())).map((table) => table.caption.textContent)"
    )
    expect(not empty, f"{where}: empty tables: {', '.join(empty)}")
    blank = page.evaluate(BLANK)
    expect(not blank, f"{where}: pictures without content: {', '.join(blank)}")


def rounding(page: Page) -> None:
    """The script rounds as the page's own HTML does, so a dialog shows the number that its cell shows."""
    different = page.evaluate(
        "[...document.querySelectorAll('.cell')].filter((node) => {"
        " const cell = data.cells[decodeURIComponent(node.id.slice(5))];"
        " const pairs = [['.o', cell.ours], ['.p', cell.text ? null : cell.published]];"
        " return pairs.some(([part, value]) => value !== null &&"
        " node.querySelector(part).textContent !== number(value, cell.decimals)) }).map((node) => node.id)"
    )
    expect(not different, f"the dialogs of {len(different)} cells round otherwise than the page: {different[:3]}")


def fits(page: Page, where: str) -> None:
    wide, inner = page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
    expect(wide <= inner, f"{where}: the page is {wide} px wide on a screen of {inner} px")


def accessible(page: Page, where: str, within: str | None = None) -> None:
    context = within or {"include": ["html"], "exclude": [f".row:nth-child(n + {ROWS})"]}
    violations = Axe().run(page, context=context).response["violations"]
    bad = [entry for entry in violations if entry["impact"] in ("serious", "critical")]
    for entry in bad:
        examples = "; ".join(node["html"][:160] for node in entry["nodes"][:3])
        print(f"  axe {entry['impact']}: {entry['id']} ({len(entry['nodes'])}): {examples}")
    expect(not bad, f"{where}: axe finds {', '.join(entry['id'] for entry in bad)}")


def shoot(page: Page, folder: Path | None, name: str) -> None:
    if folder:
        page.screenshot(path=folder / f"{name}.png", caret="initial", animations="allow")


def pictures(page: Page, file: Path, folder: Path | None, label: str) -> None:
    """Opening screen, claims, a table, a cell, a run; with checks of those that are dialogs."""
    page.goto(file.as_uri())
    shoot(page, folder, f"{label}-opening")
    for key in page.evaluate("[...document.querySelectorAll('main > section')].map((section) => section.id)")[1:]:
        page.evaluate("id => document.getElementById(id).scrollIntoView()", key)
        page.wait_for_timeout(80)
        shoot(page, folder, f"{label}-{key}")
    for kind, store in (("cell", "cells"), ("run", "runs")):
        ids = f"Object.entries(data.{store}).find(([, entry]) => '{kind}' === 'run' || entry.runs.length)?.[0]"
        known = page.evaluate(f"(() => {{ const id = {ids}; return id && address(id) }})()")
        if known:
            linked(page, f"{file.as_uri()}#{kind}={known}")
            expect(is_open(page), f"#{kind}={known} opens nothing")
            fits(page, f"{label}, a {kind}")
            accessible(page, f"{label}, a {kind}", "#dialog")
            shoot(page, folder, f"{label}-{kind}")
    page.goto(file.as_uri())


def check(file: Path, folder: Path | None, unfinished: bool) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        for size in SIZES:
            for scheme in ("light", "dark"):
                label, troubles = f"{size}-{scheme}", []
                page = opened(browser, file, size, scheme, troubles)
                first_sight(page, label, unfinished)
                fits(page, label)
                for step in (rounding, *WALK):
                    step(page)
                    fits(page, f"{label}, after {step.__name__.replace('_', ' ')}")
                accessible(page, label)
                pictures(page, file, folder, label)
                expect(not troubles, f"{label}: " + "; ".join(dict.fromkeys(troubles)))
                page.close()
                print(f"{label}: fine")
        if folder:
            page = browser.new_page()
            page.goto(file.as_uri())
            page.pdf(path=folder / "printed.pdf", format="A4")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="the report")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="write pictures and a pdf there")
    parser.add_argument("--unfinished", action="store_true", help="holes and problems are expected in this report")
    arguments = parser.parse_args()
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    try:
        check(arguments.file.resolve(strict=True), arguments.screenshots, arguments.unfinished)
    except (Finding, Error) as finding:
        sys.exit(f"{arguments.file}: {finding}")


if __name__ == "__main__":
    main()
