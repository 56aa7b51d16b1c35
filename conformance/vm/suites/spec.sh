# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# spec: the rules of the protocol against sriov, on true VFs; with FULL=1 all of them, and against ipvlan too. In $OUT:
# PLUGIN.json for docs/conformance.md. CASES: which plugins.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
ITEMS=""
passed=0 failed=0

# held PLUGIN [OPTION...]: what is not as it should be is shown; what does not apply does not count.
held()
{
	local plugin=$1
	shift
	"$HELPERS/spec/cni-conformance" --plugin "$BIN/$plugin" --profile "conformance/spec/profiles/railhead-$plugin.json" \
		--slower 40 --format json --output "$OUT/$plugin.json" "$@" >/tmp/said 2>&1 || tail -n 3 /tmp/said
	jq -r 'select(.verdict == "FAIL") | "not ok - \(.item) \(.title)\n  # \(.note)\n  # \(.evidence)"' "$OUT/$plugin.json" | cut -c1-1000
	passed=$((passed + $(jq -s 'map(select(.verdict == "pass")) | length' "$OUT/$plugin.json")))
	failed=$((failed + $(jq -s 'map(select(.verdict == "FAIL")) | length' "$OUT/$plugin.json")))
}
for pf in $PFS; do
	ip link set "$pf" up
done
check "${PFS%% *} makes 7 VFs" vfs "${PFS%% *}" 7
check "the cable" within 20 carrier "${PFS%% *}"
[ -z "${FULL-}" ] || ITEMS=""
case " ${CASES:-sriov} " in *" sriov "*) held sriov ${ITEMS:+--items "$(printf 'CNI-%s,' $ITEMS)"} ;; esac
[ -z "${FULL-}" ] || {
	modprobe -a ipvlan
	held ipvlan
}
echo 0 >"/sys/class/net/${PFS%% *}/device/sriov_numvfs"
finish
