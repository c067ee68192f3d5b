#!/usr/bin/env bash
# jobs - spawn with its options, and the output of jobs.
. "$(dirname "$0")/common"

program say 'for word; do printf "%s\n" "$word"; done'
program part 'printf par; sleep 0.2; printf "tial\nno newline"'
program waits 'echo waiting; exec sleep 60'
program where 'pwd; echo "$COLOR"'
program catch 'trap "echo caught; exit" INT; echo ready; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.2; done'

mask() { sed -E 's/t[0-9a-f]{5}/TID/' <<<"$out"; }

pvm -c 'spawn -> say one "two  three"'
same "a job" "[1]
1 successful
TID
[1:TID] one
[1:TID] two  three
[1:TID] EOF
[1] finished" "$(mask)"
same "its exit code" 0 "$code"

pvm -c 'spawn -> part'
same "lines that come in parts" "[1:TID] partial
[1:TID] no newline
[1:TID] EOF" "$(mask | sed -n 4,6p)"

pvm -c 'spawn -3 -> say x'
same "three tasks" "3 successful" "$(sed -n 2p <<<"$out")"
same "three lines" 3 "$(grep -cE '^\[1:t[0-9a-f]{5}\] x$' <<<"$out")"
same "the end" "[1] finished" "$(tail -n 1 <<<"$out")"

pvm -c "spawn ->$work/file say one; spawn -2 ->>$work/file say two"
same "output to a file and to its end" "[1:TID] EOF
[1:TID] one
[2:TID] EOF
[2:TID] EOF
[2:TID] two
[2:TID] two" "$(sed -E 's/t[0-9a-f]{5}/TID/' "$work/file" | sort)"
pvm -c "spawn ->$work/file say again"
same "an existing file: exit code" 1 "$code"
has "an existing file" "File exists" "$err"
same "an existing file is kept" 6 "$(wc -l <"$work/file")"

pvm -c 'spawn -2 nosuch'
same "no such program" "0 successful
No such file
No such file" "$out"
has "no such program" "PVM_PATH" "$err"
same "no such program: exit code" 1 "$code"
pvm -c 'spawn -nosuch say'
same "no such host" "0 successful
No such host" "$out"
pvm -c 'spawn -2'
same "no program" "incorrect arg count" "$err"
pvm -c 'spawn -0 say'
has "no tasks" "give a number" "$err"
pvm -c 'spawn -@/nowhere/trace say'
has "traces" "/nowhere/trace: No such file or directory" "$err"

mkdir "$work/folder"
pvm -c "setenv COLOR red; export COLOR; spawn -> -:$work/folder where; spawn -> -.:$work/folder where"
same "working directory and environment" 2 "$(grep -c "\] $work/folder$" <<<"$out")"
same "exported variable" 2 "$(grep -c '\] red$' <<<"$out")"

type_into_pvm 'spawn -2 -> waits' jobs 'jobs -l' 'jobs --json'
tids=$(grep -oE '^t[0-9a-f]{5}$' <<<"$out" | xargs)
has "jobs" " 1: $tids" "$out"
has "jobs -l" "FLAG 0x COMMAND
 1:
" "$out"
has "jobs --json" "{\"jobs\": [{\"job\": 1, \"tids\": [\"${tids/ /\", \"}\"]}]}" "$out"
pvm -c "pstat $tids; kill $tids"
same "they run" 2 "$(grep -c '  run$' <<<"$out")"
eventually sh -c '! timeout 20 "$DPVM_BIN/pvm" -c ps | grep -q waits' || fail "killed tasks go on"

type_into_pvm 'spawn -> catch' 'sig INT t40000' 'ps'
tid=$(grep -oE '^t[0-9a-f]{5}$' <<<"$out")
has "a signal for nobody" "Bad parameter" "$err"
pvm -c "sig INT $tid; sig NOSUCH $tid"
has "no such signal" "not a whole number" "$err"
eventually sh -c '! timeout 20 "$DPVM_BIN/pvm" -c ps | grep -q catch' || fail "the signal does not arrive"

pvm -c 'spawn -3 waits; reset; ps'
eventually sh -c '! timeout 20 "$DPVM_BIN/pvm" -c ps | grep -q waits' || fail "reset leaves tasks"
pvm -c 'kill zz'
has "no task id" "t40001" "$err"
pvm -c 'kill 0'
same "a mistake is reported once" "kill: 0: Bad parameter" "$err"
