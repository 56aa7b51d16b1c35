# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 80
# spec: the rules of the protocol against sriov, on true VFs: those that say more of the plugin than of the engine that all
# have. FULL=1: all of them, and against ipvlan and, over rxe, rdma too. ITEMS="037 150": these. CASES: which plugins. In
# $OUT: PLUGIN.json for docs/conformance.md.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
[ -n "${FULL-}" ] || ITEMS=${ITEMS:-013 014 037 038 042 043 044 047 048 050 052 058 100 106 120 121 127 141 149 150 151 160 161 171}

# held PLUGIN [OPTION...]: what is not as it should be is shown; what does not apply does not count.
held()
{
	local plugin=$1
	shift
	"$HELPERS/spec/cni-conformance" --plugin "$BIN/$plugin" --profile "conformance/spec/profiles/railhead-$plugin.json" \
		--slower 40 --format json --output "$OUT/$plugin.json" "$@" >/tmp/said 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 3 /tmp/said
	jq -r 'select(.verdict == "FAIL") | "not ok - \(.item) \(.title)\n  # \(.note)\n  # \(.evidence)"' "$OUT/$plugin.json" | cut -c1-1000
	passed=$((passed + $(jq -s 'map(select(.verdict == "pass")) | length' "$OUT/$plugin.json")))
	wrong=$(jq -s 'map(select(.verdict == "FAIL")) | length' "$OUT/$plugin.json")
	failed=$((failed + wrong))
	# It broke off, and the rest of the rules was not looked at.
	[ $rc = 0 ] || [ "${wrong:-0}" != 0 ] || check "$plugin: all rules" false
}
for pf in $PFS; do
	ip link set "$pf" up
	check "$pf makes 7 VFs" vfs "$pf" 7
done
check "the cable" eventually carrier "${PFS%% *}"
modprobe -a ipvlan rdma_rxe ib_uverbs
for plugin in ${CASES:-sriov ${FULL:+ipvlan rdma}}; do
	# shellcheck disable=SC2046,SC2086 # words
	held "$plugin" ${ITEMS:+--items $(printf 'CNI-%s,' $ITEMS)}
	echo "# $plugin, $(cut -d. -f1 /proc/uptime) s"
done
for pf in $PFS; do
	echo 0 >"/sys/class/net/$pf/device/sriov_numvfs"
	ip addr flush dev "$pf" scope global
done
finish
