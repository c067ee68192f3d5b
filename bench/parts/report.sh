# shellcheck shell=bash
# report.sh - part of script/bench: the results of runs, and the tables and plots of doc/performance.md made from them.

version() { # PACKAGE
    dpkg-query -W -f='${Version}' "$1" 2>/dev/null | sed 's/-.*//' || echo "not installed"
}

# ---- the result of a run ----

write_json() {
    local commit machine
    machine="$(nproc) x $(awk -F': *' '/model name/ { print $2; exit }' /proc/cpuinfo), Linux $(uname -r)"
    commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
    printf '{\n  "date": "%s",\n  "commit": "%s",\n  "machine": "%s",\n  "rounds": %d,\n  "dp_rounds": %d,\n  "block_us": %d,\n' \
        "$(date -u +%FT%TZ)" "$commit" "$machine" "$rounds" "$dp_rounds" "$BENCH_BLOCK_US"
    printf '  "versions": {"reference": "%s", "openmpi": "%s", "mpich": "%s"},\n' \
        "$(version pvm)" "$(version openmpi-bin)" "$(version mpich)"
    awk -v form=json -f bench/report.awk bench/targets "$samples"
    echo '}'
}

# The systems' results must be equal.
compare_sums() {
    awk '($1 in sum) && sum[$1] != $2 { print "script/bench: " $1 " is " $2 " with " $3 ", but " sum[$1] " with " first[$1]; bad = 1 }
         !($1 in sum) { sum[$1] = $2; first[$1] = $3 }
         END { exit bad }' "$sums" >&2
}

# The last RUNS results of full runs on the machine of the newest one.
last_runs() {
    local file machine='' found=()
    for file in $(printf '%s\n' bench/results/*.json | sort -r); do
        [ "$(jq ".rounds >= $RUN_ROUNDS and .block_us >= 10000" "$file")" = true ] || continue
        machine=${machine:-$(jq -r .machine "$file")}
        [ "$(jq -r .machine "$file")" != "$machine" ] || found+=("$file")
        [ ${#found[@]} -lt $RUNS ] || break
    done
    printf '%s\n' "${found[@]}"
}

# ---- tables ----

# The figures of groups in all results: one line per run.
figures() { # GROUPS (a regular expression)
    jq -r '.results[] | . as $r | .systems | to_entries[]
           | [$r.group, .key, $r.name, .value.median, $r.unit, .value.min, .value.max] | join(" ")' "${results[@]}" |
        awk -v groups="^($1)\$" '$1 ~ groups'
}

form() { # FORM [GROUP of curves]: of $work/figures
    awk -v form="$1" -v curve="${2:-}" -v brief="$quick" -f bench/report.awk bench/targets "$work/figures"
}

# Says how often and when the figures were measured: "3 runs of 9 rounds".
print_origin() { # ROUNDS
    local first last
    first=$(jq -r '.date[:10]' "${results[-1]}")
    last=$(jq -r '.date[:10]' "${results[0]}")
    [ "$first" = "$last" ] || last="$first to $last"
    jq -r --arg runs ${#results[@]} --arg rounds "$1" --arg dates "$last" '
        "\(.machine); \($runs) run\(if $runs == "1" then "" else "s" end) of \(.[$rounds]) rounds" +
        (if .block_us < 10000 then " of short blocks" else "" end) +
        ",\nin each of which all systems take turns; \($dates)."' "${results[0]}"
    if [ ${#results[@]} -gt 1 ]; then
        echo "A figure is the median of the runs' medians; in brackets the least and the greatest of these."
    else
        echo "A figure is the median over the rounds; in brackets the least and the greatest."
    fi
}

print_plots() { # PREFIX
    local plot
    for plot in latency bandwidth; do
        [ ! -e "doc/$1$plot.svg" ] || printf '\n![%s](%s%s.svg)\n' "$plot" "$1" "$plot"
    done
}

print_summary() {
    print_origin rounds
    jq -r '.versions | "Reference PVM \(.reference), Open MPI \(.openmpi), MPICH \(.mpich) of Debian."' "${results[0]}"
    echo
    form targets
}

print_details() {
    print_plots ''
    cat <<'END'

Less is better for times, more for messages/s. `one` host and `two` hosts (namespaces, encrypted)
use the daemons; `start` is the start of the second host; `many` has many hosts. `shm`, `tcp` and
`net` (two namespaces) are two tasks on direct transports, `dpvm-tcp` in the clear and `dpvm-tls`
encrypted; `crowd` is many tasks, `programs` have the pattern of real codes on two processors:
NAME.TASKS.SIZE, and `first` for the first four steps; `kernels` are whole programs: NAME.TASKS.
`early` is a pair of tasks after 500 exchanges. `raw` uses no message passing system: `unix` sockets
(`unix2`: through a third process, like the daemon route), `tcp` sockets that poll (`spin`) or
`sleep`, a ring in `shm`, `memcpy`. `openssl` encrypts with the
cipher of encrypted links on one processor.
END
    form groups
}

print_dp() {
    print_origin dp_rounds
    echo
    form targets
    print_plots dp-
    cat <<'END'

dp-perf(1) measures between two network namespaces that a pair of interfaces joins, with MTU 1500,
9000 and 65535 (`dp1500`, ...): the mean of the middle 80 % of each round, then the median over the
rounds. `lat` is a one-way trip of 1 byte; `uni` and `bidir` are transfers in messages of the
greatest length; all processes are bound to one processor each. `raw`, `reliable` and `go-back-n`
are libdp, `frames` is plain frames by sendmmsg() into a ring, and `-1%` drops that share of the
frames in each direction. `dppvm` is two PVM tasks on two hosts of tests/lab/netlab.
END
    form groups
}

print_rdma() {
    echo "In a virtual machine of tests/lab/rxe-vm, 2 virtual processors, Debian's Linux with soft-RoCE on a"
    echo "pair of interfaces, MTU 4096; all take turns in each of ${#results[@]} runs on $(jq -r .machine "${results[0]}");"
    echo "$(jq -r '.date[:10]' "${results[0]}"). If the machine is emulated, only ratios mean something."
    echo
    form targets
    print_plots rdma-
    cat <<'END'

`verbs-send` and `verbs-read` are perftest: ib_send_lat (typical), ib_send_bw and ib_read_bw of one
message at a time (`oneway`). For 8 B all systems give the median of single messages, which is
perftest's "typical". `-spin` polls, `-sleep` waits for events; without either the task decides.
`tcp` uses the same wire.
END
    form groups
}

# Draws latency and bandwidth against size: doc/latency.svg and doc/bandwidth.svg, and the same for others.
draw() { # GROUP [PREFIX WHERE]
    if ! command -v gnuplot >/dev/null; then
        say "not drawn: gnuplot is not installed (script/bootstrap --bench)"
        return
    fi
    form curves "$1" | sort -k1,1 -k2,2 -k3,3n >"$work/curves"
    [ ! -s "$work/curves" ] ||
        gnuplot -e "data='$work/curves'; folder='doc'${2:+; prefix='$2'; where='$3'}" bench/plot.gp
}

# ---- doc/performance.md ----

# Puts the standard input between its marks in doc/performance.md.
update() { # WHAT
    cat >"$work/part"
    awk -v table="$work/part" -v what="$1" '
        index($0, "<!-- begin of " what) == 1 { print; while ((getline line <table) > 0) print line; skip = 1; next }
        index($0, "<!-- end of " what) == 1 { skip = 0 }
        !skip' doc/performance.md >"$work/performance.md"
    cp "$work/performance.md" doc/performance.md
}

dp_groups='dp.*' rdma_groups='rdma.*' main_groups='one|two|start|many|shm|tcp|net|crowd|programs|kernels|curve|atm'

# Prints what the results have.
print_report() {
    figures "$main_groups" >"$work/figures"
    [ ! -s "$work/figures" ] || { print_summary; print_details; }
    figures "$dp_groups" >"$work/figures"
    [ ! -s "$work/figures" ] || print_dp
    figures "$rdma_groups" >"$work/figures"
    [ ! -s "$work/figures" ] || print_rdma
}

# Writes what the results have to doc/performance.md and its plots: all, or Directed Point and RDMA only.
update_document() { # all|special
    figures "$main_groups" >"$work/figures"
    if [ "$1" = all ] && [ -s "$work/figures" ]; then
        draw curve
        print_summary | update "the table "
        print_details | update "all figures "
    fi
    figures "$dp_groups" >"$work/figures"
    if [ -s "$work/figures" ]; then
        draw dpcurve dp- 'between two interfaces, spinning'
        print_dp | update "Directed Point's table"
    fi
    figures "$rdma_groups" >"$work/figures"
    if [ -s "$work/figures" ]; then
        draw rdma-curve rdma- 'between two RDMA devices'
        print_rdma | update "RDMA's table"
    fi
}
