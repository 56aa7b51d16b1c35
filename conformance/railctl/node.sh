# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# node.sh: `railctl check` and `status` of this node, and in a pod; conformance/agent has the node agent.
# shellcheck disable=SC2154

# states: "NAME=STATE" of each diagnosis of the last output
states() { jq -r '.diagnoses[] | "\(.name)=\(.state)"' "$W/out" | paste -sd ' '; }

test_check_says_what_there_is_not()
{
	bare
	r check --json
	[ "$RC$ERR" = 1 ] || fail "$(said)"
	eq "diagnoses" "$(states)" "cluster status=none ipam verify=none ipam conflicts=none rails check=none rdma check=fail topo check=none cluster fabric=none"
	want '.version == 1 and .state == "fail" and ([.diagnoses[] | select(.state == "none") | .reason | length > 0] | all)'
	want '[.findings[] | .diagnosis + " " + .check + " " + .state] == ["rdma check devices fail"]'
	r check
	[ "$RC$ERR" = 1 ] || fail "$(said)"
	grep -q '^topo check *none: no GPU' "$W/out" && grep -q '^ipam verify *none: .*/var/lib/railhead/ipam' "$W/out" || fail "$(said)"
	has "do: load the driver"
	eq "last line" "$(tail -n 1 "$W/out")" "0 ok, 0 warned, 1 failed, 0 unknown"
}

# The commands of one diagnosis say the same, and their status does not change.
test_check_has_the_findings_of_each_command()
{
	local command
	need railhead-ipam
	two_rails
	in_pod ip rule del from 10.30.0.11
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	lease net-a c1 '{"pool":"p"}'
	ip addr add 10.1.0.1/32 dev "$MASTER"
	r check --json
	cp "$W/out" "$W/all.json"
	for command in "ipam verify" "rails check" "rdma check"; do
		# shellcheck disable=SC2086 # words
		r $command --json
		eq "$command" "$(jq -cS --arg d "$command" '[.findings[] | select(.diagnosis == $d) | del(.diagnosis)]' "$W/all.json")" \
			"$(jq -cS '.findings' "$W/out")"
	done
	cp "$W/all.json" "$W/out" && OUT=$(<"$W/out")
	want 'any(.findings[]; .code == "rule-missing" and .state == "fail") and any(.findings[]; .diagnosis == "ipam verify" and .state == "fail")'
	want '.diagnoses[] | select(.name == "ipam conflicts") | .state == "ok"'
	ip addr del 10.1.0.1/32 dev "$MASTER"
	r check --all
	grep -q '^ok ' "$W/out" || fail "--all must have what is ok: $(said)"
	no_masters
}

test_check_says_what_could_not_be_done()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	mv $STATE/ipam "$W/ipam" && echo x >$STATE/ipam
	r check --json
	mv "$W/ipam" $STATE/ipam.old
	rm $STATE/ipam
	want '.diagnoses[] | select(.name == "ipam verify") | .state == "unknown"'
	want 'any(.findings[]; .diagnosis == "ipam verify" and .code == "not-done" and .state == "unknown" and (.value | contains("/ipam")))'
}

# As in the pod itself, which has no records, no store and no socket of an agent.
test_check_in_a_pod()
{
	local who
	two_rails
	find $RUN $STATE -mindepth 1 -delete && chmod 755 $RUN $STATE
	in_pod ip rule del from 10.30.0.11
	for who in "" "setpriv --reuid=65534 --regid=65534 --clear-groups"; do
		# shellcheck disable=SC2086
		ip netns exec pod1 $who "$BIN/railctl" check --json >"$W/out" 2>"$W/err"
		RC=$? OUT=$(<"$W/out") ERR=$(<"$W/err") LAST="check in the pod $who"
		[ "$ERR" = "" ] || fail "$(said)"
		want 'any(.findings[]; .diagnosis == "rails check" and .code == "rule-missing")'
		want '[.diagnoses[] | select(.name | startswith("ipam") or startswith("cluster")) | .state] == ["none", "none", "none", "none"]'
		want 'any(.findings[]; .code == "not-done") | not'
	done
	no_masters
}

test_status_is_one_screen()
{
	local status
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	ok ipam pool add q --subnet 10.2.0.0/29 --this-node-only
	lease net-a c1 '{"pool":"q"}'
	echo '{"rails":[{"rail":0,"interface":"mst0"},{"rail":1,"pci":"0000:ff:00.0"}]}' >/etc/railhead/rails.json
	r check
	status=$RC
	r status
	[ "$RC$ERR" = "$status" ] || fail "its status is that of check: $(said)"
	eq "first lines" "$(sed -n 's/  */ /g; 1,3p' "$W/out")" "agent: not up: no node agent answers at /run/railhead/agent.sock: No such file or directory
pools: 2, the fullest on this node is q: 17%
rails: 2, 1 missing"
	[ "$(wc -l <"$W/out")" -le 24 ] || fail "one screen: $(said)"
	grep -q '^next: ' "$W/out" || fail "what to do next: $(said)"
	r status --json
	want '.version == 1 and .agent.up == false and (.pools | map(.name)) == ["p", "q"] and .rails == {count: 2, missing: 1, degraded: null}'
	want '(.counts | .ok + .warn + .fail + .unknown) == (.findings | length) and (.next | length > 0)'
	r status --fields
	eq "fields" "$(grep -v -e ^finding= -e ^remedy= "$W/out" | cut -d= -f1 | paste -sd ' ')" "state version health gpus rails degraded ok warn fail unknown"
	# A file that cannot be read leaves the others.
	echo '{"rails":[' >/etc/railhead/rails.json
	r status
	grep -q '^rails: *not known' "$W/out" || fail "rails that are not known: $(said)"
	rm /etc/railhead/rails.json
}
