#!/usr/bin/env bash
# batch - pvm run and the console in jobs of PBS and LSF: hosts and slots of their files, blaunch, and bad files.
. "$(dirname "$0")/common"
unset ${!SLURM_*} ${!PBS_*} ${!LSB_*} PVM_SCHEDULER
own=$(hostname)
nodes=$work/nodes

# ---- PBS: a line for each slot ----

export PBS_JOBID=12[3].server/x PBS_NODEFILE=$nodes
printf '%s\n' "$own" 127.0.0.2 127.0.0.2 >"$nodes"
pvm run sh -c 'echo task'
same "PBS: a task per slot" $'task\ntask\ntask' "$out$err"
pvm run -n 2 sh -c 'echo task'
same "PBS: -n" $'task\ntask' "$out$err"
pvm run -H . sh -c 'echo task'
same "PBS: -H" task "$out$err"
pvm -c 'conf --json; halt'
same "PBS: slots" '127.0.0.2 2' "$(python3 -c 'import json, sys
for host in json.loads(sys.stdin.readline())["hosts"][1:]: print(host["host"], host["slots"])' <<<"$out")"
pvm -c 'spawn -1 sleep 100; setenv; version'
[ -e "$PVM_TMP/pvmd.$(id -u).pbs.12[3].server_x" ] || fail "the job's machine has no name of its own: $(ls "$PVM_TMP")"
pvm halt
PVM_VMID=mine pvm -c 'conf --json; halt'
has "PBS: PVM_VMID" 127.0.0.2 "$out"
export PVM_SCHEDULER=none
pvm run sh -c 'echo task'
same "PVM_SCHEDULER=none" task "$out$err"
export PVM_SCHEDULER=lsf
pvm run sh -c 'echo task'
same "PVM_SCHEDULER of another system" task "$out$err"
unset PVM_SCHEDULER

printf 'a b\n' >"$nodes"
pvm run true
same "PBS: a bad line: code" 3 "$code"
has "PBS: a bad line" "PBS_NODEFILE=$nodes, line 1: not the name of a host" "$err"
has "PBS: what to do" "PVM_SCHEDULER=none" "$err"
: >"$nodes"
pvm run true
has "PBS: an empty file" "it names no host" "$err"
rm "$nodes"
pvm -c conf
same "PBS: no file: code" 3 "$code"
has "PBS: no file" "No such file" "$err"
unset PBS_JOBID PBS_NODEFILE

# ---- LSF: the same, or names and numbers; blaunch starts the daemons ----

cat >"$work/bin/blaunch" <<END
#!/bin/sh
echo "\$1" >>$work/launched
mkdir -p -m 700 $work/tmp.\$1
export PVM_TMP=$work/tmp.\$1 # another host has another folder
shift
exec sh -c "\$*"
END
chmod +x "$work/bin/blaunch"
PATH=$work/bin:$PATH
export LSB_JOBID=77 LSB_MCPU_HOSTS="$own 1 127.0.0.2 2 "
pvm -c 'conf --json; halt'
has "LSF: slots" '"slots": 2' "$out"
same "LSF: blaunch" 127.0.0.2 "$(cat "$work/launched")"
export LSB_DJOB_HOSTFILE=$nodes LSB_JOBINDEX=3
printf '%s\n' 127.0.0.3 "$own" >"$nodes"
pvm -c 'conf --json; echo; halt'
has "LSF: the file counts" 127.0.0.3 "$out"
unset LSB_DJOB_HOSTFILE
LSB_MCPU_HOSTS="$own one"
pvm run true
same "LSF: a bad list: code" 3 "$code"
has "LSF: a bad list" "LSB_MCPU_HOSTS=$own one: not a list of hosts" "$err"
LSB_MCPU_HOSTS="$own 1 127.0.0.2 1"
printf '#!/bin/sh\necho "blaunch: no such host" >&2; exit 1\n' >"$work/bin/blaunch"
pvm run true
same "LSF: blaunch fails: code" 1 "$code"
has "LSF: blaunch fails" "blaunch: no such host" "$err"

