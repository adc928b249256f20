"""The name probe: a small service beside the stack that watches what DNS answers inside it.

Nothing tells of a task's removal from DNS: no event exists, and outside the overlay network nobody
can ask. So one container on the same networks asks for ``tasks.SERVICE`` every 50 ms and prints each
change. It runs in the image of the service under test, since that one is surely at hand: with its
``python3``, else with ``sh`` and ``getent``. Where the image has neither, the probe ends, and
*announced* rests on Swarm's own desired state alone.
"""

from __future__ import annotations

from typing import Any

_PYTHON = """
import json, os, socket, sys, time
name, seen, last, said = os.environ["SWARMTEST_NAME"], None, time.time(), 0.0
while True:
    began = time.time()
    try:
        found = sorted({a[4][0] for a in socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)})
    except OSError:
        found = []
    now = time.time()
    if found != seen:
        line = {"v": 1, "event": "names", "t": now, "since": last, "name": name, "addresses": found}
        os.write(1, (json.dumps(line) + "\\n").encode())
    seen, last = found, began
    time.sleep(max(0.0, 0.05 - (now - began)))
"""

_SHELL = """
trap 'exit 0' TERM
if command -v python3 >/dev/null 2>&1; then exec python3 -u -S -E -c "$SWARMTEST_PROBE"; fi
command -v getent >/dev/null 2>&1 || { echo "neither python3 nor getent in this image"; exit 0; }
now() { date +%s.%N; }
case $(now) in *N*)
  # busybox's date knows no fractions: the kernel's uptime does, and is set by the turn of a second
  second=$(date +%s)
  while [ "$(date +%s)" = "$second" ]; do :; done
  read -r up rest </proc/uptime
  base=$(( (second + 1) * 100 - ${up%.*}${up#*.} ))
  now() {
    read -r up rest </proc/uptime
    hundredths=$(( base + ${up%.*}${up#*.} ))
    printf '%s.%02d' $(( hundredths / 100 )) $(( hundredths % 100 ))
  };;
esac
last=$(now)
while :; do
  began=$(now)
  found=$(getent ahostsv4 "$SWARMTEST_NAME" | cut -d' ' -f1 | sort -u | tr '\\n' ' ')
  if [ "$found" != "$seen" ]; then
    list=$(printf '%s' "$found" | sed 's/ *$//; s/  */","/g')
    [ -n "$list" ] && list="\\"$list\\""
    printf '{"v":1,"event":"names","t":%s,"since":%s,"name":"%s","addresses":[%s]}\\n' \
      "$(now)" "$last" "$SWARMTEST_NAME" "$list"
  fi
  seen=$found last=$began
  sleep 0.05 2>/dev/null || sleep 1
done
"""


def probe_service(image: str, service: str) -> dict[str, Any]:
    """The probe as a service of a stack file; it restarts nothing and stops at once."""

    def escaped(text: str) -> str:
        return text.replace("$", "$$")

    return {
        "image": image,
        "entrypoint": ["/bin/sh", "-c", escaped(_SHELL)],
        "environment": {
            "SWARMTEST_NAME": f"tasks.{service}",
            "SWARMTEST_PROBE": escaped(_PYTHON),
            # A name that's gone is asked for elsewhere, too, and a server that doesn't answer would stall the probe.
            "RES_OPTIONS": "timeout:1 attempts:1",
        },
        "healthcheck": {"disable": True},
        "stop_grace_period": "1s",
        "stop_signal": "SIGKILL",
    }
