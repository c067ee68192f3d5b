# report.awk - makes tables and JSON from the measurements of script/bench.
#
#   awk -v form=FORM [-v issue=N] -f report.awk bench/targets SAMPLES
#
# SAMPLES has lines "group system name value unit", one per round. FORM is targets (the targets of an issue with
# verdicts), groups (all medians, one table per group), json (both, as members of an object) or curves (for plots: system,
# name without the size, bytes, us; from the group `curve`, or the one given by -v curve=GROUP).

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

FNR == NR {
    if ($1 ~ /^[0-9]+$/ && NF > 7) {
        n_targets++
        t_issue[n_targets] = $1; t_group[n_targets] = $2; t_name[n_targets] = $3; t_system[n_targets] = $4
        t_judge[n_targets] = $5; t_peer_name[n_targets] = $6; t_peers[n_targets] = $7
        words = $0
        for (i = 0; i < 7; i++) sub(/^[^ ]+ +/, "", words)
        t_words[n_targets] = words
    }
    next
}

NF == 5 {
    key = $1 SUBSEP $2 SUBSEP $3
    values[key] = values[key] " " $4
    unit[$1, $3] = $5
    if (!(($1) in group_seen)) { group_seen[$1] = 1; groups[++n_groups] = $1 }
    if (!(($1, $2) in system_seen)) { system_seen[$1, $2] = 1; systems[$1] = systems[$1] " " $2 }
    if (!(($1, $3) in name_seen)) { name_seen[$1, $3] = 1; names[$1] = names[$1] " " $3 }
}

# Sets got (the measured figure, a number or ""), shown (as text) and verdict of target i.
function judge(i,    ours, op, limit, list, n, j, peer, best, who) {
    got = ""; shown = "-"; verdict = "not measured"
    ours = t_group[i] SUBSEP t_system[i] SUBSEP t_name[i]
    if (!(ours in mid)) return
    match(t_judge[i], /[<>]=/)
    op = substr(t_judge[i], 1, RSTART - 1); limit = substr(t_judge[i], RSTART + 2)
    if (op == "value") {
        got = mid[ours]
        shown = number(got) " " unit[t_group[i], t_name[i]]
        verdict = got + 0 <= limit + 0 ? "met" : "missed"
        return
    }
    n = split(t_peers[i], list, ",")
    best = ""
    for (j = 1; j <= n; j++) {
        peer = t_group[i] SUBSEP list[j] SUBSEP t_peer_name[i]
        if (!(peer in mid)) continue
        if (best == "" || (op == "rate" ? mid[peer] + 0 > best + 0 : mid[peer] + 0 < best + 0)) { best = mid[peer]; who = list[j] }
    }
    if (best == "" || best + 0 == 0 || mid[ours] + 0 == 0) { verdict = "no peer measured"; return }
    got = op == "speed" ? best / mid[ours] : mid[ours] / best
    shown = sprintf("%.2f x (%s to %s's %s %s)", got, number(mid[ours]), who, number(best), unit[t_group[i], t_name[i]])
    if (op == "time" && got < 0.1) sub(/^[0-9.]+/, sprintf("%.3f", got), shown)
    verdict = (op == "time" ? got + 0 <= limit + 0 : got + 0 >= limit + 0) ? "met" : "missed"
}

function print_targets(    i) {
    print "| what issue " issue " asks for | measured | verdict |"
    print "| --- | --- | --- |"
    for (i = 1; i <= n_targets; i++)
        if (t_issue[i] == issue) {
            judge(i)
            printf "| %s | %s | %s |\n", t_words[i], shown, verdict == "met" ? "met" : "**" verdict "**"
        }
}

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
    for (i = 1; i <= n_targets; i++) {
        judge(i)
        printf "%s\n    {\"issue\": %s, \"group\": \"%s\", \"name\": \"%s\", \"system\": \"%s\", \"target\": \"%s\", \"peers\": \"%s\", \"measured\": %s, \"verdict\": \"%s\"}",
            comma, t_issue[i], t_group[i], t_name[i], t_system[i], t_judge[i], t_peers[i], got == "" ? "null" : got, verdict
        comma = ","
    }
    print "\n  ]"
}

function print_curves(    key, p, q, name, bytes) {
    for (key in mid) {
        split(key, p, SUBSEP)
        if (p[1] != (curve ? curve : "curve")) continue
        name = p[3]; bytes = name
        sub(/.*\./, "", bytes); sub(/\.[0-9]+$/, "", name)
        print p[2], name, bytes, mid[key]
    }
}

END {
    for (key in values) {
        mid[key] = median_of(values[key]); min[key] = lowest; max[key] = highest
    }
    if (form == "targets") print_targets()
    else if (form == "groups") print_groups()
    else if (form == "json") print_json()
    else print_curves()
}
