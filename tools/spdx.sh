#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every source file names its licence in one of its first three lines.
#
# usage: tools/spdx.sh [ROOT]
set -eu

cd "${1:-.}"
# shellcheck disable=SC2046 # words on purpose
awk 'BEGIN {
	for (i = 1; i < ARGC; i++) {
		named = 0
		for (n = 0; n < 3 && (getline line < ARGV[i]) > 0; n++)
			named = named || line ~ /SPDX-License-Identifier: Apache-2\.0/
		close(ARGV[i])
		if (!named) {
			print substr(ARGV[i], 3) ": no SPDX-License-Identifier: Apache-2.0 in its first three lines"
			bad = 1
		}
	}
	if (!bad)
		print "spdx: " ARGC - 1 " files"
	exit bad
}' $(find . -path ./build -prune -o -path ./.git -prune -o -type f \
	\( -name '*.[chS]' -o -name '*.sh' -o -name '*.awk' -o -name '*.mk' -o -name Makefile \
	-o -path './.ci/*' -o -path './docs/man/*' -o -name '*.bash' \) -print | sort)
