"""The page in a real Firefox: what depends on the browser, from the code to the lock.

    firefox.py ADDRESS CODE PASSWORD PHOTO KINVAULT [SHOTS]

As page.py, which tells the whole story in Chromium.
"""

import base64
import pathlib
import sys
import tempfile
import urllib.parse

from marionette_driver import By, Wait
from marionette_driver.errors import NoSuchElementException, StaleElementException
from marionette_driver.keys import Keys

from story import Elsewhere, disc, in_firefox, look, scans

address, code, password, photo, kinvault = sys.argv[1:6]
shots = pathlib.Path(sys.argv[6]) if len(sys.argv) > 6 else None
elsewhere = Elsewhere(kinvault)

# A file that is dropped from a file manager, as far as the page can tell: what drops it is trusted, the file is one on the disk.
DROP = """
    const [path, place] = arguments
    return (async () => {
        const page = Cu.Sandbox(window, {sandboxPrototype: window})
        const file = Cu.cloneInto(await File.createFromFileName(path), page)
        const pack = file => { const data = new DataTransfer(); data.items.add(file); return data }
        const dataTransfer = Cu.evalInSandbox(`(${pack})`, page)(file)
        for (const name of ["dragenter", "dragover", "drop"]) {
            const event = new window.DragEvent(name, {bubbles: true, cancelable: true, dataTransfer})
            window.windowUtils.dispatchDOMEventViaPresShellForTesting(place, event)
        }
    })()
"""

# Scripts that failed, and what the page's own rules kept from it.
FAILURES = """
    return Services.console.getMessageArray()
        .filter(one => one instanceof Ci.nsIScriptError && !(one.flags & Ci.nsIScriptError.warningFlag))
        .filter(one => one.sourceName.startsWith(arguments[0]))
        .map(one => one.errorMessage)
"""


class Page:
    def __init__(self, browser):
        self.browser = browser
        # What is looked for may not be shown yet, though something before it is.
        browser.timeout.implicit = 60
        browser.set_window_rect(width=1280, height=900)
        self.show()

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def evaluate(self, expression):
        return self.browser.execute_script(f"return {expression}")

    def until(self, what, true, seconds=120):
        quiet = (NoSuchElementException, StaleElementException)
        Wait(self.browser, seconds, ignored_exceptions=quiet).until(
            lambda _: true(), message=what
        )

    def wait_for(self, selector, text=""):
        self.until(f"{selector} says {text!r}", lambda: text in self.find(selector).text)

    def wait_for_picture(self, selector, width=0):
        self.until(
            f"{selector} is a picture wider than {width}",
            lambda: self.find(selector).get_property("naturalWidth") > width,
        )

    def click(self, text, within="//main"):
        """A link, a button or what opens something."""
        path = f"{within}//*[(self::a or self::button or self::summary) and normalize-space(.)='{text}']"
        self.browser.find_element(By.XPATH, path).click()

    def field(self, label, within="//main"):
        path = f"{within}//label[normalize-space(.)='{label}']"
        return self.find("#" + self.browser.find_element(By.XPATH, path).get_attribute("for"))

    def fill(self, field, text):
        field.clear()
        field.send_keys(text)

    def choose(self, field, text):
        field.find_element(By.XPATH, f".//option[normalize-space(.)='{text}']").click()

    def go(self, name):
        """To one of the pages that are named above each of them."""
        self.click(name, "//nav")

    def show(self, is_dark=False, zoom=1):
        scheme = "dark" if is_dark else "light"
        self.mark = f"firefox-{scheme}-{zoom}"
        self.browser.set_pref("ui.systemUsesDarkTheme", int(is_dark))
        with self.browser.using_context("chrome"):
            self.browser.execute_script("return FullZoom.setZoom(arguments[0])", [zoom])
        self.until(scheme, lambda: self.evaluate(f"matchMedia('(prefers-color-scheme: {scheme})').matches"))
        self.until(f"{zoom} times as large", lambda: self.evaluate("innerWidth") * zoom == 1280)

    def look(self, name):
        """Takes a picture, and looks for what keeps people out and for what comes from elsewhere."""
        look(name, self.evaluate)
        asked = self.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
        foreign = [one for one in asked if not one.startswith(address + "/")]
        assert not foreign, f"{name} asked elsewhere: {foreign}"
        if shots:
            picture = base64.b64decode(self.browser.screenshot())
            (shots / f"{name}-{self.mark}.png").write_bytes(picture)


def run(browser):
    page = Page(browser)
    browser.navigate(address)
    page.look("entrance")
    page.fill(page.find("#code"), code)
    page.click("Go on")
    page.wait_for("#password")
    page.look("unlock")
    page.fill(page.find("#password"), password)
    page.click("Unlock")
    page.wait_for(".records", "Penicillin")
    page.look("records")

    # Search as one types; nothing of it is in the address.
    page.fill(page.find("#words"), "penicil")
    page.wait_for("#results > p", "One record was found.")
    page.until("a name for the words", lambda: "find=" in browser.get_url())
    assert "penicil" not in browser.get_url(), browser.get_url()
    page.look("search")
    page.find(".record a").click()
    page.wait_for("h1", "Penicillin")
    page.wait_for("dl", "severe")
    page.look("record")
    # Back there, the words and what they have found are there still.
    browser.go_back()
    page.wait_for("#results > p", "One record was found.")
    page.until("the words", lambda: page.find("#words").get_property("value") == "penicil")

    # A new record, with a photo dropped into it; its picture is one that the page has made.
    page.go("New record")
    page.wait_for("h1", "New record")
    page.choose(page.find("#type"), "Vaccine")
    page.look("new")
    page.click("Go on")
    page.wait_for("form.edit")
    page.fill(page.find("#title"), "Tetanus")
    page.fill(page.field("Lot"), "AB 1")
    page.look("new-fields")
    page.click("Add")
    page.wait_for("h1", "Tetanus")
    record = browser.get_url()
    browser.execute_script(DROP, [photo, page.find(".drop")], sandbox="system")
    page.wait_for(".files > ul", pathlib.Path(photo).name)
    page.wait_for_picture(".files > ul img")
    page.look("attached")
    page.find(".files > ul a").click()
    page.wait_for_picture(".large", 256)
    page.look("file")
    page.click("Save a plain copy")
    saved = downloads / pathlib.Path(photo).name
    page.until("a copy", lambda: saved.exists() and saved.read_bytes() == pathlib.Path(photo).read_bytes())

    # Chosen, not dropped: a PDF, page by page.
    browser.navigate(record)
    page.find("#files").send_keys(str(scans / "multipage.pdf"))
    page.wait_for(".files > ul", "multipage.pdf")
    page.click("multipage.pdf")
    pdf = browser.get_url()
    page.wait_for(".pages span", "Page 1 of 6")
    page.wait_for_picture(".large", 500)
    page.click("Next page →")
    page.wait_for(".pages span", "Page 2 of 6")
    page.wait_for_picture(".large", 500)
    page.look("pdf")

    # Slices of a CT, several files at once: from one to the next with the keyboard, through other windows, larger.
    browser.navigate(record)
    with disc() as files:
        page.find("#files").send_keys("\n".join(map(str, files)))
        page.until("all files", lambda: len(page.all(".files > ul > li")) == 5)
    page.click("IM10")
    page.wait_for_picture(".slice img", 100)
    page.wait_for("main", "CT")
    page.click("bone")
    page.wait_for("[aria-current]", "bone")
    page.wait_for_picture(".slice img", 100)
    page.look("dicom")
    page.find("body").send_keys(Keys.ARROW_RIGHT)
    page.wait_for("h1", "IM2")
    page.until("the window of before", lambda: page.field("Centre").get_property("value") == "400")
    page.click("4 ×")
    page.wait_for_picture(".zoom-4", 100)
    # What is larger than its place is seen from its middle.
    page.until("the middle", lambda: page.find(".slice").get_property("scrollLeft") > 100)
    page.look("dicom-large")
    dicom = browser.get_url()

    # The same field is changed elsewhere while it is edited: nothing is lost, and both are seen.
    browser.navigate(record)
    page.click("Edit")
    page.fill(page.field("Lot"), "CD 2")
    page.look("edit")
    elsewhere.replace("AB 1", "EF 3", record)
    page.click("Save")
    page.wait_for("[role=alert]", "changed meanwhile")
    page.wait_for(".theirs", "EF 3")
    assert page.field("Lot").get_property("value") == "CD 2"
    page.look("edit-conflict")
    page.fill(page.field("Lot"), "CD 2, EF 3")
    page.click("Save")
    page.wait_for("dl", "CD 2, EF 3")

    # A conflict of two devices: both sides next to each other, and one is taken.
    page.go("Conflicts (1)")
    page.wait_for("article.conflict", "Both")
    sides = page.all(".conflict .sides section")
    said = {word for word in ("second", "third") for side in sides if word in side.text}
    assert len(sides) == 2 and said == {"second", "third"}, [side.text for side in sides]
    left, right = (side.rect for side in sides)
    assert left["x"] + left["width"] <= right["x"] and left["y"] == right["y"], (left, right)
    page.look("conflicts")
    page.click("Take this version back")
    page.wait_for("main", "There are no conflicts.")

    # Ben may read from now on, until a day; everyone with access sees that in the journal.
    page.go("People")
    page.look("people")
    card = "//section[h2[.='Emma']]"
    page.click("Share with somebody …", card)
    page.choose(page.field("With", card), "Ben")
    page.choose(page.field("Who may then", card), "read")
    page.fill(page.field("Last day (may stay empty)", card), "2099-12-31")
    page.look("people-share")
    page.click("Share", card)
    page.wait_for("main", "read, until 31 December 2099")
    page.look("people-shared")
    page.go("Journal")
    page.choose(page.find("#member"), "Emma")
    page.click("Show")
    page.until(
        "that it was shared with Ben",
        lambda: any("shared" in row.text and "Ben" in row.text for row in page.all("tbody tr")),
    )
    page.look("journal")

    # What another program does shows as news, by the one stream that all tabs have.
    browser.navigate(address)
    first = browser.current_window_handle
    other = browser.open(type="tab")["handle"]
    browser.switch_to_window(other)
    browser.navigate(address + "/people")
    page.wait_for("h1", "People")
    elsewhere.add("From elsewhere")
    for tab in (other, first):
        browser.switch_to_window(tab)
        page.until("news", lambda: page.find("#news").is_displayed())

    # Something long, and how it ends.
    page.go("Vault")
    page.wait_for("main", "Sync now")
    page.look("vault")
    page.click("Sync now")
    page.wait_for("main [role=status]", "In sync.")
    page.look("work")

    # Every page in the other light, and for somebody who has everything four times as large.
    for is_dark, zoom in [(True, 1), (False, 4)]:
        page.show(is_dark, zoom)
        for name, place in [("records", "/"), ("record", record), ("edit", record + "/edit"), ("pdf", pdf), ("dicom", dicom),
                            ("new", "/new"), ("conflicts", "/conflicts"), ("people", "/people"), ("journal", "/journal"),
                            ("vault", "/vault"), ("work", "/vault/work")]:
            browser.navigate(urllib.parse.urljoin(address, place))
            page.wait_for("h1")
            page.look(name)
    page.show()

    # Locked: both tabs are empty, also for whoever goes back, and nothing is answered any more.
    browser.navigate(record)
    page.wait_for("h1", "Tetanus")
    page.go("Lock")
    page.wait_for("h1", "Locked")
    page.look("locked")
    browser.go_back()
    assert "Tetanus" not in browser.page_source, browser.page_source
    browser.switch_to_window(other)
    page.wait_for("body", "The vault is locked on this page.")
    assert not page.evaluate("document.querySelectorAll('h1').length"), page.find("body").text
    browser.navigate(record)
    page.wait_for("h1", "Locked")
    with browser.using_context("chrome"):
        failures = browser.execute_script(FAILURES, [address])
    assert not failures, failures


with tempfile.TemporaryDirectory() as folder:
    downloads = pathlib.Path(folder)
    in_firefox(
        run,
        **{"browser.download.folderList": 2, "browser.download.dir": folder, "intl.accept_languages": "en-GB"},
    )
