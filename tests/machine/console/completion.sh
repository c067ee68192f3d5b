#!/usr/bin/env bash
# completion - the completion files for bash and zsh: live hosts and tids, options, files; no daemon is started for
# them, and one that does not answer costs little time. The console's own completion is tested in terminal.sh.
. "$(dirname "$0")/common"
files=$(cd "$(dirname "$0")/../../../src/tools/completion" && pwd)
for tool in zsh expect; do
    command -v $tool >/dev/null || fail "$tool is missing: run script/bootstrap"
done

# What bash offers for the last word. compopt works only while bash itself completes.
offered() { # WORD...
    bash --norc -c '
        compopt() { :; }
        . "$1/pvm.bash"
        shift
        complete -p "${1##*/}" >/dev/null || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _dpvm "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' bash "$files" "$@"
}

mkdir -p "$work/zsh" "$work/here" && cd "$work/here" && touch a-trace another && mkdir a-folder
cp "$files/_pvm" "$work/zsh"

# Without a machine: nothing is offered, and nothing is started
same "hosts without a machine" " " "$(offered pvm delete "")"
same "tids without a machine" " " "$(offered pvm kill t)"
daemon_is_gone || fail "a daemon was started"
[ -z "$(ls -A "$PVM_TMP")" ] || fail "left by completion: $(ls -A "$PVM_TMP")"
pvm --attach -c conf
same "pvm --attach without a machine" "3 pvm: no virtual machine runs here" "$code $err"

program sleeper 'exec sleep 100'
pvm -n 127.0.0.1 -c "add 127.0.0.2; spawn -2 sleeper"
tids=$(pvm -c 'ps -a'; awk 'NR > 1 { print "t" $2 }' <<<"$out" | sort | tr '\n' ' ')
[ "$(wc -w <<<"$tids")" = 2 ] || fail "there are not two tasks: $tids"
same "hosts" "127.0.0.1 127.0.0.2 " "$(offered pvm delete 12)"
same "hosts of pvm-perf" "127.0.0.2 " "$(offered pvm-perf --hosts = 127.0.0.2)"
same "places of spawn" "-127.0.0.1 -127.0.0.2 " "$(offered pvm spawn -1)"
same "tids" "$tids" "$(offered pvm kill t)"
same "tids of pvm-info" "$tids" "$(offered "$DPVM_BIN/pvm-info" -t t)"
same "commands" "ps pstat " "$(offered pvm ps)"
same "files" "a-folder a-trace another " "$(offered pvm-trace summary a)"
same "words of an option" "journal " "$(offered pvmd3 --log = j)"
has "options" "--transports " "$(offered "$DPVM_BIN/pvm-perf" --)"
has "options of pvm web" "--control " "$(offered "$DPVM_BIN/pvm" web --)"
has "programs of pvm" "web " "$(offered pvm we)"
has "options of pvm run" "--hostfile " "$(offered "$DPVM_BIN/pvm" run --h)"
has "options of pvm top" "--filter " "$(offered "$DPVM_BIN/pvm" top --f)"
has "keys of pvm top" "received " "$(offered "$DPVM_BIN/pvm" top --sort rec)"
has "options of pvm doctor" "--quiet " "$(offered "$DPVM_BIN/pvm" doctor --q)"
if [ -x "$DPVM_BIN/atm-sim" ]; then # builds may be without it
    same "commands of atm-sim" "sweep " "$(offered "$DPVM_BIN/atm-sim" sw)"
    has "options of atm-sim sweep" "--only " "$(offered "$DPVM_BIN/atm-sim" sweep --o)"
    same "loads of atm-sim run" "echo " "$(offered "$DPVM_BIN/atm-sim" run --load = e)"
fi
same "signals" "TERM " "$(offered pvm sig TERM)"
pvm -c help
for file in pvm.bash _pvm; do
    for command in $(awk '{ print $1 }' <<<"$out" | grep -E '^[a-z]+$'); do
        grep -qw "$command" "$files/$file" || fail "$file does not know the command $command"
    done
done

# zsh, in a terminal of its own
zsh_completes() { # LINE RESULT
    out=$(timeout 60 zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PS1=; stty -echo; unsetopt zle_bracketed_paste; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
        zpty -w shell "show() { print -r -- \"<<\$BUFFER>>\"; zle kill-whole-line }; zle -N show; bindkey \"^X\" show; setopt no_auto_menu no_list_beep; print go\"\"es"
        zpty -m -r shell seen "*goes*"
        zpty -w -n shell "$2"$'"'\t\x18'"'
        zpty -m -r shell seen "*<<*>>*"
        zpty -d shell
        print -r -- ${${seen##*<<}%%>>*}' zsh "$work/zsh" "$1" 2>&1)
    same "zsh: $1" "$2" "$out"
}
zsh_completes "pvm del" "pvm delete "
zsh_completes "pvm delete 127.0.0.2" "pvm delete 127.0.0.2 "
zsh_completes "pvm mstat 127" "pvm mstat 127.0.0."
zsh_completes "pvm kill ${tids%% *}" "pvm kill ${tids%% *} "
zsh_completes "pvm-trace summary a-t" "pvm-trace summary a-trace "
zsh_completes "pvmd3 --log=jo" "pvmd3 --log=journal "
zsh_completes "pvm-perf --transp" "pvm-perf --transports "

# A machine that does not answer
daemon=$(for pid in $(pgrep -x pvmd3); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qxF "PVM_TMP=$PVM_TMP" &&
        grep -qzxF -- -n127.0.0.1 "/proc/$pid/cmdline" && echo "$pid"
done)
[ -n "$daemon" ] || fail "no daemon is found"
kill -STOP $daemon
begin=$SECONDS
same "hosts of a stopped daemon" " " "$(offered pvm delete 12 2>&1)"
[ $((SECONDS - begin)) -le 20 ] || fail "completion took $((SECONDS - begin)) s"
kill -CONT $daemon
