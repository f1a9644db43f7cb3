"""A server of ntfy's protocol, as far as it is documented and Kinvault uses it: publishing with POST or PUT to /TOPIC, and
GET /TOPIC,TOPIC/raw, a stream of lines, empty ones to keep it alive. Writes its port to the file that is named, and a line
for everything that happens to the other one.

    doorbell.py PORT-FILE LOG-FILE [keep-alive seconds]
"""

import http.server
import os
import queue
import re
import sys
import threading

KEEP_ALIVE = float(sys.argv[3]) if len(sys.argv) > 3 else 45
TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")
listeners = []
lock = threading.Lock()
log = open(sys.argv[2], "a", buffering=1)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def refuse(self):
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        topic = self.path[1:]
        if not TOPIC.fullmatch(topic):
            return self.refuse()
        text = body.decode("utf-8", "replace").replace("\n", " ") or "triggered"
        with lock:
            heard = [each for topics, each in listeners if topic in topics]
        log.write(f"ring {topic} {len(heard)}\n")
        for each in heard:
            each.put(text)
        answer = b'{"event":"message"}\n'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_PUT = do_POST

    def do_GET(self):
        match = re.fullmatch(r"/([^/]+)/raw", self.path)
        topics = set(match[1].split(",")) if match else set()
        if not topics or not all(map(TOPIC.fullmatch, topics)):
            return self.refuse()
        mine = queue.SimpleQueue()
        with lock:
            listeners.append((topics, mine))
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.line("")
            log.write(f"listen {len(topics)}\n")
            while True:
                try:
                    self.line(mine.get(timeout=KEEP_ALIVE))
                except queue.Empty:
                    self.line("")
        except OSError:
            self.close_connection = True
        finally:
            with lock:
                listeners.remove((topics, mine))
            log.write("left\n")

    def line(self, text):
        data = text.encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
