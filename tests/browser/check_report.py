"""Use a report in a real browser as its readers do, and stop at the first thing that is wrong.

    python tests/browser/check_report.py results/demo/report.html --screenshots /tmp/shots

Needs Chromium or Chrome on the machine, and the packages of requirements.lock beside this file. Each width and colour
scheme gets: no message in the console, no request but to the file itself, no page wider than its screen, no serious
finding of axe; then a walk from a verdict to a run's record and back, by mouse and by keyboard, sorting, filtering,
printing.
"""

import argparse
import shutil
import sys
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SIZES = {"desktop": (1400, 900), "phone": (390, 844)}
ROWS = 12  # of a long table, axe sees the first; all are alike
CELL = "table.result .row .cell a"


class Finding(Exception):
    """Something that a reader would stumble over."""


def expect(condition: object, finding: str) -> None:
    if not condition:
        raise Finding(finding)


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


def linked(page: Page, address: str) -> None:
    """Come by a link from elsewhere."""
    page.goto("about:blank")
    page.goto(address)


def is_open(page: Page) -> bool:
    return page.evaluate("document.getElementById('dialog').open")


def title(page: Page) -> str:
    return page.inner_text("#dialog-title")


def cell_to_run_and_back(page: Page) -> None:
    """A verdict leads to its run, the browser's back button back to the cell, then to the page."""
    target = page.evaluate("Object.entries(data.cells).find(([, cell]) => cell.runs.length)?.[0]")
    if not target:
        return
    cell = page.locator(f'[id="cell={page.evaluate("id => address(id)", target)}"] a')
    cell.evaluate("node => { const hidden = node.closest('details'); if (hidden) hidden.open = true }")
    cell.click()
    expect(is_open(page), f"a click on {target} opens nothing")
    name = title(page)
    page.locator('#dialog a[href^="#run="]').first.click()
    expect(title(page) != name and "record.json" in page.inner_text("#dialog"), "a cell's run does not open its record")
    here = page.url
    page.go_back()
    expect(is_open(page) and title(page) == name, "back does not lead from the run to its cell")
    page.go_back()
    page.wait_for_function("!document.getElementById('dialog').open")
    linked(page, here)
    expect(is_open(page), f"the link {here} does not open its run")
    page.locator(".dialog-head button", has_text="Close").click()
    page.wait_for_function("!document.getElementById('dialog').open")


def keyboard(page: Page) -> None:
    """Tab and arrows reach a cell, Enter opens it, Escape closes it and gives the focus back."""
    if not page.locator(CELL).count():
        return
    first = page.evaluate(
        "selector => { const cell = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());"
        " cell?.focus(); return cell?.hash }",
        CELL,
    )
    if not first:
        return
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    moved = page.evaluate("document.activeElement.hash")
    expect(moved and moved != first, "arrow keys do not move between cells")
    page.keyboard.press("Enter")
    expect(is_open(page), "Enter does not open a cell")
    page.keyboard.press("Escape")
    page.wait_for_function("!document.getElementById('dialog').open")
    page.wait_for_timeout(50)
    expect(page.evaluate("document.activeElement.hash") == moved, "Escape does not give the focus back to the cell")


def sorting(page: Page) -> None:
    """The first table of results with numbers of ours, by its first column: rising, falling, and as printed."""
    table = page.locator("table.result:has(.cell:not(.k-none):not(.k-plain))").first
    if not table.count() or table.locator(".row").count() < 2:
        return
    read = (
        "table => [...table.querySelectorAll('.row')].map((row) =>"
        " data.cells[decodeURIComponent(row.cells[1].id.slice(5))]?.ours ?? null)"
    )
    before = table.evaluate(read)
    button = table.locator(".heads button").nth(1)
    for direction, sign in (("ascending", 1), ("descending", -1)):
        button.click()
        order = table.evaluate(read)
        numbers = [value for value in order if value is not None]
        expect(numbers == sorted(numbers, key=lambda value: sign * value), f"sorting: not {direction}: {order}")
        expect(order[: len(numbers)] == numbers, "sorting: holes are not last")
        expect(table.locator(f".heads [aria-sort={direction}]").count() == 1, f"sorting: no aria-sort {direction}")
    button.click()
    expect(table.evaluate(read) == before, "sorting: the third click does not restore the paper's order")


def filtering(page: Page) -> None:
    """Claims by verdict and by words; a claim opens to its evidence and leads to a cell or a run."""
    rows = page.locator(".claims .row")
    select = page.locator("#claims select[name=verdict]")
    if rows.count() and select.count():
        verdict = rows.first.get_attribute("data-verdict")
        select.select_option(verdict)
        shown = rows.evaluate_all("rows => rows.filter((row) => !row.hidden).map((row) => row.dataset.verdict)")
        expect(shown and set(shown) == {verdict}, f"filtering claims by {verdict} shows {set(shown)}")
        page.fill("#claims input", "no claim has these words")
        expect(page.locator(".claims .row:not([hidden])").count() == 0, "filtering claims by words hides nothing")
        page.fill("#claims input", "")
        select.select_option("")
    if rows.count():
        rows.first.locator(".opener").click()
        expect(rows.first.locator(".evidence").is_visible(), "a claim does not open to its evidence")


def enlarging(page: Page) -> None:
    """A figure opens large, and closes to where the reader was, also after a walk by links."""
    picture = page.locator("figure button:has(img)").first
    if not picture.count():
        return
    page.locator(".top nav a").last.click()
    picture.click()
    expect(is_open(page) and page.locator("#dialog img").is_visible(), "a figure does not open")
    page.keyboard.press("Escape")
    page.wait_for_function("!document.getElementById('dialog').open")
    page.wait_for_timeout(50)
    expect(picture.evaluate("node => node === document.activeElement"), "the focus does not return to the figure")


def printing(page: Page) -> None:
    """On paper everything is unfolded and nothing is there to click."""
    page.emulate_media(media="print")
    expect(not page.locator(".top").is_visible(), "the navigation is printed")
    expect(all(entry.is_visible() for entry in page.locator(".evidence").all()[:3]), "evidence is not printed")
    page.emulate_media(media="screen")


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


def check(file: Path, folder: Path | None) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        for size in SIZES:
            for scheme in ("light", "dark"):
                label, troubles = f"{size}-{scheme}", []
                page = opened(browser, file, size, scheme, troubles)
                fits(page, label)
                for step in (cell_to_run_and_back, keyboard, sorting, filtering, enlarging, printing):
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
    arguments = parser.parse_args()
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    try:
        check(arguments.file.resolve(strict=True), arguments.screenshots)
    except (Finding, Error) as finding:
        sys.exit(f"{arguments.file}: {finding}")


if __name__ == "__main__":
    main()
