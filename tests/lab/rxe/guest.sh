# guest.sh - process 1 of the virtual machine, on the host's files: makes network and RDMA devices, runs the command.
#
# /run/rxe-vm is the folder of this run: `settings` and `command` come from rxe-vm, `booted` and `status` go to it.
# Starting a process takes 30 to 90 ms in the emulator: hence built-ins, busybox and one `ip -batch`.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
run=/run/rxe-vm
. $run/settings # name, now, mtu, writable, address
busybox=/bin/busybox
say() { echo "rxe-vm: $*" >/dev/console; }

make_files() {
    local i
    $busybox mkdir -p /dev/pts /dev/shm "${writable[@]}"
    $busybox mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
    $busybox mount -t tmpfs shm /dev/shm
    for i in "fd /dev/fd" "fd/0 /dev/stdin" "fd/1 /dev/stdout" "fd/2 /dev/stderr"; do
        # shellcheck disable=SC2086
        $busybox ln -sf /proc/self/$i
    done
    for ((i = 0; i < ${#writable[@]}; i++)); do
        $busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=500000,cache=mmap "share$i" "${writable[i]}" ||
            say "${writable[i]} cannot be mounted"
    done
    echo "$name" >/proc/sys/kernel/hostname
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$name" >/etc/hosts
}

set_all() { # VALUE SETTING...
    local value=$1 setting
    shift
    for setting; do echo "$value" >"/proc/sys/net/$setting"; done
}

# A pair of interfaces with the two addresses of one machine: soft-RoCE of this kernel does not work in a network
# namespace, and what a machine sends to itself takes no wire. So rules send it over the pair.
wire_of_one_machine="
link set lo up
link add veth0 mtu $mtu type veth peer name veth1 mtu $mtu
addr add 10.77.0.1/24 dev veth0
addr add 10.77.0.2/24 dev veth1
link set veth0 up
link set veth1 up
rule add pref 10 iif veth0 lookup local
rule add pref 11 iif veth1 lookup local
rule add pref 20 from 10.77.0.1 to 10.77.0.2 lookup 101
rule add pref 21 from 10.77.0.2 to 10.77.0.1 lookup 102
rule add pref 22 oif veth0 to 10.77.0.2 lookup 101
rule add pref 23 oif veth1 to 10.77.0.1 lookup 102
rule add pref 100 lookup local
rule del pref 0
route add 10.77.0.2 dev veth0 src 10.77.0.1 table 101
route add 10.77.0.1 dev veth1 src 10.77.0.2 table 102
"

wire_to_another_machine="
link set lo up
addr add $address/24 dev eth0
link set eth0 mtu $mtu
link set eth0 up
"

make_network() {
    local interface n=0 interfaces=(veth0 veth1) lines=$wire_of_one_machine
    [ -z "$address" ] || interfaces=(eth0) lines=$wire_to_another_machine
    set_all 8388608 core/rmem_max core/wmem_max
    ip -batch - <<<"$lines" || say "the network cannot be made"
    if [ -z "$address" ]; then
        set_all 0 ipv4/conf/{all,veth0,veth1}/rp_filter
        set_all 1 ipv4/conf/{veth0,veth1}/accept_local ipv4/conf/all/arp_ignore
        set_all 2 ipv4/conf/all/arp_announce
    fi
    for interface in "${interfaces[@]}"; do
        rdma link add "rxe$n" type rxe netdev "$interface" || say "$interface gets no RDMA device"
        n=$((n + 1))
    done
}

# Output goes by two serial ports, 8-bit clean.
open_ports() {
    local port port_name
    for port in /sys/class/virtio-ports/*; do
        read -r port_name <"$port/name"
        $busybox mkfifo "/run/$port_name"
        cat "/run/$port_name" >"/dev/${port##*/}" &
        readers+=($!)
    done
}

# A process that the command leaves behind may hold its output open, so not for ever.
wait_for_readers() {
    local i
    for ((i = 0; i < 10; i++)); do
        kill -0 "${readers[@]}" 2>/dev/null || return
        sleep 0.1
    done
}

make_files
$busybox date -s "@$now" >/dev/null 2>&1
make_network
ulimit -l unlimited
ulimit -c 0
readers=()
open_ports
: >$run/booted
setsid bash $run/command </dev/null >/run/out 2>/run/err &
wait $!
status=$?
wait_for_readers
echo $status >$run/status
$busybox sync
$busybox poweroff -f
