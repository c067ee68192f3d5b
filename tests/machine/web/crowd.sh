#!/usr/bin/env bash
# crowd - 64 hosts and 1,000 tasks: pvm web shows what `ps -a` lists, every view draws, and the page stays quick.
. "$(dirname "$0")/common"

pvm -n 127.0.0.1 -c "add $(printf '127.0.0.%d ' {2..64})"
start_web
start_actor 1000 member 1000
/usr/bin/python3 "$here/crowd.py" "$url" "$DPVM_SHOTS" "$web_pid" || fail "see above"
