"""`kinvault sync` next to rclone, rsync, restic and borg, on the same data, in the same run.

    Scripts/bench sync                      everything, three runs, in RAM (/dev/shm), to a folder and to SeaweedFS
    Scripts/bench sync --media ram,disk     on the disk of $TMPDIR as well
    Scripts/bench sync --quick              a tenth of the data, one run: does it work at all?
    Scripts/bench sync --only growth        only one part: copying (500 MB), or growth (1,000 to 10,000 records)
    Scripts/bench sync --largest 100000     growth up to that many records: takes many minutes
    Scripts/bench sync --json results.json  writes every single figure, besides printing the table

The data: 1,000 records with a note each, and 200 scans of 2.5 MB; the programs copy it from a plain folder, kinvault from the
vault that holds it. In each run every step is taken by every program in turn, so that what the machine does meanwhile hits all
alike. The table shows medians and the goals. "rclone" copies the plain folder, "rclone-vault" the vault's own files.
Kinvault is unlocked, as while somebody works with it; restic and borg derive their key from the password with each command,
on purpose slowly (0.3 s and less). kinvault and borg wait until what they wrote is on the disk, rclone, rsync and restic do not:
"until on disk" adds `sync` for all. Everything that is started is ended, also on Ctrl-C.
"""

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks.common import ROOT, Clock, kinvault_program, run, some_of, write_file
from benchmarks.remotes import DirectoryRemote, SeaweedRemote
from benchmarks.sync_programs import PROGRAMS

REMOTES = {"directory": DirectoryRemote, "s3": SeaweedRemote}
GROWTH_PROGRAMS = ("kinvault", "rclone")


# ---------------------------------------------------------------------------------------------------- data

class Records:
    """The plain folder: a folder for each record, with a note, and a scan in the first of them."""

    def __init__(self, base: Path, record_count, scan_count=0, scan_size=2_500_000):
        self.folder = base / "records"
        self.random = random.Random(record_count * 1_000_003 + scan_count)
        self.folder.mkdir(parents=True)
        self.folders = [self.folder / f"record {number:06}" for number in range(record_count)]
        for number, folder in enumerate(self.folders):
            folder.mkdir()
            write_file(folder / "record.md", [self._note(number)])
            if number < scan_count:
                write_file(folder / "scan.jpg", [self.random.randbytes(scan_size)])

    def _note(self, number):
        words = " ".join(self.random.choice(("fever", "visit", "scan", "blood", "knee", "dose")) for _ in range(60))
        return f"---\ntype: visit\ndate: 2025-01-{number % 28 + 1:02}\n---\n\n{words}\n".encode()

    def edit(self):
        """Changes one note, and says which."""
        path = self.random.choice(self.folders) / "record.md"
        write_file(path, [self._note(self.random.randrange(28)) + str(time.time_ns()).encode()])
        return path

    def attach(self, photo, folders):
        for folder in folders:
            shutil.copyfile(photo, folder / photo.name)


# ---------------------------------------------------------------------------------------------------- steps

def settle(program):
    """Returns when everything on the medium that is measured is on the disk."""
    run(["sync", "-f", program.base])


def timed(programs, action):
    """{program: seconds}; each begins with nothing left to write from before."""
    seconds = {}
    for program in programs:
        settle(program)
        with Clock() as clock:
            action(program)
        seconds[program.name] = clock.seconds
    return seconds


def timed_uploads(programs, push=lambda each: each.push()):
    """Brings the remotes up to date: seconds, bytes and files that were put there, for each program."""
    seconds, sizes, counts = {}, {}, {}
    for program in programs:
        before = program.uploads()
        seconds.update(timed([program], push))
        new = [mark for path, mark in program.uploads().items() if before.get(path) != mark]
        sizes[program.name] = sum(mark[-1] for mark in new)
        counts[program.name] = len(new)
    return seconds, sizes, counts


def requests(programs):
    return {each.name: each.requests for each in programs if getattr(each, "requests", None) is not None}


def copying(records, programs, base):
    """Every step of the copying part; yields (measure, {program: figure})."""
    first, on_disk = {}, {}
    for program in programs:
        settle(program)
        with Clock() as whole:
            with Clock() as copy:
                program.push()
            settle(program)
        first[program.name], on_disk[program.name] = copy.seconds, whole.seconds
    yield "first copy s", first
    yield "first copy, until on disk s", on_disk
    yield "on the remote MB", {
        each.name: sum(mark[-1] for mark in each.uploads().values()) / 1e6 for each in programs}
    yield "nothing changed s", timed(programs, lambda each: each.push())
    yield "nothing changed: requests", requests(programs)
    yield "full verification s", timed(programs, lambda each: each.verify())
    if here := [each for each in programs if hasattr(each, "verify_here")]:
        yield "full verification of the vault itself s", timed(here, lambda each: each.verify_here())
    yield "first restore or clone s", timed(programs, lambda each: each.restore())
    for program in programs:
        program.forget_restored()
    if words := [each for each in programs if hasattr(each, "restore_with_words")]:
        yield "clone with 24 words and password s", timed(words, lambda each: each.restore_with_words())
        for program in words:
            program.forget_restored()
    yield from editing(records, programs, "one note edited")
    photo = base / "photo.jpg"
    write_file(photo, [records.random.randbytes(2_000_000)])
    folders = records.folders[:10]
    records.attach(photo, folders)
    for program in programs:
        program.attach(photo, folders)
    seconds, sizes, _ = timed_uploads(programs)
    yield "one 2 MB photo in ten records s", seconds
    yield "one 2 MB photo in ten records: MB put", {name: size / 1e6 for name, size in sizes.items()}


def editing(records, programs, title):
    path = records.edit()
    for program in programs:
        program.edit(path)
    seconds, sizes, counts = timed_uploads(programs)
    yield f"{title} s", seconds
    yield f"{title}: bytes put", sizes
    yield f"{title}: files put", counts
    yield f"{title}: requests", requests(programs)


def growth(count, records, programs):
    for program in programs:
        program.push()
    for _ in range(3):
        yield f"{count:,} records: nothing changed s", timed(programs, lambda each: each.push())
    yield f"{count:,} records: nothing changed: requests", requests(programs)
    for _ in range(3):
        yield from editing(records, programs, f"{count:,} records: one note edited")
    if vaults := [each for each in programs if hasattr(each, "restore_lazily")]:
        yield from growth_of_vaults(count, records, vaults)


def growth_of_vaults(count, records, vaults):
    """What only a vault has: its lists, clones with and without attachments, and another device's first edit."""
    yield f"{count:,} records: listed s", timed(vaults, lambda each: each.list_records())
    for name, restore in (("lazy clone", "restore_lazily"), ("clone", "restore")):
        yield f"{count:,} records: {name} s", timed(vaults, lambda each: getattr(each, restore)())
        for vault in vaults:
            vault.forget_restored()
    for vault in vaults:
        vault.add_device()
    path = records.edit()
    for vault in vaults:
        vault.edit_on_new_device(path)
    seconds, sizes, counts = timed_uploads(vaults, lambda each: each.push_from_new_device())
    title = f"{count:,} records: a new device's first edit"
    yield f"{title} s", seconds
    yield f"{title}: bytes put", sizes
    yield f"{title}: files put", counts
    for vault in vaults:
        vault.forget_restored()


# ---------------------------------------------------------------------------------------------------- the run

class Measuring:
    """{measure: {program: [figures]}} of one medium and kind of remote."""

    def __init__(self, arguments, medium, kind, base):
        self.arguments = arguments
        self.title = f"{medium}, {kind}"
        self.medium = medium
        self.kind = kind
        self.base = base
        self.results = {}

    def run(self):
        for number in range(self.arguments.runs):
            if "copying" in self.arguments.parts:
                records, scans = (100, 20) if self.arguments.quick else (1000, 200)
                self._part(number, "copying", records, scans)
            if "growth" in self.arguments.parts:
                for count in self.arguments.counts:
                    self._part(number, "growth", count, 0)
        return self.results

    def _part(self, number, part, record_count, scan_count):
        print(f"{self.title}: {part}, {record_count:,} records, run {number + 1} …", file=sys.stderr, flush=True)
        names = [name for name in self.arguments.programs if part == "copying" or name in GROWTH_PROGRAMS]
        # Whatever happens on the way, and whichever of them fails, all that was begun is ended, the newest first.
        with ExitStack() as ending:
            base = Path(tempfile.mkdtemp(prefix="run.", dir=self.base))
            ending.callback(shutil.rmtree, base, ignore_errors=True)
            try:
                remote = REMOTES[self.kind](base)
                ending.callback(remote.close)
                records = Records(base, record_count, scan_count)
                programs = []
                for name in names:
                    if self.kind not in PROGRAMS[name].remotes:
                        continue
                    program = PROGRAMS[name](base, records.folder, remote, self.arguments.binary)
                    ending.callback(program.close)
                    program.create()
                    programs.append(program)
                self._take_steps(number, part, record_count, records, programs, base)
            except Exception as error:  # one broken part must not take the others' figures with it
                print(f"FAILED: {self.title}, {part}: {error}", file=sys.stderr)
                self.results.setdefault(f"{part}: failed", {}).setdefault("", []).append(str(error))

    def _take_steps(self, number, part, record_count, records, programs, base):
        # In another order each time, so that nobody always comes after the same.
        turned = number % max(1, len(programs))
        turn = programs[turned:] + programs[:turned]
        steps = copying(records, turn, base) if part == "copying" else growth(record_count, records, turn)
        for measure, figures in steps:
            for name, figure in figures.items():
                self.results.setdefault(measure, {}).setdefault(name, []).append(figure)


# ---------------------------------------------------------------------------------------------------- the table

# What the issue asks of kinvault: at most so many times another program's figure, or at most so much.
GOALS = {
    "first copy s": ("rclone-vault", 1.1),
    "first restore or clone s": ("rclone-vault", 1.1),
    "nothing changed s": ("rclone", 1.0),
    "12,000 records: nothing changed s": ("rclone", 0.3),
    "one note edited: bytes put": (None, 2048),
    "one note edited: files put": (None, 4),
    "full verification s": ("restic", 1.0),
    "one 2 MB photo in ten records: MB put": (None, 2.1),
    "100,000 records: listed s": (None, 1),
    "100,000 records: lazy clone s": (None, 10),
    "100,000 records: clone s": (None, 40),
    "10,000 records: a new device's first edit: bytes put": (None, 4096),
    "100,000 records: a new device's first edit: bytes put": (None, 4096),
}


def verdict(measure, medians):
    """What the goal is, kinvault's figure over the other one's, and whether it is reached."""
    ours = medians.get("kinvault")
    if measure not in GOALS or ours is None:
        return ""
    other, limit = GOALS[measure]
    if other is None:
        return f"≤ {limit:,g}  {'reached' if ours <= limit else 'MISSED'}"
    if not medians.get(other):
        return ""
    ratio = ours / medians[other]
    return f"{ratio:.2f}× {other}, goal ≤ {limit:g}×  {'reached' if ratio <= limit else 'MISSED'}"


def print_table(title, results, programs):
    names = [name for name in programs if any(name in figures for figures in results.values())]
    print(f"\n{title}\n{'':48} " + " ".join(f"{name:>12}" for name in names))
    for measure, figures in results.items():
        if measure.endswith(": failed"):
            print(f"{measure:48} FAILED")
            continue
        medians = {name: statistics.median(values) for name, values in figures.items()}
        if not medians:
            continue
        cells = " ".join(
            f"{number(medians[name]):>12}" if name in medians else f"{'–':>12}" for name in names)
        print(f"{measure:48} {cells}  {verdict(measure, medians)}")


def number(figure):
    return f"{figure:,.0f}" if figure >= 100 or figure == int(figure) else f"{figure:,.2f}"


def parse(words):
    parser = argparse.ArgumentParser(
        prog="Scripts/bench sync", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=None, help="runs of each (3; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything, once")
    parser.add_argument("--only", action="append", choices=("copying", "growth"), help="one part")
    parser.add_argument("--largest", type=int, default=12_000, metavar="N", help="growth: up to so many records")
    parser.add_argument(
        "--programs", type=some_of(*PROGRAMS), default=list(PROGRAMS), help="one or more of " + ",".join(PROGRAMS))
    parser.add_argument(
        "--remotes", type=some_of("directory", "s3"), default=["directory", "s3"], help="one or more of directory,s3")
    parser.add_argument("--media", type=some_of("disk", "ram"), default=["ram"], help="one or more of disk,ram")
    parser.add_argument("--folder", type=Path, default=None, help="a folder on the disk to measure (else $TMPDIR or /tmp)")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    arguments = parser.parse_args(words)
    arguments.runs = arguments.runs or (1 if arguments.quick else 3)
    arguments.parts = arguments.only or ["copying", "growth"]
    counts = (100, 1000, 1200) if arguments.quick else (1000, 10_000, 12_000, 100_000)
    arguments.counts = [count for count in counts if count <= arguments.largest]
    return arguments


def describe(arguments, everything):
    versions = {
        "rclone": [ROOT / ".build-python/bin/rclone", "version"], "restic": ["restic", "version"],
        "borg": ["borg", "--version"], "rsync": ["rsync", "--version"]}
    return {
        "when": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "runs": arguments.runs, "quick": arguments.quick,
        "kernel": os.uname().release, "cores": os.cpu_count(),
        "versions": {name: run(command).splitlines()[0] for name, command in versions.items()},
        "results": everything}


def main(words):
    arguments = parse(words)
    run([ROOT / "Scripts/setup", "--bench"])
    arguments.binary = kinvault_program()
    # Ctrl-C and kill clean up as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    everything = {}
    for medium in arguments.media:
        parent = Path("/dev/shm") if medium == "ram" else arguments.folder
        base = Path(tempfile.mkdtemp(prefix="kinvault-bench.", dir=parent))
        try:
            for kind in arguments.remotes:
                measuring = Measuring(arguments, medium, kind, base)
                everything[measuring.title] = measuring.run()
                print_table(measuring.title, everything[measuring.title], arguments.programs)
        finally:
            shutil.rmtree(base, ignore_errors=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(describe(arguments, everything), indent=2) + "\n")
    if any(key.endswith(": failed") for results in everything.values() for key in results):
        sys.exit(1)
