#!/usr/bin/env bash
# wrap - pvm run --wrap: the tasks and all that they spawn, on each host, run under the user's command.
# Without DPVM_WRAP_VALGRIND=1 (as in builds with sanitizers, which Valgrind cannot run) a script replaces Valgrind.
. "$(dirname "$0")/../console/common"
: "${DPVM_WRAPPED:?set it to the program wrapped}"

program wrapper 'word=$1; shift; echo "under wrapper: $word ${1##*/}"; exec "$@"'
program say 'echo "$*"'

for machine in none running; do
    if [ $machine = running ]; then pvm -c 'add 127.0.0.2'; fi
    pvm run --wrap "$work/bin/wrapper '-a b'" "$DPVM_WRAPPED" 3
    same "exit code ($machine)" 0 "$code"
    same "all are wrapped ($machine)" 4 "$(grep -c '^under wrapper: -a b wrapped' <<<"$out")"
    same "workers ($machine)" 3 "$(grep -c '^worker$' <<<"$out")"
done
pvm run -p --wrap "$work/bin/wrapper x" -H "$(timeout 20 "$DPVM_BIN/pvm" -c conf | awk 'NR == 3 {print $1}'),127.0.0.2" \
    say x
same "on chosen hosts" 2 "$(grep -cE '^\[t(4|8)[0-9a-f]{4}\] under wrapper: x say$' <<<"$out")"

PATH=$PATH:$work/bin pvm run --wrap 'nosuchcommand -x' "$DPVM_WRAPPED" 1
same "no such command: exit code" 1 "$code"
has "no such command" "PVM_WRAP=nosuchcommand -x: this daemon finds no such command in its PATH" "$err"
has "no such command: log" "PVM_WRAP=nosuchcommand -x: this daemon finds no such command" "$(cat "$PVM_TMP"/pvml.*)"
pvm run --wrap 'a | b' "$DPVM_WRAPPED" 1
same "no command: exit code" 1 "$code"
has "no command: log" "PVM_WRAP=a | b: cannot be split into words" "$(cat "$PVM_TMP"/pvml.*)"
pvm run --wrap ' ' say
same "empty: exit code" 2 "$code"
pvm run --wrap ./wrapper say
same "relative: exit code" 2 "$code"
pvm run say not wrapped
same "the next run is not wrapped" "not wrapped" "$out"

if [ "${DPVM_WRAP_VALGRIND:-0}" = 1 ]; then
    pvm run --wrap "valgrind -q --vgdb=no" "$DPVM_WRAPPED" 3
    same "valgrind: nothing to say" "master
worker
worker
worker" "$(sort <<<"$out")"
    pvm run -p --wrap "valgrind --vgdb=no" "$DPVM_WRAPPED" 3 bad
    same "valgrind: exit code" 0 "$code"
    same "valgrind: errors of all tasks" 4 "$(grep -c 'depends on uninitialised value' <<<"$err")"
    same "valgrind: with the place" 4 "$(grep -c 'read_unset (wrapped.c:' <<<"$err")"
fi
pvm -c 'ps -a'
same "no tasks are left" 1 "$(wc -l <<<"$out")"
