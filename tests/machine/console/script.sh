#!/usr/bin/env bash
# script - commands from -c, -f, a pipe and ~/.pvmrc; exit codes; abbreviations; JSON.
. "$(dirname "$0")/common"

pvm -c 'echo one;echo "two;three" # four; five
  echo six'
same "-c" "one
two;three
six" "$out"
same "-c: exit code" 0 "$code"

pvm -c 'nosuch; echo after'
same "a failed command" "after" "$out"
same "a failed command: stderr" "nosuch: not found" "$err"
same "a failed command: exit code" 1 "$code"

printf 'echo first\n\n# nothing\nver\necho a; b' >"$work/commands"
pvm -f "$work/commands"
own=$(pvmd3 --version | sed 's/.*dpvm) \(.*\),.*/\1/') # dpvm's version
same "-f" "first
3.4.6 (dpvm $own)
a; b" "$out"
same "-f: exit code" 0 "$code"
pvm -f "$work/nosuch"
same "-f: no such file" 2 "$code"
has "-f: no such file" "No such file" "$err"

printf 'alias hello echo hello from\necho in rc\n' >"$HOME/.pvmrc"
pvm < <(printf 'hello pipe\n\n# a comment\n   \nhello end')
same "a pipe" "pvmd already running.
alias hello echo hello from
echo in rc
in rc
pvm> hello pipe
hello from pipe
pvm> 
pvm> # a comment
pvm>    
pvm> hello end
hello from end
pvm> quit

Console: exit handler called
pvmd still running." "$out"
same "a pipe: exit code" 0 "$code"
pvm <<<'nosuch'
same "a pipe with a mistake: exit code" 1 "$code"
pvm -c 'hello'
same "-c does not read .pvmrc" 1 "$code"
rm "$HOME/.pvmrc"

pvm <<<"$(head -c 70000 /dev/zero | tr '\0' x)
echo next"
has "a line that is too long" "command too long
pvm> echo next
next" "$out"
head -c 20000 /dev/urandom | grep -av '^h' >"$work/noise"
pvm <"$work/noise"
[ "$code" -le 3 ] || fail "random input: exit code $code"

pvm -c 'co; ver; unal x; ha x'
has "abbreviations" "1 host, 1 data format" "$out"
same "an abbreviated command's arity" "halt: wrong #args" "$err"

pvm -c 'conf --json; id --json; version --json; mstat nosuch --json; names nosuch --json; jobs --json'
same "JSON" '{"formats": 1, "hosts": [{"host": "HOST", "dtid": "t40000", "arch": "ARCH", "speed": 1000, "dsig": "DSIG", "slots": SLOTS}]}
{"tid": "TID"}
{"version": "3.4.6", "dpvm": "'"$own"'"}
{"hosts": [{"host": "nosuch", "ok": false, "code": -6, "status": "No such host"}]}
{"names": []}
{"jobs": []}' "$(sed -E 's/"host": "[^"]*", "dtid"/"host": "HOST", "dtid"/; s/LINUX[0-9A-Z]*/ARCH/; s/0x[0-9a-f]{8}/DSIG/; s/"slots": [1-9][0-9]*/"slots": SLOTS/; s/"t4000[1-9a-f]"/"TID"/' <<<"$out")"
pvm -j -c 'getopt PvmRoute; delete nosuch; spawn nosuch; nosuch'
same "-j" '{"options": {"PvmRoute": 1}}
{"successful": 0, "hosts": [{"name": "nosuch", "ok": false, "code": -6, "error": "No such host"}]}
{"job": null, "successful": 0, "tasks": [{"code": -7, "error": "No such file"}]}' "$out"
same "-j: exit code" 1 "$code"
pvm -j -c 'conf; ps -ax; names; getopt; trace; alias x y; alias; tickle 5; mstat "$(printf "\377")"'
python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <<<"$out" || fail "this is not JSON: $out"
same "lines of JSON" 8 "$(wc -l <<<"$out")"

pvm -x
same "a wrong option: exit code" 2 "$code"
pvm a b
same "two hostfiles: exit code" 2 "$code"
pvm -c x -f y
same "-c and -f: exit code" 2 "$code"
pvm --help
has "--help" "pvm run --help" "$out"
pvm --version
has "--version" "3.4.6" "$out"

# A command as arguments; a file of its name is a hostfile.
cd "$work" || exit 1
pvm echo 'a;b' "c'd" '#e'
same "a command as arguments" "a;b c'd #e" "$out"
same "a command as arguments: exit code" 0 "$code"
pvm pstat 40777
same "a command that fails, as arguments: exit code" 1 "$code"
: >echo
pvm echo </dev/null
has "a hostfile with the name of a command" "hostfile echo is not read" "$err"
rm echo
pvm kill 40777
same "killing what is not there: exit code" 1 "$code"
has "killing what is not there" "kill: 40777: " "$err"

# A transport that does not exist: neither the console nor a daemon begins anything with it.
PVM_TRANSPORT=nonsense pvm -c conf
same "PVM_TRANSPORT=nonsense: exit code" 3 "$code"
has "PVM_TRANSPORT=nonsense" 'PVM_TRANSPORT=nonsense: "nonsense" is no transport; usable here: auto' "$err"
PVM_TRANSPORT=nonsense timeout 10 pvmd3 >"$work/daemon" 2>&1
same "a daemon with PVM_TRANSPORT=nonsense: exit code" 1 $?
has "a daemon with PVM_TRANSPORT=nonsense" 'not started: PVM_TRANSPORT=nonsense: "nonsense" is no transport; pvm-info -d lists all' "$(cat "$work/daemon")"
