"""How long somebody waits for small pictures of scans, in a real Chromium without a window, next to vipsthumbnail.

    Scripts/bench pictures                  five runs of each step
    Scripts/bench pictures --scans 20       fewer scans: does it work at all?
    Scripts/bench pictures --json FILE      writes every single figure, besides printing the table

A scan is an A4 page of 300 dpi, a JPEG in grey, and each is another content. "From the page" is until a browser has all of them
within 256 pixels, for which it asks as many at once as it does for a page; nothing is made before, or everything is. The
other program makes them of files in a plain folder, as WebP too, in one process. Makes a release build.
"""

import json
import shutil

from benchmarks.common import ROOT, Clock, opened_page, run
from benchmarks.search import bench

# Milliseconds, but for the ratio.
GOALS = {
    "200 scans from the page, none is made, ms": 8000,
    "– times as long as vipsthumbnail": 1.2,
    "60 scans from the page, none is made, ms": 1000,
    "– all are made, ms": 150,
}

# Runs in the interpreter that has Playwright. Prints milliseconds as JSON.
BROWSER = r"""
import json, sys
from playwright.sync_api import sync_playwright

SHOW = '''async (mark) => {
    const sources = [...document.querySelectorAll(".files img")].map(image => image.src + mark)
    const begun = performance.now()
    const shown = await Promise.all(sources.map(source => new Promise(done => {
        const image = new Image()
        image.onload = () => done(image.naturalWidth > 0)
        image.onerror = () => done(false)
        image.src = source
    })))
    return [shown.filter(Boolean).length, performance.now() - begun]
}'''
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page()
    # None is made because the page shows it.
    page.route("**/picture", lambda route: route.abort())
    print("ready", flush=True)
    address, code = sys.stdin.readline().split()
    page.goto(address)
    page.fill("#code", code)
    page.click("main button")
    page.click(f"text={sys.argv[1]}")
    page.wait_for_selector(".files img", state="attached")
    page.unroute("**/picture")
    print(json.dumps([page.evaluate(SHOW, "?cold"), page.evaluate(SHOW, "?warm")]), flush=True)
    browser.close()
"""


def look(vault, record, count):
    """Milliseconds until all pictures of a record are there: when none is made yet, and when all are."""
    vault("derived", "clear")
    with opened_page(vault, BROWSER, record) as (_, answers):
        (made, cold), (kept, warm) = json.loads(answers.readline())
    if made != count or kept != count:
        raise RuntimeError(f"{made} and {kept} pictures of {count} scans")
    return cold, warm


def scans(folder, count):
    """So many scans of one real page: equal pictures, of which each file has a comment of its own."""
    folder.mkdir()
    page = folder.parent / "page.jpg"
    if not page.exists():
        source = ROOT / ".build-python/scans/linn.png"
        run(["convert", source, "-colorspace", "Gray", "-resize", "2480x3508!", "-quality", "90", page])
    content = page.read_bytes()
    for number in range(count):
        comment = b"\xff\xfe\x00\x0a" + f"{count:03} {number:04}".encode()
        (folder / f"scan {number:04}.jpg").write_bytes(content[:2] + comment + content[2:])
    return sorted(folder.iterdir())


def by_vips(files, target):
    target.mkdir()
    with Clock() as clock:
        run(["vipsthumbnail", "--size", "256", "-o", f"{target}/%s.webp", *files])
    if len(list(target.iterdir())) != len(files):
        raise RuntimeError("vipsthumbnail left some out")
    shutil.rmtree(target)
    return clock.seconds * 1000


def measure(vault, words, arguments):
    for kind in ("--test", "--bench"):
        run([ROOT / "Scripts/setup", kind])
    counts = {"Many": arguments.scans, "Some": min(60, arguments.scans)}
    files = {}
    for record, count in counts.items():
        files[record] = scans(vault.base / record, count)
        vault("attach", "Emma", vault.base / record)
    vault("unlock", "--timeout", "2h")
    many, some, peer = [], [], []
    for _ in range(arguments.runs):
        peer.append(by_vips(files["Many"], vault.base / "vips"))
        many.append(look(vault, "Many", counts["Many"]))
        some.append(look(vault, "Some", counts["Some"]))
    yield "vipsthumbnail on a plain folder, ms", peer
    yield f"{counts['Many']} scans from the page, none is made, ms", [cold for cold, _ in many]
    yield "– times as long as vipsthumbnail", [cold / other for (cold, _), other in zip(many, peer)]
    yield f"{counts['Some']} scans from the page, none is made, ms", [cold for cold, _ in some]
    yield "– all are made, ms", [warm for _, warm in some]


def options(parser):
    parser.add_argument("--scans", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)


def main(arguments):
    return bench("pictures", __doc__, measure, GOALS, arguments, options)
