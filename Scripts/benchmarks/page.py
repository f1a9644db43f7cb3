"""How long somebody waits for the page (`kinvault open`) of a vault of 100,000 records, in a real Chromium without a window.

    Scripts/bench page                    nine runs of each step
    Scripts/bench page --records 1000     fewer records: does it work at all?
    Scripts/bench page --json FILE        writes every single figure, besides printing the table

The vault is that of `Scripts/bench search`, unlocked and with its index. "Painted" is the largest contentful paint, from the
beginning of the page's request; "opened" is from the start of the command until the list is painted, without the browser's own
start. Makes a release build.
"""

import json

from benchmarks.common import ROOT, opened_page, run
from benchmarks.search import bench, filled

# Milliseconds, but for what is sent.
GOALS = {
    "opened, the first list painted, ms": 1500,
    "the list, the first time: painted, ms": 1000,
    "the list, again: painted, ms": 300,
    "the list: sent, kB": 200,
    "a record: painted, ms": 300,
}

# Runs in the interpreter that has Playwright. Prints the figures of one page as JSON.
BROWSER = r"""
import json, sys, time
from playwright.sync_api import sync_playwright

word, runs = sys.argv[1], int(sys.argv[2])
PAINT = '''() => new Promise(done => new PerformanceObserver(list => done(list.getEntries().at(-1).startTime))
    .observe({type: "largest-contentful-paint", buffered: true}))'''
SENT = '''() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .filter(entry => entry.initiatorType !== "img").reduce((sum, entry) => sum + entry.transferSize, 0)'''
FOUND = '''() => performance.getEntriesByType("resource").filter(entry => entry.name.endsWith("/search")).at(-1)?.duration ?? null'''
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page()
    print("ready", flush=True)
    address, code = sys.stdin.readline().split()
    page.goto(address)
    page.fill("#code", code)
    page.click("main button")
    page.wait_for_selector(".records")
    first = page.evaluate(PAINT)
    print(json.dumps({"opened": time.time(), "first": first, "sent": page.evaluate(SENT) / 1000}), flush=True)
    again, records, typed = [], [], []
    for _ in range(runs):
        page.goto(address)
        again.append(page.evaluate(PAINT))
    page.wait_for_timeout(500)
    for number in range(runs + 1):
        page.goto(address)
        page.fill("#words", word)
        page.wait_for_selector("#results > p")
        while (took := page.evaluate(FOUND)) is None:
            time.sleep(0.01)
        # The first one loads the index.
        if number:
            typed.append(took)
        else:
            index = took
    for number in range(runs):
        page.goto(address)
        page.locator(".record .title").nth(number).click()
        page.wait_for_selector("article h1")
        records.append(page.evaluate(PAINT))
    print(json.dumps({"again": again, "records": records, "typed": typed, "index": [index]}), flush=True)
    browser.close()
"""


def look(vault, word, runs):
    """One page, from its command to its end. Gives milliseconds, but for what is sent."""
    with opened_page(vault, BROWSER, word, runs) as (start, answers):
        figures = json.loads(answers.readline())
        figures["opened"] = (figures["opened"] - start) * 1000
        return figures | json.loads(answers.readline())


def measure(vault, words, arguments):
    run([ROOT / "Scripts/setup", "--test"])
    filled(vault, words, arguments.records)
    vault("search", words.words[5000])
    firsts = [look(vault, words.words[5000], 1) for _ in range(arguments.runs - 1)]
    last = look(vault, words.words[5000], arguments.runs)
    firsts.append(last)
    yield "opened, the first list painted, ms", [one["opened"] for one in firsts]
    yield "the list, the first time: painted, ms", [one["first"] for one in firsts]
    yield "the list, again: painted, ms", last["again"]
    yield "the list: sent, kB", [one["sent"] for one in firsts]
    yield "a record: painted, ms", last["records"]
    yield "the first search as one types, ms", [one["index"][0] for one in firsts]
    yield "a search as one types, ms", last["typed"]


def main(arguments):
    return bench("page", __doc__, measure, GOALS, arguments)
