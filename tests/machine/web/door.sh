#!/usr/bin/env bash
# door - pvm web gives no byte without its token, changes nothing without --control and the page's key, and stands
# visitors that are silent, slow or many.
. "$(dirname "$0")/common"

pvm -n 127.0.0.1 -c "id"
program sleeper 'exec sleep 1000'
program flood 'while :; do printf "%01000d\n" 1; done'

start_web
/usr/bin/python3 "$here/door.py" closed "$port" "$token" || fail "read-only: see above"
limit=60 pvm run "$DPVM_WEB_ACTOR" 0 none # leads nobody
same "pvm run beside pvm web" 0 "$code"
/usr/bin/python3 "$here/door.py" traced "$port" "$token" || fail "tracing of pvm run: see above"
grep -rqF "$token" "$PVM_TMP" "/proc/$web_pid/cmdline" && fail "the token is in PVM_TMP or in the command line"
end_web

start_web --control
/usr/bin/python3 "$here/door.py" control "$port" "$token" || fail "with --control: see above"
/usr/bin/python3 "$here/door.py" many "$port" "$token" || fail "many visitors: see above"
/usr/bin/python3 "$here/door.py" slow "$port" "$token" || fail "slow visitors: see above"
pvm -c reset
end_web

# What cannot be started says why
limit=20 pvm web --listen 10.1.2.3.4:5
same "a place that is none" 2 "$code"
has "a place that is none" "--listen 10.1.2.3.4:5: give a port" "$err"
start_web
limit=20 pvm web --listen "$port"
same "a port that is taken" 1 "$code"
has "a port that is taken" "cannot listen at 127.0.0.1:$port: Address already in use" "$err"
has "a second tracer" "programs are not traced: another tracer is registered" "$err"
pvm -c halt
wait "$web_pid" || fail "after halt pvm web ends with $?"
web_pid=
