#!/usr/bin/env bash
# escapes - names chosen by tasks, and texts from other hosts, are shown but cannot control the terminal.
. "$(dirname "$0")/common"

# Title, screen and colours, by C0 and by C1 control characters, the latter in UTF-8 and as single bytes.
evil=$'\e]0;x\a\e[2J\xc2\x9b31m\x9b2J\x7f'
shown='\x1b]0;x\x07\x1b[2J\xc2\x9b31m\x9b2J\x7f'

# Only UTF-8 characters that are not control characters, except newlines and tabs.
clean() { # WHAT FILE
    if LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]' "$2" | cat -v | grep .; then fail "$1: there are control characters"; fi
    iconv -f UTF-8 -t UTF-8 "$2" >/dev/null 2>&1 || fail "$1: there are bytes that are no UTF-8"
    if grep -nP '[\x{80}-\x{9f}]' "$2" | cat -v | grep .; then fail "$1: there are C1 control characters"; fi
}

# Runs a command; its output must contain the name if SHOWN says so, and nothing that controls a terminal.
try() { # SHOWN COMMAND...
    local expected=$1
    shift
    timeout -k 5 60 "$@" >"$work/out" 2>"$work/err"
    cat "$work/err" >>"$work/out"
    clean "$*" "$work/out"
    [ -z "$expected" ] || has "$*" "$expected" "$(cat "$work/out")"
}

logged() { grep -qF "$1" "$PVM_TMP"/pvml.*; }

cp "$DPVM_NAMES" "$work/bin/$evil"
pvm -c conf
pvm -c "spawn '$evil' '$evil'"
has "the spawned task" "1 successful" "$out"
tid=${out##*t}
eventually logged "[t$tid] " || fail "the task's output is not in the log"

for options in -a -al -ax -alx; do
    try "$shown" pvm -c "ps $options"
done
try '\u001B]0;x\u0007' pvm -c "ps -a --json"
try "<$shown>" pvm -c names
try '\u001B]0;x\u0007' pvm -c "names --json"
try "group: $shown" pvm_gstat
for command in conf "conf --json" "route $tid" "route --json $tid" "pstat $tid" "pstat --json $tid" jobs "jobs --json" \
    trace getopt id; do
    try "" pvm -c "$command"
done
try "" pvm-info --task "t$tid"
try "" pvm-info --json --task "t$tid"
pvm -c "kill $tid"

# A trace from somebody else.
cat >"$work/trace" <<'END'
{"pvm-trace":1,"time":1}
{"host":262144,"name":"h\u001b[2J\u009b","arch":"LINUX64","offset":0}
{"task":262147,"parent":0,"on":262144,"name":"\u001b]0;x\u0007\u009b31m\u007f"}
{"t":2,"tid":262147,"event":"newtask","phase":"point","PT":-35,"TF":64,"TN":"\u001b]0;x\u0007\u009b31m\u007f"}
{"t":3,"tid":262147,"event":"initsend","phase":"entry","ME":0}
{"t":4,"tid":262147,"event":"initsend","phase":"exit","MSB":1}
END
try '\x1b]0;x\x07\xc2\x9b31m\x7f t40003' pvm-trace summary "$work/trace"
for command in "summary --json" svg chrome paje; do
    try "t40003" pvm-trace $command "$work/trace"
done

# Messages of a launcher and its host.
printf '#!/bin/sh\nprintf "%%s\\n" "%s" >&2\nexit 1\n' "$evil" >"$work/launcher"
chmod +x "$work/launcher"
pvm -c halt
PVM_RSH=$work/launcher try "" pvm -c "add nowhere.invalid"
eventually logged "$shown" || fail "what the launcher has said is not in the log"
eventually logged ready
for log in "$PVM_TMP"/pvml.*; do
    clean "the log" "$log"
done
