"""Read the built site in a real browser, at two widths, and stop at the first page that is wrong.

    python tests/browser/check_site.py site --screenshots /tmp/shots

No page may be wider than its screen, ask another server for anything, or write to the console; every picture loads; the
search finds an objective. Needs what check_report.py needs.
"""

import argparse
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from check_report import SIZES, executable, fits
from playwright.sync_api import Browser, Error, Page, sync_playwright
from walk import Finding, expect

# the demo's report is read by check_report.py; where 404.html looks for its style depends on the site's url
ELSEWHERE = {"report.html", "404.html"}
BROKEN = "[...document.images].filter((image) => image.complete && !image.naturalWidth).map((image) => image.src)"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def served(folder: Path) -> ThreadingHTTPServer:
    """The site below a folder, as it stands where a repository has its pages: no link may begin at the host's root."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder.parent))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def opened(browser: Browser, size: str, home: str, troubles: list[str]) -> Page:
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    page.on("console", lambda message: troubles.append(f"console {message.type}: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on("request", lambda request: request.url.startswith((home, "data:")) or troubles.append(request.url[:200]))
    return page


def finds(page: Page, home: str) -> None:
    """A word typed into the search leads to its page."""
    page.goto(home)
    page.keyboard.press("/")
    page.keyboard.type("dual_temperature", delay=20)
    page.locator(".md-search-result__link[href*='objectives/dual_temperature']").first.wait_for(timeout=20_000)


def check(site: Path, folder: Path | None) -> None:
    server = served(site)
    home = f"http://127.0.0.1:{server.server_port}/{site.name}/"
    files = [file for file in sorted(site.rglob("*.html")) if file.name not in ELSEWHERE]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        for size in SIZES:
            troubles: list[str] = []
            page = opened(browser, size, home, troubles)
            for file in files:
                name = file.relative_to(site).as_posix()
                page.goto(f"{home}{name}", wait_until="load")
                fits(page, f"{size}, {name}")
                broken = page.evaluate(BROKEN)
                expect(not broken, f"{size}, {name}: pictures that do not load: {', '.join(broken)}")
                expect(not troubles, f"{size}, {name}: {'; '.join(dict.fromkeys(troubles))}")
                if folder:
                    page.screenshot(path=folder / f"{size}-{name.removesuffix('.html').replace('/', '-')}.png")
            if size == "desktop":
                finds(page, home)
            page.close()
            print(f"{size}: {len(files)} pages, fine")
        browser.close()
    server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path, help="the folder that `make site` wrote")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="write the first screen of every page there")
    arguments = parser.parse_args()
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    try:
        check(arguments.site.resolve(strict=True), arguments.screenshots)
    except (Finding, Error) as finding:
        sys.exit(f"{arguments.site}: {finding}")


if __name__ == "__main__":
    main()
