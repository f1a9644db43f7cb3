"""The page in a real Firefox: what depends on the browser, from the code to the lock.

    firefox.py ADDRESS CODE PASSWORD PHOTO KINVAULT

As page.py, which tells the whole story in Chromium. Debian's Firefox is driven by Marionette, which it brings itself.
"""

import pathlib
import subprocess
import sys

from marionette_driver import By, Wait
from marionette_driver.errors import NoSuchElementException, StaleElementException
from marionette_driver.marionette import Marionette

address, code, password, photo, kinvault = sys.argv[1:6]


class Page:
    def __init__(self, browser):
        self.browser = browser

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def until(self, what, true, seconds=30):
        quiet = (NoSuchElementException, StaleElementException)
        Wait(self.browser, seconds, ignored_exceptions=quiet).until(
            lambda _: true(), message=what
        )

    def wait_for(self, selector, text=""):
        self.until(f"{selector} says {text!r}", lambda: text in self.find(selector).text)

    def click(self, text, within="main"):
        path = f"//{within}//*[(self::a or self::button or self::summary) and normalize-space(.)='{text}']"
        self.browser.find_element(By.XPATH, path).click()

    def fill(self, selector, text):
        field = self.find(selector)
        field.clear()
        field.send_keys(text)


def run(browser):
    page = Page(browser)
    browser.navigate(address)
    page.fill("#code", code)
    page.click("Go on")
    page.wait_for("#password")
    page.fill("#password", password)
    page.click("Unlock")
    page.wait_for(".records", "Penicillin")

    # Search as one types; nothing of it is in the address.
    page.fill("#words", "penicil")
    page.wait_for("#results > p", "One record was found.")
    assert browser.get_url() == address + "/", browser.get_url()

    # A record with a photo; its picture is one that the page has made.
    page.click("New record", "nav")
    page.wait_for("h1", "New record")
    page.click("Go on")
    page.wait_for("form.edit")
    page.fill("#title", "From Firefox")
    page.click("Add")
    page.wait_for("h1", "From Firefox")
    page.find("#files").send_keys(photo)
    page.wait_for(".files > ul", pathlib.Path(photo).name)
    page.until(
        "a picture",
        lambda: page.find(".files > ul img").get_property("naturalWidth") > 0,
    )

    # What another program does shows as news, by the one stream that all tabs have.
    browser.navigate(address)
    first = browser.current_window_handle
    other = browser.open(type="tab")["handle"]
    browser.switch_to_window(other)
    browser.navigate(address + "/people")
    page.wait_for("h1", "People")
    subprocess.run([kinvault, "record", "add", "--member", "Emma", "--title", "Elsewhere"], check=True)
    for tab in (other, first):
        browser.switch_to_window(tab)
        page.until("news", lambda: page.find("#news").is_displayed())

    # Something long, and how it ends.
    page.click("Vault", "nav")
    page.wait_for("main", "Sync now")
    page.click("Sync now")
    page.wait_for("main [role=status]", "In sync.")

    # Locked: both tabs are empty, and nothing is answered any more.
    page.click("Lock", "nav")
    page.wait_for("h1", "Locked")
    browser.switch_to_window(other)
    page.wait_for("body", "The vault is locked on this page.")
    assert not page.all("h1"), page.find("body").text
    browser.navigate(address)
    page.wait_for("h1", "Locked")


# Marionette removes the file that it is to log into before it does: never a device.
log = pathlib.Path(photo).with_name("firefox.log")
firefox = Marionette(bin="/usr/bin/firefox-esr", headless=True, startup_timeout=60, gecko_log=str(log))
try:
    firefox.start_session()
    run(firefox)
finally:
    firefox.cleanup()
    # Its profile goes with it, which an interpreter that is ending cannot do any more.
    del firefox
