#!/usr/bin/env bash
# hostfile - every keyword and mark of a hostfile with real daemons: its effect, and the error of a wrong line.
. "$(dirname "$0")/common"

hosts=$work/hosts
own=$(hostname)

# ---- wrong lines: nothing is started ----

refused() { # LINE MESSAGE
    printf '# my hosts\n\n%s\n127.0.0.2\n' "$1" >"$hosts"
    out=$(timeout 20 "$DPVM_BIN/pvmd3" "$hosts" 2>&1)
    code=$?
    same "the line \"$1\": exit code" 1 "$code"
    has "the line \"$1\"" "$hosts:3: $2" "$out"
    ! daemon_runs || fail "the line \"$1\": a daemon runs"
}
refused "127.0.0.2 zz=1" "unknown option 'zz='; known are lo so dx ep wd sp sl bx ip id at"
refused "127.0.0.2 vm=1" "unknown option 'vm='"
refused "127.0.0.2 sp=fast" "sp=fast: the speed must be a number from 1 to 1000000"
refused "127.0.0.2 so=telnet" "so=telnet: how to start the daemon must be one of local, rsh, pw (asking for a password), ssh, ms (by hand)"
refused "127.0.0.2 wd" "'wd' is not an option: options look like sp=2000"
refused "* 127.0.0.2" "'127.0.0.2' is not an option"
refused "& # nobody" "a host name is missing after '&'"
refused "a;b" "'a;b' is not a host name"
printf 'x y=1\nx sp=0\n' >"$hosts"
pvm "$hosts" </dev/null
same "pvm with a faulty hostfile: exit code" 3 "$code"
has "all faults are told" "$hosts:1: " "$err"
has "all faults are told" "$hosts:2: " "$err"
pvm "$work/nosuch" </dev/null
has "a hostfile that is missing" "cannot read hostfile $work/nosuch: No such file or directory" "$err"

# ---- marks, defaults and the options that shape tasks ----

mkdir -p "$work/wd own" "$HOME/wd-b" "$work/wd-c" "$work/ep-b" "$HOME/ep-c"
printf '#!/bin/sh\necho "$0 in $(pwd)"\n' >"$work/ep-b/where"
printf '#!/bin/sh\necho "under \047$1\047"\nexec "$@"\n' >"$work/debugger"
chmod +x "$work/ep-b/where" "$work/debugger"
cp "$work/ep-b/where" "$HOME/ep-c/where"
cp "$work/ep-b/where" "$work/bin/where"
cp "$work/ep-b/where" "$HOME/wd-b/near"
cat >"$hosts" <<END
   # blanks before a comment, and an empty line

$own  sp=2000 wd=$work/wd-c  # this host's own options
* sp=300 wd=\$HOME/wd-b ep=$work/ep-b bx=$work/debugger
127.0.0.2
127.0.0.3 sp=77 wd=$work/wd-c ep=\${HOME}/ep-c:/nowhere
fred ip=127.0.0.4 id=fredsown
& 127.0.0.5 sp=5
* sp=9
\$127.0.0.6
END
limit=60 pvm -c 'conf' </dev/null 2>/dev/null # without the file, so that the next one must read it
timeout 20 "$DPVM_BIN/pvm" -c halt >/dev/null
eventually daemon_is_gone
PVMHOSTFILE=$hosts timeout 60 "$DPVM_BIN/pvmd3" </dev/null >"$work/ready" 2>"$work/err" &
eventually grep -q / "$work/ready"
eventually grep -q 'hosts of the hostfile are added' "$PVM_TMP/pvml.$(id -u)"
same "warnings" "" "$(cat "$work/err")"
speeds() { timeout 20 "$DPVM_BIN/pvm" -c conf | awk 'NR > 2 { print $1, $4 }'; }
same "PVMHOSTFILE: hosts and speeds" "$own 2000
127.0.0.2 300
127.0.0.3 77
fred 300
127.0.0.6 9" "$(speeds)"
timeout 20 "$DPVM_BIN/pvm" -c 'add 127.0.0.5 127.0.0.7; add "127.0.0.8 sp=123"' >/dev/null
same "hosts of & lines, and the last defaults" "127.0.0.5 5
127.0.0.7 9
127.0.0.8 123" "$(speeds | tail -3)"
says() { # HOST OPTION [PROGRAM]: what `where`, or the program, prints there
    timeout 20 "$DPVM_BIN/pvm" -c "spawn -$1 $2 -> ${3-where}" | sed -n 's/^\[1:[^]]*\] //; /EOF/!{/^[./]/p; /^under/p}'
}
same "wd= of the own line" "$work/bin/where in $work/wd-c" "$(says "$own" '')"
same "wd= and ep= of defaults" "$work/ep-b/where in $HOME/wd-b" "$(says 127.0.0.2 '')"
same "wd= and ep= of a line" "$HOME/ep-c/where in $work/wd-c" "$(says 127.0.0.3 '')"
same "a path is relative to wd=" "./near in $HOME/wd-b" "$(says 127.0.0.2 '' ./near)"
same "bx=" "under '$work/ep-b/where'
$work/ep-b/where in $HOME/wd-b" "$(says 127.0.0.2 '-?')"
ls "$PVM_TMP" | grep -q "^pvmd.$(id -u).fredsown" || fail "id=: no file of that name: $(ls "$PVM_TMP")"
timeout 20 "$DPVM_BIN/pvm" -c halt >/dev/null
eventually daemon_is_gone

# ---- the options that start the daemon: lo= dx= so= ----

printf '#!/bin/sh\necho "$@" >>%s/rsh\nfor last; do :; done\nexec sh -c "$last"\n' "$work" >"$work/rsh-command"
printf '#!/bin/sh\necho ran "$@" >>%s/dx\nexec %s/pvmd3 "$@"\n' "$work" "$DPVM_BIN" >"$work/daemon"
chmod +x "$work/rsh-command" "$work/daemon"
printf '$far ip=127.0.0.2 so=rsh lo=somebody dx=$HOME/../daemon\n' >"$hosts"
export PVM_RSH=$work/rsh-command
pvm "$hosts" <<<conf
has "so=rsh: conf" "                     far    80000" "$out"
has "lo= and ip= go to the command" "127.0.0.2 -l somebody exec sh -c" "$(cat "$work/rsh")"
same "dx=" "ran -s" "$(cat "$work/dx")"
pvm -c "add '127.0.0.3 so=rsh dx=/none/pvmd3'"
has "dx= of nothing" "no daemon at /none/pvmd3" "$err"
timeout 20 "$DPVM_BIN/pvm" -c halt >/dev/null
eventually daemon_is_gone
unset PVM_RSH

# ---- so=ms: both halves, by a script instead of a person ----

# Extracts the text to paste from the master's message, starts the daemon with it as told, and prints the daemon's line.
start_by_hand() { # FILE
    sed -n '/^dpvm /,/^end$/p' "$1" >"$work/paste"
    [ "$(tail -1 "$work/paste")" = end ] || fail "so=ms: no text to paste in: $(cat "$1")"
    exec 9>&- # a daemon that was started before ends with its terminal
    [ -z "${typist-}" ] || wait "$typist"
    rm -f "$work/keys"
    : >"$work/line"
    mkfifo "$work/keys"
    exec 9<>"$work/keys"
    timeout 30 "$DPVM_BIN/pvmd3" -s <"$work/keys" >"$work/line" 2>&1 9>&- &
    typist=$!
    cat "$work/paste" >&9
    eventually grep -q '^ddpro<' "$work/line" || fail "so=ms: pvmd3 -s prints $(cat "$work/line")"
}
pvm -c "add '\$127.0.0.2 so=ms sp=55'"
same "so=ms: the first half fails, with what to do" 1 "$code"
has "so=ms" "Already in progress" "$out"
has "so=ms" "start by hand: on 127.0.0.2 type" "$err"
cp "$work/err" "$work/said"
grep -rq '^dpvm [0-9]' "$PVM_TMP" && fail "so=ms: the text with the secret is in a file"
start_by_hand "$work/said"
pvm -c "add '\$127.0.0.2 so=ms ddpro<6> nonsense'"
has "so=ms: a wrong line" "is not what pvmd3 -s prints" "$err"
pvm -c "add '\$127.0.0.2 so=ms sp=55'" # from the beginning, since the wrong line has ended that
cp "$work/err" "$work/said"
start_by_hand "$work/said"
pvm -c "add '\$127.0.0.2 so=ms sp=55 $(cat "$work/line")'; conf"
has "so=ms: the second half" "1 successful" "$out"
has "so=ms: speed" "      55 0x" "$out"
pvm -c "add '127.0.0.9 $(cat "$work/line")'"
has "so=ms: a line without a first half" "add it with so=ms first" "$err"
timeout 20 "$DPVM_BIN/pvm" -c halt >/dev/null
eventually daemon_is_gone

rm "$work/said"
printf '$127.0.0.2 so=ms\n' >"$hosts" # and in a hostfile: the text goes to who starts the daemon
timeout 60 "$DPVM_BIN/pvmd3" "$hosts" </dev/null >"$work/ready" 2>"$work/said" &
eventually grep -qs '^end$' "$work/said" || fail "so=ms in a hostfile: $(cat "$work/said")"
start_by_hand "$work/said"
pvm -c "add '127.0.0.2 $(cat "$work/line")'; mstat 127.0.0.2"
has "so=ms in a hostfile" "127.0.0.2  ok" "$out"
timeout 20 "$DPVM_BIN/pvm" -c halt >/dev/null
eventually daemon_is_gone

exec 9>&-

# ---- so=pw: an ssh that wants a password, as it asks for one ----

mkdir "$work/path"
cat >"$work/path/ssh" <<'END'
#!/bin/sh
# Asks as ssh does: not at all with BatchMode, else through the program in SSH_ASKPASS.
case "$*" in *BatchMode=yes*) echo "h2: Permission denied (password)." >&2; exit 255 ;; esac
[ "$SSH_ASKPASS_REQUIRE" = force ] || exit 254
[ "$("$SSH_ASKPASS" "me@h2's password: ")" = sesame ] || { echo "h2: Permission denied (password)." >&2; exit 255; }
for last; do :; done
exec sh -c "$last"
END
chmod +x "$work/path/ssh"
PATH=$work/path:$PATH
printf '$h2 ip=127.0.0.2 so=pw\n' >"$hosts"
export PVM_LAUNCHER=ssh
cat >"$work/look" <<-END # what h2 has come to, once the hostfile is done with
	until grep -q 'hosts of the hostfile are added' $PVM_TMP/pvml.$(id -u); do sleep 0.1; done
	timeout 20 $DPVM_BIN/pvm -c 'mstat h2; halt' </dev/null >$work/mstat 2>&1
	END
ask() { # PASSWORD: typed to a pvmd3 in the foreground of a terminal
    expect <<-END 2>&1 | tr -d '\r'
	set timeout 30
	spawn -noecho timeout --foreground 60 $DPVM_BIN/pvmd3 $hosts
	expect "h2's password: " {} timeout { puts "NOBODY ASKS"; exit 1 }
	send "$1\r"
	catch { system "timeout 30 sh $work/look" }
	expect eof
	END
}
out=$(ask sesame)
has "so=pw at a terminal" "me@h2's password:" "$out"
case $out in *sesame*) fail "so=pw: the password is shown: $out" ;; esac
has "so=pw" "h2  ok" "$(cat "$work/mstat")"
out=$(ask guess)
has "so=pw with a wrong password" "Permission denied (password). (so=pw: the password must be right" "$out"
eventually daemon_is_gone
SSH_ASKPASS= pvm "$hosts" <<<"mstat h2"
has "so=pw and nobody to ask" "a password can be asked for where pvmd3 runs in the foreground of a terminal, or SSH_ASKPASS is set" \
    "$(cat "$PVM_TMP/pvml.$(id -u)")"
timeout 20 "$DPVM_BIN/pvm" -c halt >/dev/null
eventually daemon_is_gone
printf '#!/bin/sh\necho sesame\n' >"$work/askpass"
chmod +x "$work/askpass"
SSH_ASKPASS=$work/askpass pvm "$hosts" <<<"mstat h2"
has "so=pw with SSH_ASKPASS" "h2  ok" "$out"
