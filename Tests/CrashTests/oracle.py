"""Writes files in a mount, remembers outside what an fsync returned for, and compares after a crash.

    oracle.py write FOLDER LOG SEED   writes until it is ended, or until the mount is gone
    oracle.py fill FOLDER LOG SEED    writes until there is no space
    oracle.py through FOLDER LOG SEED writes as `write` does, with descriptors whose writes are durable by themselves
    oracle.py verify FOLDER LOG       prints what is not as it must be; exits with 1 if there is anything
    oracle.py cut FOLDER              takes the power from the file system that the folder is on

The log has a line for each promise: what a path may hold from now on ("try", before a change begins), and what it
must hold (“done”, after an fsync returned) or a later try of it. A digest of null means that there is no such file,
one of "*" anything at all.
"""

import errno
import fcntl
import hashlib
import json
import os
import random
import struct
import sys

# FS_IOC_SHUTDOWN of linux/fs.h, with the flag that drops what is only in the journal.
FS_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2
GONE = (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO, errno.ENODEV, errno.EINTR)


def digest(content):
    return hashlib.sha256(content).hexdigest()


class Log:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, kind, path, value):
        os.write(self.file, (json.dumps([kind, path, value]) + "\n").encode())


class Writer:
    def __init__(self, folder, log, seed):
        self.folder, self.log, self.random = folder, Log(log), random.Random(seed)
        self.files, self.folders, self.count, self.handles = {}, [""], 0, []

    def at(self, path):
        return os.path.join(self.folder, path)

    def fresh(self, word):
        self.count += 1
        return os.path.join(self.random.choice(self.folders), f"{word} {self.count}")

    def content(self, *sizes):
        return self.random.randbytes(self.random.choice(sizes))

    def sync_folder(self, path):
        handle = os.open(self.at(os.path.dirname(path)), os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def write(self, path, content):
        """A new file, on disk when this returns."""
        self.log.note("try", path, "*")
        handle = os.open(self.at(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(handle, view[:131072]):]
            os.fsync(handle)
        finally:
            os.close(handle)
        self.log.note("done", path, digest(content))
        self.files[path] = content

    def create(self):
        self.write(self.fresh("file"), self.content(0, 10, 5_000, 200_000, 1_500_000))

    def create_folder(self):
        """A folder and a file in it; half of the time only the file is synced."""
        folder = self.fresh("folder")
        os.mkdir(self.at(folder))
        path = os.path.join(folder, "first")
        self.write(path, self.content(10, 5_000))
        if self.random.random() < 0.5:
            self.sync_folder(folder)
        self.folders.append(folder)

    def replace(self):
        """As editors save: a new file, synced, renamed over the old one."""
        path = self.random.choice(list(self.files))
        temporary = self.fresh("saving")
        content = self.content(10, 5_000, 200_000)
        self.write(temporary, content)
        self.log.note("try", path, digest(content))
        self.log.note("try", temporary, None)
        os.rename(self.at(temporary), self.at(path))
        del self.files[temporary]
        self.files[path] = content
        self.sync_folder(path)
        self.log.note("done", path, digest(content))

    def change(self):
        """One write somewhere in a file, at its end or after it."""
        path = self.random.choice(list(self.files))
        old = self.files[path]
        offset = self.random.choice((0, len(old), self.random.randint(0, len(old) + 3000)))
        part = self.content(1, 700, 60_000)
        padded = old + bytes(max(0, offset - len(old)))
        new = padded[:offset] + part + padded[offset + len(part):]
        self.log.note("try", path, digest(new))
        handle = os.open(self.at(path), os.O_WRONLY)
        try:
            os.pwrite(handle, part, offset)
            os.fsync(handle)
        finally:
            os.close(handle)
        self.log.note("done", path, digest(new))
        self.files[path] = new

    def truncate(self):
        path = self.random.choice(list(self.files))
        new = self.files[path][: self.random.randint(0, len(self.files[path]))]
        self.log.note("try", path, digest(new))
        handle = os.open(self.at(path), os.O_WRONLY)
        try:
            os.ftruncate(handle, len(new))
            os.fsync(handle)
        finally:
            os.close(handle)
        self.log.note("done", path, digest(new))
        self.files[path] = new

    def rename(self):
        old, new = self.random.choice(list(self.files)), self.fresh("renamed")
        content = self.files.pop(old)
        self.log.note("try", old, None)
        self.log.note("try", new, digest(content))
        self.log.note("either", old, new)
        os.rename(self.at(old), self.at(new))
        self.files[new] = content
        self.sync_folder(old)
        self.sync_folder(new)
        self.log.note("done", old, None)
        self.log.note("done", new, digest(content))

    def remove(self):
        path = self.random.choice(list(self.files))
        self.log.note("try", path, None)
        os.unlink(self.at(path))
        del self.files[path]
        self.sync_folder(path)
        self.log.note("done", path, None)

    def write_through(self):
        """A new file or new bytes over old ones, on disk when a write returns; nothing is closed after it."""
        flags = os.O_WRONLY | self.random.choice((os.O_SYNC, os.O_DSYNC))
        if self.files and self.random.random() < 0.5:
            path = self.random.choice(list(self.files))
            content = self.content(5_000, 700_000)[: max(1, len(self.files[path]))]
        else:
            path, content, flags = self.fresh("file"), self.content(10, 5_000, 700_000), flags | os.O_CREAT
        new = content + self.files.get(path, b"")[len(content):]
        self.log.note("try", path, "*" if flags & os.O_CREAT else digest(new))
        handle = os.open(self.at(path), flags, 0o644)
        self.handles = (self.handles + [handle])[-100:]
        if os.write(handle, content) != len(content):
            raise SystemExit("a write was cut short")
        self.log.note("done", path, digest(new))
        self.files[path] = new

    def through(self):
        while True:
            self.write_through()

    def run(self):
        self.create_folder()
        steps = [self.create, self.create_folder, self.replace, self.change, self.change]
        steps += [self.truncate, self.rename, self.remove]
        while True:
            self.random.choice(steps if len(self.files) > 3 else steps[:1])()

    def fill(self):
        while True:
            self.write(self.fresh("file"), self.content(10_000, 700_000, 1_500_000))


def write(folder, log, seed, way="run"):
    writer = Writer(folder, log, int(seed))
    filling = way == "fill"
    try:
        getattr(writer, way)()
    except OSError as error:
        if filling and error.errno == errno.ENOSPC:
            print(f"full after {len(writer.files)} files")
            return 0
        if not filling and error.errno in GONE:
            return 0
        raise


def verify(folder, log):
    must, may, either = {}, {}, []
    for line in open(log):
        kind, path, value = json.loads(line)
        if kind == "try":
            may.setdefault(path, []).append(value)
        elif kind == "either":
            either.append((path, value))
        else:
            must[path], may[path] = value, []
    wrong = []

    def found(path):
        try:
            with open(os.path.join(folder, path), "rb") as file:
                return digest(file.read())
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"cannot be read: {error}"

    for path in may:
        there = found(path)
        allowed = [must.get(path)] + may[path]
        if there not in allowed and not ("*" in allowed and (there is None or len(there) == 64)):
            state = "missing" if there is None else there
            wrong.append(f"{path}: {state}; {len(may[path])} later states, synced: {must.get(path)}")
    # The last rename may have been under way; then the file is under one of its names.
    for old, new in either[-1:]:
        if old in may and None in may[old] and found(old) is None and found(new) is None:
            wrong.append(f"{old}: lost on its way to {new}")
    print("\n".join(wrong) if wrong else f"{len(must)} synced paths are as they must be")
    return 1 if wrong else 0


def cut(folder):
    handle = os.open(folder, os.O_RDONLY)
    fcntl.ioctl(handle, FS_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
    return 0


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    commands = {"write": write, "verify": verify, "cut": cut}
    commands["fill"] = lambda *values: write(*values, way="fill")
    commands["through"] = lambda *values: write(*values, way="through")
    sys.exit(commands[command](*arguments))
