"""A reader's walk through a report in a browser: from a verdict to a run, by keyboard, sorting, filtering, on paper."""

from playwright.sync_api import Page

CELL = "table.result .row .cell a"


class Finding(Exception):
    """Something that a reader would stumble over."""


def expect(condition: object, finding: str) -> None:
    if not condition:
        raise Finding(finding)


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


WALK = (cell_to_run_and_back, keyboard, sorting, filtering, enlarging, printing)
