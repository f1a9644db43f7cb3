# Has Tracker index what its settings say, on a D-Bus of its own, until it finds every word:
#
#   dbus-run-session -- bash tracker.sh WORD...
#
# Its database is in $XDG_CACHE_HOME, its settings in $XDG_CONFIG_HOME (with GSETTINGS_BACKEND=keyfile).
set -euo pipefail
said=$(mktemp)
# It indexes nothing in the folder of temporary files, in which tests have theirs.
TMPDIR=$XDG_CACHE_HOME /usr/libexec/tracker-miner-fs-3 --initial-sleep=0 >"$said" 2>&1 &
miner=$!
end() {
  kill "$miner" 2>/dev/null || true
  wait "$miner" || true
  rm -f "$said"
}
trap end EXIT
fail() {
  echo "$*; it said:" >&2
  cat "$said" >&2
  exit 1
}
# As long as machines take that have much else to do; of its own the command says nothing when the time is over.
gdbus wait --session --timeout 180 org.freedesktop.Tracker3.Miner.Files || fail "Tracker does not begin"
for word in "$@"; do
  for _ in $(seq 900); do
    tracker3 search "$word" 2>/dev/null | grep -q file: && continue 2
    sleep 0.1
  done
  fail "Tracker does not find $word"
done
