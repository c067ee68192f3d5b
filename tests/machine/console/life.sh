#!/usr/bin/env bash
# life - start and end of the machine by the console, and the messages for users' mistakes.
. "$(dirname "$0")/common"
keeps_files=1 # a killed daemon's files are part of it

pvm <<<quit
same "the first console" "pvm> quit

Console: exit handler called
pvmd still running." "$out"
pvm <<<quit
same "the second console" "pvmd already running.
pvm> quit

Console: exit handler called
pvmd still running." "$out"
pvm /nosuch/hostfile <<<quit
has "a hostfile that comes too late" "is not read" "$err"
pvm <<<halt
same "halt prints nothing more" "pvmd already running.
pvm> halt" "$out"
same "halt: exit code" 0 "$code"
daemon_runs && fail "halt comes back before the daemon has gone"
nothing_left
for i in 1 2 3 4 5; do
    pvm -c halt
    nothing_left
done

pvm /nosuch/hostfile <<<quit
same "no such hostfile: exit code" 3 "$code"
has "no such hostfile" "/nosuch/hostfile" "$err"
printf 'nosuch.invalid\n' >"$work/hosts"
pvm "$work/hosts" <<<conf
has "a hostfile with a host that does not exist" "1 host, 1 data format" "$out"

type_later() { # a console that gets its first command when something has happened to its machine
    rm -f "$work/go" "$work/later"
    { eventually test -e "$work/go"; echo id; } | timeout 60 "$DPVM_BIN/pvm" >"$work/later" 2>&1
    echo "exit code $?" >>"$work/later"
}

type_later &
eventually grep -qs 'pvm> ' "$work/later"
pvm -c halt
touch "$work/go"
wait
has "halted by another console" "pvmd is gone" "$(cat "$work/later")"
same "halted by another console: exit code" "exit code 3" "$(tail -n 1 "$work/later")"

pvm -c id
type_later &
eventually grep -qs 'pvm> ' "$work/later"
socket=$(cat "$PVM_TMP/pvmd.$(id -u)")
for daemon in $(ls /proc | grep '^[0-9]*$'); do # the one with our PVM_TMP
    [ "$(cat "/proc/$daemon/comm" 2>/dev/null)" = pvmd3 ] &&
        cat "/proc/$daemon/environ" 2>/dev/null | tr "\0" "\n" | grep -qx "PVM_TMP=$PVM_TMP" && kill -9 "$daemon"
done
touch "$work/go"
wait
has "the daemon is killed" "pvmd is gone" "$(cat "$work/later")"
has_no_files() { [ ! -e "$socket" ] && [ ! -e "$PVM_TMP/pvmd.$(id -u)" ]; }
eventually has_no_files || fail "the killed daemon's files are left"
pvm -c id
same "a console after a killed daemon" "t40001" "$out"

# Hosts: real ones, and mistakes. A second daemon on this machine has a loopback address.
rm -f "$work/go" "$work/later"
eventually test -e "$work/go" | timeout 60 "$DPVM_BIN/pvm" >"$work/later" 2>&1 &
watcher=$!
eventually grep -qs 'pvm> ' "$work/later"
pvm -c 'add 127.0.0.2; conf; add 127.0.0.2'
same add "1 successful
                    HOST     DTID
               127.0.0.2    80000
2 hosts, 1 data format
                    HOST     DTID     ARCH   SPEED       DSIG
HOST
               127.0.0.2    80000  LINUX64    1000 0x00408c41
0 successful
                    HOST     DTID
               127.0.0.2 Duplicate host" "$(sed -E '6s/.*/HOST/; s/LINUX[0-9A-Z]*/LINUX64/; s/0x[0-9a-f]{8}/0x00408c41/' <<<"$out")"
eventually grep -q 'LINUX' "$work/later"
pvm -c 'delete 127.0.0.2'
same delete "1 successful
                    HOST  STATUS
               127.0.0.2  deleted" "$out"
touch "$work/go"
wait $watcher
same "the other console is told" "pvmd already running.
pvm> 
Console: 1 new host added
                    HOST     DTID     ARCH   SPEED
               127.0.0.2    80000  LINUX64    1000
quit

Console: exit handler called
pvmd still running." "$(sed -E 's/LINUX[0-9A-Z]*/LINUX64/' "$work/later")"

cat >"$work/bin/refuses" <<'END'
#!/bin/sh
echo "ssh: connect to host $1 port 22: Connection refused" >&2
exit 255
END
chmod +x "$work/bin/refuses"
pvm -c halt
PVM_LAUNCHER=rsh PVM_RSH=$work/bin/refuses pvm -c 'add 192.0.2.7'
same "no ssh server" "0 successful
                    HOST     DTID
               192.0.2.7 Can't start pvmd" "$out"
has "no ssh server" "Connection refused" "$err"
has "no ssh server" "start sshd there" "$err"
same "no ssh server: exit code" 1 "$code"
pvm -c halt
PVM_LAUNCHER=rsh PVM_RSH=/nosuch/command pvm -c 'add 192.0.2.7'
has "no such launcher" "PVM_RSH" "$err"
pvm -c halt

PVM_TMP=$work/nosuch pvm -c id
same "no PVM_TMP: exit code" 3 "$code"
has "no PVM_TMP" "$work/nosuch" "$err"
if [ "$(id -u)" = 0 ]; then
    PVM_ALLOW_ROOT=0 pvm -c id
    same "root: exit code" 3 "$code"
    has "root" "PVM_ALLOW_ROOT" "$err"
fi
mkdir "$work/alone"
cp "$DPVM_BIN/pvm" "$work/alone/"
out=$(PATH=/usr/bin:/bin PVM_ROOT=/nosuch LD_LIBRARY_PATH=$DPVM_BIN/../lib timeout 30 "$work/alone/pvm" -c id 2>"$work/err")
same "no pvmd3: exit code" 3 $?
has "no pvmd3" "pvmd3" "$(cat "$work/err")"
chmod 500 "$HOME"
pvm -c id
same "a home that cannot be written to" "t40001" "$out"
chmod 700 "$HOME"
