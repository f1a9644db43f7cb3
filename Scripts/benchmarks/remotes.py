"""Where the programs of `Scripts/bench sync` sync to: a folder, or a bucket of SeaweedFS on loopback."""

import json
import os
import random
import shutil
import socket
import subprocess
import time
from pathlib import Path

from benchmarks.common import ROOT, run

TOOLS = ROOT / ".build-python" / "bin"


class DirectoryRemote:
    """A folder each, on the medium that is measured."""

    kind = "directory"

    def __init__(self, base: Path):
        self.base = base / "remote"
        self.base.mkdir(parents=True)
        self.environment = {"RCLONE_CONFIG": str(base / "no-such.conf")}

    def place(self, name) -> Path:
        folder = self.base / name
        folder.mkdir(exist_ok=True)
        return folder

    def files(self, name):
        """{path: what changes when the file is replaced, and its size last}."""
        found = {}
        for folder, _, names in os.walk(self.base / name):
            for each in names:
                path = os.path.join(folder, each)
                status = os.stat(path)
                found[path] = (status.st_ino, status.st_mtime_ns, status.st_size)
        return found

    def close(self):
        shutil.rmtree(self.base, ignore_errors=True)


class SeaweedRemote:
    """A prefix each in one bucket, behind SeaweedFS's S3 gateway, which keeps its data on the medium that is measured."""

    kind = "s3"
    bucket = "bench"
    key_id, secret = "kinvault-bench", "only-for-measuring"

    def __init__(self, base: Path):
        self.base = base / "seaweed"
        (self.base / "data").mkdir(parents=True)
        identity = {
            "name": "bench", "actions": ["Admin", "Read", "Write", "List", "Tagging"],
            "credentials": [{"accessKey": self.key_id, "secretKey": self.secret}]}
        (self.base / "s3.json").write_text(json.dumps({"identities": [identity]}))
        master, volume, filer, s3 = free_ports(4)
        self.endpoint = f"http://127.0.0.1:{s3}"
        self.environment = {
            "AWS_ACCESS_KEY_ID": self.key_id, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": "us-east-1",
            "RCLONE_CONFIG_WEED_TYPE": "s3", "RCLONE_CONFIG_WEED_PROVIDER": "SeaweedFS",
            "RCLONE_CONFIG_WEED_ENDPOINT": self.endpoint, "RCLONE_CONFIG_WEED_ACCESS_KEY_ID": self.key_id,
            "RCLONE_CONFIG_WEED_SECRET_ACCESS_KEY": self.secret, "RCLONE_CONFIG": str(self.base / "no-such.conf"),
        }
        with open(self.base / "log", "wb") as log:
            self.process = subprocess.Popen(
                [TOOLS / "weed", "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.base / 'data'}",
                 f"-master.port={master}", f"-volume.port={volume}", "-filer", f"-filer.port={filer}", "-s3",
                 f"-s3.port={s3}", f"-s3.config={self.base / 's3.json'}", "-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.max=300",
                 "-master.volumeSizeLimitMB=256"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.base, start_new_session=True,
                env=dict(os.environ, HOME=str(self.base)))
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    def _wait(self):
        """Until a bucket can be made and written to."""
        end = time.monotonic() + 60
        while True:
            try:
                self._rclone("mkdir", f"weed:{self.bucket}")
                return self._rclone("touch", f"weed:{self.bucket}/ready/ready")
            except RuntimeError as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"SeaweedFS does not serve: {error}") from None
                time.sleep(0.25)

    def _rclone(self, *arguments):
        return run(
            [TOOLS / "rclone", "-q", "--retries", "1", "--low-level-retries", "1", "--contimeout", "2s", *arguments],
            env=dict(os.environ, **self.environment))

    def place(self, name) -> str:
        return f"{self.bucket}/{name}"

    def files(self, name):
        listed = json.loads(self._rclone(
            "lsjson", "-R", "--files-only", "--hash", "--use-server-modtime", f"weed:{self.bucket}/{name}"))
        return {
            entry["Path"]: (entry.get("ModTime"), str(entry.get("Hashes")), entry["Size"]) for entry in listed}

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.base, ignore_errors=True)


def free_ports(count):
    """Ports that nobody has; SeaweedFS takes the one 10,000 above each of them, too. They are drawn as the tests draw theirs
    (Tests/Support/LoopbackPorts.swift), below those that the kernel gives to whoever connects."""
    found = []
    for port in random.sample(range(11_000, 21_000, 2), 5_000):
        name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            name.bind(f"\0kinvault-test-port-{port}")
        except OSError:
            continue
        if all(is_free(each) for each in (port, port + 10_000)):
            # For as long as this program runs, no other one gets it.
            claims.append(name)
            found.append(port)
            if len(found) == count:
                return found
    raise RuntimeError("no ports are free")


claims = []


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False
