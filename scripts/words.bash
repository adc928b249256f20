# shellcheck shell=bash
# The few words that all scripts here speak, so that each of them says the same
# thing the same way. Sourced, never run.

say() { printf '%s\n' "${0##*/}: $*" >&2; }
die() { say "$@"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; return; fi
  command -v sudo >/dev/null || die "needs root for \"$1\", and there's no sudo: run make as root"
  sudo -- "$@"
}

# What a tool prints matters only when it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" != 0 ]; then tail -n 40 "$log" >&2; fi
  rm -f "$log"
  return "$status"
}

# apt's own lock may be held by the machine's daily update.
apt_install() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120)
  quietly as_root "${apt[@]}" update || die "apt-get update failed; its reason is above"
  quietly as_root "${apt[@]}" install --yes --no-install-recommends "$@" ||
    die "apt-get couldn't install $*; its reason is above"
}
