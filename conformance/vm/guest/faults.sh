# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# faults.sh: conformance/faults in the guest. A suite sources it behind lib.sh. FAULTS_SAMPLE: about so many cases of each
# plugin; QUICK=1: half of what the suite asks for; FULL=1: all of them, which takes hours; with either, failing allocations and other clocks too, whose planning
# takes a minute. Each kernel has cases of its own.
export FAULTS_PROGRAM=$HELPERS/faults/faults FAULTS_LANE=/vm/job/lane
[ -n "${FULL-}${FAULTS_SAMPLE-}" ] || FAULTS_LANE=/none

# The output of faults, with one line of progress a minute.
sparse()
{
	local line last=0
	while IFS= read -r line; do
		if [[ $line == 'faults: '* ]]; then
			[ $((SECONDS - last)) -ge 60 ] || continue
			last=$SECONDS
		fi
		printf '%s\n' "$line"
	done
}

# A machine that is slow, with one processor: one worker, which waits long.
survives() # PLUGIN SAMPLE
{
	local a=0 b=0 rc some=$2
	[ -z "${QUICK-}" ] || some=$((some / 2))
	local part=(--sample "${FAULTS_SAMPLE:-$some}" --seed "${WANT_KERNEL/./}")
	[ -z "${FULL-}" ] || part=()
	conformance/faults/run.sh "$BIN" --plugin "$1" --workers 1 --crowd 10 --limit 200 "${part[@]}" | tee /tmp/said | sparse
	rc=${PIPESTATUS[0]}
	read -r a b < <(sed -n 's/^faults survived: \([0-9]*\) of \([0-9]*\)$/\1 \2/p' /tmp/said)
	passed=$((passed + ${a:=0})) failed=$((failed + ${b:=0} - a))
	check "$1: all of them, and most were met" test "$rc" = 0 -a "$b" -gt 0
	echo "# $(cut -d. -f1 /proc/uptime) s"
}

# ib_pfs: PFS names the InfiniBand cards in software; behind fabric.sh and with its cards.
ib_pfs()
{
	local pf
	PFS=
	for pf in $IB_PFS; do
		knob "$pf" pkeys "0xffff 0x8001"
		PFS+="$(netdev "$pf") "
	done
}
