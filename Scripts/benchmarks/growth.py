"""What the folder of a vault grows by when programs write a little many times, and what is left of it later, without a command.

    Scripts/bench growth               looks until an hour later, in a folder of $TMPDIR
    Scripts/bench growth --minutes 5   looks until five minutes later
    Scripts/bench growth --quick       a tenth of the writes, two minutes: does it work at all?
    Scripts/bench growth --json FILE   writes every single figure, besides printing the table

transactions   1,000 transactions of SQLite, each of which inserts a row of 2 kB: its own defaults, a rollback journal and fsync
appends        500 appends of 30 bytes to one file, each with an fsync

Each is done in a vault of its own, one after the other. Both mounts stay until the last look, and nothing else is done
meanwhile: what is thinned is thinned by the mounts. A figure is what the files of the vault's folder take on the disk, as
`du` counts, less what they took before. A release build is made, unless KINVAULT_BINARY names a program. Whatever happens,
the mounts are gone at the end; the state of the program is kept beside the vaults, so that it meets no other.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import kinvault_program
from benchmarks.places import Kinvault

GOAL = 40
LOOKS = (1, 3, 10, 20, 30, 60)


def transactions(folder, count):
    picks = random.Random(20250120)
    with contextlib.closing(sqlite3.connect(folder / "records.sqlite")) as database:
        database.execute("create table record (id integer primary key, body blob)")
        for _ in range(count):
            with database:
                database.execute("insert into record (body) values (?)", [picks.randbytes(2000)])


def appends(folder, count):
    descriptor = os.open(folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        for number in range(count):
            os.write(descriptor, f"{number:08} temperature 37.2 C\n".encode().ljust(30)[:30])
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


WRITES = {"1,000 transactions of 2 kB": (transactions, 1000), "500 appends of 30 bytes": (appends, 500)}


def megabytes(folder):
    """What the files and folders take on the disk."""
    blocks = 0
    for path, _, names in os.walk(folder):
        for entry in (path, *(os.path.join(path, name) for name in names)):
            with contextlib.suppress(FileNotFoundError):  # it is thinned meanwhile
                blocks += os.lstat(entry).st_blocks
    return blocks * 512 / 1e6


def looks(minutes):
    return [minute for minute in LOOKS if minute < minutes] + [minutes]


def measure(places, scale, minutes):
    """{what was written: {when: MB}}"""
    before, grown, processes = {}, {}, {}
    for name, (write, count) in WRITES.items():
        place = places[name]
        place.create()
        processes[name] = place.process_id()
        before[name] = megabytes(place.vault)
        print(f"{name} …", file=sys.stderr, flush=True)
        write(place.folder, int(count * scale))
        grown[name] = {"right after": megabytes(place.vault) - before[name]}
    start = time.monotonic()
    for minute in looks(minutes):
        time.sleep(max(0, start + minute * 60 - time.monotonic()))
        for name, place in places.items():
            if place.process_id() != processes[name]:
                raise RuntimeError(f"the mount of the {name} did not stay")
            grown[name][f"{minute:g} min"] = megabytes(place.vault) - before[name]
            print(f"{name}, {minute:g} min: {grown[name][f'{minute:g} min']:.1f} MB", file=sys.stderr, flush=True)
    return grown


def table(grown, scale):
    whens = list(next(iter(grown.values())))
    grown = grown | {"both": {when: sum(figures[when] for figures in grown.values()) for when in whens}}
    print(f"{'the vault has grown by, MB':30} {' '.join(f'{when:>11}' for when in whens)}")
    for name, figures in grown.items():
        print(f"{name:30} {' '.join(f'{figures[when]:11.1f}' for when in whens)}")
    last = grown["both"][whens[-1]]
    if scale == 1:
        print(f"both, {whens[-1]} later, without a command: ≤ {GOAL} MB: {'reached' if last <= GOAL else 'MISSED'}")


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="Scripts/bench growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="until the last look (60; 2 with --quick)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the writes")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where to measure")
    arguments = parser.parse_args(arguments)
    scale = 0.1 if arguments.quick else 1
    program = kinvault_program()
    # Ctrl-C and kill unmount too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    base = Path(tempfile.mkdtemp(prefix="kinvault-bench.", dir=arguments.folder))
    places = {name: Kinvault(base / str(number), program) for number, name in enumerate(WRITES)}
    try:
        grown = measure(places, scale, arguments.minutes or (2 if arguments.quick else 60))
        table(grown, scale)
        if arguments.json:
            arguments.json.write_text(json.dumps(grown, indent=1) + "\n")
    finally:
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, base, ignore_errors=True)
            for place in places.values():
                stack.callback(place.destroy)
    return 0
