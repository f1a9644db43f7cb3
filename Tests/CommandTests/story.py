"""What the stories of the page have in common, in whichever browser they are told."""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import urllib.parse

from axe_playwright_python.base import AXE_SCRIPT
from marionette_driver.marionette import Marionette
from pydicom import dcmread
from pydicom.data import get_testdata_file

scans = pathlib.Path(__file__, "../../../.build-python/scans").resolve()


def look(name, evaluate):
    """Looks at what is shown for what keeps people out.

    `evaluate` gives the value of an expression in the page.
    """
    axe = "axe.run({resultTypes: ['violations']}).then(found => found.violations)"
    found = evaluate(f"(() => {{ {AXE_SCRIPT}; return {axe} }})()")
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    assert not serious, f"{name}: {[(v['id'], [n['html'] for n in v['nodes']]) for v in serious]}"
    wide = evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide, f"{name} is wider than the window"
    typed = "input:not([type=hidden]):not([type=file]):not([autocomplete=off])"
    kept = evaluate(f"[...document.querySelectorAll('{typed}')].map(one => one.outerHTML)")
    assert not kept, f"{name} lets a browser keep what is typed into {kept}"


@contextlib.contextmanager
def disc():
    """Slices of a CT, as they lie on a patient's disc, beside what is none. Their names are in another order than they are."""
    with tempfile.TemporaryDirectory() as folder:
        slices = [pathlib.Path(folder, name) for name in ("IM10", "IM2")]
        for number, one in enumerate(slices, 1):
            slice = dcmread(get_testdata_file("CT_small.dcm"))
            slice.InstanceNumber = number
            slice.save_as(one)
        words = pathlib.Path(folder, "IM5")
        words.write_text("How to use this disc. " * 100)
        yield [*slices, words]


class Elsewhere:
    """The program, which changes records behind the page's back."""

    def __init__(self, kinvault):
        self.kinvault = kinvault

    def run(self, *arguments, **variables):
        subprocess.run([self.kinvault, *arguments], env={**os.environ, **variables}, check=True)

    def add(self, title):
        self.run("record", "add", "--member", "Emma", "--title", title)

    def replace(self, old, new, record):
        """Puts one text in the place of another in the note of the record with this address."""
        number = urllib.parse.urlsplit(record).path.split("/")[-1]
        self.run("record", "edit", number, EDITOR=f"sed -i 's/{old}/{new}/'")


def in_firefox(run, **preferences):
    """Has a story told in Debian's Firefox, which is driven by Marionette that it brings itself.

    It takes its port seconds after it was told which: one that PageTests has drawn.
    """
    with tempfile.TemporaryDirectory() as folder:
        # Marionette removes the file that it is to log into before it does: never a device.
        firefox = Marionette(
            bin="/usr/bin/firefox-esr", headless=True, port=int(os.environ["MARIONETTE_PORT"]), startup_timeout=300,
            workspace=folder, gecko_log=str(pathlib.Path(folder, "log")), prefs=preferences,
        )
        try:
            firefox.start_session()
            run(firefox)
        finally:
            firefox.cleanup()
            # Its profile goes with it, which an interpreter that is ending cannot do any more.
            firefox.instance = None
