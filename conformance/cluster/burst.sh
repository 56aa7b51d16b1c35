# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# burst.sh: many at once. Sourced by run.sh.

# Forty pods at once, wherever the scheduler puts them; then all of them go at once.
# quick: both
once_burst()
{
	local i
	rails many
	nad many "$(macvlan many many)"
	for ((i = 0; i < 40; i++)); do
		manifest "b$i" many 'del(.spec.nodeName)'
	done | kn create -f - >/dev/null || fail 'test error: forty pods'
	kn wait --for=condition=Ready pod -l app=box --timeout=$((2 * LONG))s >"$W/is" 2>&1 || fail "not all run: $(tail -c 300 "$W/is")"
	eq 'addresses, all different' "$({ leases 1; leases 2; } | sort -u | wc -l)" 40
	audit
	is 'all go' kn delete pod -l app=box --wait --timeout=$((2 * LONG))s
	eventually nothing_at_all 1
	eventually nothing_at_all 2
}
