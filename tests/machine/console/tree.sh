#!/usr/bin/env bash
# tree - what old scripts, Makefiles and start-up files expect: PVM_ROOT, PVM_ARCH, the start scripts with ~/.pvmprofile, aimk,
# the folders of executables, the variables that PVM 3.4 reads.
. "$(dirname "$0")/common"
root=$(readlink -f "$DPVM_BIN/../lib/pvm3")
page=$(readlink -f "$(dirname "$0")/../../../man/aimk.1")
unset PVM_PATH
arch=$("$root/lib/pvmgetarch")
printf '#!/bin/sh\necho "$0"\n' >"$work/where"
chmod +x "$work/where"

# ---- lib/pvm and lib/pvmd read ~/.pvmprofile ----

echo "export MARK=from-profile PVM_EXPORT=MARK; echo read >>$work/profile-read" >"$HOME/.pvmprofile"
out=$(timeout 60 "$root/lib/pvm" -c 'setenv MARK; setenv PVM_ROOT; setenv PVM_ARCH')
same "lib/pvm with .pvmprofile" "from-profile
$root
$arch" "$out"
has "lib/pvmd" "architecture $arch" "$(timeout 20 "$root/lib/pvmd" -t)"
same ".pvmprofile is read by both" "read
read" "$(cat "$work/profile-read")"
timeout 20 "$root/lib/pvm" -c halt
eventually daemon_is_gone

# PVM_DPATH or dx= is usually the script lib/pvmd, which finds the rest by itself, whatever the PATH is
rm "$work/profile-read"
out=$(PVM_DPATH=$root/lib/pvmd timeout 60 "$DPVM_BIN/pvm" -c 'add 127.0.0.2; mstat 127.0.0.2')
has "PVM_DPATH" "127.0.0.2  ok" "$out"
same "PVM_DPATH: .pvmprofile there" read "$(cat "$work/profile-read")"
rm "$HOME/.pvmprofile"

# ---- search for tasks' programs ----

mkdir -p "$HOME/pvm3/bin/$arch"
cp "$work/where" "$HOME/pvm3/bin/$arch/"
pvm -c 'spawn -> where'
has "the default place of programs" "$HOME/pvm3/bin/$arch/where" "$out"
timeout 20 "$DPVM_BIN/pvm" -c halt
eventually daemon_is_gone

mkdir -p "$work/root/bin/$arch" # a PVM_ROOT with programs of its own; those at home come first
ln -s "$root/lib" "$root/conf" "$root/include" "$work/root/"
cp "$work/where" "$work/root/bin/$arch/"
cp "$work/where" "$work/root/bin/$arch/other"
export PVM_ROOT=$work/root
pvm -c 'spawn -> where; spawn -> other'
has "PVM_ROOT: at home first" "$HOME/pvm3/bin/$arch/where" "$out"
has "PVM_ROOT/bin/PVM_ARCH" "$work/root/bin/$arch/other" "$out"
timeout 20 "$DPVM_BIN/pvm" -c halt
eventually daemon_is_gone

mkdir "$work/wd"
printf '#!/bin/sh\npwd\n' >"$HOME/pvm3/bin/$arch/wd"
chmod +x "$HOME/pvm3/bin/$arch/wd"
out=$(PVM_WD=$work/wd timeout 60 "$DPVM_BIN/pvm" -c 'spawn -> wd')
has "PVM_WD" "] $work/wd" "$out"
timeout 20 "$DPVM_BIN/pvm" -c halt
eventually daemon_is_gone

# ---- start-up files ----

for shell in bash ksh dash; do
    command -v $shell >/dev/null || { fail "$shell is missing: run script/bootstrap"; continue; }
    stub=$root/lib/bashrc.stub
    [ $shell = ksh ] && stub=$root/lib/kshrc.stub
    out=$(PVM_ROOT=$root $shell -c ". $stub; echo \$PVM_ARCH; echo \$PATH")
    has "$shell: PVM_ARCH" "$arch" "$out"
    has "$shell: PATH" ":$root/lib:$root/lib/$arch:$root/bin/$arch:$HOME/pvm3/bin/$arch" "$out"
done
has "without PVM_ROOT" "set PVM_ROOT before this" "$(env -u PVM_ROOT sh -c ". $root/lib/bashrc.stub" 2>&1)"
for shell in csh tcsh; do
    command -v $shell >/dev/null || { fail "$shell is missing: run script/bootstrap"; continue; }
    out=$(PVM_ROOT=$root $shell -fc "source $root/lib/cshrc.stub; echo \$PVM_ARCH \$path")
    has "$shell" "$arch" "$out"
    has "$shell" "$root/lib/$arch $root/bin/$arch" "$out"
done

# ---- variables of PVM 3.4: none of them is called unknown ----

out=$(PVMBUFSIZE=1048576 PVMKEY=7 PVMTOUCH=1 PVMINPLACEDELAY=1 PVM_DEBUGGER=$root/lib/debugger PVMDLOGMAX=100000 PVMDDEBUG=0 \
    PVMTASKDEBUG=0 PVMTASK=0 PVM_TMP=$PVM_TMP PVM_RSH=ssh PVM_PATH=$HOME PVM_WD=$HOME PVM_EXPORT=A PVM_DPATH=$root/lib/pvmd \
    PVM_ARCH=$arch PVM_MAX_TASKS=100 PVMNETSOCKPORT=0 timeout 60 "$DPVM_BIN/pvm" -c 'id; halt' 2>&1)
case $out in t[0-9a-f]*) ;; *) fail "variables of PVM 3.4: $out" ;; esac
same "variables of PVM 3.4: nothing is said" 1 "$(wc -l <<<"$out")"
eventually daemon_is_gone
grep -q 'unknown\|not usable' "$PVM_TMP/pvml.$(id -u)" && fail "$(cat "$PVM_TMP/pvml.$(id -u)")"

# ---- aimk: its three ways, and what it says when something is missing ----

export PVM_ROOT=$root
mkdir -p "$work/source"
cd "$work/source" || exit 1
printf 'all:\n\t@echo plain $(PVM_ARCH) $(GREETING)\n' >Makefile
same "aimk in a folder with a Makefile" "making in . for $arch
plain $arch hello" "$("$root/lib/aimk" all GREETING=hello)"
printf 'all:\n\t@echo shared $(PVM_ARCH) $(notdir $(CURDIR)) $(if $(ARCHLIB),has ARCHLIB)\n' >Makefile.aimk
same "aimk with a Makefile.aimk" "making in $arch/ for $arch
shared $arch $arch has ARCHLIB" "$("$root/lib/aimk" all)"
same "aimk -here" "making in . for $arch
plain $arch" "$("$root/lib/aimk" -here all)"
printf 'all:\n\t@echo own\nfail:\n\t@exit 3\n' >"$arch/Makefile"
same "aimk with a Makefile of the architecture" "making in $arch/ for $arch
own" "$("$root/lib/aimk" all)"
"$root/lib/aimk" fail >/dev/null 2>&1
same "aimk: make's exit code" 2 $?
rm -r "$arch"
out=$(PVM_ARCH=CRAY "$root/lib/aimk" all 2>&1)
same "aimk without definitions: exit code" 1 $?
has "aimk without definitions" "$root/conf/CRAY.def is missing: is PVM_ROOT=$root right, and PVM_ARCH=CRAY?" "$out"

# the example of aimk(1), unless what it links with needs a sanitizer's runtime
if ! nm -D "$root/lib/$arch/libpvm3.so" | grep -q '__asan_init\|__ubsan\|__tsan_init'; then
    sed -n '/^[.]Bd -literal/,/^[.]Ed/{/^[.]/d; p}' "$page" >Makefile.aimk
    printf '#include <stdio.h>\n#include <pvm3.h>\nint main(void) { printf("t%%x was built by aimk\\n", pvm_mytid()); return pvm_exit(); }\n' >hello.c
    out=$("$root/lib/aimk" hello 2>&1) || fail "the example of aimk(1): $out"
    pvm -c 'spawn -> hello'
    has "the program that aimk built" "was built by aimk" "$out"
fi
cd /
