# report.awk - makes tables and JSON from the measurements of script/bench.
#
#   awk -v form=FORM [-v brief=1] -f report.awk bench/targets FIGURES
#
# FIGURES has lines "group system name value unit", one per round, or "group system name median unit min max", one per
# run. FORM is targets (one row for each work that bench/targets names in these groups, and what is missed), groups (all
# medians, one table per group), json (both, as members of an object) or curves (for plots: system, name without the
# size, bytes, us; from the group `curve`, or the one given by -v curve=GROUP).

function median_of(list,    v, n, i, j, t) { # sets lowest and highest, too
    n = split(list, v, " ")
    for (i = 2; i <= n; i++) # few values
        for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    lowest = v[1]; highest = v[n]
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

function number(x) { return x >= 1000 || x <= -1000 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : sprintf("%.2f", x) }

function cell(key) {
    return !(key in mid) ? "-" : number(mid[key]) (min[key] == max[key] ? "" : " (" number(min[key]) " to " number(max[key]) ")")
}

# ---- bench/targets ----

FNR == NR && /^[^# \t]/ {
    w_group[++n_works] = $1; w_name[n_works] = $2; w_system[n_works] = $3
    w_words[n_works] = after_fields($0, 3)
}

FNR == NR && /^[ \t]+[^ \t]/ {
    if ($1 == "because") {
        w_cause[n_works] = w_cause[n_works] " " after_fields($0, 1)
        next
    }
    if ($1 !~ /^((time|more|value)<=[0-9.]+|(speed|rate)>=[0-9.]+|limit)$/ || NF != ($1 ~ /^value/ ? 1 : 3)) {
        print FILENAME ":" FNR ": this is no condition: " $0 >"/dev/stderr"
        failed = 2
        exit failed
    }
    c_work[++n_conditions] = n_works
    c_judge[n_conditions] = $1; c_peer_name[n_conditions] = $2; c_peers[n_conditions] = $3
}

FNR == NR { next }

function after_fields(line, n) {
    for (sub(/^[ \t]+/, "", line); n > 0; n--) sub(/^[^ \t]+[ \t]+/, "", line)
    return line
}

# ---- figures ----

NF == 5 || NF == 7 {
    key = $1 SUBSEP $2 SUBSEP $3
    values[key] = values[key] " " $4
    if (NF == 7) { low[key] = $6; high[key] = $7; runs[key]++ }
    unit[$1, $3] = $5
    if (!(($1) in group_seen)) { group_seen[$1] = 1; groups[++n_groups] = $1 }
    if (!(($1, $2) in system_seen)) { system_seen[$1, $2] = 1; systems[$1] = systems[$1] " " $2 }
    if (!(($1, $3) in name_seen)) { name_seen[$1, $3] = 1; names[$1] = names[$1] " " $3 }
}

# ---- judging ----

# Sets best and who to the peer of condition c with the best figure, or best to "".
function find_best(c, op,    list, n, j, peer) {
    best = ""
    n = split(c_peers[c], list, ",")
    for (j = 1; j <= n; j++) {
        peer = w_group[c_work[c]] SUBSEP list[j] SUBSEP c_peer_name[c]
        if (!(peer in mid)) continue
        if (best == "" || (op == "rate" ? mid[peer] + 0 > best + 0 : mid[peer] + 0 < best + 0)) { best = mid[peer]; who = list[j] }
    }
    if (who == w_system[c_work[c]]) who = c_peer_name[c]
}

# Sets got (the judged number or ""), shown (as text) and verdict of condition c. What is shown is judged: 1.004 is 1.00.
function judge(c,    w, ours, op, limit, at_most, text) {
    w = c_work[c]; got = ""; shown = "-"; verdict = "not measured"
    ours = w_group[w] SUBSEP w_system[w] SUBSEP w_name[w]
    if (!(ours in mid)) return
    match(c_judge[c], /[<>]=/)
    op = substr(c_judge[c], 1, RSTART - 1); limit = substr(c_judge[c], RSTART + 2)
    at_most = "(at " (substr(c_judge[c], RSTART, 1) == "<" ? "most " : "least ") limit ")"
    if (op == "value") {
        got = mid[ours]
        shown = substr(at_most, 2, length(at_most) - 2)
    } else {
        find_best(c, op)
        if (best == "" || best + 0 == 0 || mid[ours] + 0 == 0) { verdict = "no peer measured"; return }
        got = op == "more" ? mid[ours] - best : op == "speed" ? best / mid[ours] : mid[ours] / best
        got = sprintf(got < 0.1 ? "%.3f" : "%.2f", got)
        text = op == "more" ? " more than " who : " x " who "'s " op
        shown = got text " " at_most
    }
    verdict = (c_judge[c] ~ /<=/ ? got + 0 <= limit + 0 : got + 0 >= limit + 0) ? "met" : "missed"
}

# Sets ratios (all conditions of a work as text), misses (those that are missed) and verdict.
function judge_work(w,    c, all) {
    ratios = ""; misses = ""; all = "met"
    for (c = 1; c <= n_conditions; c++) {
        if (c_work[c] != w || c_judge[c] == "limit") continue
        judge(c)
        if (shown != "-") ratios = ratios (ratios == "" ? "" : "; ") shown
        if (verdict == "missed") misses = misses (misses == "" ? "" : "; ") shown
        if (verdict == "missed" || all == "met") all = verdict
    }
    verdict = all
}

# ---- the table of works ----

# The figure of the first peer of a work whose system has this prefix; the reference's, if none is named, by our name.
function peer_cell(w, prefix,    c, j, n, list, key) {
    for (c = 1; c <= n_conditions; c++) {
        if (c_work[c] != w) continue
        n = split(c_peers[c], list, ",")
        for (j = 1; j <= n; j++) {
            key = w_group[w] SUBSEP list[j] SUBSEP c_peer_name[c]
            if (index(list[j], prefix) == 1 && (key in mid)) return cell(key)
        }
    }
    if (prefix == "reference") {
        key = w_group[w] SUBSEP "reference" SUBSEP w_name[w]
        return (key in mid) ? cell(key) : cell(w_group[w] SUBSEP "reference-direct" SUBSEP w_name[w])
    }
    return "-"
}

# What is not a message passing system: sockets, a ring in shared memory, a cipher.
function limit_cell(w,    c, j, n, list, key, text, seen) {
    for (c = 1; c <= n_conditions; c++) {
        if (c_work[c] != w) continue
        n = split(c_peers[c], list, ",")
        for (j = 1; j <= n; j++) {
            key = w_group[w] SUBSEP list[j] SUBSEP c_peer_name[c]
            if (list[j] ~ /^(-|reference|openmpi|mpich|dpvm)/ || !(key in mid) || index(seen, key)) continue
            seen = seen " " key
            text = text (text == "" ? "" : "; ") list[j] " " cell(key)
        }
    }
    return text == "" ? "-" : text
}

function print_targets(    w, ours, line, explained, open) { # -v brief=1 leaves out what was not measured
    print "| work | dpvm | reference | Open MPI | MPICH | limit | ratio | verdict |"
    print "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for (w = 1; w <= n_works; w++) {
        if (!(w_group[w] in group_seen)) continue
        ours = w_group[w] SUBSEP w_system[w] SUBSEP w_name[w]
        judge_work(w)
        if (brief && !(ours in mid)) continue
        printf "| %s | %s%s | %s | %s | %s | %s | %s | %s |\n", w_words[w], cell(ours),
            (ours in mid) ? " " unit[w_group[w], w_name[w]] : "", peer_cell(w, "reference"), peer_cell(w, "openmpi"),
            peer_cell(w, "mpich"), limit_cell(w), ratios == "" ? "-" : ratios, verdict == "met" ? "met" : "**" verdict "**"
        line = "\n- " w_words[w] ": " cell(ours) " " unit[w_group[w], w_name[w]] ", " misses "."
        if (misses != "" && w in w_cause) explained = explained line w_cause[w]
        else if (misses != "") open = open line
    }
    if (explained != "") print "\nMissed, and why:\n" explained
    if (open != "") print "\nMissed, for causes that are not known:\n" open
}

# ---- all figures ----

function print_group(g,    s, n, ns, nn, i, j, line, both) {
    ns = split(systems[g], s, " "); nn = split(names[g], n, " ")
    line = "| what | unit |"
    for (j = 1; j <= ns; j++) line = line " " s[j] " |"
    both = ns == 2 && s[1] == "reference" && s[2] == "dpvm"
    print line (both ? " ratio |" : "")
    gsub(/[^|]+/, " --- ", line)
    print line (both ? " --- |" : "")
    for (i = 1; i <= nn; i++) {
        line = "| " n[i] " | " unit[g, n[i]] " |"
        for (j = 1; j <= ns; j++) line = line " " cell(g SUBSEP s[j] SUBSEP n[i]) " |"
        if (both)
            line = line ((((g, s[1], n[i]) in mid) && ((g, s[2], n[i]) in mid) && mid[g, s[1], n[i]] + 0 != 0) ? \
                sprintf(" %.2f |", mid[g, s[2], n[i]] / mid[g, s[1], n[i]]) : " - |")
        print line
    }
}

function print_groups(    i) {
    for (i = 1; i <= n_groups; i++) {
        if (groups[i] ~ /curve$/ && n_groups > 1) continue # it is drawn
        print "\n### " groups[i] "\n"
        print_group(groups[i])
    }
}

function print_json(    i, j, k, s, n, ns, nn, g, comma, inner, key) {
    printf "  \"results\": ["
    for (i = 1; i <= n_groups; i++) {
        g = groups[i]
        ns = split(systems[g], s, " "); nn = split(names[g], n, " ")
        for (j = 1; j <= nn; j++) {
            printf "%s\n    {\"group\": \"%s\", \"name\": \"%s\", \"unit\": \"%s\", \"systems\": {", comma, g, n[j], unit[g, n[j]]
            inner = ""
            for (k = 1; k <= ns; k++) {
                key = g SUBSEP s[k] SUBSEP n[j]
                if (!(key in mid)) continue
                printf "%s\"%s\": {\"median\": %s, \"min\": %s, \"max\": %s}", inner, s[k], mid[key], min[key], max[key]
                inner = ", "
            }
            printf "}}"
            comma = ","
        }
    }
    printf "\n  ],\n  \"targets\": ["
    comma = ""
    for (i = 1; i <= n_conditions; i++) {
        if (c_judge[i] == "limit") continue
        k = c_work[i]
        judge(i)
        printf "%s\n    {\"group\": \"%s\", \"name\": \"%s\", \"system\": \"%s\", \"target\": \"%s\", \"peer\": \"%s\", \"peers\": \"%s\", \"measured\": %s, \"verdict\": \"%s\"}",
            comma, w_group[k], w_name[k], w_system[k], c_judge[i], c_peer_name[i], c_peers[i], got == "" ? "null" : got, verdict
        comma = ","
    }
    print "\n  ]"
}

function print_curves(    key, p, name, bytes) {
    for (key in mid) {
        split(key, p, SUBSEP)
        if (p[1] != (curve ? curve : "curve")) continue
        name = p[3]; bytes = name
        sub(/.*\./, "", bytes); sub(/\.[0-9]+$/, "", name)
        print p[2], name, bytes, mid[key]
    }
}

END {
    if (failed) exit failed
    for (key in values) {
        mid[key] = median_of(values[key]); min[key] = lowest; max[key] = highest
        if (runs[key] == 1) { min[key] = low[key]; max[key] = high[key] } # of its rounds
    }
    if (form == "targets") print_targets()
    else if (form == "groups") print_groups()
    else if (form == "json") print_json()
    else print_curves()
}
