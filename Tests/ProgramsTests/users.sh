#!/usr/bin/env bash
# Mounts of an ordinary user, with and without --allow-other. Run by root in a mount namespace of its own, so that
# /dev/fuse and /etc/fuse.conf can be as a test needs them and nothing of the machine changes:
#
#   unshare --mount bash users.sh PROGRAM
set -euo pipefail

owner=nobody # has a name, which fusermount3 asks for
other=daemon
place=/mnt
mount -t tmpfs -o mode=755 kinvault-test "$place"
cp "$1" "$place/kinvault"
mkdir -m 777 "$place/home"
mknod -m 666 "$place/fuse" c 10 229 # Debian's mode; a machine without udev has 600
: >"$place/fuse.conf"
chmod 644 "$place/fuse.conf"
mount --bind "$place/fuse" /dev/fuse
mount --bind "$place/fuse.conf" /etc/fuse.conf
cd "$place/home"
mnt="$place/home/mnt"

as() {
  local user="$1"
  shift
  setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups -- env HOME="$place/home" \
    XDG_STATE_HOME="$place/home/state-$user" KINVAULT_PASSWORD_FILE="$place/password" \
    KINVAULT_PASSWORD_TIME=1 KINVAULT_VAULT="$place/home/Family" LANG=C "$@"
}
kinvault() { as "$owner" "$place/kinvault" "$@"; }
fail() {
  echo "FAILED (line ${BASH_LINENO[0]}): $*" >&2
  exit 1
}
# The command fails, and says the words.
refused() {
  local words="$1" said
  shift
  if said="$("$@" 2>&1)"; then fail "not refused: $*"; fi
  [[ "$said" == *"$words"* ]] || fail "“$said” instead of “$words”: $*"
}
shows() {
  local found
  found="$(as "$owner" stat -c "$2" "$3")"
  [[ "$found" == "$1" ]] || fail "$3 has $found, not $1"
}
trap 'kinvault unmount "$mnt" >/dev/null 2>&1 || true' EXIT

echo "correct horse battery" >"$place/password"
chmod 644 "$place/password"
kinvault init --name "Adult A" --words-out "$place/home/words" --yes >/dev/null
kinvault member add Emma >/dev/null

# Only the owner, by default: neither another user nor root.
kinvault mount "$mnt" 2>/dev/null
as "$owner" sh -c 'umask 022; echo scan >"$1/Emma/scan"; cat "$1/Emma/scan" >/dev/null' - "$mnt"
refused "Permission denied" as "$other" ls "$mnt"
refused "Permission denied" as "$other" cat "$mnt/Emma/scan"
refused "Permission denied" ls "$mnt"
shows "$owner" %U "$mnt/Emma/scan"
# Not even its bits matter then: a file without any still belongs to who mounted.
as "$owner" chmod 400 "$mnt/Emma/scan"
refused "Permission denied" as "$owner" sh -c 'echo x >>"$1"' - "$mnt/Emma/scan"
as "$owner" chmod 644 "$mnt/Emma/scan"
# Nobody else can take it away.
if as "$other" "$place/kinvault" unmount "$mnt" 2>/dev/null; then fail "unmounted by another"; fi
kinvault unmount "$mnt" 2>/dev/null
[[ ! -e "$mnt" ]] || fail "the mountpoint is still there"

# --allow-other needs the administrator's word.
set +e
said="$(kinvault mount "$mnt" --allow-other 2>&1)"
status=$?
set -e
[[ $status == 12 && "$said" == *user_allow_other*/etc/fuse.conf* ]] || fail "$status: $said"
[[ ! -e "$mnt" ]] || fail "the mountpoint was left behind"
printf '# user_allow_other in a comment\n  user_allow_other \n' >"$place/fuse.conf"

# With it, permission bits decide.
kinvault mount "$mnt" --allow-other 2>/dev/null
[[ "$(as "$other" ls "$mnt")" == Emma ]] || fail "the members are not listed"
refused "Permission denied" as "$other" ls "$mnt/Emma"
as "$owner" chmod 755 "$mnt/Emma"
[[ "$(as "$other" cat "$mnt/Emma/scan")" == scan ]] || fail "not readable"
refused "Permission denied" as "$other" sh -c 'echo x >>"$1"' - "$mnt/Emma/scan"
refused "Permission denied" as "$other" touch "$mnt/Emma/new"
refused "Permission denied" as "$other" rm -f "$mnt/Emma/scan"
refused "Operation not permitted" as "$other" chmod 777 "$mnt/Emma/scan"
refused "Operation not permitted" as "$owner" chown "$other" "$mnt/Emma/scan"
refused "Permission denied" as "$other" mkdir "$mnt/Liam"
as "$owner" chmod 600 "$mnt/Emma/scan"
refused "Permission denied" as "$other" cat "$mnt/Emma/scan"
[[ "$(cat "$mnt/Emma/scan")" == scan ]] || fail "root may read everything"
as "$owner" mkdir -m 1777 "$mnt/Emma/inbox"
as "$other" sh -c 'umask 022; echo hello >"$1"' - "$mnt/Emma/inbox/letter"
shows "$other" %U "$mnt/Emma/inbox/letter"
refused "Permission denied" as "$owner" sh -c 'echo x >>"$1"' - "$mnt/Emma/inbox/letter"

# What runs with its owner's rights does so no more once someone wrote to it, by whatever way.
for way in 'echo x >>"$1"' ': >"$1"' 'truncate -s 1 "$1"' 'fallocate -l 100 "$1"' \
  'dd if=/dev/zero of="$1" bs=1 count=1 conv=notrunc status=none' \
  'python3 -c "import os,sys; a=os.open(sys.argv[1],2); os.pwrite(a,b\"x\",0); os.fsync(a)" "$1"'; do
  for user in "$other" "$owner"; do
    as "$owner" sh -c 'echo program >"$1"; chmod 6777 "$1"' - "$mnt/Emma/inbox/program"
    shows 6777 %a "$mnt/Emma/inbox/program"
    as "$user" sh -c "$way" - "$mnt/Emma/inbox/program"
    shows 777 %a "$mnt/Emma/inbox/program"
  done
done
as "$owner" chmod 6767 "$mnt/Emma/inbox/program"
as "$other" sh -c 'echo x >>"$1"' - "$mnt/Emma/inbox/program"
shows 2767 %a "$mnt/Emma/inbox/program" # set-group-id without execution is something else
kinvault unmount "$mnt" 2>/dev/null

# Owners and bits are kept.
kinvault mount "$mnt" --allow-other --read-only 2>/dev/null
shows "$other" %U "$mnt/Emma/inbox/letter"
shows 2767 %a "$mnt/Emma/inbox/program"
shows 1777 %a "$mnt/Emma/inbox"
[[ "$(as "$other" cat "$mnt/Emma/inbox/letter")" == hello ]] || fail "not readable again"
refused "Read-only file system" as "$other" sh -c 'echo x >>"$1"' - "$mnt/Emma/inbox/letter"
kinvault unmount "$mnt" 2>/dev/null

# Where /dev/fuse is for root only, that is said.
chmod 600 "$place/fuse"
refused "chmod 666 /dev/fuse" kinvault mount "$mnt"
kinvault check >/dev/null
trap - EXIT
