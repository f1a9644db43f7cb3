"""The places that are measured side by side: a plain folder, what others mount, and ours."""

import os
import shutil
import time
from pathlib import Path

from benchmarks.common import ROOT, Clock, run


class Plain:
    """A folder of the disk itself: what can be had at best."""

    name = "plain"

    def __init__(self, base: Path, _=None):
        self.base = base / "plain"
        self.folder = self.base / "folder"

    def create(self):
        self.folder.mkdir(parents=True)

    def mount(self):
        pass

    def unmount(self):
        pass

    def process_id(self):
        return None

    def destroy(self):
        shutil.rmtree(self.base, ignore_errors=True)


class Mount:
    """What all that are mounted have in common. `process` is the name of the program that serves the mount."""

    def unmount(self):
        run(["fusermount3", "-u", self.mountpoint])
        self.wait_until_gone()

    def wait_until_gone(self):
        wait_until(lambda: not is_mounted(self.mountpoint) and self.process_id() is None)

    def process_id(self):
        return find_process(self.process, str(self.mountpoint))

    def destroy(self):
        """Nothing stays mounted, even where what served the mount is dead."""
        try:
            if is_mounted(self.mountpoint):
                self.unmount()
        finally:
            if is_mounted(self.mountpoint):
                run(["fusermount3", "-u", "-z", self.mountpoint])
            shutil.rmtree(self.base, ignore_errors=True)


class Gocryptfs(Mount):
    """The yardstick: a FUSE file system over ciphertext that many people use."""

    name = process = "gocryptfs"

    def __init__(self, base: Path, _=None):
        self.base = base / "gocryptfs"
        self.cipher = self.base / "cipher"
        self.mountpoint = self.base / "mounted"
        self.folder = self.mountpoint / "folder"

    def create(self):
        self.cipher.mkdir(parents=True)
        self.mountpoint.mkdir()
        run(["gocryptfs", "-init", "-q", "-scryptn", "10", "-extpass", "echo pw", self.cipher])
        self.mount()
        self.folder.mkdir()

    def mount(self):
        run(["gocryptfs", "-q", "-extpass", "echo pw", self.cipher, self.mountpoint])


class Securefs(Mount):
    """The fastest of the peers at many small files."""

    name = process = "securefs"

    def __init__(self, base: Path, _=None):
        self.base = base / "securefs"
        self.cipher = self.base / "cipher"
        self.mountpoint = self.base / "mounted"
        self.folder = self.mountpoint / "folder"

    def create(self):
        self.cipher.mkdir(parents=True)
        self.mountpoint.mkdir()
        run(["securefs", "create", "--pass", "pw", "--rounds", "1", self.cipher])
        self.mount()
        self.folder.mkdir()

    def mount(self):
        run(["securefs", "mount", "--background", "--pass", "pw", "--log", self.base / "log", self.cipher, self.mountpoint])
        wait_until(lambda: is_mounted(self.mountpoint))


class Passthrough(Mount):
    """libfuse's own example, which encrypts nothing: what going through FUSE costs by itself."""

    name = "passthrough"
    process = "passthrough_ll"
    source = Path("/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c")
    program = ROOT / ".build-peers/passthrough_ll"

    def __init__(self, base: Path, _=None):
        self.base = base / "passthrough"
        self.behind = self.base / "behind"
        self.mountpoint = self.base / "mounted"
        self.folder = self.mountpoint / "folder"

    @classmethod
    def build(cls):
        """Compiles it, from what Debian's libfuse3-dev brings."""
        if cls.program.exists():
            return
        cls.program.parent.mkdir(exist_ok=True)
        options = run(["pkg-config", "--cflags", "--libs", "fuse3"]).split()
        partial = cls.program.with_suffix(".new")
        run(["clang", "-O2", "-w", cls.source, "-o", partial, *options])
        partial.rename(cls.program)

    def create(self):
        self.build()
        self.behind.mkdir(parents=True)
        self.mountpoint.mkdir()
        self.mount()
        self.folder.mkdir()

    def mount(self):
        run([self.program, "-o", f"source={self.behind}", self.mountpoint])


class Kinvault(Mount):
    """The release build of this checkout."""

    name = "kinvault"

    def __init__(self, base: Path, binary: Path):
        self.base = base / "kinvault"
        self.binary = binary
        self.process = binary.name
        self.vault = self.base / "vault"
        self.mountpoint = self.base / "mounted"
        self.folder = self.mountpoint / "Emma" / "folder"
        self.environment = dict(
            os.environ,
            XDG_STATE_HOME=str(self.base / "state"),
            KINVAULT_PASSWORD_FILE=str(self.base / "password"),
        )

    def create(self):
        self.base.mkdir(parents=True)
        (self.base / "password").write_text("only for measuring\n")
        os.chmod(self.base / "password", 0o600)
        self.kinvault(
            "init", "--vault", self.vault, "--name", "Adult A", "--password-file", self.base / "password",
            "--words-out", self.base / "words", "--yes")
        self.kinvault("member", "add", "Emma", "--vault", self.vault)
        self.mount()
        self.folder.mkdir()

    def kinvault(self, *arguments):
        run([self.binary, *arguments], env=self.environment, timeout=600)

    def mount(self):
        self.kinvault("mount", self.mountpoint, "--vault", self.vault)

    def unlock(self):
        """Password to session key: Argon2id, slow on purpose and the same whatever is in the vault."""
        self.kinvault("lock", "--vault", self.vault)
        with Clock() as clock:
            self.kinvault("unlock", "--vault", self.vault)
        return clock.seconds

    def unmount(self):
        self.kinvault("unmount", self.mountpoint)
        self.wait_until_gone()


def is_mounted(folder):
    """As the kernel says, since asking a mount whose program is dead gives an error."""
    return any(line.split()[1] == str(folder) for line in Path("/proc/self/mounts").read_text().splitlines())


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("waited in vain for an unmount to end")
        time.sleep(0.02)


def find_process(program, argument):
    """The process of `program` that has `argument` in its command line and serves the mount: the one with /dev/fuse open."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if Path(os.fsdecode(words[0])).name != program or os.fsencode(argument) not in words:
                continue
            if any(os.readlink(link) == "/dev/fuse" for link in (entry / "fd").iterdir()):
                return int(entry.name)
        except OSError:
            continue
    return None


PLACES = {place.name: place for place in (Plain, Passthrough, Gocryptfs, Securefs, Kinvault)}
