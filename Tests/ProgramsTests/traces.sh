# Has real programs leave traces of a picture in the mount and of one outside, on a D-Bus of its own:
#
#   dbus-run-session -- bash traces.sh MOUNTED-PICTURE OTHER-PICTURE
#
# $HOME is the home in which they leave them.
set -euo pipefail
mounted=$1 other=$2
cache=$HOME/.cache/thumbnails
# What others say of themselves while they run.
notes=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$notes"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

# Waits until a command succeeds, for as long as a machine takes that has much else to do.
until_so() {
  for _ in $(seq 3000); do
    "$@" && return 0
    sleep 0.1
  done
  return 1
}

# Whether each of the two pictures is named in this file or folder, and by no more than one file.
names_both() {
  for picture in "$mounted" "$other"; do
    [[ $(grep -rlaF -- "$picture" "$1" 2>/dev/null | wc -l) -eq 1 ]] || return 1
  done
}

# Fails unless a program has left what it should.
left() {
  names_both "$2" && return
  echo "$1 is not there once for each picture; in $2 they are named by:" >&2
  grep -raFo -e "$mounted" -e "$other" "$2" >&2 || true
  exit 1
}

# Xfce's thumbnailer, which the bus starts. It takes calls before it has loaded what makes the previews, and then passes the
# pictures over: so it is asked again, but not before it has said that it is done. Asked for the same twice at once, it leaves a
# second preview with the time in its name.
dbus-monitor --session >"$notes/bus" &
until_so test -s "$notes/bus" || fail "dbus-monitor says nothing"
has_finished() { [[ $(grep -c 'member=Finished' "$notes/bus") -ge $1 ]]; }
for asked in $(seq 60); do
  gdbus call --timeout 300 --session --dest org.freedesktop.thumbnails.Thumbnailer1 \
    --object-path /org/freedesktop/thumbnails/Thumbnailer1 \
    --method org.freedesktop.thumbnails.Thumbnailer1.Queue \
    "['file://$mounted', 'file://$other']" "['image/png', 'image/png']" large default 'uint32 0' \
    >/dev/null
  until_so has_finished "$asked" || fail "tumbler does not say that it is done"
  names_both "$cache" && break
  sleep 0.5
done
left "tumbler's preview" "$cache"

# The list of recently used files, as GLib writes it for every GTK program.
mkdir -p "$HOME/.local/share"
/usr/bin/python3 - "$HOME/.local/share/recently-used.xbel" "file://$mounted" "file://$other" <<'PYTHON'
import ctypes, sys
glib = ctypes.CDLL("libglib-2.0.so.0")
glib.g_bookmark_file_new.restype = ctypes.c_void_p
list = ctypes.c_void_p(glib.g_bookmark_file_new())
for uri in sys.argv[2:]:
    glib.g_bookmark_file_set_mime_type(list, uri.encode(), b"image/png")
    glib.g_bookmark_file_add_application(list, uri.encode(), b"Viewer & Co", b"viewer %u")
    glib.g_bookmark_file_add_group(list, uri.encode(), b"Graphics")
assert glib.g_bookmark_file_to_file(list, sys.argv[1].encode(), None)
PYTHON
left "an entry of the recently used files" "$HOME/.local/share/recently-used.xbel"

# vim, to its end and then on a machine that dies, with its swap file not beside the file. What it says of a long path must
# fit, or it waits for somebody to read it.
rm -rf "$HOME/tmp" # vim asks what to do with a swap file of before
mkdir -p "$HOME/tmp"
vim_in_terminal() {
  timeout -s KILL 300 script -qec "vim -N -u NONE --cmd 'set cmdheight=9' $1" /dev/null \
    </dev/null >/dev/null 2>&1
}
for file in "$mounted" "$other"; do
  vim_in_terminal "-i $HOME/.viminfo -c 'normal G' -c wviminfo -c q! $file"
  vim_in_terminal "-i NONE --cmd 'set directory=~/tmp' -c 'normal oSecret' -c preserve \
    -c '!kill -9 \$PPID' $file" || true
done

left "vim's history" "$HOME/.viminfo"
left "vim's swap file" "$HOME/tmp"

# nano, which notes where the cursor was when it ended. It is told to end once its screen shows with which key.
for file in "$mounted" "$other"; do
  rm -f "$notes/screen" "$notes/ended"
  {
    until_so grep -qsa Exit "$notes/screen" && printf '\030'
    until_so test -e "$notes/ended" || true
  } | LC_ALL=C.UTF-8 TERM=xterm timeout -s KILL 900 \
    script -qefc "nano --ignorercfiles --positionlog +1,3 $file; touch $notes/ended" "$notes/screen" \
    >/dev/null 2>&1 || fail "nano did not end by itself"
done
left "nano's history" "$HOME/.local/share/nano/filepos_history"
