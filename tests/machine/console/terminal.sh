#!/usr/bin/env bash
# terminal - the console at a terminal: prompt, output while the user types, Ctrl-C, completion, history.
. "$(dirname "$0")/common"
command -v expect >/dev/null || { fail "expect is missing: run script/bootstrap"; exit 1; }

mkdir "$HOME/folder"
touch "$HOME/folder/input.txt" "$HOME/folder/a name"
program later 'sleep 1; echo from the task'

# Hosts that are long in coming: nothing is sent to them.
printf '#!/bin/sh\nsleep 3\necho no way there >&2\nexit 1\n' >"$work/rsh"
chmod +x "$work/rsh"
export PVM_RSH=$work/rsh

talk() { # EXPECT-COMMANDS [ARGUMENT-OF-PVM...]
    out=$(ARGUMENTS="${*:2}" TERM=xterm timeout 60 expect <(
        echo 'set timeout 10
set stty_init "rows 24 columns 80"
log_user 0
proc see {what} { expect -ex $what {} timeout { puts "MISSING $what"; exit 1 } eof { puts "ENDED before $what"; exit 1 } }
spawn -noecho $env(DPVM_BIN)/pvm {*}$env(ARGUMENTS)'
        echo "$1"
        echo 'expect eof
catch wait result
puts "exit code [lindex $result 3]"'
    ) 2>&1 | tr -d '\r')
}

talk 'see "pvm> "
send "echo typed\r"
see "echo typed"
see "typed"
see "pvm> "
send "nosuch\r"
see "nosuch: not found"
see "pvm> "
send "\004"
see "quit"
see "Console: exit handler called"
see "pvmd still running."'
same "a session" "exit code 0" "$out"

talk 'see "pvmd already running."
see "pvm> "
send "spawn -> later\r"
see "pvm> "
send "echo half a l"
see "half a l"
see "from the task"
see "EOF"
see "\[1\] finished"
see "pvm> echo half a l"
send "ine\r"
see "half a line"
see "pvm> "
send "quit\r"'
same "output in the midst of typing" "exit code 0" "$out"

talk 'see "pvm> "
send "not this"
see "not this"
send "\003"
see "^C"
see "pvm> "
send "echo still here\r"
see "still here"
see "still here"
see "pvm> "
send "quit\r"'
same "Ctrl-C" "exit code 0" "$out"

talk 'see "pvm> "
send "ver\t"
see "sion "
send "\r"
see "3.4.6"
see "pvm> "
send "se\t"
see "t"
send "\t"
see "setenv  setopt"
see "pvm> set"
send "opt PvmRo\t2\r"
see "PvmRoute Changed from 1 to 2"
see "pvm> "
send "spawn lat\t"
see "er "
send "$env(HOME)/fol\t"
see "der/"
send "in\t"
see "put.txt "
send -- "->$env(HOME)/folder/i\t"
see "nput.txt "
send "\003"
see "pvm> "
send "quit\r"'
same "completion" "exit code 0" "$out"

talk 'see "pvm> "
send "\033\[A\033\[A"
see "setopt PvmRoute 2"
send "\025quit\r"'
same "history of the session before" "exit code 0" "$out"
same "the history is private" 600 "$(stat -c %a "$HOME/.pvm_history")"

talk 'see "pvm> "
send "add 192.0.2.1\r"
see "adding 192.0.2.1: 1 s\r"
see "adding 192.0.2.1: 2 s\r"
see "no way there"
see "waiting for 192.0.2.1: 2 s\r"
see "answer: no way there"
see "pvm> "
send "add 192.0.2.1 192.0.2.2\r"
see "adding 2 hosts: 2 s\r"
see "pvm> "
send "quit\r"'
same "progress of hosts" "exit code 0" "$out"
pvm -c "add 127.0.0.2"
second=$(sed -E 's/.*pvmtmp0*([0-9]+)\..*/\1/' "$PVM_TMP/pvmd.$(id -u).127.0.0.2")
kill -STOP "$second"
talk "see \"starting 1 task: 2 s\\r\"
exec kill -CONT $second
see \"from the task\"" run -H 127.0.0.2 later
same "progress of tasks" "exit code 0" "$out"
kill -CONT "$second"
pvm -c "add 192.0.2.1"
has "no progress where nobody looks" "no way there" "$err"
case $err in *" s"$'\r'*) fail "progress in a file: $err" ;; esac

chmod 500 "$HOME"
talk 'see "pvm> "
send "halt\r"'
chmod 700 "$HOME"
same "halt" "exit code 0" "$out"
