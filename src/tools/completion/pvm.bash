# Completion for bash: pvm, pvm-info, pvm-perf, pvm-trace, pvmd3 and atm-sim.
# Hosts and tids are those of the running machine. `pvm --attach` starts no daemon, and a machine that does not answer
# within 2 s has none. Options are those of --help.

# Offers those of the words that begin with the word at the cursor. No `compgen -W`: it would expand $(...) in them.
_dpvm_offer() { # WORD...
    local word
    for word; do
        [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
    done
}

_dpvm_files() {
    compopt -o filenames
    mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]}" | sed '/^$/d'; compgen -f -- "$cur")
}

_dpvm_options() { # COMMAND...
    local options
    mapfile -t options < <(timeout -k 1 2 "$@" --help </dev/null 2>/dev/null |
        sed -n 's/^ \{1,9\}\(-.*\)/\1/p' | grep -oE -- '(^|[ ,])--?[a-zA-Z?][a-z-]*' | tr -d ' ,')
    _dpvm_offer "${options[@]}"
}

_dpvm_ask() { # COMMAND-OF-THE-CONSOLE
    local console=pvm
    [[ $program == */* ]] && console=${program%/*}/pvm
    { timeout -k 1 2 "$console" --attach -c "$1" </dev/null; } 2>/dev/null # nor says bash that it was killed
}

_dpvm_hosts() { # [WHAT COMES BEFORE EACH]
    local hosts
    mapfile -t hosts < <(_dpvm_ask conf | awk -v before="${1-}" 'NR > 2 { print before $1 }')
    _dpvm_offer "${hosts[@]}"
}

_dpvm_tids() {
    local tids
    mapfile -t tids < <(_dpvm_ask 'ps -a' | awk 'NR > 1 { print "t" $2 }')
    _dpvm_offer "${tids[@]}"
}

_dpvm_run() {
    case $prev in
    -H | --host) _dpvm_hosts ;;
    --hostfile) _dpvm_files ;;
    -w | --directory) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    --stdin) _dpvm_offer none first all ;;
    -n | -N | --copies | --timeout) ;;
    *) if [[ $cur == -* ]]; then _dpvm_options "$program" run; else _dpvm_files; fi ;;
    esac
}

_dpvm_console() {
    local commands="add alias conf delete echo export getopt halt help id jobs kill mstat names ps pstat put quit reset
        rotate route setenv setopt sig spawn token trace unalias unexport version" command= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -c | -f | -d | -n | --command | --file | --debug | --name) ((i++)) ;;
        -* | =) ;;
        *) command=${COMP_WORDS[i]} && break ;;
        esac
    done
    case $command:$prev in
    run:*) _dpvm_run ;;
    top:-s | top:--sort) _dpvm_offer cpu memory messages sent received queue wait tid host name ;;
    top:*) _dpvm_options "$program" top ;;
    web:*) _dpvm_options "$program" web ;;
    doctor:*) if [[ $cur == -* ]]; then _dpvm_options "$program" doctor; else _dpvm_hosts; fi ;;
    :-f | :--file) _dpvm_files ;;
    :-[cdn] | :--command | :--debug | :--name) ;;
    :*)
        if [[ $cur == -* ]]; then
            _dpvm_options "$program"
        else
            _dpvm_offer $commands run top web doctor
            _dpvm_files # a hostfile
        fi
        ;;
    sig:sig) mapfile -t COMPREPLY < <(compgen -A signal -- "SIG${cur#SIG}" | if [[ $cur == SIG* ]]; then cat; else cut -c4-; fi) ;;
    kill:* | sig:* | pstat:* | route:*) _dpvm_tids ;;
    add:* | delete:* | mstat:*) _dpvm_hosts ;;
    help:*) _dpvm_offer $commands ;;
    ps:*) _dpvm_offer -a -l -x --json && _dpvm_hosts -n ;;
    spawn:*) if [[ $cur == -* ]]; then _dpvm_hosts -; else _dpvm_files; fi ;;
    esac
}

_dpvm_atm_sim() {
    local commands
    if ((COMP_CWORD == 1)); then
        mapfile -t commands < <(timeout -k 1 2 "$program" --help </dev/null 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
        _dpvm_offer "${commands[@]}"
        return
    fi
    case ${COMP_WORDS[1]}:$prev in
    run:-l | run:--load) _dpvm_offer greedy echo cbr poisson none ;;
    serve:-c | serve:--clock) _dpvm_offer real virtual ;;
    *) if [[ $cur == -* ]]; then _dpvm_options "$program" "${COMP_WORDS[1]}"; else _dpvm_files; fi ;;
    esac
}

_dpvm() {
    local program=$1 cur=$2 prev=$3
    COMPREPLY=()
    [[ $cur == = ]] && cur=
    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]} # bash splits --option=word
    case ${program##*/}:$prev in
    pvm:*) _dpvm_console ;;
    atm-sim:*) _dpvm_atm_sim ;;
    pvm-info:-t | pvm-info:--task) _dpvm_tids ;;
    pvm-perf:-H | pvm-perf:--hosts) _dpvm_hosts ;;
    pvm-perf:-e | pvm-perf:--encodings) _dpvm_offer default raw inplace psend all ;;
    pvm-perf:--verify) _dpvm_offer none sample all ;;
    pvm-perf:--svg | pvm-trace:--svg | pvm-trace:-o | pvm-trace:--output) _dpvm_files ;;
    pvmd3:-l | pvmd3:--log) _dpvm_offer file stderr journal ;;
    *)
        if [[ $cur == -* ]]; then
            _dpvm_options "$program"
        else
            case ${program##*/} in
            pvm-perf) _dpvm_offer lat bw bibw rate mcast match spawn barrier ring alltoall ;;
            pvm-trace)
                if ((COMP_CWORD == 1)); then _dpvm_offer summary svg chrome perfetto paje; else _dpvm_files; fi
                ;;
            pvmd3) _dpvm_files ;;
            esac
        fi
        ;;
    esac
}

complete -F _dpvm pvm pvm-info pvm-perf pvm-trace pvmd3 atm-sim
