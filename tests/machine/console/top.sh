#!/usr/bin/env bash
# top - pvm top: tables and JSON of a machine at work, and the keys at a terminal.
. "$(dirname "$0")/common"
command -v expect >/dev/null || { fail "expect is missing: run script/bootstrap"; exit 1; }

# A program that is killed by `pvm top` or at the end of the machine: it receives what nobody sends.
perf() { # SECONDS TRANSPORT: in the background
    timeout 60 "$DPVM_BIN/pvm-perf" -d "$1" -s 1000 -t "$2" lat >"$work/perf.$2" 2>&1 &
}
field() { # EXPRESSION: of the JSON in $out, as `t`, with `tasks` and `hosts`
    /usr/bin/python3 -c 'import json, sys
t = json.loads(sys.stdin.read().splitlines()[-1]); tasks = t["tasks"]; hosts = t.get("hosts")
print('"$1"')' <<<"$out"
}

# ---- without a machine; mistakes ----

pvm top --batch
same "no machine: exit code" 3 "$code"
has "no machine" "no virtual machine" "$err"
daemon_runs && fail "pvm top has started a machine"
for mistake in --sort=size --delay=0 --delay=x --rounds=-1 more --nonsense "--filter=$(printf '%070d')"; do
    pvm top $mistake
    same "$mistake: exit code" 2 "$code"
    has "$mistake" "pvm top: " "$err"
done
pvm topp
has "a slip" "did you mean pvm top?" "$err"

# ---- a machine at work ----

program idle 'exec sleep 100'
cp "$work/bin/idle" "$work/bin/$(printf 'a\033[31mb')"
pvm -c 'add 127.0.0.2'
pvm -c "spawn -2 idle; spawn $(printf 'a\033[31mb')"
perf 20 shm
perf 20 daemon
busy() { # ROUTE
    pvm top --json -d 0.3
    [ "$(field "any(x['sent_per_second'] > 100 and x['routes'].get('$1', {}).get('sent', 0) > 1000 for x in tasks)")" = True ]
}
eventually busy shm || fail "no messages by shm: $out"
eventually busy daemon || fail "no messages by the daemon: $out"
first=$(timeout 20 "$DPVM_BIN/pvm" --json -c conf | /usr/bin/python3 -c 'import json, sys
print(json.load(sys.stdin)["hosts"][0]["host"])')
same "hosts" "['$first', '127.0.0.2']" "$(field "[h['host'] for h in hosts]")"
same "processors" "$(nproc)" "$(field "hosts[0]['processors']")"
listed=$(field "sorted((x['tid'], x['host'], x['pid']) for x in tasks)")
pvm --json -c 'ps -al'
same "the same tasks as ps -a" "$(field "sorted((x['tid'], x['host'], x['pid']) for x in tasks)")" "$listed"
pvm top --json -d 0.2 -n 2
same "two looks" 2 "$(wc -l <<<"$out")"
same "who waits for whom" True "$(field "any(x.get('does') == 'receive' and x['peer'] in [y['tid'] for y in tasks] for x in tasks)")"
same "programs without PVM" True "$(field "all('does' not in x for x in tasks if x['command'].endswith('idle'))")"

pvm top --batch -d 0.2 --sort name --filter idle
same "filter and sort: exit code" 0 "$code"
same "filter" 2 "$(grep -c ' idle$' <<<"$out")"
same "filter leaves out" 0 "$(grep -c pvm-perf <<<"$out")"
pvm top -d 0.2 --sort=-tid
tids=$(awk '/^HOST .* DOES/ { on = 1; next } on && NF { print $2 }' <<<"$out")
same "reversed by tid" "$(sort -r <<<"$tids")" "$tids"
has "names are made visible" 'a\x1b[31mb' "$out"
case $out in *$'\033'*) fail "a program's name controls the terminal" ;; esac

# ---- at a terminal ----

talk() { # TERM EXPECT-COMMANDS [ARGUMENT...]
    out=$(ARGUMENTS="${*:3}" TERM=$1 timeout 60 expect <(
        echo 'set timeout 20
set stty_init "rows 24 columns 150"
log_user 0
proc see {what} { expect -ex $what {} timeout { puts "MISSING $what"; exit 1 } eof { puts "ENDED before $what"; exit 1 } }
spawn -noecho $env(DPVM_BIN)/pvm top {*}$env(ARGUMENTS)'
        echo "$2"
        echo 'expect eof
catch wait result
puts "exit code [lindex $result 3]"'
    ) 2>&1 | tr -d '\r')
}
victim=$(timeout 20 "$DPVM_BIN/pvm" --json -c 'ps -a' | /usr/bin/python3 -c 'import json, sys
print([x["tid"] for x in json.load(sys.stdin)["tasks"] if x["command"].endswith("idle")][0])')
talk xterm 'see "2 hosts, "
see "DOES"
send "h"
see "RELAYED/s"
send "?"
see "page keys"
send "s"
see "sort: memory"
send "r"
see "reversed"
send "+"
see "a look every 0.4 s"
send " "
see "paused"
send " "
send "/"
see "Show only lines with"
send "'"${victim#t}"'\r"
see "filter: '"${victim#t}"'"
send "k"
see "Send which signal to '"$victim"'?"
send "99\r"
see "99 is no number of a signal"
send "k"
see "Send which signal"
send "\r"
see "signal sent"
send "\033\[B\033\[A\033\[6~\033\[5~"
send "q"' -d 0.2
same "keys" "exit code 0" "$out"
gone() { [ -z "$(timeout 20 "$DPVM_BIN/pvm" -c 'ps -a' | grep "${victim#t}")" ]; }
eventually gone || fail "the task that was killed is there"

talk dumb 'see "use pvm top --batch"'
same "a terminal that is none" "exit code 1" "$out"
talk xterm 'see "2 hosts, "' -n 2 -d 0.2
same "two looks at a terminal" "exit code 0" "$out"

# ---- the daemon ends ----

pvm -c "delete 127.0.0.2; spawn idle"
pvmd=$(timeout 20 "$DPVM_BIN/pvm" --json -c "ps -l" | /usr/bin/python3 -c 'import json, sys
pid = [x["pid"] for x in json.load(sys.stdin)["tasks"] if x["command"].endswith("idle")][0]
print(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])')
talk xterm 'see "1 host, "
exec kill -9 '"$pvmd" -d 0.2
has "the daemon is gone: exit code" "exit code 3" "$out"
keeps_files=1
wait
