#!/usr/bin/env bash
# mpirun - pvm run beside Open MPI's mpirun: the same command lines have the same exit codes, output, input and signals.
. "$(dirname "$0")/common"

command -v mpirun.openmpi >/dev/null || { echo "mpirun: script/bootstrap installs Open MPI"; exit 1; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader OMPI_MCA_orte_tmpdir_base=$work

mkdir "$work/here"
cd "$work/here" || exit 1
printf '#!/bin/sh\necho local "$@"\n' >script
printf '#!/bin/sh\n' >closed
printf '#!/nowhere/sh\n' >orphan
printf 'no program\n' >text
chmod +x script orphan text
seq 1 200000 >numbers

# One command line in both: OPTIONS... PROGRAM ARGUMENTS..., with $input as standard input.
both() {
    local launcher
    for launcher in pvm mpirun; do
        case $launcher in
        pvm) command=("$DPVM_BIN/pvm" run) ;;
        mpirun) command=(mpirun.openmpi) ;;
        esac
        rm -rf first
        timeout -k 5 60 "${command[@]}" "$@" <"${input:-/dev/null}" >"$work/$launcher.out" 2>"$work/$launcher.err"
        echo $? >"$work/$launcher.code"
        sort "$work/$launcher.out" >"$work/$launcher.sorted"
    done
    line="$*"
}

code_of() { cat "$work/$1.code"; }

# The same code and the same lines on standard output, in any order.
alike() {
    both "$@"
    same "$line: exit code" "$(code_of mpirun)" "$(code_of pvm)"
    cmp -s "$work/mpirun.sorted" "$work/pvm.sorted" ||
        fail "$line: standard output: $(diff "$work/mpirun.sorted" "$work/pvm.sorted" | head -5)"
}

# Neither can start it; we say what is wrong, and where.
refused() { # PART-OF-OUR-MESSAGE WORD...
    local part=$1
    shift
    both "$@"
    [ "$(code_of mpirun)" != 0 ] || fail "$line: mpirun succeeds"
    [ "$(code_of pvm)" != 0 ] || fail "$line: pvm run succeeds"
    has "$line" "$part" "$(cat "$work/pvm.err")"
}

# Without -np, mpirun starts a copy per processor, and pvm run one.
alike true
alike false
alike /bin/false
alike sh -c 'exit 7'
alike -np 3 sh -c 'exit 3'
alike sh -c 'kill -SEGV $$'
has "a task that is killed" "killed by signal 11 (Segmentation fault" "$(cat "$work/pvm.err")"
alike sh -c 'kill -KILL $$'
alike -np 3 echo hello
alike -n 2 printf 'no newline'
alike -np 1 sh -c 'echo out; echo err >&2'
same "standard error stays apart" err "$(cat "$work/pvm.err")"
alike -np 1 ./script a b
alike -np 2 ./script
alike -np 1 -wd / pwd
alike -np 1 -wdir /tmp pwd
alike -np 1 -x COLOUR=red sh -c 'echo $COLOUR'
SHAPE=round alike -np 2 -x SHAPE sh -c 'echo $SHAPE'
alike -np 1 echo first : -np 2 echo second
input=numbers alike -np 1 cat
input=numbers alike -np 2 wc -l
input=numbers alike -np 1 --stdin none cat
alike -np 1 cat numbers
alike -np 1 sh -c 'cat numbers; exit 4'
alike --host localhost:2 -np 2 echo here
refused "exit code 5" -np 4 sh -c 'mkdir first 2>/dev/null && exit 5; sleep 60'
same "one that fails ends all: exit code" "$(code_of mpirun) $(code_of mpirun)" "$(code_of pvm) 5"
both --timeout 1 sleep 60
[ "$(code_of mpirun)" != 0 ] || fail "mpirun knows no --timeout"
same "$line: exit code" 124 "$(code_of pvm)"

refused "no program nosuch in" nosuch
refused "no program $work/here/nosuch: No such file or directory" ./nosuch
refused "no permission to execute it (chmod +x" ./closed
refused "it is a folder" "$work"
refused "its interpreter /nowhere/sh does not exist here" ./orphan
refused "it is neither a program for this machine nor a script" ./text
refused "cannot enter working directory /nonexist" -wd /nonexist true

# SIGUSR1 reaches the tasks.
for launcher in pvm mpirun; do
    case $launcher in
    pvm) command=("$DPVM_BIN/pvm" run) ;;
    mpirun) command=(mpirun.openmpi) ;;
    esac
    : >"$work/out"
    "${command[@]}" -np 2 sh -c 'trap "echo caught; exit 9" USR1; echo ready; for i in $(seq 300); do sleep 0.1; done' >"$work/out" 2>/dev/null &
    runner=$!
    eventually sh -c "[ \$(grep -c ready '$work/out') = 2 ]" || fail "$launcher: the tasks do not start"
    kill -USR1 $runner
    wait $runner
    same "$launcher: exit code after SIGUSR1" 9 $?
    grep -q caught "$work/out" || fail "$launcher: SIGUSR1 does not arrive"
done

pvm run -n 1 sh -c 'exit 9' : nosuch
same "one that cannot start: exit code" 1 "$code"
mkdir -p sub
pvm run -w sub pwd
same "a relative folder" "$work/here/sub" "$out"

# Each task has a colour on a terminal, unless NO_COLOR is set or the terminal is dumb.
on_terminal() { script -qec "$DPVM_BIN/pvm run -p echo hi" /dev/null </dev/null; }
TERM=xterm on_terminal | grep -q $'\e\[[0-9]*m\[t4[0-9a-f]*\]' || fail "a terminal: no colours"
for plain in "TERM=dumb" "TERM=xterm NO_COLOR=1"; do
    env_out=$(export $plain; on_terminal)
    has "$plain" "] hi" "$env_out"
    case $env_out in *$'\e'*) fail "$plain: colours" ;; esac
done

pvm run --bind-to core true
same "an option that means nothing here: exit code" 2 "$code"
has "an option that means nothing here" "--bind-to is an option of mpirun: " "$err"
pvm run -np 2 --host nosuch.invalid:x true
same "wrong slots: exit code" 2 "$code"
has "wrong slots" "give slots as a number" "$err"
printf 'localhost slots=many\n' >hosts
pvm run --hostfile hosts true
same "wrong hostfile: exit code" 2 "$code"
has "wrong hostfile" "--hostfile hosts, line 1: give slots as a number" "$err"
pvm run --tag-output sh -c 'echo out; echo err >&2'
has "tagged output" "]<stdout> out" "$out"
has "tagged errors" "]<stderr> err" "$err"
nothing_left
