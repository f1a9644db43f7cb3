# Has real programs leave traces of a picture in the mount and of one outside, on a D-Bus of its own:
#
#   dbus-run-session -- bash traces.sh MOUNTED-PICTURE OTHER-PICTURE
#
# $HOME is the home in which they leave them.
set -euo pipefail
mounted=$1 other=$2
cache=$HOME/.cache/thumbnails

# Xfce's thumbnailer, which the bus starts. It takes calls before it has loaded what makes the previews, and then passes the
# pictures over: so it is asked again.
previews() { find "$cache" -name '*.png' 2>/dev/null | wc -l; }
for _ in $(seq 60); do
  [[ $(previews) -ge 2 ]] && break
  gdbus call --session --dest org.freedesktop.thumbnails.Thumbnailer1 \
    --object-path /org/freedesktop/thumbnails/Thumbnailer1 \
    --method org.freedesktop.thumbnails.Thumbnailer1.Queue \
    "['file://$mounted', 'file://$other']" "['image/png', 'image/png']" large default 'uint32 0' \
    >/dev/null
  for _ in $(seq 30); do
    [[ $(previews) -ge 2 ]] && break
    sleep 0.1
  done
done
[[ $(previews) -eq 2 ]] || { echo "tumbler made no previews" >&2; exit 1; }

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

# nano, which notes where the cursor was when it ended. It takes keys when it has drawn its screen.
for file in "$mounted" "$other"; do
  { sleep 1; printf '\030'; sleep 1; } |
    TERM=xterm timeout -s KILL 300 script -qec "nano --ignorercfiles --positionlog +1,3 $file" /dev/null >/dev/null 2>&1
done
