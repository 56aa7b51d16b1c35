# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# wrong.sh: wrappers of a plugin that do one wrong thing each, for the selftests. The script that sources it sets FAULTS_PROGRAM.

# wrong_begins PLUGIN BIN CALLS: of that plugin in that folder. So many calls tell what a clean world is, and are right.
# AT_ONCE: so many at a time. OPTIONS: of run.sh.
wrong_begins()
{
	PLUGIN=$1 REAL=$2 RIGHT=$3
	PROGRAM=${PLUGIN%-exclusive} AT_ONCE=1 OPTIONS=() passed=${passed:-0} failed=${failed:-0} tried=0
	# A copy in the sandbox, so that processes which it leaves are found.
	D=$(mktemp -d) || exit 2
	trap 'rm -rf "$D"' EXIT
}

# try NAME CASE EXPECTED BODY N [LIMIT]: a plugin with this body; the run must fail, and its evidence name EXPECTED.
# The verdict goes to a file of its own, as several run at a time: most of each is waiting.
try()
{
	local name=$1 case=$2 expected=$3 body=$4 dir=$D/$5 out rc
	mkdir -p "$dir/bin"
	cp "$REAL/railhead-ipam" "$REAL/railctl" "$dir/bin"
	cat >"$dir/bin/$PROGRAM" <<-END
		#!/bin/bash
		conf=\$(cat)
		real() { "$REAL/$PROGRAM" <<<"\$conf"; }
		leak() { $body; }
		wrapped=\$CNI_COMMAND
		echo >>/run/work/calls
		[ "\$(wc -l </run/work/calls)" -gt $RIGHT ] || { real; exit; }
		leak
	END
	chmod +x "$dir/bin/$PROGRAM"
	out=$("$FAULTS/run.sh" "$dir/bin" --plugin "$PLUGIN" "${OPTIONS[@]}" --only "$case" ${6:+--limit "$6"} 2>&1)
	rc=$?
	if [ $rc != 0 ] && grep -q '^not ok' <<<"$out" && grep -qF -- "$expected" <<<"$out"; then
		echo ok >"$dir/verdict"
	else
		{
			echo "not ok - not caught: $name"
			head -20 <<<"$out" | sed 's/^/  # /'
		} >"$dir/verdict"
	fi
}

wrong() # NAME CASE EXPECTED BODY [LIMIT]
{
	while [ "$(jobs -rp | wc -l)" -ge "$AT_ONCE" ]; do wait -n; done
	tried=$((tried + 1))
	try "$1" "$2" "$3" "$4" "$tried" "${5-}" &
}
# after_del COMMAND: a body: what is done wrong at the end of DEL.
after_del() { echo "real; rc=\$?; [ \$wrapped != DEL ] || { $1; }; exit \$rc"; }

# wrong_ends: the verdicts, added to passed and failed.
wrong_ends()
{
	local i
	wait
	for ((i = 1; i <= tried; i++)); do
		if [ "$(<"$D/$i/verdict")" = ok ]; then passed=$((passed + 1)); else
			failed=$((failed + 1))
			cat "$D/$i/verdict"
		fi
	done
	rm -rf "$D"
}
FAULTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
