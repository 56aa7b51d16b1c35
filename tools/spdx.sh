#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every source file names its licence in one of its first three lines.
#
# usage: tools/spdx.sh [ROOT]
set -eu

cd "${1:-.}"
bad=0
n=0
for file in $(find . -path ./build -prune -o -path ./.git -prune -o -type f \
	\( -name '*.[chS]' -o -name '*.sh' -o -name '*.awk' -o -name '*.mk' -o -name Makefile \
	-o -path './.ci/*' -o -path './docs/man/*' -o -name '*.bash' \) -print | sort); do
	n=$((n + 1))
	if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2\.0'; then
		echo "${file#./}: no SPDX-License-Identifier: Apache-2.0 in its first three lines"
		bad=1
	fi
done
[ "$bad" = 0 ] && echo "spdx: $n files"
exit $bad
