"""The programs that `Scripts/bench sync` compares: each copies one folder to a remote, keeps it up to date, verifies it
and brings it back.

Every program is used as its manual shows, with its defaults. Each has a state of its own below `base`, and what `create`
does (making a repository, a vault, a configuration) is not timed.
"""

import json
import os
import shutil
from pathlib import Path

from benchmarks.common import run
from benchmarks.remotes import TOOLS

PASSWORD = "only for measuring"


class Program:
    """`source` is the plain folder that all of them copy."""

    name = ""
    remotes = ("directory", "s3")

    def __init__(self, base: Path, source: Path, remote, *_):
        self.base = base / self.name
        self.base.mkdir(parents=True)
        self.source = source
        self.remote = remote
        self.place = remote.place(self.name)
        self.restored = self.base / "restored"
        self.environment = {
            **os.environ, "HOME": str(self.base), "XDG_CACHE_HOME": str(self.base / "cache"), **remote.environment}

    def run(self, *command, **more):
        return run(command, env=dict(self.environment, **more))

    def create(self):
        pass

    def edit(self, path: Path):
        """The note at this path of the source was changed."""

    def attach(self, photo: Path, folders):
        """The photo was put into these folders of the source."""

    def push(self):
        """Brings the remote up to date."""
        raise NotImplementedError

    def verify(self):
        """Reads everything on the remote, and sees that it is right."""
        raise NotImplementedError

    def restore(self):
        """Brings everything from the remote into `restored`."""
        raise NotImplementedError

    def uploads(self):
        """{path: mark} of what is on the remote."""
        return self.remote.files(self.name)

    def forget_restored(self):
        shutil.rmtree(self.restored, ignore_errors=True)

    def close(self):
        shutil.rmtree(self.base, ignore_errors=True)


class Kinvault(Program):
    """A vault with the same folder in it; unlocked, as while somebody works with it."""

    name = "kinvault"

    def __init__(self, base, source, remote, binary):
        super().__init__(base, source, remote)
        self.binary = binary
        self.vault = self.base / "vault"
        self.requests = None
        self.environment["XDG_STATE_HOME"] = str(self.base / "state")
        self.address = str(self.place)
        if remote.kind == "s3":
            bucket, _, prefix = self.place.partition("/")
            self.address = f"s3://{bucket}/{prefix}?endpoint={remote.endpoint}&region=us-east-1&style=path"

    def kinvault(self, *arguments, **more):
        return self.run(self.binary, *arguments, **more)

    def create(self):
        (self.base / "password").write_text(PASSWORD + "\n")
        os.chmod(self.base / "password", 0o600)
        # Adds a line to the note that it is given.
        editor = self.base / "editor"
        editor.write_text('#!/bin/sh\ndate +%N >>"$1"\n')
        editor.chmod(0o755)
        self.kinvault(
            "init", "--vault", self.vault, "--name", "Adult A", "--password-file", self.base / "password",
            "--words-out", self.base / "words", "--yes")
        self.unlock()
        self.kinvault("member", "add", "Emma", "--vault", self.vault)
        self.kinvault("attach", "Emma", self.source, "--vault", self.vault)
        self.kinvault("remote", "add", "bench", self.address, "--vault", self.vault, "--no-test")

    def unlock(self):
        self.kinvault(
            "unlock", "--vault", self.vault, "--timeout", "12h", KINVAULT_PASSWORD_FILE=str(self.base / "password"))

    def path_in_vault(self, folder: Path):
        return f"Emma/{self.source.name}/{folder.relative_to(self.source)}"

    def edit(self, path):
        self.kinvault(
            "record", "edit", self.path_in_vault(path.parent), "--vault", self.vault, "--allow-disk",
            EDITOR=str(self.base / "editor"), VISUAL=str(self.base / "editor"))

    def attach(self, photo, folders):
        for folder in folders:
            self.kinvault("attach", self.path_in_vault(folder), photo, "--vault", self.vault)

    def push(self):
        outcome = json.loads(self.kinvault("sync", "--vault", self.vault, "--json"))[0]
        if outcome["state"] != "synced" or outcome["problems"]:
            raise RuntimeError(f"kinvault sync: {outcome}")
        self.requests = outcome["requests"]

    def verify(self):
        self.kinvault("check", "--remote", "bench", "--read-data", "--vault", self.vault)

    def verify_here(self):
        self.kinvault("check", "--read-data", "--vault", self.vault)

    def restore(self):
        """Without the words, because this machine has a key: what is measured is the copying."""
        self.kinvault("clone", self.address, self.restored, "--name", "bench", "--yes")

    def restore_lazily(self):
        self.kinvault("clone", self.address, self.restored, "--name", "bench", "--yes", "--lazy")

    def list_records(self):
        self.kinvault("record", "list", "--vault", self.vault)

    def on_new_device(self, *arguments, **more):
        return self.kinvault(
            *arguments, "--vault", self.restored, XDG_STATE_HOME=str(self.base / "new"), **more)

    def add_device(self):
        """A second machine of the person, with a folder of its own, which has synced."""
        self.restore_with_words()
        self.on_new_device(
            "unlock", "--timeout", "12h", KINVAULT_PASSWORD_FILE=str(self.base / "password"))
        self.push_from_new_device()

    def edit_on_new_device(self, path):
        self.on_new_device(
            "record", "edit", self.path_in_vault(path.parent), "--allow-disk",
            EDITOR=str(self.base / "editor"), VISUAL=str(self.base / "editor"))

    def push_from_new_device(self):
        self.on_new_device("sync")

    def restore_with_words(self):
        """As on a new machine: the words, and a password, each through Argon2id."""
        self.kinvault(
            "clone", self.address, self.restored, "--words-file", self.base / "words",
            "--password-file", self.base / "password", "--device", "new", XDG_STATE_HOME=str(self.base / "new"))

    def forget_restored(self):
        super().forget_restored()
        shutil.rmtree(self.base / "new", ignore_errors=True)
        # The key that is kept by now may be that of the copy.
        self.unlock()

    def close(self):
        if self.vault.is_dir():
            self.kinvault("lock", "--vault", self.vault)
        super().close()


class Rclone(Program):
    """A plain copy of the plain folder: no encryption."""

    name = "rclone"

    def rclone(self, *arguments):
        return self.run(TOOLS / "rclone", *arguments)

    def target(self):
        return f"weed:{self.place}" if self.remote.kind == "s3" else str(self.place)

    def push(self):
        self.rclone("sync", self.source, self.target())

    def verify(self):
        self.rclone("check", "--download", self.source, self.target())

    def restore(self):
        self.rclone("copy", self.target(), self.restored)


class RcloneVault(Rclone):
    """A plain copy of the vault's folder: the very bytes that `kinvault sync` copies."""

    name = "rclone-vault"

    def __init__(self, base, source, remote, binary):
        super().__init__(base, base / "kinvault" / "vault", remote)


class RcloneCrypt(Rclone):
    name = "rclone-crypt"

    def create(self):
        self.environment.update(
            RCLONE_CONFIG_SEALED_TYPE="crypt", RCLONE_CONFIG_SEALED_REMOTE=super().target(),
            RCLONE_CONFIG_SEALED_PASSWORD=self.rclone("obscure", PASSWORD).strip())

    def target(self):
        return "sealed:"

    def verify(self):
        self.rclone("cryptcheck", self.source, self.target())


class Rsync(Program):
    name = "rsync"
    remotes = ("directory",)

    def push(self):
        self.run("rsync", "-a", "--delete", f"{self.source}/", f"{self.place}/")

    def verify(self):
        if changed := self.run("rsync", "-anc", "--itemize-changes", f"{self.source}/", f"{self.place}/"):
            raise RuntimeError(f"rsync found differences: {changed}")

    def restore(self):
        self.run("rsync", "-a", f"{self.place}/", f"{self.restored}/")


class Restic(Program):
    name = "restic"

    def create(self):
        address = f"s3:{self.remote.endpoint}/{self.place}" if self.remote.kind == "s3" else str(self.place)
        self.environment.update(RESTIC_REPOSITORY=address, RESTIC_PASSWORD=PASSWORD)
        self.run("restic", "init")

    def push(self):
        self.run("restic", "backup", self.source)

    def verify(self):
        self.run("restic", "check", "--read-data")

    def restore(self):
        self.run("restic", "restore", "latest", "--target", self.restored)


class Borg(Program):
    name = "borg"
    remotes = ("directory",)

    def create(self):
        self.count = 0
        self.environment.update(
            BORG_REPO=str(self.place), BORG_PASSPHRASE=PASSWORD, BORG_BASE_DIR=str(self.base / "state"))
        self.run("borg", "init", "--encryption", "repokey-blake2")

    def push(self):
        self.count += 1
        self.run("borg", "create", f"::{self.count}", self.source)

    def verify(self):
        self.run("borg", "check", "--verify-data")

    def restore(self):
        self.restored.mkdir()
        run(["borg", "extract", f"::{self.count}"], env=self.environment, cwd=self.restored)


PROGRAMS = {each.name: each for each in (Kinvault, RcloneVault, Rclone, RcloneCrypt, Rsync, Restic, Borg)}
