#!/usr/bin/env bash
# formats - the exact output of commands, because scripts parse it.
. "$(dirname "$0")/common"

# Runs commands as from a pipe and returns the output between the banner and the end.
session() { # COMMANDS
    pvm <<<"$1"
    out=${out#*pvm> }
    out=${out%$'\n'pvm> quit*}
}

pvm -c 'conf; id'
host=$(awk 'NR == 3 {print $1}' <<<"$out")
same "conf and id" "1 host, 1 data format
                    HOST     DTID     ARCH   SPEED       DSIG
$(printf '%24s    40000  LINUX64    1000 0x00408c41' "$host")
t40001" "$(sed 's/LINUX[A-Z0-9]*/LINUX64/; s/0x[0-9a-f]\{8\}/0x00408c41/' <<<"$out")"

session "version"
same version "version
3.4.6 (dpvm $(pvmd3 --version | sed 's/.*dpvm) \(.*\),.*/\1/'))" "$out"

session "ps -x"
same "ps -x" "ps -x
                    HOST      TID   FLAG 0x COMMAND
$(printf '%24s   (cons)       4/c pvm         ' "$host")" "$out"

session "ps -axl"
same "ps -axl" "ps -axl
                    HOST      TID     PTID    PID   FLAG 0x COMMAND
$(printf '%24s   (cons)        - PID       4/c pvm         ' "$host")" "$(sed -E 's/- [ 0-9]{6}/- PID/' <<<"$out")"

session "ps"
same "ps without tasks" "ps
                    HOST      TID   FLAG 0x COMMAND" "$out"

session "route"
same "route without tasks" "route
no task is connected" "$out"

program waits 'exec sleep 60'
pvm -c 'spawn waits'
tid=${out##*t}
session "ps
pstat $tid t40777"
same "ps with a task" "ps
                    HOST      TID   FLAG 0x COMMAND
$(printf '%24s %8s       2/f waits       ' "$host" "$tid")
pvm> pstat $tid t40777
t$(printf %8s "$tid")  run
t   40777  No such task" "$out"

pvm -c "route $tid 40777"
same "route of what is no PVM program" "route: t$tid is not a PVM program, or has not called PVM yet
route: t40777: there is no such task" "$err"

session "ps -l"
same "ps -l with a task" "$(printf '%24s %8s ffffffdd PID       2/f waits       ' "$host" "$tid")" \
    "$(sed -nE '3s/ffffffdd [ 0-9]{6}/ffffffdd PID/p' <<<"$out")"
session "kill $tid"
same "kill says nothing" "kill $tid" "$out"

session "mstat $host nosuch ."
same mstat "mstat $host nosuch .
$(printf '%24s  ok\n%24s  No such host\n%24s  ok' "$host" nosuch .)" "$out"

session "delete nosuch $host"
same delete "delete nosuch $host
0 successful
                    HOST  STATUS
$(printf '%24s  No such host\n%24s  Bad parameter' nosuch "$host")" "$out"

session "put box 1 7
names box
reset info box
names box"
has "put and names" "<box>:
	index=0 owner=0x4000" "$out"
has "put and names" " flags=0x1

pvm> reset info box" "$out"
session "names box
reset info box
names box"
same "an orphan of the mailbox" "names box
<box>:
	index=0 owner=0x0/0 flags=0x1

pvm> reset info box
pvm> names box" "$out"

session "getopt PvmRoute
setopt PvmRoute 2
getopt PvmNoReset
getopt PvmFoo"
same "getopt and setopt" "getopt PvmRoute
PvmRoute Currently Set to 1
pvm> setopt PvmRoute 2
PvmRoute Changed from 1 to 2
pvm> getopt PvmNoReset
PvmNoReset Currently Set to 1
pvm> getopt PvmFoo
PVM Option \"PvmFoo\" Unknown." "$out"

session "getopt"
same "number of options" 23 "$(grep -c '^Pvm[A-Za-z]* Currently Set to -\?[0-9]*$' <<<"$out")"

session "trace"
same "the trace table's size" 26 "$(grep -cE '^( [ *] [a-z_]{1,15} *){4}$' <<<"$out")"
same "the trace table's first lines" "   addhosts           gettid             pkfloat            setopt         
 * addmhf             gettmask           pkint              setrbuf        " "$(sed -n 2,3p <<<"$out")"
session "trace - *
trace send
trace buf 100
trace buf
trace opt
trace opt time
trace opt
trace opt foo
trace foo"
same "trace" "trace - *
pvm> trace send
pvm> trace buf 100
pvm> trace buf

Trace Buffering set to 100 bytes

pvm> trace opt

Trace Options set to \"full\"

pvm> trace opt time
pvm> trace opt

Trace Options set to \"time\"

pvm> trace opt foo

Error:  Unknown Trace Option \"foo\"

pvm> trace foo
no such event \"foo\"" "$out"
session "trace - *
trace send + recv
trace"
same "chosen events" "recv send" "$(grep -o '\* [a-z]*' <<<"$out" | tr -d '* ' | grep -v '^$' | sort | xargs)"

session "alias echo echo again
echo x"
same "an alias with its own name" "alias echo echo again
pvm> echo x
again x" "$out"
session "alias zz echo one 'two  three'
alias aa zz
alias
aa four
alias loop1 loop2
alias loop2 loop1
loop1
unalias zz
aa"
same aliases "alias zz echo one 'two  three'
pvm> alias aa zz
pvm> alias
aa	zz
zz	echo one two  three
pvm> aa four
one two  three four
pvm> alias loop1 loop2
pvm> alias loop2 loop1
pvm> loop1
alias loop
pvm> unalias zz
pvm> aa
zz: not found" "$out"

session "setenv XYZZY a  b
setenv XYZZY
export
export XYZZY
export A
export
unexport XYZZY
export"
same environment "setenv XYZZY a  b
pvm> setenv XYZZY
a b
pvm> export
PVM_EXPORT=
pvm> export XYZZY
pvm> export A
pvm> export
PVM_EXPORT=XYZZY:A
pvm> unexport XYZZY
pvm> export
PVM_EXPORT=A" "$out"

session "tickle 5
tickle 6 16
tickle 5
tickle 6 0"
same tickle "tickle 5
( 0 )
pvm> tickle 6 16
( )
pvm> tickle 5
( 16 )
pvm> tickle 6 0
( )" "$out"

session "bogus
add
conf extra
echo 'open
reset x
ps -z
ps -nnosuch
s
jobs"
same mistakes "bogus
bogus: not found
pvm> add
add: wrong #args
pvm> conf extra
conf: wrong #args
pvm> echo 'open
unmatched '
pvm> reset x
\"x\" arg to reset not valid
pvm> ps -z
unknown flag -z
pvm> ps -nnosuch
unknown host nosuch
pvm> s
s: ambiguous: setenv, setopt, sig, spawn
pvm> jobs" "$out"
same "exit code after mistakes" 1 "$code"
