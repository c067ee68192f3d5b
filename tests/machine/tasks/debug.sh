#!/usr/bin/env bash
# debug - tasks spawned with PvmTaskDebug run under gdb, which shows where they crashed.
. "$(dirname "$0")/../console/common"
: "${DPVM_WRAPPED:?set it to the program wrapped}"
command -v gdb >/dev/null || { fail "gdb is missing: run script/bootstrap"; exit 1; }
unset DISPLAY

program other 'echo "other debugger: $2"; exec "$@"'

"$DPVM_BIN/pvm" -c id >/dev/null
pvm -c "spawn -? -> $DPVM_WRAPPED 2"
same "exit code" 0 "$code"
has "the task's output" "] master" "$out"
has "its end" "exited normally]" "$out"
same "its workers are not debugged" 1 "$(grep -c 'exited normally' <<<"$out")"

# Waits for a worker until it is told to crash.
"$DPVM_BIN/pvm" -c "spawn -? -> $DPVM_WRAPPED wait" >"$work/out" 2>&1 &
console=$!
eventually grep -q 'waiting' "$work/out" || fail "the task does not start: $(cat "$work/out")"
tid=$(sed -n 's/^\(t[0-9a-f]*\)$/\1/p' "$work/out")
pvm -c "sig USR1 $tid"
eventually grep -q 'got SIGUSR1' "$work/out" || fail "no signal came through: $(cat "$work/out")"
pvm -c "sig ABRT $tid"
wait $console
has "a crash" "SIGABRT" "$(cat "$work/out")"
has "its place" "wait_for_signals (" "$(cat "$work/out")"

: >"$work/out"
"$DPVM_BIN/pvm" -c "spawn -? -> $DPVM_WRAPPED wait" >"$work/out" 2>&1 &
console=$!
eventually grep -q 'waiting' "$work/out" || fail "the task does not start: $(cat "$work/out")"
ps -eo args | grep -q "^gdb .*$DPVM_WRAPPED wait" || fail "gdb does not run"
pvm -c "kill $(sed -n 's/^\(t[0-9a-f]*\)$/\1/p' "$work/out")"
wait $console
no_debugger_runs() { ! ps -eo args | grep -q "^gdb .*$DPVM_WRAPPED wait"; }
eventually no_debugger_runs || fail "kill does not end task and debugger: $(ps -eo pid,args | grep gdb)"
pvm -c 'halt'
eventually daemon_is_gone || fail "the daemon does not end"

PVM_DEBUGGER=$work/bin/other pvm -c "spawn -? -> $DPVM_WRAPPED 0"
has "PVM_DEBUGGER" "other debugger: 0" "$out"
pvm -c 'halt'
eventually daemon_is_gone || fail "the daemon does not end"
PVM_DEBUGGER=/nosuch pvm -c "spawn -? $DPVM_WRAPPED 0"
same "no debugger: exit code" 1 "$code"
has "no debugger" "No such file" "$out$err"
has "no debugger: log" "no debugger script /nosuch: set PVM_DEBUGGER" "$(cat "$PVM_TMP"/pvml.*)"
