#!/usr/bin/env bash
# killed - however pvm run ends, its tasks and all that they spawned end, too, and so does a machine that it started.
. "$(dirname "$0")/common"

program waits 'echo waiting; exec sleep 61'
program ignores 'trap "" TERM HUP; echo waiting; for i in $(seq 600); do sleep 0.1; done'

tasks_run() { [ -n "$(ps -eo args | grep -E "^sleep 61$|^/bin/sh $work/bin/ignores" | head -n 1)" ]; }
no_tasks_run() { ! tasks_run; }

end_run() { # SIGNAL PROGRAM
    : >"$work/out" # not what the last run has left there
    "$DPVM_BIN/pvm" run -n 2 "$2" >"$work/out" 2>&1 &
    local runner=$!
    eventually sh -c "[ \$(grep -c waiting '$work/out') = 2 ]" || fail "$2: no start: $(cat "$work/out")"
    tasks_run || fail "$2: the tasks are not seen"
    kill -"$1" $runner
    wait $runner 2>/dev/null
    eventually no_tasks_run || fail "SIG$1: tasks are left: $(ps -eo pid,args | grep "$work")"
}

for signal in TERM HUP KILL; do
    end_run $signal waits
    eventually daemon_is_gone || fail "SIG$signal: the machine is left"
    nothing_left
done

"$DPVM_BIN/pvm" -c id >/dev/null
for signal in TERM HUP KILL; do
    end_run $signal waits
    daemon_runs || fail "SIG$signal: the machine was not ours to halt"
done
end_run KILL ignores
eventually sh -c '[ $(timeout 20 "$DPVM_BIN/pvm" -c ps | wc -l) = 1 ]' || fail "tasks or guards are left"
