#!/usr/bin/env bash
# doctor CASE - pvm doctor: each case seeds a fault and expects its severity, its cure and the exit code.
. "$(dirname "$0")/common"
here=$(cd "$(dirname "$0")/../../.." && pwd)
case=${1:?which case}
test_name=doctor.$case
user=$(id -u)
root=$([ "$user" = 0 ] && echo yes)

# ---- asking ----

# The results of this name, a line each: severity|text|cure. Of a host, if one is given.
results() { # NAME [HOST]
    python3 -c '
import json, sys
report, name, host = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
assert set(report) >= {"version", "protocol", "host", "time", "results", "hosts", "errors", "warnings"}, report.keys()
lists = [h["results"] for h in report["hosts"] if h["name"] == host] if host else [report["results"]]
for result in sum(lists, []):
    assert set(result) == {"name", "severity", "text", "cure"}, result
    if result["name"] == name:
        print(result["severity"], result["text"], result["cure"], sep="|")
' "$work/json" "$1" "${2-}"
}

examine() { # [ARGUMENT...]
    "${around[@]}" timeout -k 5 120 "${checker[@]}" "$DPVM_BIN/pvm" doctor --timeout 60 --json "$@" \
        >"$work/json" 2>"$work/err"
    code=$?
}
around=(env)

# pvm doctor reports this, in JSON and to people.
trouble() { # NAME SEVERITY TEXT CURE [ARGUMENT...]
    local name=$1 severity=$2 text=$3 cure=$4 found shown host=
    shift 4
    [ $# = 0 ] || [ "${1#-}" != "$1" ] || host=${1%% *}
    examine "$@"
    same "exit code" "$([ "$severity" = error ] && echo 1 || echo 0)" "$code"
    found=$(results "$name" "$host" | grep "^$severity|")
    has "$name" "$text" "$(cut -d'|' -f2 <<<"$found")"
    has "the cure" "$cure" "$(cut -d'|' -f3 <<<"$found")"
    shown=$("${around[@]}" timeout -k 5 120 "${checker[@]}" "$DPVM_BIN/pvm" doctor -q --timeout 60 "$@" 2>>"$work/err")
    has "for people" "$(printf '%-8s %s%s: ' "$severity" "${host:+$host: }" "$name")" "$shown"
    has "for people" "         cure: " "$shown"
    has "for people: the cure" "$cure" "$shown"
    same "nothing on standard error" "" "$(cat "$work/err")"
}

# ---- seeded faults ----

# Runs the rest in a mount namespace of its own, or skips.
in_own_mounts() {
    [ -n "$root" ] && unshare -m true 2>/dev/null || skip "needs root and mount namespaces"
    around=(unshare -m sh -c "$1; exec \"\$@\"" sh)
}

# As another user, to whom this test's folder belongs.
as_nobody() {
    around=(env "$@")
    [ -n "$root" ] || return 0
    chmod 755 "$work"
    chown -R 65534:65534 "$HOME" "$PVM_TMP" "$PVM_PATH"
    around=(setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
    "${around[@]}" test -x "$DPVM_BIN/pvm" || skip "$DPVM_BIN is closed to others"
}

case_healthy() {
    examine
    same "exit code" 0 "$code"
    same "settings" ok "$(results settings | cut -d'|' -f1)"
    has "no daemon" "none runs here" "$(results daemon)"
    daemon_runs && fail "it started a daemon"
    nothing_left
    pvm -c id
    examine
    same "exit code with a daemon" 0 "$code"
    has "a daemon" "answers; dpvm " "$(results daemon)"
    pvm doctor --timeout 60
    same "exit code for people" 0 "$code"
    has "for people" "ok       daemon: runs" "$out"
    has "no colours" "" "$(grep -c $'\033' <<<"$out")"
}

case_usage() {
    for wrong in --nonsense "--timeout 0" "--timeout x" "-- -oProxyCommand=id" "'' x" "lo=me"; do
        eval "pvm doctor $wrong"
        same "exit code of $wrong" 2 "$code"
        has "$wrong" "pvm doctor" "$err"
        same "output of $wrong" "" "$out"
    done
    pvm doctro
    same "exit code of a misspelt doctor" 2 "$code"
    has "a misspelt doctor" "did you mean pvm doctor?" "$err"
    pvm doctor --help
    same "exit code of --help" 0 "$code"
    has "--help" "exit code is 0" "$out"
}

case_folder_of_group() {
    chmod 770 "$PVM_TMP"
    trouble folder error "others may replace files in folder $PVM_TMP" "chmod go-w $PVM_TMP"
    chmod 700 "$PVM_TMP"
}

case_no_folder() {
    PVM_TMP=$work/none
    trouble folder error "cannot use folder $work/none: No such file" "mkdir -m 700 $work/none"
}

case_foreign_folder() {
    [ -n "$root" ] || skip "needs root"
    chown 65534 "$PVM_TMP"
    trouble folder error "the folder of another user" "export PVM_TMP=~/pvm-tmp"
    chown 0 "$PVM_TMP"
}

case_stale() {
    pvm -c id
    kill -KILL "$(daemon_pid)"
    # Its sweeper may remove these, so they are made again.
    eventually daemon_is_gone
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$PVM_TMP/pvmtmp000001.0"
    printf %s "$PVM_TMP/pvmtmp000001.0" >"$PVM_TMP/pvmd.$user"
    chmod 600 "$PVM_TMP/pvmd.$user"
    trouble daemon warning "pvmd.$user is stale: nobody listens" "rm $PVM_TMP/pvmd.$user"
    trouble files warning "1 socket of killed daemons is left" "rm $PVM_TMP/pvmtmp000001.0"
    rm "$PVM_TMP/pvmtmp000001.0"
    trouble daemon warning "which is not there: the daemon was killed" "rm $PVM_TMP/pvmd.$user"
    rm "$PVM_TMP/pvmd.$user"
}
daemon_pid() { # its socket's name has it
    sed -E 's/.*pvmtmp0*([0-9]+)\..*/\1/' "$PVM_TMP/pvmd.$user"
}

case_address_of_others() {
    printf /tmp/x >"$PVM_TMP/pvmd.$user"
    chmod 666 "$PVM_TMP/pvmd.$user"
    trouble daemon error "can be written by others (mode 666)" "chmod 600 $PVM_TMP/pvmd.$user"
    if [ -n "$root" ]; then
        chmod 600 "$PVM_TMP/pvmd.$user"
        chown 65534 "$PVM_TMP/pvmd.$user"
        trouble daemon error "belongs to user 65534" "set PVM_TMP to a folder of your own"
    fi
    rm "$PVM_TMP/pvmd.$user"
}

case_foreign_log() {
    [ -n "$root" ] || skip "needs root"
    touch "$PVM_TMP/pvml.$user"
    chown 65534 "$PVM_TMP/pvml.$user"
    trouble files error "pvml.$user belongs to user 65534, and we are user $user" "rm $PVM_TMP/pvml.$user"
}

case_wrong_value() {
    PVM_TRANSPORT=nonsense trouble settings error '"nonsense" is no transport' "name a transport of"
    PVM_QUEUE_MAX=many trouble settings error 'PVM_QUEUE_MAX="many" is not usable' "set it to a size such as"
    PVM_LAUNCHER=telnet trouble settings error 'PVM_LAUNCHER="telnet"' "set it to auto, local, ssh"
    PVM_VMID=a/b trouble folder error "do not make a usable file name" "set PVM_TMP and PVM_VMID to shorter"
}

case_misspelt() {
    PVM_TRANSPROT=tcp trouble settings warning "PVM_TRANSPROT is not known" "did you mean PVM_TRANSPORT?"
    PVM_FAULT=cut=1% trouble settings warning "fail on purpose" "unset PVM_FAULT"
}

case_no_programs() {
    PVM_PATH=$work/nothing trouble search warning "none of its folders is there" "set PVM_PATH to folders"
}

case_other_root() { # PVM_ROOT names another PVM's tree
    mkdir -p "$work/pvm3/lib"
    printf '#!/bin/sh\necho "pvmd3 (dpvm) 0.0.1"\n' >"$work/pvm3/lib/pvmd3"
    chmod +x "$work/pvm3/lib/pvmd3"
    PVM_ROOT=$work/pvm3 trouble programs error 'it says "pvmd3 (dpvm) 0.0.1"' "unset PVM_ROOT"
}

case_no_ssh() {
    mkdir "$work/bare"
    ln -s "$(command -v timeout)" "$work/bare/"
    around=(env PATH="$work/bare")
    trouble "remote shell" warning "there is no ssh in PATH" "openssh-client"
    PVM_RSH="$work/none -x" trouble "remote shell" error "PVM_RSH=$work/none -x names no program" "unset PVM_RSH"
}

case_full() {
    in_own_mounts "mount -t tmpfs -o size=4k,mode=700 full $PVM_TMP && head -c 4096 /dev/zero >$PVM_TMP/x"
    trouble disk error "$PVM_TMP is full" "make room there"
}

# A file server that does not answer, and a library that crashes: the other probes' results are not lost.
case_probe_fails() {
    ldd "$DPVM_BIN/pvm" | grep -qE 'lib[a-z]*san' && skip "sanitizers do not allow a preloaded library"
    local how
    for how in 'sleep(300)' 'abort()'; do
        cc -shared -fPIC -xc - -o "$work/fault.so" <<<"#include <stdlib.h>
#include <unistd.h>
int statvfs64(const char *path, void *to) { (void)path, (void)to; $how; return -1; }" || fail "the compiler fails"
        around=(env LD_PRELOAD="$work/fault.so")
        examine --timeout 3
        same "exit code with $how" 1 "$code"
        same "the probe before with $how" ok "$(results folder | cut -d'|' -f1)"
        case $how in
        sleep*) has "$how" "error|this probe did not end in time" "$(results disk)" ;;
        *) has "$how" "error|this probe crashed (signal 6)" "$(results disk)" ;;
        esac
    done
}

case_read_only() {
    in_own_mounts "mount -t tmpfs -o ro,mode=700 full $PVM_TMP"
    trouble disk error "read-only file system" "export PVM_TMP=~/pvm-tmp"
}

case_no_shm() {
    in_own_mounts "mount -t tmpfs dev $work/home && mkdir $work/home/shm && touch $work/home/null $work/home/urandom &&
        mount --bind /dev/null $work/home/null && mount --bind /dev/urandom $work/home/urandom &&
        rmdir $work/home/shm && mount --move $work/home /dev"
    trouble memory warning "there is no /dev/shm" "mount -t tmpfs"
}

case_small_shm() {
    in_own_mounts "mount -t tmpfs -o size=64k small /dev/shm"
    trouble memory warning "only 64 KiB are left in /dev/shm" "--shm-size=1g"
}

case_few_descriptors() {
    around=(sh -c 'ulimit -n 23; exec "$@"' sh)
    trouble limits error "23 descriptors are too few" "raise the limit (ulimit -n) to 24"
    around=(sh -c 'ulimit -n 100; exec "$@"' sh)
    trouble limits warning "only 100 descriptors" "ulimit -Hn 4096"
}

case_few_processes() {
    [ -n "$root" ] || skip "needs root, for a user with few processes"
    as_nobody prlimit --nproc=60
    trouble limits warning "only 60 processes" "ulimit -u 4096"
}

case_locked_memory() {
    as_nobody env PVM_TRANSPORT=rdma,auto prlimit --memlock=65536
    examine
    has "locked memory" "warning|only 64 KiB may be locked (ulimit -l)" "$(results limits)"
    has "locked memory" "ulimit -l unlimited" "$(results limits)"
}

case_small_files() {
    around=(sh -c 'ulimit -f 100; exec "$@"' sh)
    examine
    has "small files" "shared memory between tasks needs more|ulimit -f unlimited" "$(results limits)"
}

case_root() {
    [ -n "$root" ] || skip "needs root"
    unset PVM_ALLOW_ROOT
    trouble user error "not started as root" "set PVM_ALLOW_ROOT=1"
}

# ---- libraries ----

foreign_library() { # a libpvm3 that is not dpvm's
    mkdir -p "$work/foreign"
    echo 'int pvm_mytid(void) { return -14; }' >"$work/foreign.c"
    cc -shared -fPIC -Wl,-soname,libpvm3.so.3 -o "$work/foreign/libpvm3.so.3" "$work/foreign.c" || fail "the compiler fails"
    echo 'int pvm_mytid(void); int main(void) { return pvm_mytid(); }' >"$work/program.c"
}

case_library() {
    foreign_library
    LD_LIBRARY_PATH=$work/foreign trouble library error \
        "LD_LIBRARY_PATH makes programs load $work/foreign/libpvm3.so.3" "unset LD_LIBRARY_PATH"
    LD_LIBRARY_PATH=$DPVM_BIN/../lib examine
    has "our library" "which is dpvm's" "$(results library)"
}

case_program() {
    foreign_library
    cc "$work/program.c" -o "$work/own" -L"$work/foreign" -l:libpvm3.so.3 "-Wl,--disable-new-dtags,-rpath,$work/foreign"
    trouble program error "names $work/foreign/libpvm3.so.3 itself" "PVM_LIBRARIES=preload" --program "$work/own"
    cc "$work/program.c" -o "$work/ours" -L"$work/foreign" -l:libpvm3.so.3 "-Wl,-rpath,$DPVM_BIN/../lib"
    examine --program "$work/ours"
    same "a program of ours" ok "$(results program | cut -d'|' -f1)"
    LD_LIBRARY_PATH=$work/foreign trouble program error "loads $work/foreign/libpvm3.so.3, which is not" "pvmcc" \
        --program "$work/ours"
    trouble program error "No such file" "give the path" --program "$work/nosuch"
    cd "$work" || exit 1 # a name without a slash is a file here, not one that the loader searches for
    trouble program error "own names $work/foreign/libpvm3.so.3 itself" "PVM_LIBRARIES=preload" --program own
    echo text >"$work/text"
    trouble program error "the loader cannot list it" "linked dynamically" --program "$work/text"
    cc -xc - -o "$work/none" <<<'int main(void) { return 0; }'
    trouble program warning "loads no libpvm3.so.3" "link it with pvmcc" --program "$work/none"
}

# Not the doctor, but pvm run and the daemon tell of such a program, too.
case_run_warns() {
    foreign_library
    cc "$work/program.c" -o "$work/own" -L"$work/foreign" -l:libpvm3.so.3 "-Wl,--disable-new-dtags,-rpath,\$ORIGIN/foreign"
    cc "$work/program.c" -o "$work/late" -L"$work/foreign" -l:libpvm3.so.3 "-Wl,--enable-new-dtags,-rpath,$work/foreign"
    pvm run "$work/own"
    same "its end" $((256 - 14)) "$code"
    has "pvm run" "$work/own loads $work/foreign/libpvm3.so.3 (DT_RPATH), which is not dpvm's" "$err"
    has "the daemon" "$work/own loads $work/foreign/libpvm3.so.3 (DT_RPATH)" "$(cat "$PVM_TMP/pvml.$user")"
    pvm run "$work/late" # our folder in LD_LIBRARY_PATH comes first
    case $err in *DT_RPATH*) fail "a false alarm: $err" ;; esac
    PVM_LIBRARIES=preload pvm run "$work/own"
    case $err in *DT_RPATH*) fail "a false alarm with preload: $err" ;; esac
}

# ---- daemons ----

case_stopped() {
    pvm -c id
    daemon=$(daemon_pid)
    kill -STOP "$daemon"
    trouble daemon error "the daemon (process $daemon) does not answer" "kill -CONT $daemon"
    kill -CONT "$daemon"
}

live() { # CODE TEXT [WHAT]
    pvm doctor --live${3:+=$3}
    same "exit code of --live${3:+=$3}" "$1" "$code"
    has "--live${3:+=$3}" "$2" "$out$err"
    same "lines" 1 "$(grep -c . <<<"$out$err")"
}

case_live() {
    live 1 "no daemon runs here"
    live 0 "no daemon listens yet" joining
    daemon_runs && fail "it started a daemon"
    nothing_left
    pvm -n 127.0.0.1 -c id
    live 0 "the daemon answers: 1 host"
    pvm -c 'add 127.0.0.2'
    live 0 "the daemon answers: 2 hosts" member
    daemon=$(daemon_pid)
    kill -STOP "$daemon"
    began=$SECONDS
    live 1 "the daemon does not answer" joining
    [ $((SECONDS - began)) -lt 10 ] || fail "it took over 10 s" # 1.5 s, but for other load
    kill -CONT "$daemon"
    live 0 "the daemon answers"
    pvm -c halt
    pvm -n 127.0.0.1 -c id
    kill -KILL "$(daemon_pid)"
    eventually daemon_is_gone
    printf %s "$PVM_TMP/none" >"$PVM_TMP/pvmd.$user"
    chmod 600 "$PVM_TMP/pvmd.$user"
    live 1 "was killed"
    live 0 "no daemon listens yet" joining
    rm -f "$PVM_TMP"/pvm[dt]*
    for wrong in "--live=slave" "--live hostb" "--live --json" "--live -p $DPVM_BIN/pvm"; do
        eval "pvm doctor $wrong"
        same "exit code of $wrong" 2 "$code"
        has "$wrong" "--live" "$err"
    done
}

# It has a socket, but holds no lock on the address file.
case_old_daemon() {
    python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
time.sleep(300)' "$PVM_TMP/pvmtmp000001.0" &
    listener=$!
    printf %s "$PVM_TMP/pvmtmp000001.0" >"$PVM_TMP/pvmd.$user"
    chmod 600 "$PVM_TMP/pvmd.$user"
    eventually test -S "$PVM_TMP/pvmtmp000001.0"
    trouble daemon error "a daemon of PVM 3.4 runs here (process $listener" "halt it with its own console"
    kill $listener
    rm "$PVM_TMP"/pvm*
}

# Tasks that wait for what cannot come.
case_vain() {
    pvm -n 127.0.0.1 -c 'add 127.0.0.2'
    pvm -c "spawn ${DPVM_VAIN:?} orphan; spawn $DPVM_VAIN pair; spawn $DPVM_VAIN deaf"
    sleep 8
    trouble tasks warning "s for a message from t" "pvm kill t"
    has "a sender that has ended" ", which has ended" "$(results tasks)"
    has "two of a pair" "wait for each other" "$(results tasks)"
    has "a receiver that does not receive" ", which does not receive (" "$(results tasks)"
    same "each once" 3 "$(results tasks | wc -l)"
    pvm -c reset
    examine
    same "nobody waits" "ok" "$(results tasks | cut -d'|' -f1)"
}

case_other_daemon() { # of another version, as its log tells
    pvm -c id
    sed -i 's/ dpvm [^,]*, PVM/ dpvm 0.0.1, PVM/' "$PVM_TMP/pvml.$user"
    trouble daemon warning "is dpvm 0.0.1, and this is dpvm" "pvm halt"
}

# ---- network ----

case_ports() {
    python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_INET6)
s.bind(("::", 0))
s.listen()
print(s.getsockname()[1], flush=True)
time.sleep(300)' >"$work/port" &
    listener=$!
    eventually test -s "$work/port"
    PVMNETSOCKPORT=$(cat "$work/port") trouble ports warning "port $(cat "$work/port") (PVMNETSOCKPORT) is in use" \
        "set PVMNETSOCKPORT to a free port"
    kill $listener
    PVM_IP=192.0.2.1 trouble ports error "PVM_IP=192.0.2.1 is no address of this host" "ip addr"
    PVM_IP=nonsense trouble ports error "PVM_IP=nonsense is no IP address" "ip addr"
}

case_no_raw_sockets() {
    as_nobody
    export PVM_TRANSPORT=dp PVM_DP_SOCKET=$work/none
    trouble "transport dp" error "raw sockets need CAP_NET_RAW" "setcap cap_net_raw+ep"
}

case_no_rdma() {
    [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ] || skip "there are RDMA devices"
    PVM_TRANSPORT=rdma trouble "transport rdma" error "no RDMA device" "ibv_devices"
}

case_small_mtu() {
    [ -n "$root" ] && unshare -n true 2>/dev/null || skip "needs root and network namespaces"
    around=(unshare -n sh -c 'ip link set lo up && ip link add name veth0 mtu 1000 type veth peer name veth1 &&
        ip addr add 10.9.9.1/24 dev veth0 && ip link set veth0 up && ip link set veth1 up; exec "$@"' sh)
    trouble network warning "the MTU of veth0 is only 1000" "ip link set veth0 mtu 1500"
}

# ---- other hosts: a real sshd, or stubs ----

# What `pvm doctor --json` prints on a host, from a stub in a folder that is named by dx=.
stub() { # NAME TEXT: a folder with a pvm that prints it
    mkdir -p "$work/$1"
    printf '%s' "$2" >"$work/$1/text"
    printf '#!/bin/sh\nsleep 0.2; cat "%s"\n' "$work/$1/text" >"$work/$1/pvm"
    cp "$work/$1/pvm" "$work/$1/pvm-info"
    chmod +x "$work/$1/pvm" "$work/$1/pvm-info"
}

# A remote shell that stays here.
here_shell() {
    printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$work/rsh"
    chmod +x "$work/rsh"
    export PVM_RSH=$work/rsh
}

protocol() {
    examine
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["protocol"], r["version"], r["time"])' "$work/json"
}

case_version() {
    here_shell
    read -r number version _ < <(protocol)
    stub old '{"version": "0.0.1", "protocol": 99, "results": []}'
    trouble version error "it has dpvm 0.0.1 (protocol 99), this host dpvm $version" "install the same version" \
        "h2 dx=$work/old/pvmd3"
    stub near "{\"version\": \"0.0.2\", \"protocol\": $number, \"results\": []}"
    trouble version warning "it has dpvm 0.0.2" "install the same version" "h2 dx=$work/near/pvmd3"
    stub older 'pvm: doctor: no such hostfile'
    trouble reach error "no \`pvm doctor\`; it says: pvm: doctor: no such hostfile" "install the same version" \
        "h2 dx=$work/older/pvmd3"
}

case_skew() {
    here_shell
    read -r number version now < <(protocol)
    for ahead in 3600 -3600; do
        stub skew "{\"version\": \"$version\", \"protocol\": $number, \"results\": [],
            \"time\": $(python3 -c "print($now + $ahead)")}"
        trouble "clock skew" warning "$([ $ahead -gt 0 ] && echo " s ahead" || echo " s behind")" "set-ntp true" \
            "h2 dx=$work/skew/pvmd3"
    done
}

somebody_runs() { # WORD
    grep -lsz "^$1\$" /proc/[0-9]*/cmdline >/dev/null
}
nobody_runs() { ! somebody_runs "$1"; }

# A host that means ill: what it sends can neither control the terminal nor stop the others.
case_hostile() {
    here_shell
    read -r number version _ < <(protocol)
    stub evil "{\"version\": \"$version\", \"protocol\": $number, \"results\": [
        {\"name\": \"\\u001b[2Jx\", \"severity\": \"error\", \"text\": \"a\\u001b]0;b\\u0007\\nerror forged\", \"cure\": \"\\u009b1m\"},
        {\"name\": 7, \"severity\": \"ok\", \"text\": \"\", \"cure\": \"\"},
        {\"name\": \"y\", \"severity\": \"fine\", \"text\": \"\", \"cure\": \"\"}, [], null]}"
    pvm doctor --timeout 60 "h2 dx=$work/evil/pvmd3"
    same "exit code" 1 "$code"
    same "control characters" 0 "$(grep -c $'[\033\007]' <<<"$out")"
    has "its error" 'error    h2: \x1B[2Jx: a\x1B]0;b\x07' "$(sed 's/\\x\(..\)/\\x\U\1/g' <<<"$out")"
    has "malformed ones" "4 of its results are malformed" "$out"
    for text in '{' '[]' 'null' '{"results": 1}' "$(printf '[%.0s' {1..5000})" '{"results": [], "version": 1, "path": []}'; do
        stub evil "$text"
        pvm doctor --timeout 60 "h2 dx=$work/evil/pvmd3"
        same "exit code of ${text:0:20}" 1 "$code"
    done
    printf '#!/bin/sh\nyes x\n' >"$work/evil/pvm" # without end
    pvm doctor --timeout 4 "h2 dx=$work/evil/pvmd3"
    same "exit code of an endless one" 1 "$code"
    has "an endless one" "has not ended within 4 s" "$out"
    eventually nobody_runs "$work/evil/pvm" || fail "its shell is left"
}

case_no_pvm() {
    here_shell
    mkdir "$work/bare"
    ln -s "$(command -v sh)" "$work/bare/sh"
    printf '#!%s\nshift\nPATH=%s\nexec sh -c "$*"\n' "$(command -v sh)" "$work/bare" >"$work/rsh"
    trouble reach error "no pvm is found there" "install dpvm on h2" "h2 dx=/none/pvmd3"
    printf '#!/bin/sh\n' >"$work/bare/pvm"
    chmod +x "$work/bare/pvm"
    trouble reach error "$work/bare/pvm is another PVM's" "install dpvm on h2" "h2 dx=/none/pvmd3"
}

case_interrupted() {
    printf '#!/bin/sh\nexec sleep 300.77\n' >"$work/rsh"
    chmod +x "$work/rsh"
    PVM_RSH=$work/rsh "$DPVM_BIN/pvm" doctor --timeout 300 h2 >"$work/out" 2>"$work/err" &
    doctor=$!
    eventually somebody_runs 300.77 || fail "its shell does not start"
    kill -TERM $doctor
    wait $doctor
    same "exit code" 130 $?
    same "output" "" "$(cat "$work/out")"
    has "on standard error" "interrupted" "$(cat "$work/err")"
    eventually nobody_runs 300.77 || fail "its shell is left"
}

case_no_shell() {
    PVM_RSH="command $work/none" trouble reach error "not found" "PVM_RSH names a command" h2
}

case_loopback() {
    examine 127.0.0.2
    same "exit code" 0 "$code"
    has "this computer" "it is this computer" "$(results reach 127.0.0.2)"
}

# ssh without the user's own files: hosts `good`, `nokey`, `stranger`, `refused`, `silent` are this computer.
start_sshd() {
    local run=("$(command -v sshd || echo /usr/sbin/sshd)") user
    [ -x "${run[0]}" ] || skip "needs sshd"
    if [ -n "$root" ]; then # it wants /run/sshd
        unshare -m true 2>/dev/null || skip "needs mount namespaces"
        run=(unshare -m sh -c 'mount -t tmpfs -o mode=755 run /run && mkdir /run/sshd; exec "$@"' sh "${run[0]}")
    fi
    ssh-keygen -q -t ed25519 -N '' -f "$work/host"
    ssh-keygen -q -t ed25519 -N '' -f "$work/key"
    ssh-keygen -q -t ed25519 -N '' -f "$work/other"
    cp "$work/key.pub" "$work/authorized"
    python3 - 3 >"$work/ports" <<'P'
import socket, sys
kept = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in kept:
    s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in kept])
P
    read -r port closed silent <"$work/ports"
    user=$(id -un)
    cat >"$work/sshd_config" <<X
ListenAddress 127.0.0.1:$port
HostKey $work/host
AuthorizedKeysFile $work/authorized
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
SetEnv PVM_ALLOW_ROOT=1 PVM_TMP=$PVM_TMP
X
    {
        printf '[127.0.0.1]:%s ' "$port"
        cat "$work/host.pub"
    } >"$work/known"
    entry() { # NAME PORT KEY KNOWN
        printf 'Host %s\nHostName 127.0.0.1\nPort %s\nUser %s\nIdentityFile %s\nIdentitiesOnly yes\n' "$1" "$2" "$user" "$3"
        printf 'UserKnownHostsFile %s\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n' "$4"
    }
    {
        entry good "$port" "$work/key" "$work/known"
        entry nokey "$port" "$work/other" "$work/known"
        entry stranger "$port" "$work/key" /dev/null
        entry refused "$closed" "$work/key" "$work/known"
        entry silent "$silent" "$work/key" "$work/known"
        printf 'Host unknown\nHostName nosuch.invalid\n'
    } >"$work/ssh_config"
    mkdir "$work/path"
    printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$work/ssh_config" >"$work/path/ssh"
    chmod +x "$work/path/ssh"
    PATH=$work/path:$PATH
    "${run[@]}" -D -e -f "$work/sshd_config" 2>"$work/sshd.log" &
    sshd=$!
    eventually ssh good true 2>/dev/null || { cat "$work/sshd.log"; skip "sshd does not work here"; }
}

stop_sshd() {
    kill "$sshd"
    wait "$sshd" 2>/dev/null
}

case_ssh() {
    start_sshd
    examine good
    same "exit code" 0 "$code"
    same "there" ok "$(results reach good | cut -d'|' -f1)"
    has "version there" "as here" "$(results version good)"
    same "its clock" ok "$(results "clock skew" good | cut -d'|' -f1)"
    same "its folder" ok "$(results folder good | cut -d'|' -f1)"
    trouble reach error "Permission denied" "ssh-copy-id nokey" nokey
    trouble reach error "Host key verification failed" "ssh stranger true" stranger
    trouble reach error "Connection refused" "start sshd there" refused
    trouble reach error "Could not resolve hostname" "check its spelling" unknown
    chmod 770 "$PVM_TMP"
    trouble folder error "others may replace files" "chmod go-w $PVM_TMP" good
    chmod 700 "$PVM_TMP"
    stop_sshd
}

# A host that takes the connection and says nothing, beside one that is well: under 5 s for all.
case_silent() {
    start_sshd
    python3 -c '
import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
time.sleep(600)' "$silent" &
    listener=$!
    eventually bash -c "exec 3<>/dev/tcp/127.0.0.1/$silent" 2>/dev/null
    start=$(date +%s%3N)
    pvm doctor --json good silent
    took=$(($(date +%s%3N) - start))
    same "exit code" 1 "$code"
    printf '%s' "$out" >"$work/json"
    has "the silent host" "error|" "$(results reach silent)"
    has "the silent host" "silent does not answer: check that it is running" "$(results reach silent)"
    [ $took -lt "$(printf %.0f "$("$here/tests/lab/patience" 5000)")" ] || fail "it took $took ms"
    kill $listener
    stop_sshd
}

# Two hosts in one network whose interfaces differ.
case_mtu() {
    export NETLAB_DIR=$work/lab
    mkdir "$NETLAB_DIR"
    lab() { "$here/tests/lab/netlab" -l "doc$$" "$@"; }
    lab check >"$work/why" 2>&1 || skip "$(cat "$work/why")"
    lab up -n 2 -b "$work" -e PVM_ALLOW_ROOT=1 >"$work/why" 2>&1 || fail "no hosts: $(cat "$work/why")"
    around=(lab exec h1 env -u PVM_TMP PVM_ALLOW_ROOT=1)
    examine h2
    same "the same MTU" "ok|1500 bytes at both ends|" "$(results mtu h2)"
    lab exec h2 ip link set eth0 mtu 1400
    trouble mtu warning "1400 bytes there and 1500 here" "ip link set DEVICE mtu N" h2
    lab down
}

"case_$case"
