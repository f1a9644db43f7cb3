"""The page in a real browser: the story of somebody without a terminal, from the code to the lock.

    page.py ADDRESS CODE PASSWORD PHOTO KINVAULT [SHOTS]

PHOTO is a file to attach; KINVAULT the program, which changes a record behind the page's back. Pictures of each page go to the
folder SHOTS, if it is given. Ends with 0 when everything was as it should be; else says what was not.
"""

import os
import pathlib
import re
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from playwright.sync_api import expect, sync_playwright

from pydicom.data import get_testdata_file

from story import Elsewhere, disc, look, scans

# Instead of five seconds: whatever else the machine does meanwhile.
expect.set_options(timeout=120_000)

address, code, password, photo, kinvault = sys.argv[1:6]
shots = pathlib.Path(sys.argv[6]) if len(sys.argv) > 6 else None
elsewhere = Elsewhere(kinvault)


class Story:
    def __init__(self, browser, locale="en-GB", width=1100, scheme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, locale=locale, color_scheme=scheme
        )
        self.context.set_default_timeout(120_000)
        self.page = self.context.new_page()
        self.mark = f"{locale}-{width}-{scheme}"
        self.foreign = []
        self.page.on("request", self.note)
        self.page.on("pageerror", lambda error: sys.exit(f"a script failed: {error}"))

    def note(self, request):
        if not request.url.startswith(address + "/"):
            self.foreign.append(request.url)

    def look(self, name):
        """Takes a picture, and looks for what keeps people out."""
        look(f"{name}-{self.mark}", self.page.evaluate)
        if shots:
            self.page.screenshot(path=shots / f"{name}-{self.mark}.png", full_page=True)

    def wait_for_more(self, selector, property, than):
        """Waits until a property of what is shown is more than this. The page lets nothing be evaluated in it, so this asks."""
        for _ in range(1200):
            if self.page.locator(selector).evaluate(f"shown => shown.{property}") > than:
                return
            time.sleep(0.1)
        sys.exit(f"{property} of {selector} is not more than {than}")

    def wait_for_picture(self, selector, width):
        """Waits until a picture is there that is wider than this."""
        self.wait_for_more(selector, "naturalWidth", width)

    def attach(self, files):
        # Before the page's script runs nobody can choose a file, and nothing would hear of it.
        expect(self.page.locator(".drop")).to_be_visible()
        self.page.set_input_files("#files", files)

    def enter(self):
        assert self.page.goto(address).status == 401
        self.look("entrance")
        self.page.fill("#code", code)
        self.page.click("main button")
        self.page.wait_for_url(address + "/")


def refused_without_cookie():
    """Another user of this machine gets nothing, not even a name; a page that points here neither."""
    port = urllib.parse.urlsplit(address).port
    host = urllib.parse.urlsplit(address).netloc
    for name, expected in [(host, 401), ("evil.example", 421), (f"127.0.0.1:{port}", 421)]:
        for path in ["/", "/deleted", "/events", "/page.js", "/records/00/00"]:
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": name})
            try:
                answer = urllib.request.urlopen(request)
                sys.exit(f"{name}{path} was answered: {answer.status}")
            except urllib.error.HTTPError as error:
                assert error.code == expected, f"{name}{path}: {error.code}"
                text = error.read().decode()
                for word in ["Emma", "Penicillin", "vault</bdi>"]:
                    assert word not in text, f"{name}{path} says {word}"


def run(browser):
    story = Story(browser)
    page = story.page
    story.enter()
    story.look("unlock")
    page.fill("#password", "not it")
    page.click("main button")
    expect(page.get_by_role("alert")).to_have_text("That is not it. Try again.")
    page.fill("#password", password)
    page.click("main button")
    page.wait_for_selector(".records")
    # What was tried is told to whoever unlocks it next, until they have seen it.
    expect(page.locator(".notices")).to_contain_text("1 wrong password")
    story.look("notices")
    page.goto(address)
    page.click("text=I have seen this")
    expect(page.locator(".notices")).to_have_count(0)
    page.goto(address)
    expect(page.locator(".notices")).to_have_count(0)
    story.look("records")
    assert page.title() == "Kinvault"
    # What is written from right to left turns nothing else round.
    expect(page.locator(".record bdi", has_text="ليلى")).to_have_count(1)

    # A browser keeps six connections to one place: more pages than that are no trouble.
    tabs = [story.context.new_page() for _ in range(8)]
    for tab in tabs:
        tab.goto(address)
        tab.wait_for_selector(".records")
    for tab in tabs:
        tab.close()

    # A member's own page, and the way back up from what stands below it.
    page.click(".members >> text=Emma")
    expect(page.locator("h1")).to_have_text("Emma")
    page.click("text=Edit")
    page.fill("#text", "Blood group *0*.")
    page.click("main button[type=submit]")
    expect(page.locator(".note em")).to_have_text("0")
    story.attach(photo)
    expect(page.locator(".files > ul")).to_contain_text(pathlib.Path(photo).name)
    story.wait_for_picture(".files > ul img", 0)
    story.look("member")
    page.click("main >> text=Allergies")
    page.click("main >> text=Penicillin")
    expect(page.locator("main .about")).to_contain_text("Emma › Allergies")
    page.click(".about >> text=Allergies")
    expect(page.locator("h1")).to_have_text("Allergies")
    page.click(".about >> text=Emma")
    page.click("text=All records of Emma")
    expect(page.locator("#member option:checked")).to_have_text("Emma")
    page.goto(address)

    # Search as one types; nothing of it is in the address.
    page.fill("#words", "penicil")
    expect(page.locator("#results > p")).to_have_text("One record was found.")
    assert_found(page, "penicil")
    story.look("search")
    page.click("text=Penicillin")
    expect(page.locator("h1")).to_have_text("Penicillin")
    expect(page.locator("dl")).to_contain_text("severe")
    story.look("record")
    # Back there, the words and what they have found are there still.
    page.go_back()
    assert_found(page, "penicil")
    # Whose records are wanted stays with other words, and the words with other members.
    page.select_option("#member", label="Liam")
    page.click(".filter button")
    expect(page.locator("#results > p")).to_have_text("Nothing was found.")
    expect(page.locator("#words")).to_have_value("penicil")
    page.select_option("#member", label="Emma")
    page.click(".filter button")
    assert_found(page, "penicil")
    page.fill("#words", "rash")
    expect(page.locator(".excerpt")).to_contain_text("Rash")
    assert_found(page, "rash")
    page.press("#words", "Enter")
    assert_found(page, "rash")
    expect(page.locator("#member option:checked")).to_have_text("Emma")
    # Without words there is the list again.
    page.fill("#words", "")
    expect(page.locator("#results > p")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("find="))
    assert "member=" in page.url, page.url
    # The words without a script's help.
    page.fill("#words", "penicil")
    page.press("#words", "Enter")
    assert_found(page, "penicil")

    # A record whose date nobody knows: none is made up.
    page.click("text=New record")
    page.select_option("#type", "condition")
    page.click("main button")
    page.fill("#title", "Mumps as a child")
    page.fill("#date", "")
    page.click("main button")
    expect(page.locator("h1")).to_have_text("Mumps as a child")
    expect(page.locator("main .about time")).to_have_count(0)
    page.click("text=Edit")
    expect(page.get_by_label("Name of the folder")).to_have_value("Mumps as a child")
    expect(page.get_by_label("Status", exact=True)).to_have_count(1)
    expect(page.get_by_label("Date", exact=True)).to_have_count(0)
    page.goto(address)
    expect(page.locator(".record", has_text="Mumps").locator(".day")).to_have_text("no date")

    # A new record, with a photo dropped into it.
    page.click("text=New record")
    page.select_option("#type", "vaccine")
    story.look("new")
    page.click("main button")
    page.fill("#title", "Tetanus")
    page.fill("#date", "2026-13-01")
    page.click("main button")
    expect(page.get_by_role("alert")).to_contain_text("2025-01-20")
    page.fill("#date", "2026-05-01")
    page.get_by_label("Lot", exact=True).fill("AB 1")
    page.fill("#text", "No *reaction*.\n<script>document.title = 'x'</script>")
    story.look("new-fields")
    page.click("main button")
    expect(page.locator("h1")).to_have_text("Tetanus")
    expect(page.locator(".note em")).to_have_text("reaction")
    assert page.title() == "Kinvault"
    record = page.url
    story.attach(photo)
    shown = page.locator(".files > ul img")
    expect(shown).to_have_count(1)
    story.wait_for_picture(".files > ul img", 0)
    story.look("attached")
    # The same name once more is told, and the file that is there stays.
    story.attach(photo)
    expect(page.locator(".drop .error")).to_contain_text("already")
    page.click(".files > ul a")
    story.wait_for_picture(".large", 256)
    story.look("file")
    with page.expect_download() as download:
        page.click("text=Save a plain copy")
    saved = pathlib.Path(download.value.path()).read_bytes()
    assert saved == pathlib.Path(photo).read_bytes(), "the copy is another file"
    assert download.value.suggested_filename == pathlib.Path(photo).name

    # A folder is none of these, which is said.
    page.goto(record)
    folder = page.evaluate_handle(
        """() => {
            DataTransferItem.prototype.webkitGetAsEntry = () => ({isDirectory: true})
            const data = new DataTransfer()
            data.items.add(new File([], "DICOM"))
            return data
        }"""
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": folder})
    expect(page.locator(".drop .error")).to_contain_text("A folder cannot be dropped here")

    # Dropped from a file manager; and a PDF, page by page.
    page.goto(record)
    dropped = page.evaluate_handle(
        """() => {
            const data = new DataTransfer()
            data.items.add(new File(["dropped"], "dropped.txt", {type: "text/plain"}))
            return data
        }"""
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": dropped})
    expect(page.locator(".files > ul")).to_contain_text("dropped.txt")
    story.attach(scans / "multipage.pdf")
    expect(page.locator(".files > ul > li")).to_have_count(3)
    page.click(".files > ul a:has-text('multipage')")
    pdf = page.url
    story.wait_for_picture(".large", 500)
    expect(page.locator(".pages span")).to_have_text("Page 1 of 6")
    page.click("text=Next")
    expect(page.locator(".pages span")).to_have_text("Page 2 of 6")
    story.wait_for_picture(".large", 500)
    story.look("pdf")

    # Files that are not what they are called: lists go without a picture, their own pages say that there is none.
    page.goto(address)
    page.click("text=Mumps")
    odd = page.url
    story.attach([
        {"name": "cut.jpg", "mimeType": "", "buffer": pathlib.Path(photo).read_bytes()[:100]},
        {"name": "words.jpg", "mimeType": "", "buffer": b"No photo."},
        {"name": "words.pdf", "mimeType": "", "buffer": b"No PDF."},
        {"name": "words.dcm", "mimeType": "", "buffer": b"No slice."},
        {"name": "plan", "mimeType": "", "buffer": pathlib.Path(get_testdata_file("rtplan.dcm")).read_bytes()},
    ])
    expect(page.locator(".files > ul > li")).to_have_count(5)
    expect(page.locator(".files img")).to_have_count(0)
    story.look("odd-files")
    for name in ["cut.jpg", "words.jpg", "words.pdf", "words.dcm", "plan"]:
        page.goto(odd)
        page.click(f".files > ul a:has-text('{name}')")
        expect(page.locator("main")).to_contain_text(re.compile("no picture of this file|cannot be shown"))
        expect(page.locator("main img")).to_have_count(0)
    story.look("odd-file")
    page.goto(address)
    expect(page.locator(".record", has_text="Mumps").locator("img")).to_have_count(0)

    # Slices of a CT, beside what is none: from one to the next, through other windows, larger.
    page.goto(record)
    with disc() as files:
        story.attach(files)
        expect(page.locator(".files > ul > li")).to_have_count(6)
    page.click(".files > ul a:has-text('IM10')")
    story.wait_for_picture(".slice img", 100)
    expect(page.locator("main")).to_contain_text("CT")
    # In the order of the series, not of the names.
    expect(page.locator(".pages span")).to_have_text("Slice 1 of 2")
    expect(page.locator(".pages")).to_contain_text("Next slice")
    expect(page.locator(".pages")).not_to_contain_text("Previous slice")
    page.click("text=bone")
    expect(page.locator("[aria-current]").first).to_have_text("bone")
    story.wait_for_picture(".slice img", 100)
    story.look("dicom")
    page.keyboard.press("ArrowRight")
    expect(page.locator("h1")).to_have_text("IM2")
    expect(page.get_by_label("Centre")).to_have_value("400")
    page.click("text=4 ×")
    story.wait_for_picture(".zoom-4", 100)
    # What is larger than its place is seen from its middle.
    story.wait_for_more(".slice", "scrollLeft", 100)
    story.look("dicom-large")
    dicom = page.url

    # Who presses twice has meant it once, and is not told that somebody else was faster.
    page.goto(record)
    page.click("text=Edit")
    page.get_by_label("Lot", exact=True).fill("BC 1")
    for _ in range(3):
        page.keyboard.press("Enter")
    expect(page).to_have_url(record)
    expect(page.locator("dl")).to_contain_text("BC 1")

    # Who leaves what they have typed is asked first, and stays where they say so.
    page.click("text=Edit")
    page.fill("#text", "Half a sentence")
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.click(".brand", no_wait_after=True)
    for _ in range(1200):
        if asked:
            break
        page.wait_for_timeout(100)
    assert asked == ["beforeunload"], asked
    expect(page.locator("#text")).to_have_value("Half a sentence")
    page.click("text=Do not change anything")
    expect(page).to_have_url(record)

    # Somebody else changes the record while it is edited: nothing is lost, and both are seen.
    page.goto(record)
    page.click("text=Edit")
    page.get_by_label("Lot", exact=True).fill("CD 2")
    story.look("edit")
    other = story.context.new_page()
    other.goto(record + "/edit")
    other.get_by_label("Manufacturer").fill("Somebody")
    other.click("main button")
    expect(other.locator("dl")).to_contain_text("Somebody")
    page.click("main button[type=submit]")
    expect(page.get_by_role("alert")).to_contain_text("changed meanwhile")
    expect(page.locator(".theirs")).to_contain_text("Somebody")
    expect(page.get_by_label("Lot", exact=True)).to_have_value("CD 2")
    story.look("edit-conflict")
    page.get_by_label("Manufacturer").fill("Somebody")
    # A name that is taken is told, and what was typed is still there; another one is given.
    name = page.get_by_label("Name of the folder")
    name.fill("a/b")
    page.click("main button[type=submit]")
    expect(page.get_by_role("alert")).to_contain_text("no “/”")
    expect(page.get_by_label("Manufacturer")).to_have_value("Somebody")
    name.fill("2026-05-01 Tetanus and diphtheria")
    page.click("main button[type=submit]")
    expect(page.locator("h1")).to_have_text("Tetanus and diphtheria")
    expect(page.locator("dl")).to_contain_text("CD 2")
    expect(page.locator("dl")).to_contain_text("Somebody")
    # The same from a command, in the same second.
    page.click("text=Edit")
    elsewhere.replace("CD 2", "EF 3", record)
    page.fill("#text", "Typed meanwhile.")
    page.click("main button[type=submit]")
    expect(page.locator(".theirs")).to_contain_text("EF 3")
    expect(page.locator("#text")).to_have_value("Typed meanwhile.")
    # What another program does shows as news on the page that is open, and not where that would lose what was typed.
    other.goto(address)
    elsewhere.add("From elsewhere")
    expect(other.locator("#news")).to_be_visible()
    expect(page.locator("#news")).to_be_hidden()
    expect(page.locator("#text")).to_have_value("Typed meanwhile.")
    other.close()
    page.click("text=Do not change anything")
    page.goto(address)
    elsewhere.add("Another one")
    expect(page.locator("#news")).to_be_visible()
    page.click("#news a")
    expect(page.locator(".records")).to_contain_text("From elsewhere")

    # Deleted, and brought back.
    page.goto(record)
    page.click("summary")
    story.look("delete")
    page.click("text=Delete >> nth=-1")
    page.wait_for_url(address + "/")
    expect(page.locator(".records")).not_to_contain_text("Tetanus")
    page.click("text=Deleted")
    story.look("deleted")
    page.click("text=Tetanus")
    page.click("text=Bring back")
    expect(page.locator(".files > ul img")).to_have_count(4)

    # Moved to another member, and elsewhere there.
    page.goto(address)
    page.click("text=From elsewhere")
    page.click("text=Move")
    story.look("move")
    page.get_by_label("Where to").select_option(label="Liam: at the top")
    page.click("main button")
    expect(page.locator("main .about")).to_contain_text("Liam")
    expect(page.locator("h1")).to_have_text("From elsewhere")
    page.click("text=Move")
    page.get_by_label("Where to").select_option(label="Liam: Notes")
    page.click("main button")
    page.goto(address)
    expect(page.locator(".record", has_text="From elsewhere")).to_have_count(1)

    # A conflict of two devices is seen in lists and at the record, and decided.
    lost = page.locator(".record", has_text="a version that lost")
    expect(lost).to_have_count(1)
    story.look("records-lost")
    lost.locator("a").click()
    expect(page.locator(".notice")).to_contain_text("This is a version that lost")
    for scheme in ["dark", "light"]:
        page.emulate_media(color_scheme=scheme)
        story.look(f"lost-{scheme}")
    page.goto(address)
    page.click("text=/^Both$/")
    expect(page.locator(".notice")).to_contain_text("Another version of this record lost")
    page.click("text=Move")
    expect(page.locator("#place")).to_contain_text("Emma: Notes")
    expect(page.locator("#place")).not_to_contain_text("Offline Sync Conflicts")
    page.click("nav >> text=Conflicts (1)")
    expect(page.locator("article.conflict")).to_have_count(1)
    story.look("conflicts")
    page.click("text=Take this version back")
    expect(page.locator("main")).to_contain_text("There are no conflicts")
    expect(page.locator("nav")).not_to_contain_text("Conflicts (")

    people_and_vault(story)

    cookies = story.context.cookies()
    # Every page, small and wide, in the other light.
    for other in [Story(browser, scheme="dark"), Story(browser, width=320)]:
        other.context.add_cookies(cookies)
        for name, path in [("records", "/"), ("record", record), ("edit", record + "/edit"), ("move", record + "/move"),
                           ("history", record + "/history"),
                           ("pdf", pdf), ("dicom", dicom), ("new", "/new"), ("deleted", "/deleted"),
                           ("conflicts", "/conflicts"), ("people", "/people"), ("journal", "/journal"),
                           ("vault", "/vault"), ("work", "/vault/work")]:
            assert other.page.goto(urllib.parse.urljoin(address, path)).status == 200, name
            other.look(name)
        other.context.close()

    # Small, dark, German, with the keyboard alone.
    small = Story(browser, locale="de-DE", width=320, scheme="dark")
    small.context.add_cookies(cookies)
    for name, path in [("records", "/"), ("record", record[len(address):]), ("new", "/new"),
                       ("edit", record[len(address):] + "/edit"), ("conflicts", "/conflicts"),
                       ("people", "/people"), ("journal", "/journal"), ("vault", "/vault")]:
        small.page.goto(address + path)
        small.look(name)
    small.page.goto(address)
    expect(small.page.locator("h1")).to_have_text("Einträge")
    small.page.keyboard.press("Tab")
    small.page.keyboard.press("Tab")
    small.page.keyboard.press("Tab")
    small.page.keyboard.type("tetanus")
    expect(small.page.locator("#results > p")).to_have_text("Ein Eintrag gefunden.")

    # Without scripts.
    plain = browser.new_context(java_script_enabled=False, locale="en-GB")
    plain.set_default_timeout(120_000)
    plain.add_cookies(cookies)
    reader = plain.new_page()
    reader.goto(record)
    with tempfile.TemporaryDirectory() as folder:
        added = pathlib.Path(folder, 'a "quoted" name.bin')
        added.write_bytes(os.urandom(3_000_000))
        second = pathlib.Path(folder, "empty")
        second.touch()
        reader.get_by_label("Files to attach").set_input_files([added, second])
        reader.click("main button:text-is('Attach')")
        expect(reader.locator(".files > ul")).to_contain_text(added.name)
        expect(reader.locator(".files > ul")).to_contain_text("empty")
        reader.get_by_label("Files to attach").set_input_files([added])
        reader.click("main button:text-is('Attach')")
        expect(reader.get_by_role("alert")).to_contain_text("There is a file")
        reader.goto(record)
        reader.click(f".files > ul a:has-text('quoted')")
        with reader.expect_download() as download:
            reader.click("text=Save a plain copy")
        assert pathlib.Path(download.value.path()).read_bytes() == added.read_bytes()
        reader.goto(record)
    reader.fill("#words", "penicillin")
    reader.press("#words", "Enter")
    assert_found(reader, "penicillin")
    reader.click(".record a")
    reader.go_back()
    assert_found(reader, "penicillin")

    # Locked: every page empties itself, and nothing is answered any more.
    page.goto(record)
    page.get_by_role("button", name="Lock").click()
    expect(page.locator("h1")).to_have_text("Locked")
    expect(small.page.locator("body")).to_contain_text("gesperrt")
    assert "Tetanus" not in small.page.content()
    assert small.page.goto(record).status == 401
    assert not story.foreign and not small.foreign, f"asked elsewhere: {story.foreign}"


def assert_found(page, words):
    """One record was found by these words, which stand where they were typed and not in the address."""
    expect(page.locator("#results > p")).to_have_text("One record was found.")
    expect(page.locator(".record")).to_have_count(1)
    expect(page.locator("#words")).to_have_value(words)
    expect(page).to_have_url(re.compile(r"/\?find="))
    assert words not in page.url, page.url


def people_and_vault(story):
    """Shares with Ben, sees it in the journal, syncs, checks, and takes the access away again."""
    page = story.page
    page.click("nav >> text=People")
    story.look("people")
    card = page.locator(".card", has=page.get_by_role("heading", name="Emma"))
    card.locator("summary", has_text="Share with").click()
    card.get_by_label("With", exact=True).select_option(label="Ben")
    card.get_by_label("Last day").fill("2020-01-01")
    card.get_by_role("button", name="Share").click()
    expect(page.get_by_role("alert")).to_have_text("The last day is today or later.")
    story.look("people-share")
    card.get_by_label("Last day").fill("2099-12-31")
    card.get_by_role("button", name="Share").click()
    page.wait_for_url(address + "/people")
    expect(card.locator("tr", has_text="Ben")).to_contain_text("read, until 31 December 2099")
    # Without a last day it goes on.
    card.locator("summary", has_text="Share with").click()
    card.get_by_label("With", exact=True).select_option(label="Ben")
    card.get_by_role("button", name="Share").click()
    expect(card.locator("tr", has_text="Ben")).to_contain_text("read")
    expect(card.locator("tr", has_text="Ben")).not_to_contain_text("2099")
    # The same once more is told.
    card.locator("summary", has_text="Share with").click()
    card.get_by_label("With", exact=True).select_option(label="Ben")
    card.get_by_role("button", name="Share").click()
    expect(page.get_by_role("alert")).to_contain_text("has this access already")

    # Whose keys they are.
    card.locator("a", has_text="Ben").click()
    expect(page.locator("main")).to_contain_text("invited in person")
    story.look("person")
    page.click("text=Show the words")
    words = page.locator(".words").inner_text().split()
    assert len(words) == 6, words
    story.look("person-words")
    page.get_by_label("What they are called").fill("Benjamin")
    page.click("text=The words are the same")
    expect(page.locator("h1")).to_have_text("Benjamin")
    expect(page.locator("main")).to_contain_text("words compared")
    page.click("nav >> text=People")
    page.click("text=Invite somebody")
    assert page.get_by_label("The invitation").input_value().startswith("KIN-")
    story.look("invitation")

    # It stands in the journal that everyone with access reads, and in one's own.
    page.click("nav >> text=Journal")
    expect(page.locator("table")).to_contain_text("shared")
    story.look("journal")
    page.select_option("#member", label="Emma")
    page.click("main button")
    expect(page.locator("tbody tr", has_text="Benjamin").first).to_contain_text("shared")
    story.look("journal-member")

    # The vault itself.
    page.click("nav >> text=Vault")
    expect(page.locator("main")).to_contain_text("laptop")
    expect(page.locator("main")).to_contain_text("wait")
    story.look("vault")
    page.click("text=Sync now")
    expect(page.locator("main [role=status]")).to_have_text("In sync.")
    story.look("work")
    page.click("text=To the vault")
    expect(page.locator("main")).not_to_contain_text("wait")
    page.click("text=Check")
    expect(page.locator("main [role=status]")).to_have_text("Everything is whole.")
    story.look("check")
    page.click("text=To the vault")
    page.click("text=Give this device another name")
    page.get_by_label("New name").fill("Kitchen desk")
    page.click("text=Rename")
    expect(page.locator("main")).to_contain_text("Kitchen desk (this one)")

    # Taken away again.
    page.click("nav >> text=People")
    row = card.locator("tr", has_text="Benjamin")
    row.locator("summary").click()
    story.look("people-remove")
    row.get_by_role("button", name="Take it away").click()
    expect(page.locator("main [role=status]")).to_contain_text("taken away")
    page.click("main a")
    expect(card.locator("tr", has_text="Benjamin")).to_have_count(0)


with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    refused_without_cookie()
    run(chromium)
    chromium.close()
