# Has Tracker index what its settings say, on a D-Bus of its own, until it finds every word:
#
#   dbus-run-session -- bash tracker.sh WORD...
#
# Its database is in $XDG_CACHE_HOME, its settings in $XDG_CONFIG_HOME (with GSETTINGS_BACKEND=keyfile).
set -euo pipefail
said=$(mktemp)
miner=
end() {
  [[ -n $miner ]] || return 0
  kill "$miner" 2>/dev/null || true
  # One that hangs does not end by itself, and would be waited for without end.
  for _ in $(seq 100); do
    kill -0 "$miner" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$miner" 2>/dev/null || true
  wait "$miner" || true
  miner=
}
trap 'end; rm -f "$said"' EXIT
fail() {
  echo "$*; it said:" >&2
  cat "$said" >&2
  exit 1
}
# Whether it has its name on the bus within four minutes. When its time is over gdbus says nothing of its own.
begins() {
  # It indexes nothing in the folder of temporary files, in which tests have theirs.
  TMPDIR=$XDG_CACHE_HOME /usr/libexec/tracker-miner-fs-3 --initial-sleep=0 >>"$said" 2>&1 &
  miner=$!
  for _ in $(seq 48); do
    gdbus wait --session --timeout 5 org.freedesktop.Tracker3.Miner.Files && return
    kill -0 "$miner" 2>/dev/null || { echo "(It ended.)" >>"$said"; return 1; }
  done
  echo "(It runs without its name, in $(cat "/proc/$miner/wchan" 2>/dev/null || true).)" >>"$said"
  return 1
}
# Where all processors are taken it needs a minute and more. One was without its name after three once; what it waited for is
# not known. Another one is started then, without the database that it had begun: one that was ended while it made that leaves
# it so that none begins. The folder around it says nothing: Kinvault removes the database alone.
database=$XDG_CACHE_HOME/tracker3/files
had=$([[ ! -e $database/meta.db ]] || echo yes)
for attempt in $(seq 5); do
  begins && break
  end
  [[ -n $had ]] || rm -rf "$database"
  [[ $attempt -lt 5 ]] || fail "Tracker does not begin"
done
for word in "$@"; do
  for _ in $(seq 3000); do
    tracker3 search "$word" 2>/dev/null | grep -q file: && continue 2
    sleep 0.1
  done
  fail "Tracker does not find $word"
done
