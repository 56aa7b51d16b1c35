#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Find out which flags this compiler and linker take, once, and print them as make variables.
#
# usage: tools/probe.sh CC        (the build keeps the answer in build/config-CC.mk)
#
# RUN_WITH: the emulator that runs programs of this compiler, if it is one for another machine.
set -eu

cc=${1:?usage: probe.sh CC}
if ! command -v "${cc%% *}" >/dev/null 2>&1; then
	echo "probe: no compiler '$cc'; to install what the build needs: sudo make deps" >&2
	exit 1
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/x.c" <<'C'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char buf[64];
	(void)argc;
	strncpy(buf, argv[0], sizeof(buf) - 1);
	buf[sizeof(buf) - 1] = 0;
	return printf("%s\n", buf) < 0;
}
C

compiles() { $cc -O2 -Werror "$@" -c "$dir/x.c" -o "$dir/x.o" >/dev/null 2>&1; }
# shellcheck disable=SC2086 # RUN_WITH: words, of an emulator
links() { $cc -O2 "$@" "$dir/x.c" -o "$dir/x" >/dev/null 2>&1 && ${RUN_WITH-} "$dir/x" >/dev/null 2>&1; }

taken() # HOW FLAG...: the flags that HOW accepts, each tried alone
{
	how=$1
	shift
	for flag in "$@"; do
		"$how" "$flag" && printf ' %s' "$flag"
	done
	echo
}

if ! compiles; then
	echo "probe: '$cc' cannot compile a C program; to install what the build needs: sudo make deps" >&2
	exit 1
fi

echo "# Written by tools/probe.sh for $cc: $($cc --version | head -n 1)"
printf 'PROBED_WARN :='
taken compiles -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wformat=2 -Wswitch-enum -Wvla -Wundef -Wcast-align -Wnull-dereference
printf 'PROBED_HARDEN :='
taken compiles -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection
printf 'PROBED_CFLAGS :='
taken compiles -fvisibility=hidden -fPIE -ffunction-sections -fdata-sections
printf 'PROBED_LDFLAGS :='
taken links -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--gc-sections -Wl,--as-needed

# Tests are linked by the hundred, and the linker gold needs a third of the time.
printf 'PROBED_QUICK_LD :='
taken links -fuse-ld=gold

# A static program that is also position independent, else just static, else neither.
printf 'PROBED_STATIC :='
for flag in -static-pie -static; do
	if links -fPIE "$flag"; then
		printf ' %s' "$flag"
		break
	fi
done
echo
