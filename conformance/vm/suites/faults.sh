# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# check: 7.2
# faults: everything fails once: conformance/faults for sriov on a card's true VFs, and for ipvlan. Each kernel has cases
# of its own. FAULTS_SAMPLE: about so many for each plugin; FULL=1: all of them, which takes hours; with either, failing
# allocations and other clocks too, whose planning takes a minute. CASES: which plugins.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
export FAULTS_PROGRAM=$HELPERS/faults/faults FAULTS_LANE=/vm/job/lane
[ -n "${FULL-}${FAULTS_SAMPLE-}" ] || FAULTS_LANE=/none

# A machine that is slow, with one processor: one worker, which waits long.
survives() # PLUGIN SAMPLE
{
	local a=0 b=0 rc part=(--sample "${FAULTS_SAMPLE:-$2}" --seed "${WANT_KERNEL/./}")
	[ -z "${FULL-}" ] || part=()
	conformance/faults/run.sh "$BIN" --plugin "$1" --workers 1 --crowd 10 --limit 200 "${part[@]}" | tee /tmp/said | grep --line-buffered -v '^faults: '
	rc=${PIPESTATUS[0]}
	read -r a b < <(sed -n 's/^faults survived: \([0-9]*\) of \([0-9]*\)$/\1 \2/p' /tmp/said)
	passed=$((passed + ${a:=0})) failed=$((failed + ${b:=0} - a))
	check "$1: all of them, and most were met" test "$rc" = 0 -a "$b" -gt 0
}
modprobe -a ipvlan igbvf
for plugin in ${CASES:-sriov ipvlan}; do
	survives "$plugin" 12
	echo "# $(cut -d. -f1 /proc/uptime) s"
done
finish
