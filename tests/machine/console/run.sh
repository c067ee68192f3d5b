#!/usr/bin/env bash
# run - pvm run: machine, output, exit codes, Ctrl-C.
. "$(dirname "$0")/common"

program say 'for word; do printf "%s\n" "$word"; done'
program dots 'printf .; sleep 0.1; printf .'
program where pwd
program waits 'echo waiting; exec sleep 60'
program stays 'trap "echo not me" INT; echo waiting; for i in $(seq 300); do sleep 0.1; done'

mkdir "$work/here"
cd "$work/here" || exit 1
printf '#!/bin/sh\necho local\n' >script
chmod +x script

for machine in none running; do
    if [ $machine = running ]; then pvm -c id; fi
    pvm run say one two
    same "one task ($machine)" "one
two" "$out"
    same "one task: exit code ($machine)" 0 "$code"
    pvm run -n 3 say x
    same "three tasks ($machine)" "x
x
x" "$out"
    pvm run -p -n 2 say x
    same "with prefix ($machine)" 2 "$(grep -cE '^\[t[0-9a-f]{5}\] x$' <<<"$out")"
    pvm run dots
    same "output without newlines ($machine)" ".." "$out"
    pvm run where
    same "working directory ($machine)" "$work/here" "$out"
    pvm run -w / where
    same "chosen working directory ($machine)" "/" "$out"
    pvm run ./script
    same "a program of this folder ($machine)" local "$out"
    pvm run say -n -p --help
    same "options of the program ($machine)" "-n
-p
--help" "$out"
    pvm run nosuch
    same "no such program: exit code ($machine)" 1 "$code"
    has "no such program" "no program nosuch in " "$err"
    pvm run ./nosuch
    same "no such file: exit code ($machine)" 1 "$code"
    pvm run -H nosuch.invalid say x
    same "no such host: exit code ($machine)" 1 "$code"
    if [ $machine = none ]; then
        daemon_runs && fail "the machine is still there"
        nothing_left
    else
        daemon_runs || fail "the machine was not ours to halt"
    fi
done
pvm -c 'ps -a'
same "no tasks are left" 1 "$(wc -l <<<"$out")"

host=$(timeout 20 "$DPVM_BIN/pvm" -c conf | awk 'NR == 3 {print $1}')
pvm run -H "$host" -n 2 say x
same "on a host" "x
x" "$out"

pvm run
same "no program: exit code" 2 "$code"
pvm run -n 0 say
same "no copies: exit code" 2 "$code"
pvm run -n x say
same "wrong copies: exit code" 2 "$code"

# Ctrl-C: once for tasks that obey it, twice for others.
interrupt() { # TIMES PROGRAM
    local i
    : >"$work/out" # not what the last run has left there
    "$DPVM_BIN/pvm" run -n 2 "$2" >"$work/out" 2>&1 &
    runner=$!
    eventually sh -c "[ \$(grep -c waiting '$work/out') = 2 ]" || fail "$2: the tasks do not start: $(cat "$work/out")"
    for ((i = 0; i < $1; i++)); do
        kill -INT $runner
        sleep 0.5
    done
    eventually sh -c "! kill -0 $runner 2>/dev/null" || { fail "$2: Ctrl-C has no effect"; kill -9 $runner; }
    wait $runner
    same "$2: exit code after Ctrl-C" 130 $?
}
set -m # so that SIGINT is not ignored in the background
interrupt 1 waits
interrupt 2 stays
set +m
has "a task that catches Ctrl-C" "not me" "$(cat "$work/out")"
eventually sh -c '[ $(timeout 20 "$DPVM_BIN/pvm" -c ps | wc -l) = 1 ]' || fail "interrupted tasks are left"

# The machine ends while a program runs.
: >"$work/out"
"$DPVM_BIN/pvm" run waits >"$work/out" 2>&1 &
runner=$!
eventually grep -q waiting "$work/out" || fail "the task does not start"
pvm -c halt
wait $runner
same "exit code when the machine is halted" 3 $?

# A daemon that was started in the background of a script ignores SIGINT; its tasks do not.
(trap '' INT && exec "$DPVM_BIN/pvmd3" >/dev/null 2>&1) &
eventually daemon_runs || fail "the daemon does not start"
set -m
interrupt 1 waits
set +m
