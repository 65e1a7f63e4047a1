#!/bin/sh
# The linker of all builds for Linux (.cargo/config.toml). In a release build, it puts the functions that runs execute
# next to each other: the kernel maps code in units of 64 kB, so scattered ones would bring nearly the whole code into
# memory. Without Python and nm, and in any other build, it only links. The result is the same on each machine.
set -eu

# A release build has one object with all Rust code.
object=
count=0
is_lld=0
for argument; do
    case $argument in
        *terraform_provider_fgw-*.rcgu.o) object=$argument count=$((count + 1)) ;;
        -fuse-ld=lld) is_lld=1 ;;
    esac
done
if [ "$count" != 1 ] || ! command -v python3 >/dev/null || ! command -v nm >/dev/null; then
    exec cc "$@"
fi
python3 "$(dirname "$0")/order.py" symbols "$@" > "$object.order"
# Only LLD orders functions. The toolchain contains it, and Rust uses it by default for some platforms.
if [ "$is_lld" = 0 ]; then
    host=$(rustc -vV | sed -n 's/^host: //p')
    set -- "$@" "-B$(rustc --print sysroot)/lib/rustlib/$host/bin/gcc-ld" -fuse-ld=lld
fi
exec cc "$@" "-Wl,--symbol-ordering-file=$object.order" -Wl,--no-warn-symbol-ordering
