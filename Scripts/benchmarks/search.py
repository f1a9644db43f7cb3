"""What it costs to find a word: in a vault of 100,000 records with a note of 55 words each, of a vocabulary of 60,000 words
that are as frequent as words are.

    Scripts/bench search                    nine runs of each step
    Scripts/bench search --records 1000     fewer records: does it work at all?
    Scripts/bench search --json FILE        writes every single figure, besides printing the table

Each step is a whole command, from its start to its last line, with the key in the keyring as while somebody works with it.
"answering" is the processor's time of a command less that of one that finds nothing: what the words alone cost, with the
excerpts of 50 records. Makes a release build.
"""

import argparse
import itertools
import os
import random
import resource
import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks.common import Clock, kinvault_program, report, run, write_file

LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Milliseconds, but for the note.
GOALS = {
    "first search, the index is there, ms": 400,
    "answering: a rare word, ms": 50,
    "answering: a word in half of the records, ms": 50,
    "answering: a date, ms": 50,
    "answering: a part of a word, ms": 50,
    "a note changed in a mount is found, ms": 2000,
}


class Words:
    def __init__(self):
        self.random = random.Random(20250120)
        words = set()
        while len(words) < 60_000:
            words.add("".join(self.random.choices(LETTERS, k=self.random.randint(3, 12))))
        self.words = sorted(words, key=lambda word: self.random.random())
        self.weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(self.words))))

    def note(self, number):
        words = " ".join(self.random.choices(self.words, cum_weights=self.weights, k=55))
        date = f"{2000 + number % 25}-{number % 12 + 1:02}-{number % 28 + 1:02}"
        return f"---\ntype: visit\ndate: {date}\n---\n{words}\n".encode()

    def part(self):
        """Four letters from inside a word that is not rare."""
        return next(word for word in self.words[100:] if len(word) >= 8)[3:7]


class Vault:
    def __init__(self, program, base: Path):
        self.program, self.base = program, base
        self.environment = dict(
            os.environ, XDG_STATE_HOME=str(base / "state"), KINVAULT_VAULT=str(base / "vault"),
            KINVAULT_PASSWORD_FILE=str(base / "password"))
        (base / "password").write_text("only for a benchmark\n")
        self("init", "--name", "Person 1", "--words-out", base / "words", "--yes")
        self("member", "add", "Emma")

    def __call__(self, *arguments):
        return run([self.program, *arguments], env=self.environment)

    def timed(self, *arguments):
        """Milliseconds of the clock and of the processor."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with Clock() as clock:
            self(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return clock.seconds * 1000, used * 1000


def filled(vault, words, count):
    """Puts so many records into the vault, and unlocks it."""
    plain = vault.base / "plain"
    folders = []
    for number in range(count):
        folder = plain / f"part {number // 1000:03}" / f"record {number:06}"
        folder.mkdir(parents=True)
        write_file(folder / "record.md", [words.note(number)])
        folders.append(folder.relative_to(plain))
    vault("attach", "Emma", *sorted(plain.iterdir()))
    shutil.rmtree(plain)
    vault("unlock")
    return folders


def measure(vault, words, arguments):
    folders = filled(vault, words, arguments.records)
    yield "first search, everything is read, ms", [vault.timed("search", "qqqqqq")[0]]
    size = sum(file.stat().st_size for file in (vault.base / "state").glob("kinvault/*/derived/*/*"))
    yield "the index on the disk, MB", [size / 1e6]
    runs = range(arguments.runs)
    nothing = [vault.timed("search", "qqqqqq") for _ in runs]
    yield "first search, the index is there, ms", [wall for wall, _ in nothing]
    base = statistics.median(used for _, used in nothing)
    queries = {
        "a rare word": [words.words[5000]], "a word in half of the records": [words.words[0]],
        "a word in all records": ["visit"], "a date": ["2012-05-05"], "two letters": [words.words[9][:2]],
        "a part of a word": [words.part()], "two words in a row": [f'"{words.words[0]} {words.words[1]}"'],
        "a word and a folder's": ["part", words.words[50]],
    }
    for name, query in queries.items():
        yield f"answering: {name}, ms", [vault.timed("search", *query)[1] - base for _ in runs]
    mountpoint = vault.base / "mnt"
    vault("mount", mountpoint)
    try:
        times = []
        for number in runs:
            with open(mountpoint / "Emma" / folders[number] / "record.md", "a") as note:
                note.write(f"zanzibar{number}\n")
            with Clock() as clock:
                found = vault("search", f"zanzibar{number}")
            if folders[number].name not in found:
                raise RuntimeError("the changed note was not found")
            times.append(clock.seconds * 1000)
        yield "a note changed in a mount is found, ms", times
    finally:
        vault("unmount", mountpoint)


def of_records(parser):
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=9)


def bench(name, description, measure, goals, arguments, options=of_records):
    """Measures with a vault of its own, as the arguments of the command say: `options` are those that it has besides `--json`."""
    parser = argparse.ArgumentParser(
        prog=f"Scripts/bench {name}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options(parser)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(arguments)
    program = kinvault_program()
    base = Path(tempfile.mkdtemp(prefix="kinvault-bench."))
    try:
        report(measure(Vault(program, base), Words(), arguments), goals, arguments.json)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return 0


def main(arguments):
    return bench("search", __doc__, measure, GOALS, arguments)
