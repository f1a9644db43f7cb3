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
# Whether it has its name on the bus within a minute. When its time is over gdbus says nothing of its own.
begins() {
  # It indexes nothing in the folder of temporary files, in which tests have theirs.
  TMPDIR=$XDG_CACHE_HOME /usr/libexec/tracker-miner-fs-3 --initial-sleep=0 >>"$said" 2>&1 &
  miner=$!
  for _ in $(seq 12); do
    gdbus wait --session --timeout 5 org.freedesktop.Tracker3.Miner.Files && return
    kill -0 "$miner" 2>/dev/null || { echo "(It ended.)" >>"$said"; return 1; }
  done
  echo "(It runs without its name, in $(cat "/proc/$miner/wchan" 2>/dev/null || true).)" >>"$said"
  return 1
}
# One was without it after three minutes once, on a machine that had much else to do; what it waited for is not known. Another
# one is started then, without what it had of a database: one that was ended while it made that leaves it so that none begins.
had=$([[ ! -e $XDG_CACHE_HOME/tracker3 ]] || echo yes)
for attempt in $(seq 5); do
  begins && break
  end
  [[ -n $had ]] || rm -rf "$XDG_CACHE_HOME/tracker3"
  [[ $attempt -lt 5 ]] || fail "Tracker does not begin"
done
for word in "$@"; do
  for _ in $(seq 3000); do
    tracker3 search "$word" 2>/dev/null | grep -q file: && continue 2
    sleep 0.1
  done
  fail "Tracker does not find $word"
done
