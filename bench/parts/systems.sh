# shellcheck shell=bash
# systems.sh - part of script/bench: starts the systems and their programs, and records what they print.
#
# Groups of measurements use these names of systems:
#   reference, reference-direct       Debian's PVM, through its daemon and by its direct route
#   dpvm                              through the daemon (PvmDontRoute)
#   dpvm-daemon, -shm, -tcp           PvmRouteDirect with this PVM_TRANSPORT; -sleep: with PVM_SPIN=0; tcp in the clear;
#                                     -changing: programs whose group is not frozen
#   dpvm-tls                          the same over TCP, encrypted, as links between hosts are by default
#   openmpi-shm, -tcp, mpich-shm, -tcp
#   raw, openssl                      without a message passing system

mpis_shm=(openmpi-shm mpich-shm) mpis_tcp=(openmpi-tcp mpich-tcp)

has() { # SYSTEM
    case $1 in
    reference*) [ -x "$bench/pvmbench-reference" ] && [ -x /usr/bin/pvmd ] ;;
    dpvm*) [ -x "$bench/pvmbench" ] ;;
    openmpi*) [ -x "$bench/mpibench-openmpi" ] && command -v mpirun.openmpi >/dev/null ;;
    mpich*) [ -x "$bench/mpibench-mpich" ] && command -v mpiexec.mpich >/dev/null ;;
    raw) [ -x "$bench/raw" ] ;;
    esac
}

# Sets `surroundings`: the variables of a PVM system.
surround() { # SYSTEM
    surroundings=(PVM_TMP="$work/${1%%-*}" PVM_EXPORT=PVMBENCH_ROUTE:PROGRAM_CHANGING:PVM_TRANSPORT:PVM_SPIN:PVM_TCP_TLS)
    case $1 in
    reference*) surroundings+=(PVM_ROOT=/usr/lib/pvm3 PVM_ARCH=LINUX64) ;;
    dpvm-tcp*) surroundings+=(PVM_TRANSPORT=tcp PVM_TCP_TLS=0) ;;
    dpvm-tls*) surroundings+=(PVM_TRANSPORT=tcp PVM_TCP_TLS=1) ;;
    dpvm-dp*) surroundings+=(PVM_TRANSPORT=dp) ;;
    dpvm-shm*) surroundings+=(PVM_TRANSPORT=shm) ;;
    dpvm-*) surroundings+=(PVM_TRANSPORT="${1#dpvm-}") ;;
    esac
    case $1 in *-direct | dpvm-*) surroundings+=(PVMBENCH_ROUTE=direct) ;; esac
    case $1 in *-sleep) surroundings+=(PVM_SPIN=0) ;; *-changing) surroundings+=(PROGRAM_CHANGING=1) ;; esac
}

# ---- daemons ----

daemon() { if [ "$1" = reference ]; then echo /usr/bin/pvmd; else echo "$bin/pvmd3"; fi; }
pvmbench() { case $1 in reference*) echo "$bench/pvmbench-reference" ;; *) echo "$bench/pvmbench" ;; esac; }

start_daemon() { # reference|dpvm [command that enters a namespace]
    local system=$1 tries surroundings
    shift
    has "$system" || return 0
    surround "$system"
    mkdir -p -m 700 "$work/$system"
    rm -f "$work/$system.out" # must not hold the line of an earlier daemon
    # stdout has only the daemon's address, and the daemon must not inherit our descriptors. As a daemon that "pvm" starts,
    # it is in a process group of its own, but in the session of its tasks' parents, as all tasks of an MPI program are.
    set -m
    env "${surroundings[@]}" "$@" "$(daemon "$system")" </dev/null >"$work/$system.out" 2>&1 &
    set +m
    daemons+=($!)
    for ((tries = 0; tries < 100; tries++)); do
        [ -s "$work/$system.out" ] && return
        sleep 0.05
    done
    say "script/bench: the daemon of $system did not start:"
    cat "$work/$system.out" >&2
    exit 1
}

halt() { # reference|dpvm [command that enters a namespace]: ends the daemon that was started last
    local system=$1 surroundings
    shift
    has "$system" || return 0
    surround "$system"
    run 20 env "${surroundings[@]}" "$@" "$(pvmbench "$system")" halt || true
    wait "${daemons[-1]}" 2>/dev/null || true
    unset 'daemons[-1]'
}

# A daemon that ssh starts in the other namespace needs the same environment.
write_wrapper() { # SYSTEM
    {
        echo '#!/bin/sh'
        echo "export PVM_ALLOW_ROOT=1 HOME=$work/home PVM_TMP=$work/$1-h2"
        [ "$1" = dpvm ] || echo 'export PVM_ROOT=/usr/lib/pvm3 PVM_ARCH=LINUX64'
        echo "exec $(daemon "$1") \"\$@\""
    } >"$work/$1-pvmd"
    chmod +x "$work/$1-pvmd"
    mkdir -p -m 700 "$work/$1-h2"
}

# ---- programs ----

# Runs a command in the background, so that this script reacts to a signal at once. The output goes to $work/out.
run() { # SECONDS COMMAND...
    local seconds=$1 code=0
    shift
    timeout -k 5 "$seconds" "$@" </dev/null >"$work/out" 2>"$work/err" &
    job=$!
    wait "$job" || code=$?
    job=
    return $code
}

# Records the output of the last run: group, system, name, value, unit. Sums of results are compared, not shown.
note() { # GROUP SYSTEM
    awk -v g="$1" -v s="$2" -v sums="$sums" '
        NF == 3 && $3 == "sum" { print $1, $2, s >>sums; next }
        NF == 3 { print g, s, $0 }' "$work/out" >>"$samples"
}

# A kernel prints "NAME class W: 4 tasks, ..., 0.1234 s ...".
turn_into_figures() {
    awk '$2 == "class" && $5 == "tasks," && match($0, / [0-9]+[.][0-9]+ s/) {
        print "kernel." $1 "." $4, substr($0, RSTART, RLENGTH - 2) * 1e3, "ms" }' "$work/out" >"$work/figures"
    mv "$work/figures" "$work/out"
}

# Runs a command and records its output; an error is reported, and the figures are then missing.
record() { # GROUP SYSTEM COMMAND...
    local group=$1 system=$2
    shift 2
    if run 180 "$@"; then
        [ "$group" != kernels ] || turn_into_figures
        note "$group" "$system"
    else
        say "script/bench: failed on $system ($group): ${*: -6}: $(head -c 400 "$work/err")"
    fi
}

raw() { # GROUP ARGUMENT...
    record "$1" raw "$bench/raw" "${@:2}"
}

# Runs a PVM program once.
pvm() { # GROUP SYSTEM PROGRAM LEAD... -- ARGUMENT...
    local group=$1 system=$2 program=$3 lead=() surroundings
    shift 3
    while [ "$1" != -- ]; do
        lead+=("$1")
        shift
    done
    shift
    has "$system" || return 0
    surround "$system"
    record "$group" "$system" env "${surroundings[@]}" "${lead[@]}" "$program" "$@"
}

# Runs an MPI program once, half of it on each of two hosts if $mpi_lead enters a host.
mpi_lead=()
mpi() { # GROUP SYSTEM PROGRAM RANKS ARGUMENT...
    local group=$1 system=$2 program=$3 ranks=$4 launch=() bind=none hosts=()
    shift 4
    has "$system" || return 0
    # Bind ranks only if each has its own processor; two hosts would both bind their rank to the first one.
    [ "$ranks" -gt "$(nproc)" ] || [ ${#mpi_lead[@]} -gt 0 ] || bind=core
    case $system in
    openmpi-*)
        [ ${#mpi_lead[@]} -eq 0 ] || hosts=(--host "h1:$((ranks / 2)),h2:$((ranks / 2))" --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0)
        launch=(mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to $bind "${hosts[@]}" -x BENCH_BLOCK_US --mca pml ob1)
        # It knows that they share processors only where it was not told the number of slots.
        [ ${#mpi_lead[@]} -eq 0 ] || [ "$ranks" -le "$(nproc)" ] || launch+=(--mca mpi_yield_when_idle 1)
        case $system in *-tcp) launch+=(--mca btl self,tcp) ;; *) launch+=(--mca btl self,vader --mca btl_vader_backing_directory "$segments") ;; esac
        ;;
    mpich-*)
        [ ${#mpi_lead[@]} -eq 0 ] || hosts=(-launcher ssh -hosts h1,h2 -ppn $((ranks / 2)))
        launch=(mpiexec.mpich -bind-to $bind "${hosts[@]}" -genv BENCH_BLOCK_US "$BENCH_BLOCK_US")
        case $system in *-tcp) launch+=(-genv UCX_TLS tcp,self) ;; esac
        ;;
    esac
    record "$group" "$system" env TMPDIR="$work/mpi" "${mpi_lead[@]}" "${launch[@]}" -n "$ranks" "$program" "$@"
}

measure() { # GROUP SYSTEM LEAD... -- ARGUMENT...: pvmbench
    pvm "$1" "$2" "$(pvmbench "$2")" "${@:3}"
}

mpibench() { # GROUP SYSTEM RANKS ARGUMENT...
    mpi "$1" "$2" "$bench/mpibench-${2%%-*}" "${@:3}"
}

# One of bench/programs with any system.
program() { # GROUP SYSTEM TASKS LEAD... -- ARGUMENT...
    local group=$1 system=$2 tasks=$3 lead=()
    shift 3
    while [ "$1" != -- ]; do
        lead+=("$1")
        shift
    done
    shift
    case $system in
    *mpi*) mpi "$group" "$system" "$bench/program-${system%%-*}" "$tasks" "$tasks" "$@" ;;
    *) pvm "$group" "$system" "$bench/program-${system%%-*}" "${lead[@]}" -- "$tasks" "$@" ;;
    esac
}

kernels=(ep cg ft is mg pde1 pde2 solver)

# One of the kernels of examples with any system; a wrong result is an error.
kernel() { # GROUP SYSTEM TASKS NAME
    local group=$1 system=$2 tasks=$3 name=$4
    case $system in
    *mpi*) mpi "$group" "$system" "$bench/kernel-$name-${system%%-*}" "$tasks" --class W --tasks "$tasks" --verify ;;
    dpvm*) pvm "$group" "$system" "$bin/examples/$name" -- --class W --tasks "$tasks" --verify ;;
    esac
}
