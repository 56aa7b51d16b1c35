# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# rules.sh: the rules of the protocol in a guest: those that say more of the plugin than of the engine that all have. FULL=1: all
# of them. ITEMS="037 150": these. In $OUT: PLUGIN.json for docs/conformance.md. A suite sources it behind lib.sh.
[ -n "${FULL-}" ] || ITEMS=${ITEMS:-013 014 037 038 042 043 044 047 048 050 052 058 100 106 120 121 127 141 149 150 151 160 161 171}

# held PLUGIN: what is not as it should be is shown; what does not apply does not count.
held()
{
	local plugin=$1 rc wrong items=()
	# shellcheck disable=SC2086 # words
	[ -z "${ITEMS-}" ] || items=(--items "$(printf 'CNI-%s,' $ITEMS)")
	"$HELPERS/spec/cni-conformance" --plugin "$BIN/$plugin" --profile "conformance/spec/profiles/railhead-$plugin.json" \
		--slower 40 --format json --output "$OUT/$plugin.json" "${items[@]}" >/tmp/said 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 3 /tmp/said
	jq -r 'select(.verdict == "FAIL") | "not ok - \(.item) \(.title)\n  # \(.note)\n  # \(.evidence)"' "$OUT/$plugin.json" | cut -c1-1000
	passed=$((passed + $(jq -s 'map(select(.verdict == "pass")) | length' "$OUT/$plugin.json")))
	wrong=$(jq -s 'map(select(.verdict == "FAIL")) | length' "$OUT/$plugin.json")
	failed=$((failed + wrong))
	# It broke off, and the rest of the rules was not looked at.
	[ $rc = 0 ] || [ "${wrong:-0}" != 0 ] || check "$plugin: all rules" false
}
