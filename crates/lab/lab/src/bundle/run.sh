#!/bin/sh
# Boots the kernel beside this script in QEMU, runs one case in it and reports how it ended.
#
#   sh run.sh [--keep DIRECTORY]     DIRECTORY gets console and results
#
# Exit codes: 0 all well, 1 the case failed, or the kernel crashed or hung, 3 broken: no verdict, 4 nothing was run,
# 130 interrupted; if the user's own program failed, its own exit code.
# KILN_TIMEOUT_MUL=3 makes every time limit of this script three times as long.
set -u
LC_ALL=C
export LC_ALL
umask 077

# Files of the guest are never larger, in bytes; of a longer console the end is read.
FILE_MAX=67108864
READ_MAX=8388608

say() { printf 'run.sh: %s\n' "$1" >&2; }
fail() {
    say "$1"
    exit 3
}

keep=
case ${1-} in
'') ;;
--keep)
    [ $# -eq 2 ] && mkdir -p -- "$2" && keep=$(cd -- "$2" && pwd) || fail "--keep DIRECTORY: cannot be made"
    ;;
*)
    say 'usage: sh run.sh [--keep DIRECTORY]'
    exit 2
    ;;
esac
times=${KILN_TIMEOUT_MUL:-1}
case $times in
*[!0-9]* | 0*) fail 'KILN_TIMEOUT_MUL: a whole number is needed' ;;
esac

here=$(cd -- "$(dirname -- "$0")" && pwd) || exit 3
for program in qemu-system-x86_64 grep tr tail wc dd; do
    command -v "$program" >/dev/null 2>&1 || fail "$program is not installed"
done

# Without arguments it only prints its usage.
"$here/@JUDGE@" 2>/dev/null
[ $? -eq 2 ] || fail "$here/@JUDGE@ cannot be executed"

qemu= watcher=
finish() {
    trap '' HUP INT TERM
    for process in $watcher $qemu; do kill -9 "$process" 2>/dev/null; done
    cd / && rm -rf -- "$work"
}
work=${TMPDIR:-/tmp}/kiln-run-$$
mkdir -- "$work" || fail "$work: cannot be made"
trap finish EXIT
trap 'exit 130' HUP INT TERM
cd -- "$work" || exit 3
ln -s -- "$here/@IMAGE@" @IMAGE@ && ln -s -- "$here/@INITRAMFS@" @INITRAMFS@ || exit 3
[ ! -e "$here/@ROOT@" ] || ln -s -- "$here/@ROOT@" @ROOT@ || exit 3
: >@CONSOLE@ && : >@CONTROL@ || exit 3
[ @DISK_MIB@ -eq 0 ] || dd if=/dev/null of=@DISK@ bs=1048576 seek=@DISK_MIB@ 2>/dev/null || fail 'no room for the disk'
@DEVICES@
accel=@ACCEL@
if [ "$accel" = kvm ] && { [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; }; then
    say 'the Run used KVM, which is not usable here: using TCG'
    accel=tcg
fi
case $accel in
kvm) @QEMU_KVM@ </dev/null >qemu.txt 2>&1 & ;;
*) @QEMU_TCG@ </dev/null >qemu.txt 2>&1 & ;;
esac
qemu=$!

size() { wc -c <@CONSOLE@ && wc -c <@CONTROL@; }

# Ends a machine that says nothing for too long, or too much, and one that is dead and does not know it.
watch() {
    still=0 seconds=0 last=
    while sleep 1; do
        now=$(size)
        seconds=$((seconds + 1)) still=$((still + 1))
        [ "$now" = "$last" ] || still=0
        last=$now
        set -- $now
        why=
        if [ "$1" -gt "$FILE_MAX" ] || [ "$2" -gt "$FILE_MAX" ]; then
            why="the guest wrote more than $((FILE_MAX >> 20)) MiB"
        elif [ $still -ge $((@SILENCE@ * times)) ]; then
            why="silent $still"
        elif [ $seconds -ge $((@LIMIT@ * times)) ]; then
            why="late $seconds"
        elif [ $still -ge 3 ] && tail -n 5 @CONSOLE@ | tr -d '\000' | grep -q -e '---\[ end Kernel panic' -e 'reboot: System halted'; then
            why=over
        fi
        if [ -n "$why" ]; then
            printf '%s\n' "$why" >stopped
            kill -9 "$qemu"
            return
        fi
    done
}
watch >/dev/null 2>&1 &
watcher=$!
wait "$qemu" 2>/dev/null
status=$?
qemu=
kill -9 "$watcher" 2>/dev/null
watcher=
stopped=
[ -f stopped ] && read -r stopped <stopped
[ "$stopped" != over ] || stopped= status=0
# QEMU calls it a success when somebody ends it by a signal that it takes.
! grep -q 'terminating on signal' qemu.txt || stopped='QEMU was ended by a signal'

# What the guest wrote may be anything: only what a terminal does not obey is left.
harmless() { tail -c "$READ_MAX" "$1" | tr -d '\r' | tr -c '\011\012\036\040-\176' '?'; }
harmless @CONSOLE@ >console.txt
harmless @CONTROL@ >control.txt
[ -z "$keep" ] || cp -- console.txt control.txt qemu.txt "$keep" || exit 3
[ "$status" -eq 0 ] || [ -n "$stopped" ] || tail -n 3 qemu.txt | tr -c '\011\012\040-\176' '?' >&2

"$here/@JUDGE@" "$here/@CASE@" "$status" "$stopped"
