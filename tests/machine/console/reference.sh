#!/usr/bin/env bash
# reference - the same commands must give the same output with Debian's PVM 3.4.6 and with ours.
# Not compared: help texts, and what tests/machine/console/formats.sh lists as our own.
. "$(dirname "$0")/common"
[ -x /usr/bin/pvmd ] && [ -x /usr/bin/pvm ] && [ "$(readlink -f /usr/bin/pvm)" != "$(readlink -f "$DPVM_BIN/pvm")" ] ||
    { fail "Debian's pvm is missing: run script/bootstrap"; exit 1; }

program say 'for word; do printf "%s\n" "$word"; done'
program part 'printf par; sleep 0.2; printf "tial\n"'
mkdir -p "$HOME/pvm3/bin/LINUX64" "$work/folder.ours" "$work/folder.reference"
cp "$work"/bin/* "$HOME/pvm3/bin/LINUX64/"
commands=(
    "id" "conf" "version" "ps" "ps -a" "ps -l" "ps -al" "names nosuch" "mstat nosuch ." "delete nosuch" "pstat t40777"
    "pstat 40777" "put box 1 2" "names box" "reset info box" "jobs" "jobs -l" "getopt PvmRoute" "getopt PvmFragSize"
    "getopt nosuch" "getopt a b" "setopt PvmRoute 2" "setopt PvmFragSize 8192" "setopt nosuch 1" "setopt PvmRoute"
    "trace" "trace send" "trace - *" "trace" "trace + *" "trace" "trace xpvm" "trace" "trace buf" "trace buf 77"
    "trace buf" "trace opt" "trace opt count" "trace opt" "trace opt nosuch" "trace nosuch" "trace pvm_mytid pvm_send" "trace" "trace - pvm_send" "trace" "trace pvm_nosuch" "trace pvm_" "trace PVM_recv" "tickle 5" "tickle 6 3"
    "tickle 5" "tickle 6 0" "alias" "alias yy echo 1" "alias xx yy 2" "alias" "xx 3" "alias vv ww" "alias ww vv" "vv"
    "unalias xx" "xx" "unalias nosuch" "unalias" "echo a  b 'c  d' \"e  f\" g\\ h # i" "echo" "echo \"a\\b\" 'c\\d'"
    "setenv CONSOLE_TEST x y" "setenv CONSOLE_TEST" "setenv CONSOLE_TEST_2" "export" "export A" "export B C" "export"
    "unexport B" "export" "unexport nosuch" "nosuch" "add" "conf x" "id x" "version x" "quit x" "halt x" "help a b"
    "kill" "kill -c" "kill 40777" "sig" "sig 15" "sig 0 40777" "reset x" "reset a b c d" "spawn" "spawn -2" "spawn nosuch"
    "ps -x" "ps -ax" "ps -n." "ps -h40000" "ps -h80000" "ps -alx" "jobs -z" "mstat" "delete"
    "tickle" "tickle 0" "tickle 1" "tickle 2" "tickle 3" "tickle 4" "tickle 7" "tickle 7 5" "tickle 9" "tickle 9 1" "tickle 100"
    "idump" "idump 1" "pstat" "names" "names a b" "put" "put box" "echo \"\"" "unexport" "export A"
    "spawn --host=nosuch say" "spawn --host=. -> say a" "spawn --host=.:FOLDER -> say a" "spawn -.:FOLDER -> say a"
    "spawn -LINUX64:FOLDER -> say a" "spawn -NOSUCH:FOLDER say" "spawn -~NOSUCH -> say a"
    "spawn -2 -3 say" "spawn ->" "reset info" "reset info nosuch 3"
    "spawn -3 nosuch" "spawn -nosuch say" "spawn -NOSUCH -2 say" "spawn -> say one two" "spawn -> -:FOLDER say one"
    "spawn -> -. say a b" "spawn -LINUX64 -> say a" "spawn -> part" "spawn ->FOLDER/new say a" "reset" "names nosuch"
)

# Ids are masked, and the name of the console's own program, which the reference does not know. Output of jobs may come
# before or after the next prompt, so prompts are taken away.
wait_s() { "$(dirname "$0")/../../lab/patience" "$1"; }
session() { # FOLDER PVM
    local folder=$1
    shift
    {
        for line in "${commands[@]}"; do
            printf '%s\n' "${line//FOLDER/$folder}"
            sleep "$(wait_s 0.1)"
            case $line in spawn*) sleep "$(wait_s 0.7)" ;; esac
        done
        sleep 0.5
    } | "$@" 2>"$folder/err" |
        sed -E 's/\bt?4[0-9a-f]{4}\b/TID/g; s/ +TID/ TID/g; s/owner=[^ ]*/owner/; s/ \(dpvm .*\)$//; s/^(pvm> )+//
            s/(\(cons\) .*)(-  |pvm)/\1NAME/; s/(\(cons\) +-) +[0-9]+/\1 PID/; '"s|$folder|FOLDER|g"
}

# The reference's daemon keeps the pipe open in which it was started.
ref=$work/reference
mkdir -m 700 "$ref"
reference() {
    (unset PVM_PATH && PVM_TMP=$ref PVM_ROOT=/usr/lib/pvm3 PVM_ARCH=LINUX64 timeout 600 "$@")
}
reference /usr/bin/pvmd >/dev/null 2>&1 </dev/null &
reference=$!
eventually test -s "$ref/pvmd.$(id -u)" || { fail "Debian's pvmd does not start"; exit 1; }
timeout 20 "$DPVM_BIN/pvm" -c id >/dev/null
session "$work/folder.reference" reference /usr/bin/pvm >"$work/expected" & # both at once, since they mostly wait
first=$!
got=$(session "$work/folder.ours" timeout 600 "$DPVM_BIN/pvm")
wait $first
expected=$(cat "$work/expected")
names() { sed -n '/^Commands are:/,$s/^  \([a-z]*\) .*/\1/p' | sort; }
theirs=$(reference /usr/bin/pvm <<<help | names)
reference /usr/bin/pvm <<<halt >/dev/null 2>&1
wait $reference
[ "$(wc -l <<<"$expected")" -gt 300 ] || fail "the reference says too little: $expected"
same "the reference's output" "$expected" "$got"
[ "$(wc -w <<<"$theirs")" -gt 25 ] || fail "the reference's help has too few commands: $theirs"
same "commands of the reference that we do not have" "" "$(comm -23 <(echo "$theirs") <(timeout 20 "$DPVM_BIN/pvm" -c help | names))"
