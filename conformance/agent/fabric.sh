# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Nodes say to which leaves their rails are cabled. The frames are made here, because a bridge forwards none: neighbours.sh has a real lldpd.

# fabric_begin [NODES]: four nodes, or so many, with two rails each, whose agents listen
fabric_begin()
{
	local node
	NODES=${1-4} cluster_begin
	for node in $(seq -f n%g "${1-4}"); do
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
# recabled NODE LEAF LEAF: after its carrier was lost, which the agent finds with its next look
recabled()
{
	"$HERE/lldp.py" "$1-rail0" "$2" "swp${1#n}" && "$HERE/lldp.py" "$1-rail1" "$3" "swp${1#n}" && cluster_knows "$@"
}
fabric_says() { ctl n1 cluster fabric --json | jq -r "$1"; }

test_fabric_a_crossed_cable_is_named()
{
	fabric_begin
	cabled n1 leaf-a leaf-b
	cabled n2 leaf-a leaf-b
	cabled n3 leaf-a leaf-b
	# Without labels nothing says the names of groups.
	eq "the group" "$(fabric_says '.groups | tojson')" \
		'[{"name":"#1","nodes":3,"leaves":[{"rail":0,"leaf":"leaf-a","chassis":"local leaf-a"},{"rail":1,"leaf":"leaf-b","chassis":"local leaf-b"}]}]'
	eq "its name" "$(ctl n1 cluster fabric --json --labels - <<<'{"n1":"g4"}' | jq -r '.groups[].name, .rails[0].group' | paste -sd ' ')" "g4 g4"
	has "labels that could not be read" "$(ctl n1 cluster fabric --labels - <<<null | tr -s ' ')" "n1 #1 0 rail0"
	cabled n4 leaf-b leaf-a
	eq "the finding" "$(fabric_says '[.findings[] | .state, .code, .subject, .consequence] | join(", ")')" \
		"fail, crossed, n4 rail 0 (rail0), the cables of rails 0 and 1 are crossed"
	isnt "its status" ctl n1 cluster fabric
	ctl n1 cluster fabric n4 >"$W/lines"
	has "for people" "$(tr -s ' ' <"$W/lines")" "n4 - 0 rail0 leaf-b swp4 heard"
	has "what to do" "$(<"$W/lines")" "swap the cables of rail0 and rail1"
	# All diagnoses of a node have those of its own cables.
	ctl n4 check --json >"$W/check"
	eq "the finding of n4" "$(jq -r '.findings[] | select(.diagnosis == "cluster fabric") | .code' "$W/check")" "crossed"
	eq "its agent" "$(jq -r '.findings[] | select(.diagnosis == "cluster status") | .code + " " + .state' "$W/check")" "agent-health ok"
	ctl n1 check --json >"$W/check"
	eq "n1" "$(jq -r '.diagnoses[] | select(.name == "cluster fabric") | .state' "$W/check")" "ok"
	# A file says where each cable belongs: it needs no majority.
	printf '%s\n' 'node,interface,leaf,port' 'n1,rail0,leaf-a,swp1' 'n1,rail1,leaf-b,swp9' 'n4,rail0,leaf-a,swp4' 'n4,rail1,leaf-b,swp4' >"$W/cables.csv"
	ctl n1 cluster fabric --topology - --json <"$W/cables.csv" >"$W/out"
	eq "by a file" "$(jq -r '[.findings[] | select(.state != "unknown") | .code, .subject] | join(" ")' "$W/out")" "crossed n4 rail0 port n1 rail1"
	eq "not in the file" "$(jq -r '[.findings[] | select(.state == "unknown") | .code] | unique | join(" ")' "$W/out")" "unplanned"
	ctl n1 cluster fabric --topology - <<<'n1,rail0' >"$W/out" 2>&1
	has "a wrong file" "$(<"$W/out")" '--topology: -: line 1: not NODE,INTERFACE,LEAF,PORT'
	# An agent that ends its listening takes back what it has said; one that begins again knows it.
	listens n2 false
	eventually cluster_forgot n2
	listens n3 '{every: 1}'
	is "after a restart" cluster_knows n3 leaf-a leaf-b
}

# Rails of InfiniBand have no LLDP: a file of ibnetdiscover says their leaves, by the GUIDs of ports.
test_fabric_of_infiniband()
{
	local n
	NODES=1 cluster_begin
	printf 'vendid=0x2c9\nSwitch\t41 "S-b8599f0300f9cba2"\t\t# "MF0;leaf-1:MQM8700/U1" enhanced port 0 lid 5 lmc 0\n' >"$W/ib.topo"
	for n in 1 2 3 4; do
		engine_object nodes "gpu-$n" '{"rails":[{"rail":0,"interface":"ib0","guid":"04:3f:72:03:00:ab:cd:0'$n'","mbps":400000}]}' "gpu-$n" >/dev/null || give_up "node gpu-$n"
		[ "$n" = 4 ] || printf '[%s]\t"H-043f720300abcd0%s"[1](43f720300abcd0%s) \t# "gpu-%s mlx5_0" lid 1%s 4xHDR\n' "$n" "$n" "$n" "$n" "$n"
	done >>"$W/ib.topo"
	eventually has_ib_rails
	ctl n1 cluster fabric --ibnetdiscover - --json <"$W/ib.topo" >"$W/out"
	eq "guids" "$(jq -r '.rails[3].guid' "$W/out")" 04:3f:72:03:00:ab:cd:04
	eq "leaf and port" "$(jq -r '[.rails[] | .leaf, .port] | map(. // "-") | join(" ")' "$W/out")" "leaf-1 1 leaf-1 2 leaf-1 3 - -"
	eq "the group" "$(jq -c '[.groups[] | .nodes]' "$W/out")" "[3]"
	eq "the finding" "$(jq -r '.findings[] | .code + " " + .subject + ": " + .remedy' "$W/out")" \
		"undecided gpu-4: look for LLDP of its leaves, or for their file of ibnetdiscover"
	{ printf '{}\f' && cat "$W/ib.topo"; } | ctl n1 cluster topology --labels - --ibnetdiscover - --format slurm >"$W/out"
	has "Slurm" "$(<"$W/out")" "SwitchName=g0 Nodes=gpu-1,gpu-2,gpu-3"
	ctl n1 cluster fabric --ibnetdiscover - <<<'node,interface' >"$W/out" 2>&1
	has "another file" "$(<"$W/out")" '--ibnetdiscover: -: no link of a switch with an adapter is in it'
}
# The object of a node says the card of each rail and whether it is degraded; an older agent says neither, and nothing is guessed.
test_fabric_a_degraded_rail_is_in_the_object()
{
	local n card='"hca":"mlx5_0","pci":"0000:21:00.0","rdma":"shared","gpus":"0 1"'
	NODES=1 cluster_begin
	for n in 1 2 3 4; do
		engine_object nodes "gpu-$n" '{"rails":[{"rail":0,"interface":"eth1","chassis":"local leaf-a","system":"leaf-a","portName":"swp'$n'"'"$(
			case $n in
			1) echo ",$card,\"degraded\":\"\"" ;;
			2) echo ",$card,\"degraded\":\"port rate\"" ;;
			3) echo ",$card" ;;
			4) echo ',"lastHeard":"2020-01-31T12:00:00Z"' ;;
			esac
		)"'}]}' "gpu-$n" >/dev/null || give_up "node gpu-$n"
	done
	eventually has_ib_rails
	ctl n1 cluster fabric --json >"$W/out"
	eq "its status" "$?" 1
	eq "the finding" "$(jq -r '.findings[] | [.state, .code, .subject, .value, .consequence] | join(", ")' "$W/out")" \
		"warn, degraded, gpu-2 rail 0 (eth1), port rate, the port is not ACTIVE"
	eq "the cards" "$(jq -r '.rails[] | [.hca, .pci, .rdma, .gpus, .degraded] | map(. // "-") | join(",")' "$W/out")" \
		"mlx5_0,0000:21:00.0,shared,0 1,
mlx5_0,0000:21:00.0,shared,0 1,port rate
mlx5_0,0000:21:00.0,shared,0 1,-
-,-,-,-,-"
	eq "a silent leaf" "$(jq -r '.rails[3].lastHeard' "$W/out")" "2020-01-31T12:00:00Z"
	eq "its age" "$(ctl n1 cluster fabric | tr -s ' ' | sed -n 's/^gpu-[34] .* swp[34] \([a-z]*\)\([0-9]*d\)\{0,1\} .*/\1\2/p' | sed 's/[0-9]\{4\}d/thousands of days/' | paste -sd ' ')" \
		"heard thousands of days"
	printf 'gpu-%s,eth1,leaf-a,\n' 1 2 3 4 >"$W/cables.csv"
	ctl n1 cluster fabric --topology - --json <"$W/cables.csv" >"$W/out"
	eq "with a file" "$(jq -r '[.findings[].code] | join(" ")' "$W/out")" degraded
	ctl n1 cluster report >"$W/page.html" || fail "a report"
	eq "its rails" "$(grep -o '<th scope=row>.*<bdi>gpu-.*' "$W/page.html" | grep -o '<td class=[a-z]*' | head -n 8 | grep -v '=f$' | cut -d = -f 2 | paste -sd ' ')" \
		"ok bad unk ok"
	has "its finding" "$(<"$W/page.html")" '<bdi>degraded</bdi>'
	# A node that answers has said more about it.
	printf '%s\n' node=gpu-2 state=warn degraded=1 'finding=warn rail-degraded mlx5_0:1: the port is DOWN' | ctl n1 cluster report - >"$W/page.html" || fail "a report"
	has "one finding" "$(<"$W/page.html")" '<bdi>rail-degraded</bdi>'
	hasnt "one finding" "$(<"$W/page.html")" '<bdi>degraded</bdi>'
	has "red" "$(<"$W/page.html")" '<td class=bad title="eth1'
}
has_ib_rails() { [ "$(fabric_says '.rails | length')" = 4 ]; }

# The page is of this real cluster: what the text form says is in it, and the texts of leaves are not markup.
test_fabric_the_report_is_one_page()
{
	local leaf='<b id=x>leaf' text='&lt;b id=x&gt;leaf'
	fabric_begin
	cabled n1 "$leaf" leaf-b
	cabled n2 "$leaf" leaf-b
	cabled n3 "$leaf" leaf-b
	cabled n4 leaf-b "$leaf"
	NODES=4 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8}'
	ctl n1 cluster report >"$W/page.html" 2>"$W/err" || fail "a report: $(<"$W/err")"
	has "the finding" "$(<"$W/page.html")" 'swap the cables of rail0 and rail1'
	has "the store" "$(<"$W/page.html")" "store <bdi>$STORE</bdi>"
	has "nobody was asked" "$(<"$W/page.html")" 'No node was asked'
	has "a pool" "$(<"$W/page.html")" '<bdi>rail0</bdi></th><td><bdi>10.92.0.0/24</bdi>'
	has "a leaf" "$(<"$W/page.html")" "<bdi>$text</bdi>"
	hasnt "a leaf" "$(<"$W/page.html")" "$leaf"
	eq "a row each" "$(grep -o '<th scope=row>.*<bdi>n[0-9]*</bdi>' "$W/page.html" | grep -o 'n[1-4]<' | tr -d '<' | paste -sd ' ')" "n1 n2 n3 n4"
	eq "the outlier" "$(grep -o '<tr class=outlier><th scope=row>.*</bdi> <i>' "$W/page.html" | grep -o '<bdi>n.' | head -n 1)" "<bdi>n4"
	# With the answers of the nodes
	{
		for node in n1 n2 n3; do
			echo "node=$node"
			ctl $node status --fields
		done
		printf '%s\n' node=n4 'why=<i>asleep' node=n9 'why=no agent'
	} >"$W/answers"
	ctl n1 cluster report - <"$W/answers" >"$W/page.html" 2>"$W/err" || fail "a report: $(<"$W/err")"
	has "no answer" "$(<"$W/page.html")" 'did not answer: <bdi>&lt;i&gt;asleep</bdi>'
	has "not in the store" "$(<"$W/page.html")" 'the store has no object of the node'
	has "versions" "$(<"$W/page.html")" "4 nodes: version <bdi>$("$BIN/railctl" version | cut -d ' ' -f 2)</bdi>"
	[ -n "$(ls /sys/class/infiniband 2>/dev/null)" ] || has "findings of nodes, once" "$(<"$W/page.html")" 'this kernel has no RDMA</bdi>'
	ctl n1 cluster report --json >/dev/null 2>"$W/err"
	eq "no JSON" "$?" 2
	printf 'node=n1\nstate\n' | ctl n1 cluster report - >/dev/null 2>"$W/err"
	has "a wrong file" "$(<"$W/err")" 'line 2 of the answers: not NAME=VALUE: "state"'
}
cluster_forgot() { [ "$(fabric_says '[.rails[] | select(.node == "'"$1"'")] | length')" = 0 ]; }

# hears_four NODE LEAF...: frames came by its four rails, and the cluster knows their leaves
hears_four()
{
	local i
	for i in 0 1 2 3; do "$HERE/lldp.py" "$1-rail$i" "${@:$((i + 2)):1}" "swp${1#n}" || return; done
	[ "$(fabric_says '[.rails[] | select(.node == "'"$1"'" and .leaf)] | length')" = 4 ]
}

# A switch is replaced under its name, and n1 to n3 hear the old chassis still.
test_fabric_a_leaf_is_replaced()
{
	local node
	fabric_begin
	for node in n1 n2 n3 n4; do
		wire "$node" rail2 fabric
		wire "$node" rail3 fabric
		jq -n '{rails: [range(4) | {rail: ., interface: "rail\(.)"}]}' >"$W/node/$node/etc/railhead/rails.json"
	done
	for node in n1 n2 n3; do eventually hears_four "$node" a b c d; done
	eventually hears_four n4 "a#new" b c d
	eq "the finding" "$(fabric_says '[.findings[] | .state, .code, .subject] | join(", ")')" "warn, replaced, leaf a (local a)"
	eq "the table" "$(fabric_says '[.rails[] | select(.rail == 0) | .group + " " + .leaf] | join(", ")')" \
		"#1 a (local a), #1 a (local a), #1 a (local a), #1 a (local new)"
	ctl n1 cluster report >"$W/page.html"
	has "the page" "$(<"$W/page.html")" '<bdi>replaced</bdi>'
	# A file knows leaves by their names.
	for node in n1 n2 n3 n4; do printf "$node,%s\n" rail0,a rail1,b rail2,c rail3,old; done >"$W/cables.csv"
	ctl n1 cluster fabric --topology - --json <"$W/cables.csv" >"$W/out"
	eq "by a file" "$(jq -r '[.findings[] | .state, .code, .subject, .value] | join(", ")' "$W/out")" "warn, renamed, leaf old, 4 of 4 cables are on d"
	sed -i 's/^n1,rail1,b/n1,rail1,other/' "$W/cables.csv"
	ctl n1 cluster report --topology - <"$W/cables.csv" >"$W/page.html"
	has "the page by a file" "$(<"$W/page.html")" '<bdi>renamed</bdi></td><td><bdi>leaf old'
	has "the page by a file" "$(<"$W/page.html")" 'b port swp1, planned other port any'
	hasnt "the page by a file" "$(<"$W/page.html")" '<bdi>replaced</bdi>'
}

# plan_is ARGUMENT...: of the file in $W/plan.yaml; RC, $W/out and $W/err
plan_is()
{
	ctl n1 cluster plan "$@" - <"$W/plan.yaml" >"$W/out" 2>"$W/err"
	RC=$?
	[ "$RC" -le 4 ] && [ ! -s "$W/err" ]
}
# plan_finds FINDING: beside n4, of which nothing is known
plan_finds() { plan_is --json && [ "$(jq -r '[.findings[] | select(.subject != "node n4") | .state, .code, .subject] | join(" ")' "$W/out")" = "$1" ]; }
plan_finds_of_n2() { plan_finds "warn managed node n2" && grep -qF "$1" "$W/out"; }
plan_finding() { jq -r '[.findings[] | .state, .code, .subject] | join(" ")' "$W/out"; }
# plan_apply: the pools of the plan, and the labels of nodes as a second document
plan_apply()
{
	plan_is --objects || give_up "a plan: $(<"$W/err")"
	jq '[.items[] | select(.kind == "RailPool") | .spec + {name: .metadata.name}]' "$W/out" >"$W/pools.json"
	{
		cat "$W/plan.yaml"
		echo ---
		jq -S '[.items[] | select(.kind == "Node") | .metadata] | {labels: (map({(.name): .labels["railhead.io/group"]}) | {n4: ""} + add),
			hosts: (map({(.name): (.annotations["railhead.io/host"] // "")}) | add)}' "$W/out"
	} >"$W/plan2.yaml"
	mv "$W/plan2.yaml" "$W/plan.yaml"
	is "pools" ctl n1 cluster pool apply "$W/pools.json"
}

test_fabric_a_plan_gives_each_group_its_pools()
{
	fabric_begin
	echo '{supernet: 10.200.0.0/16, rails: 2, nodesPerGroup: 8}' >"$W/plan.yaml"
	# An agent that has just begun has no object yet.
	eventually plan_is
	eq "no cables are known" "$RC" 1
	has "no cables are known" "$(<"$W/out")" "neither its label, nor the file, nor its cables say its group"
	cabled n1 leaf-a leaf-b
	cabled n2 leaf-a leaf-b
	cabled n3 leaf-a leaf-b
	plan_is --json
	eq "n4 is not known" "$RC $(plan_finding)" "1 unknown undecided node n4"
	plan_apply
	eq "its pools" "$(jq -r '.[] | [.name, .subnet, .gateway, .nodes["railhead.io/group"][0]] | join(" ")' "$W/pools.json")" \
		"rail0-g0 10.200.0.0/24 10.200.0.1 g0
rail1-g0 10.200.128.0/24 10.200.128.1 g0"
	plan_is --json
	eq "once more" "$(jq -c '.groups' "$W/out")" \
		'[{"group":"g0","nodes":3,"newNodes":0,"newPools":0,"first":"10.200.0.0/24","last":"10.200.128.0/24"}]'
	# Its NIC is in another network, or another program manages it.
	ip -n n2 addr add 192.0.2.1/31 dev rail1
	eventually plan_finds "fail elsewhere node n2"
	has "a NIC elsewhere" "$(<"$W/out")" 'rail 1 (rail1) has 192.0.2.1/31, and the plan 10.200.128.0/24'
	eq "a NIC elsewhere" "$RC" 4
	ip -n n2 addr del 192.0.2.1/31 dev rail1 && ip -n n2 addr add 10.200.128.7/24 dev rail1 valid_lft 3000 preferred_lft 3000
	eventually plan_finds "warn managed node n2"
	has "by DHCP" "$(<"$W/out")" 'rail 1 (rail1) has 10.200.128.7/24'
	ip -n n2 addr flush dev rail1 && ip -n n2 route add 10.200.130.0/24 dev rail1 proto ra
	eventually plan_finds_of_n2 'rail 1 (rail1) has no address'
	ip -n n2 route add 10.200.129.0/24 dev rail1 proto bgp
	eventually plan_finds "fail routed node n2"
	ip -n n2 route flush dev rail1
	eventually plan_finds ""
	# Its cables change, and it stays where its pods have addresses.
	ip link set n3-rail0 down && ip link set n3-rail1 down && ip link set n3-rail0 up && ip link set n3-rail1 up || give_up "the wires of n3"
	eventually recabled n3 leaf-b leaf-a
	plan_is --json
	eq "crossed" "$RC $(jq -r '[.nodes[] | .group // "-"] | join(" ")' "$W/out")" "1 g0 g0 g0 -"
	# A name that fits no node is said.
	cp "$W/plan.yaml" "$W/plan.right"
	sed -i '1s/}$/, leaveAlone: [n4, "m*"]}/' "$W/plan.yaml"
	plan_is --json
	eq "a misspelled name" "$RC $(plan_finding)" '1 warn unused leaveAlone: "m*"'
	cp "$W/plan.right" "$W/plan.yaml"
	# A plan that changes a pool or moves a node is refused.
	sed -i 's/rails: 2/rails: 1/' "$W/plan.yaml"
	plan_is --json
	eq "smaller" "$RC $(jq -r '[.findings[] | select(.state == "fail").code] | unique | join(" ")' "$W/out")" "4 shrinks"
	plan_is --objects
	eq "smaller" "$RC $(<"$W/out")" "4 "
	has "smaller" "$(<"$W/err")" "nothing is deleted"
	sed -i 's/rails: 1/rails: 2/; s/8}/8, groups: {g1: [n1, "n4*"]}}/' "$W/plan.yaml"
	plan_is --json
	eq "n1 would move, n4 is new" "$RC $(plan_finding) $(jq -r '.nodes[3].group' "$W/out")" "4 fail moves node n1 g1"
	sed -i 's/n1, "n4/"n4/' "$W/plan.yaml"
	plan_is --json
	eq "grown" "$RC $(jq -r '[.groups[].newPools] | join(" ")' "$W/out")" "0 0 2"
	# Errors name key and value.
	sed -i 's/10.200.0.0/10.2000.0/' "$W/plan.yaml"
	plan_is
	has "a wrong supernet" "$(<"$W/err")" 'supernet: "10.2000.0/16" is not a network'
	printf 'supernet: 10.200.0.0/16\nrails: 2\n---\nlables: {n1: g0}\n' | ctl n1 cluster plan - >"$W/out" 2>&1
	has "labels that would be ignored" "$(<"$W/out")" 'the second document has no "labels"'
	sed -i 's/nodesPerGroup/nodesPerGruop/' "$W/plan.yaml"
	plan_is
	has "a wrong key" "$(<"$W/err")" 'nodesPerGruop'
}

# leaf_serves: a real DHCP server has the leaf's address, and one address to give. n1_asks: a real client on rail 0 of n1.
leaf_serves()
{
	mkdir -p "$W/dhcp" && ip addr add 10.200.0.1/24 dev fabric || give_up "the leaf"
	printf '%s\n' 'start 10.200.0.77' 'end 10.200.0.77' 'interface fabric' 'opt subnet 255.255.255.0' 'opt lease 3600' \
		"lease_file $W/dhcp/leases" "pidfile $W/dhcp/pid" >"$W/dhcp/conf"
	: >"$W/dhcp/leases"
	busybox udhcpd -f "$W/dhcp/conf" >"$W/dhcp/log" 2>&1 &
	echo $! >"$W/node/n1/pid.dhcp"
	# shellcheck disable=SC2016 # of the script
	printf '#!/bin/sh\n[ "$1" != bound ] || ip addr add "$ip/$mask" dev "$interface" valid_lft "$lease" preferred_lft "$lease"\n' >"$W/dhcp/bound"
	chmod +x "$W/dhcp/bound"
}
n1_asks() { on_node n1 busybox udhcpc -i rail0 -n -q -t 2 -T 1 -s "$W/dhcp/bound"; }
address_of_n1() { ip -n n1 -j "$1" addr show dev rail0 scope global | jq -r '[.[].addr_info[]? | select(.local) | "\(.local)/\(.prefixlen) \(.dynamic)"] | join(" ")'; }
n1_is_managed() { plan_is --json && [ "$(jq -r '.findings[] | select(.code == "managed") | .subject + ": " + .value' "$W/out")" = "node n1: rail 0 (rail0) has $1" ]; }
heard_the_router() { "$HERE/ra.py" fabric "${1%/*}" && address_of_n1 -6 | grep -q .; }

# DHCP gives the address of a rail, or the kernel makes it by a router advertisement: the plan says so, pods do not get it, and it stays.
test_fabric_a_rail_that_is_managed_elsewhere()
{
	local subnet address
	fabric_begin 1
	leaf_serves
	echo '{supernet: 10.200.0.0/16, rails: 2, nodesPerGroup: 8, groups: {g0: ["*"]}}' >"$W/plan.yaml"
	eventually n1_asks
	eq "by DHCP" "$(address_of_n1 -4)" "10.200.0.77/24 true"
	eventually n1_is_managed 10.200.0.77/24
	eq "the plan is made" "$RC" 1
	plan_apply
	is "the label" ctl n1 ipam node label railhead.io/group=g0
	eventually knows n1 rail0-g0
	ip netns add p1
	eventually no_pod_gets 10.200.0.77
	POD_IP=10.200.0.78 cni_on n1 ADD p1 rail0-g0
	eq "the address beside it" "$RC $ADDRESS" "0 10.200.0.78/24"
	eq "it stays" "$(address_of_n1 -4)" "10.200.0.77/24 true"
	# The same by IPv6
	echo '{supernet: "fd00:10::/48", rails: 2, nodesPerGroup: 8, groups: {g9: ["*"]}}' >"$W/plan.yaml"
	ip -n n1 -4 addr flush dev rail0
	plan_is --json
	subnet=$(jq -r '.groups[-1].first' "$W/out")
	eventually heard_the_router "$subnet"
	address=$(address_of_n1 -6)
	has "by its own number" "$address" "/64 true"
	eventually n1_is_managed "${address% true}"
	eq "it stays" "$(address_of_n1 -6)" "$address"
}
# The agent looks at the addresses of its node from time to time.
no_pod_gets()
{
	POD_IP=$1 cni_on n1 ADD p1 rail0-g0
	[ "$RC" = 1 ] && [[ $OUT == *"requested address $1 is in the subnet of pool rail0-g0 but not among its addresses"* ]] && return
	[ "$RC" = 1 ] || cni_on n1 DEL p1 rail0-g0
	return 1
}

# planned NODE RATE...: the object of a node with these rails; "-" is an unknown rate. On rail 0 it has the addresses ON_RAIL_0.
planned()
{
	engine_object nodes "$1" "$(jq -nc --arg on "${ON_RAIL_0-}" '{rails: [$ARGS.positional | to_entries[] | {rail: .key, interface: "eth\(.key)"}
		+ if .value == "-" then {} else {mbps: (.value | tonumber * 1000)} end + if $on != "" and .key == 0 then {addresses: $on} else {} end]}' --args "${@:2}")" "$1" >/dev/null || give_up "node $1"
}
# finds CODE: a line for each such finding; a plan that is made has them all the same
finds() { jq -r --arg code "$1" '.findings[] | select(.code == $code) | .state + " " + .subject + ": " + .value + ": " + .consequence' "$W/out"; }
# The object of n1 is there, too.
has_planned() { plan_is --json && [ "$(jq -c '[(.nodes | length), ([.findings[] | select(.code == "unused")] | length)]' "$W/out")" = '[6,0]' ]; }

# Nodes of other machines: seven rails, slow ones, two subnets on a rail. Each is named, with its reason.
test_fabric_a_plan_says_what_does_not_fit()
{
	NODES=1 cluster_begin
	cat >"$W/plan.yaml" <<-'END'
	{supernet: 10.200.0.0/16, rails: 8, nodesPerGroup: 4, addressesPerNode: 8, blockSize: 2, leaveAlone: [n1, "other-*"],
	groups: {g0: [a-*], g1: [b-*]}}
	END
	planned a-1 400 400 400 400 400 400 400 400
	planned a-2 400 400 400 400 400 400 400
	planned a-3 400 400 400 200 400 400 400 -
	ON_RAIL_0='10.200.0.5/26 10.201.0.5/26' planned a-4 400 400 400 400 400 400 400 400
	planned other-1 100 100
	# All nodes of a group may be slow alike.
	planned b-1 200 200 200 200 200 200 200 200
	planned b-2 200 200 200 200 200 200 200 200
	eventually has_planned
	eq "seven rails" "$RC $(finds lacks)" "4 warn node a-2: rail 7: the node lacks the rail: a pod with all rails gets fewer"
	eq "mixed rates" "$(finds mixed)" \
		"warn group g0: 200000 Mbit/s: node a-3 rail 3, 400000: node a-1 rail 0: a job that has both goes by the slower one"
	eq "two subnets" "$(finds elsewhere)" \
		"fail node a-4: rail 0 (eth0) has 10.201.0.5/26, and the plan 10.200.0.0/26: a plan is for rails whose leaf is the gateway of the subnet of the NIC"
	sed -i 's/n1, /n1, a-3, a-4, /' "$W/plan.yaml"
	plan_is --json
	eq "without these nodes" "$RC $(plan_finding)" "1 warn lacks node a-2"
	plan_is --objects
	eq "numbers of the file" "$(jq -c '.items[0].spec | [.subnet, .blockSize, .ranges[0]]' "$W/out")" '["10.200.0.0/26",2,"10.200.0.6-10.200.0.61"]'
}

# nics_are NUMBERS: of n1 to n4
nics_are() { plan_is --json && [ "$(jq -r '.nodes | map(.number // "-") | join(" ")' "$W/out")" = "$1" ]; }
# netplan_takes FILE: the real one; $W/netplan has what it makes of it
netplan_takes()
{
	local root=$ENGINES/netplan.io/usr
	[ -x "$root/libexec/netplan/generate" ] || skip "Debian's package netplan.io is not available here"
	rm -rf "$W/netplan" && mkdir -p "$W/netplan/etc/netplan" && install -m 0600 "$1" "$W/netplan/etc/netplan/60-railhead.yaml" &&
		LD_LIBRARY_PATH=$(echo "$root"/lib/*-linux-gnu) "$root/libexec/netplan/generate" --root-dir "$W/netplan" >"$W/is" 2>&1 && [ ! -s "$W/is" ]
}
# An address that a node has stays, and a number that it got stays.
test_fabric_a_plan_gives_each_nic_an_address()
{
	local file
	fabric_begin
	echo '{supernet: 10.200.0.0/16, rails: 2, nodesPerGroup: 8, groups: {g0: ["*"]}}' >"$W/plan.yaml"
	ip -n n2 addr add 10.200.0.2/24 dev rail0 && ip -n n3 addr add 10.200.128.7/24 dev rail1 valid_lft 3000 preferred_lft 3000 || give_up "addresses"
	# DHCP may give 7 to another node tomorrow, so it is not the number of n3, and not of another node today.
	eventually nics_are '3 2 4 5'
	plan_is --format netplan --node n1
	cp "$W/out" "$W/n1.yaml"
	is "netplan takes it" netplan_takes "$W/n1.yaml"
	for file in rail0 rail1; do grep -v -e '^\[Network' -e LinkLocal "$W/netplan/run/systemd/network/10-netplan-$file.network" | grep .; done >"$W/made"
	plan_is --format networkd --node n1
	eq "networkd has the same" "$(grep -v -e '^#' -e '^\[Network' "$W/out" | grep .)" "$(<"$W/made")"
	eq "its lines" "$(paste -sd ' ' "$W/made")" \
		"[Match] Name=rail0 Address=10.200.0.3/24 [Route] Destination=10.200.0.0/17 Gateway=10.200.0.1 [Route] Destination=10.200.0.0/16 Gateway=10.200.0.1 Metric=1000 [Match] Name=rail1 Address=10.200.128.3/24 [Route] Destination=10.200.128.0/17 Gateway=10.200.128.1 [Route] Destination=10.200.0.0/16 Gateway=10.200.128.1 Metric=1001"
	eventually plan_finds "warn managed node n3"
	plan_is --format netplan
	eq "a document for each node" "$RC $(grep -c '^---$' "$W/out")" "1 4"
	has "by DHCP" "$(<"$W/out")" '# n3: rail 1 is left out: DHCP or router advertisements make its addresses or routes'
	hasnt "by DHCP" "$(<"$W/out")" '10.200.128.4/'
	plan_apply
	eq "pods get none of them" "$(jq -r '[.[].ranges[0]] | join(" ")' "$W/pools.json")" "10.200.0.16-10.200.0.247 10.200.128.16-10.200.128.247"
	# Nodes come and go, and no number changes.
	ip -n n2 addr flush dev rail0 && ip -n n3 addr flush dev rail1 || give_up "addresses"
	cp "$W/plan.yaml" "$W/plan.right"
	sed -i '/"n2"/d' "$W/plan.yaml"
	eventually nics_are '3 4 5'
	# A node has what belongs to another one.
	cp "$W/plan.right" "$W/plan.yaml"
	ip -n n4 addr add 10.200.0.3/24 dev rail0 || give_up "an address"
	eventually plan_finds "fail twice n1 and n4"
	eq "two nodes" "$RC $(jq -r '.findings[].value' "$W/out")" "4 rail 0: 10.200.0.3"
	plan_is --format netplan
	eq "two nodes" "$RC $(<"$W/out")" "4 "
	has "two nodes" "$(<"$W/err")" 'n1 and n4: both have this address'
	ip -n n4 addr flush dev rail0 && ip -n n4 addr add 10.200.0.1/24 dev rail0 || give_up "an address"
	eventually plan_finds "fail twice n4 and the leaf"
	# Where the pods are, the agent reserves it; on the other rail the node keeps its number.
	ip -n n4 addr flush dev rail0 && ip -n n4 addr add 10.200.0.77/24 dev rail0 || give_up "an address"
	eventually plan_finds ""
	plan_is --format networkd --node n4
	eq "among those of pods" "$(grep Address= "$W/out" | paste -sd ' ')" "Address=10.200.0.77/24 Address=10.200.128.5/24"
	sed -i 's/"n1": "3"/"n1": "10"/' "$W/plan.yaml"
	plan_is --json
	eq "beyond the numbers" "$RC $(plan_finding)" "4 fail host node n1"
	# As long as one of its addresses may be that of a node that says nothing, no node gets a new one.
	sed -i 's/"n1": "10"/"n1": ""/; s/"n4": "5"/"n4": ""/' "$W/plan.yaml"
	eventually nics_are '3 2 4 5'
	listens n4 null
	eventually nics_are '- 2 4 -'
	eq "not heard" "$RC $(plan_finding)" "1 unknown unheard node n4"
	plan_is --format netplan --node n1
	has "not heard" "$(<"$W/out")" '# n1: rail 0 is left out: it has no address yet'
	plan_is --format ifcfg
	has "another format" "$(<"$W/err")" '--format "ifcfg" is not netplan or networkd'
	plan_is --format netplan --node n9
	has "another node" "$(<"$W/err")" '--node "n9" is not in the plan'
	# A bond has the address, and no name of an interface is more lines.
	engine_object nodes gpu-9 '{"rails":[{"rail":0,"interface":"eth1","bond":"bond0"},{"rail":0,"interface":"eth2","bond":"bond0"},{"rail":1,"interface":"x\n# n1"}]}' gpu-9 >/dev/null || give_up "node gpu-9"
	echo '{supernet: 10.200.0.0/16, rails: 2, nodesPerGroup: 8, groups: {g0: ["*"]}, leaveAlone: ["n*"]}' >"$W/plan.yaml"
	eventually nics_are 2
	plan_is --format netplan
	is "netplan takes a bond" netplan_takes "$W/out"
	has "a bond" "$(<"$W/netplan/run/systemd/network/10-netplan-bond0.network")" 'Address=10.200.0.2/24'
	has "a name with lines" "$(<"$W/out")" '# gpu-9: rail 1 is left out: its interface has no plain name'
}

added_to_rail7() { POOLS='"pool":"rail7-*"' added n1 p1 -; }
# Each node takes over all pools, and has addresses of its own group's ones. One network has the pools of each rail.
test_fabric_more_than_256_pools()
{
	local last
	NODES=1 cluster_begin
	echo '{supernet: 10.0.0.0/9, rails: 8, nodesPerGroup: 4, groups: {g32: [n1]}}' >"$W/plan.yaml"
	eventually plan_is --objects
	plan_apply
	eq "pools" "$(jq length "$W/pools.json")" 264
	is "the label" ctl n1 ipam node label railhead.io/group=g32
	eventually knows n1 rail7-g32
	eventually added_to_rail7
	last=$(jq -r '.[] | select(.name == "rail7-g32").subnet' "$W/pools.json")
	has "the address" "$ADDRESS" "${last%.*}."
	del n1 p1 -
}
