# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Nodes say to which leaves their rails are cabled. The frames are made here, because a bridge forwards none: neighbours.sh has a real lldpd.

# fabric_begin: four nodes with two rails each, whose agents listen
fabric_begin()
{
	local node
	NODES=4 cluster_begin
	for node in n1 n2 n3 n4; do
		wire "$node" rail1 fabric
		jq -n '{rails: [{rail: 0, interface: "rail0"}, {rail: 1, interface: "rail1"}]}' >"$W/node/$node/etc/railhead/rails.json"
		listens "$node" '{every: 1}'
	done
}
# listens NODE FABRIC: its agent begins again with this value of the key
listens()
{
	jq ".fabric = $2" "$W/node/$1/etc/railhead/agent.json" >"$W/agent.json" && cp "$W/agent.json" "$W/node/$1/etc/railhead/" || give_up "agent.json"
	agent_end "$1"
	agent_begin "$1"
}
# cabled NODE LEAF LEAF: of rail 0 and rail 1, until the cluster knows it
cabled()
{
	eventually cluster_knows "$1" '' ''
	"$HERE/lldp.py" "$1-rail0" "$2" "swp${1#n}" && "$HERE/lldp.py" "$1-rail1" "$3" "swp${1#n}" || give_up "frames"
	eventually cluster_knows "$1" "$2" "$3"
}
cluster_knows()
{
	[ "$(fabric_says '[.rails[] | select(.node == "'"$1"'") | .leaf // ""] | join(" ")')" = "$2 $3" ]
}
fabric_says() { ctl n1 cluster fabric --json | jq -r "$1"; }

test_fabric_a_crossed_cable_is_named()
{
	fabric_begin
	cabled n1 leaf-a leaf-b
	cabled n2 leaf-a leaf-b
	cabled n3 leaf-a leaf-b
	eq "the group" "$(fabric_says '.groups | tojson')" \
		'[{"name":"g0","nodes":3,"leaves":[{"rail":0,"leaf":"leaf-a","chassis":"local leaf-a"},{"rail":1,"leaf":"leaf-b","chassis":"local leaf-b"}]}]'
	cabled n4 leaf-b leaf-a
	eq "the finding" "$(fabric_says '[.findings[] | .state, .code, .subject, .consequence] | join(", ")')" \
		"fail, crossed, n4 rail 0 (rail0), the cables of rails 0 and 1 are crossed"
	isnt "its status" ctl n1 cluster fabric
	ctl n1 cluster fabric n4 >"$W/lines"
	has "for people" "$(tr -s ' ' <"$W/lines")" "n4 - 0 rail0 leaf-b swp4"
	has "what to do" "$(<"$W/lines")" "swap the cables of rail0 and rail1"
	# All diagnoses of a node have those of its own cables.
	ctl n4 check --json >"$W/check"
	eq "the finding of n4" "$(jq -r '.findings[] | select(.diagnosis == "cluster fabric") | .code' "$W/check")" "crossed"
	eq "its agent" "$(jq -r '.findings[] | select(.diagnosis == "cluster status") | .code + " " + .state' "$W/check")" "agent-health ok"
	ctl n1 check --json >"$W/check"
	eq "n1" "$(jq -r '.diagnoses[] | select(.name == "cluster fabric") | .state' "$W/check")" "ok"
	# An agent that ends its listening takes back what it has said; one that begins again knows it.
	listens n2 false
	eventually cluster_forgot n2
	listens n3 '{every: 1}'
	is "after a restart" cluster_knows n3 leaf-a leaf-b
}
cluster_forgot() { [ "$(fabric_says '[.rails[] | select(.node == "'"$1"'")] | length')" = 0 ]; }
