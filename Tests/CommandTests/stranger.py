"""Somebody else takes the port of a page that has ended, and waits for what a browser that was left open sends there.

    stranger.py ADDRESS CODE PROCESS

PROCESS is the program that serves the page at ADDRESS; it is killed. The page asks for the vault's password meanwhile. Ends with 0
when the stranger got neither a password nor a cookie's use, and the page has emptied itself.
"""

import http.server
import os
import signal
import socket
import sys
import threading
import time
import urllib.parse

from playwright.sync_api import Error, expect, sync_playwright

# Instead of five seconds: whatever else the machine does meanwhile.
expect.set_options(timeout=120_000)

address, code, process = sys.argv[1], sys.argv[2], int(sys.argv[3])
port = urllib.parse.urlsplit(address).port
received = []


class Stranger(http.server.BaseHTTPRequestHandler):
    """Answers everything, and says that it is the page, without knowing what only that knows."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        received.append(f"GET {self.path}")
        if self.path != "/events":
            return self.answer("text/html", b"<form method=post><input name=password><button>Unlock</button></form>")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in ["proof\ndata: " + "A" * 43, "changed\ndata: 7", "soon\ndata:"]:
            self.wfile.write(f"event: {event}\n\n".encode())
            self.wfile.flush()
        time.sleep(20)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        received.append(f"POST {self.path} {body.decode(errors='replace')}")
        self.answer("text/html", b"thanks")

    do_PUT = do_POST

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class SixServer(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6


def take_port():
    for kind, host in [(http.server.ThreadingHTTPServer, "127.0.0.1"), (SixServer, "::1")]:
        for _ in range(1200):
            try:
                server = kind((host, port), Stranger)
                break
            except OSError:
                time.sleep(0.05)
        else:
            sys.exit(f"the port cannot be taken on {host}")
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()


def run(browser):
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.goto(address)
    page.fill("#code", code)
    page.click("main button")
    page.wait_for_selector("#password")
    # In another tab it is open.
    records = context.new_page()
    records.goto(address)
    records.fill("#password", "correct horse battery")
    records.click("main button")
    records.wait_for_selector("#words")
    # Both have heard the real one.
    records.wait_for_timeout(1500)
    os.kill(process, signal.SIGKILL)
    take_port()
    # Somebody comes back to the page that they had left, at once and whenever it still shows the form.
    for number in range(40):
        if not page.locator("#password").count():
            break
        try:
            page.fill("#password", "correct horse battery", timeout=1000)
            page.locator("main button").click(no_wait_after=True, timeout=1000)
            # What is looked for as somebody types is no form that is sent.
            records.fill("#words", f"penicillin {number}", timeout=1000)
        except Error:
            # It has emptied itself in between.
            continue
        page.wait_for_timeout(250)
    for tab in [page, records]:
        expect(tab.locator("body")).to_contain_text("The vault is locked on this page")
    told = [line for line in received if "password" in line or "penicillin" in line or line.startswith(("POST", "PUT"))]
    assert not told, f"the stranger was told {told}"
    assert received, "nobody has asked the stranger for anything"


with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    run(chromium)
    chromium.close()
