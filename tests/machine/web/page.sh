#!/usr/bin/env bash
# page - a real Chromium clicks through pvm web: every view agrees with what the console says, names and output that
# are markup stay texts, and the page adds a host, spawns tasks and kills one.
. "$(dirname "$0")/common"

pvm -n 127.0.0.1 -c "add 127.0.0.2"
program sleeper 'exec sleep 1000'
start_web --control
start_actor 6 "<img src=x onerror=document.title='owned'>"
/usr/bin/python3 "$here/page.py" "$url" "$DPVM_SHOTS" "$web_pid" || fail "see above"
web_pid= # page.py has ended it
