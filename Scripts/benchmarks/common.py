"""What every benchmark needs: running programs, a clock, and data that repeats in every run and nowhere else."""

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MIB = 1 << 20


def some_of(*names):
    """The type of an argument that is one of these names, or several with commas between them."""
    def parse(text):
        chosen = text.split(",")
        if unknown := [name for name in chosen if name not in names]:
            raise argparse.ArgumentTypeError(f"there is no “{unknown[0]}”; one or more of {','.join(names)}")
        return chosen
    return parse


def run(command, **options):
    result = subprocess.run(
        [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout}")
    return result.stdout


def kinvault_program():
    """The one that `KINVAULT_BINARY` names, or that of this checkout, built if need be."""
    if named := os.environ.get("KINVAULT_BINARY"):
        return Path(named)
    print("building release …", file=sys.stderr)
    run([ROOT / "Scripts/build"])
    return ROOT / ".build/release/kinvault"


class Clock:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.start


@contextlib.contextmanager
def opened_page(vault, script, *words):
    """The vault's page in a real Chromium, which runs the script with these words, in the interpreter that has Playwright. The
    script says "ready", is then given address and code in one line, and answers in lines.

    Gives the time at which the command was started, and the script's answers.
    """
    browser = subprocess.Popen(
        [ROOT / ".build-python/bin/python", "-c", script, *map(str, words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    page = None
    try:
        if browser.stdout.readline().strip() != "ready":
            raise RuntimeError("the browser did not start")
        start = time.time()
        page = subprocess.Popen(
            [vault.program, "open", "--no-browser"], env=vault.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        said = dict(page.stdout.readline().split(":", 1) for _ in range(2))
        browser.stdin.write(f"{said['Address'].strip()} {said['Code'].split()[0]}\n")
        browser.stdin.flush()
        yield start, browser.stdout
    finally:
        for process in (browser, page):
            if process is not None:
                process.send_signal(signal.SIGTERM)
                process.wait()


def report(measured, goals, path):
    """Prints the medians of what is measured as it comes, beside what is to be reached, and writes every figure to the file."""
    figures = {}
    for name, values in measured:
        figures[name] = values
        middle, goal = statistics.median(values), goals.get(name)
        verdict = "" if goal is None else f"  ≤ {goal}: {'reached' if middle <= goal else 'MISSED'}"
        print(f"{name:52} {middle:9.1f}   at most {max(values):9.1f}{verdict}", flush=True)
    if path:
        path.write_text(json.dumps(figures, indent=1) + "\n")


class Data:
    """Bytes that do not compress and do not repeat, the same in every run, ready before anything is timed."""

    def __init__(self):
        self.random = random.Random(20250120)
        self.block = self.random.randbytes(4 * MIB)
        self.count = 0

    def stream(self, byte_count, step=MIB):
        """Pieces of `step` bytes, each begun with a number of its own, so that no two chunks are equal."""
        view = memoryview(self.block)
        pieces = []
        for offset in range(0, byte_count, step):
            length = min(step, byte_count - offset)
            start = (self.count * 4099) % (len(self.block) - length + 1)
            self.count += 1
            pieces.append((self.count.to_bytes(8, "big"), view[start:start + length]))
        for number, piece in pieces:
            body = bytearray(piece)
            for position in range(0, len(body) - 8, 65536):
                body[position:position + 8] = number
            yield body


def write_file(path, pieces, sync=False, new=False):
    """With a descriptor that only writes; `new` refuses a file that is there already."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | (os.O_EXCL if new else os.O_TRUNC), 0o644)
    try:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(descriptor, view):]
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
