# shellcheck shell=bash
# groups.sh - part of script/bench: what each group measures. All systems take turns in each round.

# MPICH polls through its time slices when tasks share a processor, which takes some hundred times as long as Open MPI's
# yields: only a full run measures it, in its first round, and not with more than 16 tasks. The reference has one round,
# too, through its daemon: by its direct route 4 tasks sometimes get messages out of order. 16 of its tasks that repeat
# pvm_reduce() or pvm_bcast() get wrong sums or hang.
crowded() { # TASKS: sets `systems`
    systems=(dpvm-shm openmpi-shm)
    if [ "$1" -le "$(nproc)" ]; then
        systems+=(mpich-shm)
    elif [ -z "$quick" ] && [ "$round" = 1 ] && [ "$1" -le 16 ]; then
        systems+=(mpich-shm)
    fi
    [ "$round" != 1 ] || [ "$1" -gt 4 ] || systems+=(reference)
}

# Messages from 64 MiB on and more than 64 tasks take long: they have a few rounds only.
LONG_ROUNDS=3

# ---- the daemon route ----

measure_one() {
    local round system how arguments turns=$rounds
    [ -z "$quick" ] || turns=2
    for ((round = 1; round <= turns; round++)); do
        say "one host, round $round of $turns"
        raw one unix 8 1048576
        raw one hops 8 1048576
        raw one memcpy 1048576
        for how in default raw inplace psend; do
            for system in reference dpvm; do measure one $system -- pingpong $how 8,1048576; done
        done
        for arguments in "pingpong doubles 1048576" "rate default 8 10000" "mcast 16 8" "mcast 16 65536" "barrier 16" \
            "spawn 64" "match 20000"; do
            # shellcheck disable=SC2086
            for system in reference dpvm; do measure one $system -- $arguments; done
        done
    done
    say "one host: idle, 1,000 tasks, $relayed relayed messages"
    for system in reference dpvm; do
        measure one $system -- idle 3
    done
    measure one dpvm -- spawn 1000
    measure one dpvm -- match 100000
    for ((round = 1; round <= 3; round++)); do measure one dpvm -- relay "$relayed"; done # queue depths vary
}

measure_two() { # LEAD...
    local round system how arguments turns=$rounds
    [ -z "$quick" ] || turns=2
    for ((round = 1; round <= turns; round++)); do
        say "two hosts, round $round of $turns"
        for how in default raw; do
            for system in reference dpvm; do measure two $system "$@" -- pingpong $how 8,1048576 h2; done
        done
        for arguments in "rate default 8 5000 h2" "mcast 16 8" "barrier 16" "spawn 32"; do
            # shellcheck disable=SC2086
            for system in reference dpvm; do measure two $system "$@" -- $arguments; done
        done
    done
}

measure_many() {
    local names=() i
    say "64 daemons on this machine"
    for ((i = 2; i <= 64; i++)); do names+=("127.0.0.$i"); done
    start_daemon dpvm
    measure many dpvm -- addhosts "${names[@]}"
    halt dpvm
}

# ---- direct transports ----

measure_shm() {
    local round system how sizes
    for ((round = 1; round <= rounds; round++)); do
        say "two tasks by shared memory, round $round of $rounds"
        sizes=8,1024,4096,16384,65536,1048576,4194304,16777216
        [ -n "$quick" ] || [ "$round" -gt $LONG_ROUNDS ] || sizes+=,67108864,268435456
        raw shm shm 8 65536 1048576
        raw shm memcpy 65536 1048576
        measure shm dpvm-shm -- early raw 1
        measure shm dpvm-shm -- pingpong raw $sizes
        measure shm dpvm-shm -- pingpong default 8,65536,1048576
        measure shm dpvm-shm -- pingpong psend 8,65536,1048576,4194304,16777216
        measure shm reference-direct -- pingpong raw 8,65536,1048576
        measure shm dpvm-shm -- rate raw 8 200000
        measure shm dpvm-shm -- rate psend 8 200000
        measure shm reference-direct -- rate raw 8 20000
        for system in "${mpis_shm[@]}"; do
            # shellcheck disable=SC2086
            mpibench shm $system 2 early 1 + pingpong ${sizes//,/ } + rate 8
        done
    done
}

# The speed of one processor with the cipher of encrypted links, as the time of a message.
measure_cipher() { # GROUP BYTES...
    local group=$1 kb_per_s
    shift
    run 20 openssl speed -seconds 1 -evp aes-128-gcm -bytes 16384 || return 0
    kb_per_s=$(awk '/^AES-128-GCM/ { print $2 + 0 }' "$work/out")
    awk -v k="${kb_per_s:-0}" -v sizes="$*" 'k > 0 { n = split(sizes, s, " ")
        for (i = 1; i <= n; i++) print "aes128gcm." s[i], s[i] / k * 1e3, "us" }' <<<'' >"$work/out"
    note "$group" openssl
}

measure_tcp() {
    local round system how
    for ((round = 1; round <= rounds; round++)); do
        say "two tasks by TCP on one host, round $round of $rounds"
        for how in spin sleep; do raw tcp tcp $how 8 65536 4194304; done
        raw tcp sealed spin 8 65536 1048576 4194304
        measure tcp dpvm-tcp-sleep -- pingpong raw 8,65536,4194304
        for system in dpvm-tcp dpvm-tls; do
            for how in raw psend; do measure tcp $system -- pingpong $how 8,65536,1048576,4194304; done
        done
        measure_cipher tcp 65536 1048576 4194304
        measure tcp dpvm-tcp -- rate raw 8 50000
        measure tcp reference-direct -- pingpong raw 8,65536,4194304
        for system in "${mpis_tcp[@]}"; do mpibench tcp $system 2 pingpong 8 65536 1048576 4194304 + rate 8; done
    done
}

# Starts raw on h2, which prints its port: sets `port` and `server`.
serve_on_h2() { # ARGUMENT...
    local tries
    port=
    rm -f "$work/port"
    lab exec h2 timeout 60 "$bench/raw" "$@" </dev/null >"$work/port" 2>&1 &
    server=$!
    daemons+=("$server")
    for ((tries = 0; tries < 100; tries++)); do
        port=$(head -n 1 "$work/port" 2>/dev/null || true)
        [ -z "$port" ] || break
        sleep 0.05
    done
}

# Sockets between the namespaces.
raw_net() { # SERVER'S ARGUMENTS -- CLIENT'S ARGUMENTS; PORT stands for the port
    local port server served=()
    while [ "$1" != -- ]; do
        served+=("$1")
        shift
    done
    shift
    serve_on_h2 "${served[@]}"
    record net raw env NETLAB_DIR="$work" "$top/tests/lab/netlab" -l "bench$$" exec h1 "$bench/raw" "${@/PORT/$port}"
    stop "$server"
    unset 'daemons[-1]'
}

measure_net() { # LEAD...
    local round system how
    mpi_lead=("$@")
    for ((round = 1; round <= rounds; round++)); do
        say "tasks by TCP between hosts, round $round of $rounds"
        for how in spin sleep; do raw_net serve $how -- meet $how 10.42.0.2 PORT 8 65536 4194304; done
        raw_net sink -- pairs 16 10.42.0.2 PORT 65536
        measure net dpvm-tcp-sleep "$@" -- pingpong raw 8,65536,4194304 h2
        for system in dpvm-tcp dpvm-tls; do
            for how in raw psend; do measure net $system "$@" -- pingpong $how 8,65536,4194304 h2; done
            program net $system 32 env PROGRAM_HOST=h2 "$@" -- pairs 65536
        done
        measure net reference-direct "$@" -- pingpong raw 8,65536,4194304 h2
        for system in "${mpis_tcp[@]}"; do mpibench net $system 2 pingpong 8 65536 4194304; done
        [ -z "$quick" ] || continue
        program net openmpi-tcp 32 -- pairs 65536
        for system in dpvm-tcp openmpi-tcp; do
            program net $system 16 env PROGRAM_HOST=h2 "$@" -- barrier 8 + bcast 8 + reduce 8 + gather 8 + scatter 8
        done
    done
    mpi_lead=()
}

# ---- many tasks on one host ----

measure_crowd() {
    local round system arguments tasks counts groups turns=$rounds
    [ -z "$quick" ] || turns=1
    for ((round = 1; round <= turns; round++)); do
        say "many tasks, round $round of $turns"
        counts="4 16 32 64" groups="4 16 64"
        [ "$round" -gt $LONG_ROUNDS ] || counts+=" 128" groups+=" 256"
        [ -z "$quick" ] || counts="4 16 64" groups=16
        for arguments in "mcast 8 1048576" "ring 16 8" "spawn 64"; do
            # shellcheck disable=SC2086
            for system in reference dpvm-shm; do measure crowd $system -- $arguments; done
        done
        measure crowd dpvm-shm -- match 100000
        crowded 16
        for system in openmpi-shm mpich-shm; do
            mpibench crowd $system 64 start "$(date +%s%N)"
            [[ " ${systems[*]} " == *" $system "* ]] || continue
            mpibench crowd $system 9 mcast 1048576
            mpibench crowd $system 16 ring 8
        done
        for tasks in $counts; do measure_barrier "$tasks"; done
        for system in dpvm-shm dpvm openmpi-shm; do program crowd $system 64 -- mesh 8 + alltoall 8; done
        for tasks in $groups; do
            for system in dpvm-shm dpvm-shm-changing openmpi-shm; do
                # 256 tasks of Open MPI take minutes.
                [[ $system = dpvm-* || $tasks -le 64 || $round = 1 ]] || continue
                program crowd $system "$tasks" -- bcast 8 + reduce 8 + gather 8 + scatter 8
            done
        done
    done
    measure crowd dpvm-shm -- peers 100
}

measure_barrier() { # TASKS
    local system
    measure crowd dpvm-shm -- barrier "$1"
    [ "$1" -gt 16 ] || measure crowd reference -- barrier "$1"
    crowded "$1"
    for system in "${systems[@]}"; do
        [[ $system != *mpi* ]] || mpibench crowd "$system" "$1" barrier
    done
}

# Programs with the pattern of real codes, see bench/programs/main.c.
measure_programs() {
    local round system tasks turns=$rounds
    [ -z "$quick" ] || turns=1
    for ((round = 1; round <= turns; round++)); do
        say "whole programs, round $round of $turns"
        for tasks in 2 4 16; do
            crowded $tasks
            for system in "${systems[@]}"; do
                program programs "$system" $tasks -- halo 1024 32768 1048576 + cg 65536 + transpose 256 1024 + farm 1000
            done
        done
        for system in dpvm-shm openmpi-shm; do program programs $system 33 -- farm 10; done
    done
}

# The kernels of examples/nas and examples/genesis, class W: the same objects over each system. What begins a round ends
# the next one. MPICH's tasks need a processor each: with more of them CG alone takes minutes.
measure_kernels() {
    local round system kernel tasks order turns=$rounds
    [ -z "$quick" ] || turns=1
    for ((round = 1; round <= turns; round++)); do
        say "kernels, round $round of $turns"
        for kernel in "${kernels[@]}"; do
            for tasks in 2 4; do
                order=(dpvm-shm openmpi-shm)
                [ $tasks -gt "$(nproc)" ] || order+=(mpich-shm)
                [ $((round % 2)) = 1 ] || mapfile -t order < <(printf '%s\n' "${order[@]}" | tac)
                for system in "${order[@]}"; do kernel kernels "$system" $tasks "$kernel"; done
            done
        done
    done
}

measure_curve() {
    local sizes=4,16,64,256,1024,4096,16384,65536,262144,1048576,4194304 round system turns=$(((rounds + 2) / 3))
    for ((round = 1; round <= turns; round++)); do
        say "latency and bandwidth against size, round $round of $turns"
        for system in reference reference-direct dpvm-daemon dpvm-tcp dpvm-shm; do
            measure curve $system -- pingpong raw $sizes
        done
        measure curve dpvm-shm -- pingpong psend $sizes
        # shellcheck disable=SC2086
        for system in "${mpis_shm[@]}" "${mpis_tcp[@]}"; do mpibench curve $system 2 pingpong ${sizes//,/ }; done
        # shellcheck disable=SC2086
        {
            raw curve tcp spin ${sizes//,/ }
            raw curve unix ${sizes//,/ }
            raw curve shm ${sizes//,/ }
        }
    done
}

# ---- Directed Point ----

# libdp against sockets and plain frames, see bench/dp.
measure_dp() {
    local code=0
    if [ "$(id -u)" != 0 ]; then
        say "Directed Point: not measured, making network namespaces needs root"
        return
    fi
    say "Directed Point between two namespaces, $dp_rounds rounds"
    run $((dp_rounds * 600)) bench/dp "$build" "$dp_rounds" "$quick" || code=$?
    grep -v '^dp-perf: node' "$work/err" >&2 || true
    [ $code = 0 ] || say "script/bench: Directed Point is not measured (exit code $code)"
    cat "$work/out" >>"$samples"
}

# PVM over it and over TCP on the same network.
measure_dppvm() { # LEAD...
    local round system
    for ((round = 1; round <= rounds; round++)); do
        say "two tasks by dp and by tcp between hosts, round $round of $rounds"
        for system in dpvm-dp dpvm-tcp dpvm-dp-sleep dpvm-tcp-sleep; do
            measure dppvm $system "$@" -- pingpong raw 8,65536,1048576 h2
        done
    done
}

# ---- RDMA ----

# In one run of a virtual machine with soft-RoCE devices, see bench/rdma.
measure_rdma() {
    local code=0 seconds=${RDMA_BENCH_SECONDS:-${quick:+60}}
    seconds=${seconds:-240}
    say "RDMA in a virtual machine, $seconds s"
    run $((seconds + 300)) tests/lab/rxe-vm run -t $((seconds + 280)) -w "$work" -- "$top/bench/rdma" "$build" "$seconds" || code=$?
    cat "$work/err" >&2
    [ $code = 0 ] || say "script/bench: RDMA is not measured (exit code $code)"
    cat "$work/out" >>"$samples"
}

# ---- simulated ATM ----

# Eight hosts per switch (of 1,000: fifty), and one more switch that joins these. Host i of the first half has a circuit to
# host i of the second half; PDUs have 4000 octets.
atm_topology() { # HOSTS
    local i each=8 switches
    [ "$1" -lt 1000 ] || each=50
    switches=$((($1 + each - 1) / each))
    echo "switch core model=asx200 ports=$((switches + 1))"
    for ((i = 1; i <= switches; i++)); do
        echo "switch s$i model=asx200 ports=64"
        echo "link s$i core rate=oc12 delay=500ns"
    done
    echo "host h[1-$1] profile=ideal"
    for ((i = 1; i <= $1; i++)); do echo "link h$i s$((i % switches + 1)) rate=oc3 delay=500ns"; done
    for ((i = 1; i <= $1 / 2; i++)); do echo "pvc h$i h$((i + $1 / 2))"; done
}

measure_atm() {
    local round hosts turns=$rounds
    [ -z "$quick" ] || turns=1
    for ((round = 1; round <= turns; round++)); do
        say "simulated ATM networks, round $round of $turns"
        for hosts in 2 16 64 256 1000; do
            atm_topology $hosts >"$work/net.atm"
            run 120 "$bin/atm-sim" run --speed --time $((4000 / hosts))ms --size 4000 "$work/net.atm"
            awk -v hosts=$hosts '/events\/s/ { print "event." hosts, 1000 / $3, "ns" }' "$work/err" >"$work/out"
            note atm atm-sim
        done
        run 120 "$bin/atm-sim" reproduce --speed
        note atm atm-sim
    done
}
