# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# allrails.sh: the plugin rails: all rails of a node in one ADD. The node's rails are the interfaces ra0, ra1 ... of the host.

# rails_here N: N rails with far ends sra0 ..., the file that numbers them, and a pool each; then PLUGIN and the pod p1.
rails_here()
{
	local i
	need_railhead
	[ -x "$BIN/rails" ] || skip 'no plugin rails in the folder of programs'
	RAILS=$1
	for ((i = 0; i < RAILS; i++)); do
		ip link add "ra$i" type veth peer name "sra$i" || fail "test error: rail $i"
		ip link set "ra$i" addrgenmode none
		ip link set "sra$i" addrgenmode none
		ip link set "ra$i" up
		ip link set "sra$i" up
		pool_add "rail$i" --subnet "10.80.$i.0/24" --gateway "10.80.$i.1" --range "10.80.$i.10-10.80.$i.12" --this-node-only
		pool_add "six$i" --subnet "fd00:80:1$i::/64" --gateway "fd00:80:1$i::1" --range "fd00:80:1$i::10-fd00:80:1$i::12" --this-node-only
	done
	rails_file "$RAILS"
	PLUGIN=rails
	pod p1
}
rails_file() # N: the file numbers the first N
{
	jq -n --argjson n "$1" '{rails: [range($n) | {rail: ., interface: "ra\(.)"}]}' >/etc/railhead/rails.json
}
rails_gone()
{
	local i
	for ((i = 0; i < RAILS; i++)); do
		ip link del "ra$i" 2>/dev/null
		pool_del "rail$i" "six$i"
	done
	rm -f /etc/railhead/rails.json
}
# rails_conf [FILTER]: macvlan on all rails, an address of each.
rails_conf()
{
	conf 'del(.master) | .kind="macvlan" | .ipam={"type":"railhead-ipam","pool":"rail{n}"}'" | ${1:-.}"
}
# Which of net1, net1r1 ... the pod has, of which kind, and on which number of the host.
rails_of()
{
	ip -n "$1" -j -d link | jq -rc '[.[] | select(.ifname != "lo") | .ifname] | sort | join(" ")'
}
recorded() { find $RUN/attachments -type f 2>/dev/null | wc -l; }

test_allrails_one_ADD_makes_them_all()
{
	local i
	rails_here 4
	rails_conf '.ipam={"type":"railhead-ipam","pools":["rail{n}","six{n}"]}'
	want_ok ADD
	eq 'interfaces' "$(rails_of p1)" 'net1 net1r1 net1r2 net1r3'
	eq 'names in the result' "$(res '[.interfaces[].name]|join(" ")')" 'net1 net1r1 net1r2 net1r3'
	eq 'sandboxes' "$(res '[.interfaces[].sandbox]|unique|join(" ")')" "$NS"
	eq 'rails of the result' "$(res '[.rails.made[]|"\(.rail) \(.interface) \(.master)"]|join(",")')" \
		'0 net1 ra0,1 net1r1 ra1,2 net1r2 ra2,3 net1r3 ra3'
	eq 'missing' "$(res '.rails.missing')" null
	eq 'groups are the IPAM'"'s own" "$(res '[.ips[],.routes[]?|has("group")]|any')" false
	for ((i = 0; i < 4; i++)); do
		local name=net1
		[ "$i" = 0 ] || name=net1r$i
		eq "kind of $name" "$(link_get p1 "$name" .linkinfo.info_kind)" macvlan
		eq "master of $name" "$(link_get p1 "$name" .link_index)" "$(ip -j link show dev "ra$i" | jq '.[0].ifindex')"
		eq "MAC of $name" "$(link_get p1 "$name" .address)" "$(res ".interfaces[$i].mac")"
		has_addr p1 "$name" "10.80.$i.10/24"
		has_addr p1 "$name" "fd00:80:1$i::10/64"
		eq "addresses of $name in the result" "$(res "[.ips[]|select(.interface == $i).address]|join(\" \")")" \
			"10.80.$i.10/24 fd00:80:1$i::10/64"
	done
	eq 'records' "$(recorded)" 1
	eq 'leases' "$(lease_count)" 8
	prev
	want_ok CHECK DEL DEL
	eq 'after DEL' "$(rails_of p1)$(recorded)$(lease_count)" 00
	rails_gone
}

test_allrails_some_by_number_and_by_a_template()
{
	rails_here 4
	rails_conf '.rails=[3,1] | .ifname="rail{n}"'
	want_ok ADD
	eq 'interfaces' "$(rails_of p1)" 'rail1 rail3'
	eq 'in the order of the key' "$(res '[.ips[]|.address]|join(" ")')" '10.80.3.10/24 10.80.1.10/24'
	prev
	want_ok CHECK
	# The pod's interface has another name since, and another has its name: DEL goes by the number.
	ip -n p1 link set rail3 down
	ip -n p1 link set rail3 name mine
	ip -n p1 link add rail3 type bridge
	want_ok DEL
	eq 'what is not ours stays' "$(rails_of p1)" rail3
	ip -n p1 link del rail3
	rails_conf '.rails=[2]'
	want_ok ADD
	eq 'one rail has the name of the call' "$(rails_of p1)" net1
	want_ok DEL
	rails_gone
}

test_allrails_ipvlan()
{
	need_kind ipvlan
	rails_here 2
	rails_conf '.kind="ipvlan" | .mode="l2"'
	want_ok ADD
	eq 'kind' "$(link_get p1 net1r1 .linkinfo.info_kind)" ipvlan
	prev
	want_ok CHECK DEL
	eq 'after DEL' "$(rails_of p1)$(lease_count)" 0
	rails_gone
}

test_allrails_without_an_IPAM()
{
	rails_here 2
	rails_conf 'del(.ipam)'
	want_ok ADD
	eq 'interfaces' "$(rails_of p1)" 'net1 net1r1'
	eq 'up' "$(ip -n p1 -j link | jq -c '[.[]|select(.ifname != "lo").flags|index("UP") != null]|all')" true
	prev
	want_ok CHECK DEL
	rails_gone
}

# A caller that writes all keys leaves some empty.
test_allrails_empty_keys_of_devices_count_as_absent()
{
	rails_here 1
	rails_conf '.deviceID="" | .pciBusID="" | .resourceName=""'
	want_ok ADD
	prev
	want_ok CHECK DEL
	rails_gone
}

# One subnet for all rails: the pool has no number, and gives each rail an address.
test_allrails_of_one_pool()
{
	rails_here 3
	rails_conf '.ipam.pool="rail0"'
	want_ok ADD
	eq 'addresses' "$(res '[.ips[]|.address]|unique|length')" 3
	# The pool is empty: no pod gets a part.
	pod p2
	want_err ADD 101 rail0
	eq 'nothing in the second pod' "$(rails_of p2)" ''
	eq 'records' "$(recorded)" 1
	eq 'leases' "$(lease_count)" 3
	use p1
	want_ok DEL
	rails_gone
}

test_allrails_routes_by_rail()
{
	local i
	rails_here 3
	rails_conf '.routing="rail"'
	want_ok ADD
	eq 'rules' "$(ip -n p1 -j rule | jq -rc '[.[]|select(.priority == 1000)|"\(.src) \(.table)"]|sort|join(",")')" \
		'10.80.0.10 1000,10.80.1.10 1001,10.80.2.10 1002'
	for i in 0 1 2; do
		eq "default route of table $i" "$(ip -n p1 -j route show table $((1000 + i)) default | jq -rc '.[0].gateway')" "10.80.$i.1"
	done
	has 'railctl attachments show' "$("$RAILCTL" attachments show testnet cid-p1 net1 2>&1 | tr -s ' ')" 'net1r2: on ra2, routing table 1002'
	eq 'its JSON' "$("$RAILCTL" attachments show testnet cid-p1 net1 --json | jq -r '.parts[1]|"\(.ifname) \(.master) \(.routing.table)"')" 'net1r1 ra1 1001'
	eq 'its state' "$("$RAILCTL" attachments list --json | jq -r '.[0].state')" healthy
	prev
	want_ok CHECK
	ip -n p1 rule del from 10.80.1.10 table 1001
	want_err CHECK 104 'rail 1' 10.80.1.10
	want_ok DEL
	rails_conf '.routing={"mode":"rail","table":500}'
	want_ok ADD
	eq 'numbered tables' "$(ip -n p1 -j rule | jq -rc '[.[]|select(.priority == 1000).table]|sort|join(" ")')" '500 501 502'
	want_ok DEL
	rails_gone
}

test_allrails_CHECK_names_the_rail()
{
	rails_here 3
	rails_conf
	want_ok ADD
	prev
	ip -n p1 addr del 10.80.2.10/24 dev net1r2
	want_err CHECK 104 'rail 2' net1r2 10.80.2.10
	ip -n p1 addr add 10.80.2.10/24 dev net1r2
	want_ok CHECK
	# A card more on the node is none of this attachment's business.
	jq '.rails += [{rail: 9, interface: "'"$MASTER"'"}]' /etc/railhead/rails.json >"$W/more"
	cat "$W/more" >/etc/railhead/rails.json
	want_ok CHECK
	ip -n p1 link set net1r1 down
	want_err CHECK 104 'rail 1' net1r1 down
	ip -n p1 link del net1r1
	want_err CHECK 104 'rail 1' net1r1 missing
	has 'repair sees it' "$("$RAILCTL" attachments list --json | jq -r '.[0]|"\(.state) \(.why)"')" \
		"partly-gone 1 of its 3 interfaces in $NS is lost: net1r1"
	want_ok DEL
	eq 'after DEL' "$(rails_of p1)$(lease_count)" 0
	rails_gone
}

# railctl_fails ARGS...: what it printed is in $SAID.
railctl_fails()
{
	! SAID=$("$RAILCTL" "$@" 2>&1) || fail "railctl $*: must fail, and printed: $SAID"
}

test_allrails_repair_of_a_lost_rail()
{
	local before lost
	rails_here 3
	lost="1 of its 3 interfaces in $NS is lost: net1r1"
	rails_conf
	want_ok ADD
	ip -n p1 link del net1r1
	before="$(rails_of p1) $(lease_count)"
	railctl_fails attachments repair
	has 'repair' "$SAID" "$lost"
	has 'repair' "$SAID" 'delete the pod'
	railctl_fails attachments repair --force testnet "$CID" net1
	has 'by force' "$SAID" "left-alone"
	has 'by force' "$SAID" "$lost"
	eq 'after repair by force' "$(rails_of p1) $(lease_count)" "$before"
	railctl_fails ipam verify
	has 'verify' "$SAID" '10.80.1.10 (pool rail1) is leased to net1 of'
	hasnt 'verify' "$SAID" '10.80.0.10'
	# With the last one the attachment has ended, as far as a living namespace can show.
	ip -n p1 link del net1
	ip -n p1 link del net1r2
	has 'all of them' "$("$RAILCTL" attachments list --json | jq -r '.[0]|"\(.state) \(.why)"')" \
		"interface-gone all its 3 interfaces in $NS are lost: net1, net1r1, net1r2"
	"$RAILCTL" attachments repair --force testnet "$CID" net1 >"$W/repair" 2>&1 || fail "$(<"$W/repair")"
	eq 'after the repair' "$(recorded)$(lease_count)" 00
	rails_gone
}

test_allrails_fewer_than_asked()
{
	rails_here 2
	rails_conf '.rails=[0,1,5]'
	want_err ADD 7 'no rail 5' rails.json min
	edit '.min=2'
	want_ok ADD
	has 'the log' "$ERR" 'this node has no rail 5'
	eq 'missing' "$(res '.rails.missing|join(" ")')" 5
	eq 'interfaces' "$(rails_of p1)" 'net1 net1r1'
	prev
	want_ok CHECK DEL
	edit '.min=3'
	want_err ADD 7 'no rail 5'
	# With "min", a card whose interface has gone is missing; without, it is an error that names it.
	ip link del ra1
	rails_conf '.min=1'
	want_ok ADD
	eq 'missing' "$(res '.rails.missing|join(" ")')" 1
	want_ok DEL
	rails_conf
	want_err ADD 7 'rail 1' ra1
	# So is one whose card has no interface, also if all are asked for.
	echo '{"rails":[{"rail":0,"interface":"ra0"},{"rail":4,"pci":"ffff:1f:1f.7"}]}' >/etc/railhead/rails.json
	want_err ADD 7 'no rail 4' 'the card at ffff:1f:1f.7 has no interface' min
	edit '.min=1'
	want_ok ADD
	eq 'missing' "$(res '.rails.missing|join(" ")')" 4
	has 'the log' "$ERR" 'this node has no rail 4'
	want_ok DEL
	edit 'del(.min)'
	echo '{"rails":[]}' >/etc/railhead/rails.json
	want_err ADD 7 'this node has 0 of the rails'
	eq 'nothing is left' "$(rails_of p1)$(recorded)$(lease_count)" 00
	rails_gone
}

test_allrails_DEL_without_a_record()
{
	local result
	rails_here 3
	rails_conf '.routing="rail"'
	want_ok ADD
	result=$(<"$W/result")
	find $RUN/attachments -type f -delete
	# Another attachment of the pod has its own interface, which is not a rail of this one.
	PLUGIN=macvlan IFN=other
	conf '.name="second"'
	want_ok ADD
	PLUGIN=rails IFN=net1
	rails_conf '.routing="rail"'
	edit ".prevResult=$result"
	want_ok DEL
	eq 'the other one stays' "$(rails_of p1)" other
	eq 'leases' "$(lease_count)" 0
	eq 'rules' "$(ip -n p1 -j rule | jq '[.[]|select(.priority == 1000)]|length')" 0
	PLUGIN=macvlan IFN=other
	conf '.name="second"'
	want_ok DEL
	rails_gone
}

# The result of ADD is lost, too: the lease tells that the interfaces are ours. An address is free only after its user.
test_allrails_DEL_without_record_and_result()
{
	local kind template
	rails_here 3
	for kind in macvlan ipvlan; do
		kernel_has $kind || continue
		for template in '.' '.ifname="rail{n}"'; do
			rails_conf ".kind=\"$kind\" | .routing=\"rail\" | $template"
			want_ok ADD
			find $RUN/attachments -type f -delete
			PLUGIN=macvlan IFN=other
			conf '.name="second"'
			want_ok ADD
			PLUGIN=rails IFN=net1
			rails_conf ".kind=\"$kind\" | .routing=\"rail\" | $template"
			want_ok DEL
			eq "$kind: the other one stays" "$(rails_of p1)" other
			eq "$kind: leases" "$(lease_count)" 0
			eq "$kind: rules" "$(ip -n p1 -j rule | jq '[.[]|select(.priority == 1000)]|length')" 0
			PLUGIN=macvlan IFN=other
			conf '.name="second"'
			want_ok DEL
			PLUGIN=rails IFN=net1
		done
	done
	# Its version does not know CHECK, or a key is refused since.
	for kind in '.cniVersion="0.3.1"' '.rials=[0]' '.ipam.cooldonw=1'; do
		rails_conf
		want_ok ADD
		find $RUN/attachments -type f -delete
		edit "$kind"
		want_ok DEL
		eq "$kind" "$(rails_of p1) $(lease_count)" ' 0'
	done
	# The IPAM cannot say whether there is a lease: nothing is freed.
	rails_conf
	want_ok ADD
	find $RUN/attachments -type f -delete
	mv /var/lib/railhead "$W/leases" && touch /var/lib/railhead
	want_err DEL '5|11|102' 'railhead'
	rm /var/lib/railhead && mv "$W/leases" /var/lib/railhead
	eq 'what stays' "$(rails_of p1) $(lease_count)" 'net1 net1r1 net1r2 3'
	want_ok DEL
	eq 'after DEL' "$(rails_of p1) $(lease_count)" ' 0'
	rails_gone
}

# A DEL after an ADD that failed has no result: what has a name of a rail is another program's.
test_allrails_DEL_after_a_refused_ADD()
{
	local version
	rails_here 2
	for version in 1.1.0 0.3.1; do
		ip link add net1r1 link ra1 type macvlan && ip link set net1r1 netns p1
		rails_conf ".cniVersion=\"$version\""
		want_err ADD 103 net1r1
		want_ok DEL
		eq 'it stays' "$(rails_of p1)" net1r1
		ip -n p1 link del net1r1
	done
	rails_gone
}

# A DEL fails behind its interfaces, and the next attachment has their names. The repeated DEL leaves them alone.
test_allrails_names_are_used_again()
{
	rails_here 2
	rails_conf '.name="a" | .ifname="rail{n}"'
	want_ok ADD
	mv /var/lib/railhead "$W/leases" && touch /var/lib/railhead
	cni DEL
	[ "$RC" != 0 ] || fail "DEL must fail without its leases"
	rm /var/lib/railhead && mv "$W/leases" /var/lib/railhead
	IFN=net2
	rails_conf '.name="b" | .ifname="rail{n}"'
	want_ok ADD
	IFN=net1
	rails_conf '.name="a" | .ifname="rail{n}"'
	want_ok DEL
	eq 'those of b' "$(rails_of p1)" 'rail0 rail1'
	IFN=net2
	rails_conf '.name="b" | .ifname="rail{n}"'
	want_ok DEL
	IFN=net1
	rails_gone
}

test_allrails_refuses_what_it_cannot_do()
{
	local key
	rails_here 2
	for key in '.vlan=100' '.pkey="0x8001"' '.near="gpu"' '.deviceIDs=[]' '.resource={"pf":["ra0"]}' '.resourceName="a/b"'; do
		rails_conf "$key"
		want_err ADD 7 "not with rails"
	done
	rails_conf '.routing={"mode":"rail","default":true}'
	want_err ADD 7 "routing.default"
	jq '.rails[1].interface = .rails[0].interface' /etc/railhead/rails.json >$W/twice && cp $W/twice /etc/railhead/rails.json
	rails_conf
	want_err ADD 7 "are both interface"
	rails_gone
}

test_allrails_DEL_after_the_namespace()
{
	rails_here 2
	rails_conf
	want_ok ADD
	unpod p1
	eventually eval '[ -z "$(ip -d -o link | grep macvlan)" ]'
	want_ok DEL
	eq 'after DEL' "$(recorded)$(lease_count)" 00
	pod p1
	want_ok ADD
	unpod p1
	is 'repair' "$RAILCTL" attachments repair
	eq 'after repair' "$(recorded)$(lease_count)" 00
	rails_gone
}

# As after an upgrade: ADD took the keys, and would refuse them now.
test_allrails_a_pod_ends_though_its_configuration_is_refused_now()
{
	local last
	rails_here 2
	for last in DEL GC 'DEL without a record'; do
		rails_conf '.routing="rail" | .host={"veth":true}'
		want_ok ADD
		edit '.routing={"mode":"rail","x":1} | .host={"veth":true,"y":2} | .probe={"z":3} | .rail=[1]'
		prev
		want_err CHECK 2 'there is no such key'
		want_err STATUS 2 'there is no such key'
		edit '."cni.dev/valid-attachments"=[{"containerID":"cid-p1","ifname":"net1"}]'
		want_ok GC
		eq "of a living pod, before $last" "$(rails_of p1) $(recorded) $(lease_count)" 'net1 net1r1 veth0 1 2'
		[ "$last" != 'DEL without a record' ] || find "$RUN/attachments" -type f -delete
		edit '."cni.dev/valid-attachments"=[]'
		want_ok "${last%% *}"
		eq "after $last" "$(rails_of p1) $(recorded) $(lease_count) $(veths)" ' 0 0 '
	done
	rails_gone
}

test_allrails_GC()
{
	rails_here 2
	rails_conf
	want_ok ADD
	pod p2
	want_ok ADD
	edit '."cni.dev/valid-attachments"=[{"containerID":"cid-p2","ifname":"net1"}]'
	want_ok GC
	eq 'stale' "$(rails_of p1)" ''
	eq 'valid' "$(rails_of p2)" 'net1 net1r1'
	eq 'leases' "$(lease_count)" 2
	want_ok DEL
	rails_gone
}

test_allrails_no_second_ADD()
{
	rails_here 2
	rails_conf '.ifname="rail{n}"'
	want_ok ADD
	want_err ADD 103 'run DEL before'
	want_ok DEL
	# A name that is taken in the pod: nothing is made of the other rails either.
	ip -n p1 link add rail1 type bridge
	want_err ADD 103 rail1
	eq 'only the pod'"'s own" "$(rails_of p1)" rail1
	eq 'leases' "$(recorded)$(lease_count)" 00
	ip -n p1 link del rail1
	rails_gone
}

# The rails are veth: what is asked before a VF is looked for.
test_allrails_VFs_that_are_given()
{
	local row
	rails_here 2
	while IFS='#' read -r row code words; do
		rails_conf ".kind=\"sriov\" | $row"
		# shellcheck disable=SC2086
		want_err ADD "$code" $words
		want_ok DEL
	done <<-'EOF'
		.deviceIDs=["x"]#7#deviceIDs PCI
		.deviceIDs="x"#6#deviceIDs array
		.args.cni.deviceIDs=["0000:01:00.0","0000:01:00.0"]#7#args.cni.deviceIDs twice
		.deviceIDs=["0000:01:00.0"] | .resource={"pf":["a"]}#7#deviceIDs resource exclude
		.resourceName="a.b/c" | .resource={"pf":["a"]}#7#resourceName resource exclude
		.resourceName="a.b/c"#7#resourceName a.b/c K8S_POD_NAME
		.resource={"pf":"ens{n}"}#6#rail 0 resource.pf ens{n}
		.deviceIDs=["0000:01:00.1"]#7#rail 0 "ra0" PCI sriov
		.resource={"pf":["x{n}"]}#7#rail 0 resource.pf "x0"
		.vlan=5000 | .resource={"pf":["ra{n}"]}#7#rail 0 vlan 5000
		.mac="02:00:00:00:00:01"#7#mac
		.near="gpu"#7#near
	EOF
	eq 'nothing is left' "$(rails_of p1)$(recorded)$(lease_count)" 00
	rails_gone
}

# macPrefix belongs to the kind of each interface.
test_allrails_MACs_of_addresses()
{
	rails_here 2
	rails_conf '.macPrefix="0a:1b"'
	want_ok ADD
	eq 'MACs' "$(res '[.interfaces[].mac]|join(" ")')" '0a:1b:0a:50:00:0a 0a:1b:0a:50:01:0a'
	prev
	want_ok CHECK DEL
	rails_conf '.kind="ipvlan" | .macPrefix="0a:1b"'
	want_err ADD 7 'rail 0' 'macPrefix: interfaces of ipvlan'
	rails_gone
}

# On the last rail a macvlan in mode passthru has the whole interface: all that was made before goes.
test_allrails_all_or_nothing()
{
	rails_here 3
	ip link add link "$MASTER" name whole type macvlan mode passthru || fail 'test error: passthru'
	jq '.rails[2].interface="'"$MASTER"'"' /etc/railhead/rails.json >"$W/more"
	cat "$W/more" >/etc/railhead/rails.json
	rails_conf
	want_err ADD 100 net1r2 "$MASTER"
	eq 'nothing is left' "$(rails_of p1)$(recorded)$(lease_count)" 00
	ip link del whole
	rails_gone
}

test_allrails_STATUS()
{
	rails_here 2
	rails_conf
	want_ok STATUS
	rails_conf '.rails=[7]'
	want_err STATUS 50 'no rail 7'
	rails_conf '.ipam.pool="absent{n}"'
	want_err STATUS 7 absent0
	rails_conf '.rails="gpu"'
	want_ok STATUS
	ip link del ra1
	rails_conf
	want_err STATUS 50 'rail 1' ra1
	rails_gone
}

test_allrails_of_the_pods_GPUs()
{
	rails_here 2
	rails_conf '.rails="gpu"'
	want_err ADD 7 'rails: "gpu": the GPUs of the pod are unknown'
	CARGS='GPUS=0000:7f:1f.7'
	want_err ADD 7 rails 'no GPU at 0000:7f:1f.7'
	rails_gone
}

test_allrails_bad_keys()
{
	local row
	rails_here 1
	while IFS='|' read -r row code words; do
		rails_conf "$row"
		# shellcheck disable=SC2086
		want_err ADD "$code" $words
		# A DEL goes through whatever the keys are.
		want_ok DEL
	done <<-'EOF'
		del(.kind)|7|kind macvlan sriov
		.kind="bridge"|2|kind bridge macvlan sriov
		.rdma=true|6|rdma
		.rdma="both"|2|rdma both
		.rdma="exclusive"|7|rdma exclusive macvlan shared
		.kind="sriov"|7|rail 0 ra0 sriov cards with VFs
		.rail=[0]|2|rail array rails
		.kinds="ipvlan"|2|kinds ipvlan kind
		.Rail=[0]|2|Rail array rails
		.rials=[0]|2|rials array rails
		.rsils=[0]|2|rsils array rails
		.kimd="ipvlan"|2|kimd ipvlan kind
		.Rmda="shared"|2|Rmda shared rdma
		.ifnmae="r{n}"|2|ifnmae r{n} ifname
		.resorceName="a.b/c"|2|resorceName a.b/c resourceName
		.deviceIds2=[]|2|deviceIds2 array deviceIDs
		.DeviceID="0000:01:00.1"|7|deviceID sriov Multus k8s.v1.cni.cncf.io/resourceName
		.min=5|7|min 5 lower
		.routing={"mode":"rail","supernet":[]}|2|routing.supernet supernets
		.host={"veth":true,"route":[]}|2|host.route routes
		.probe={"gateways":true}|2|probe.gateways gateway
		.ipam={"pool":"rail{n}"}|7|ipam.type ipam.pool railhead-ipam
		.ipam.pool=["rail{n}"]|6|ipam.pool array
		.ipam={"type":"railhead-ipam","pools":[]}|7|ipam.pool missing
		.rails="some"|2|rails some
		.rails=3|6|rails 3
		.rails=[]|7|rails
		.rails=[1.5]|7|rails 1.5
		.rails=[64]|7|rails 64
		.rails=[0,0]|7|rails twice
		.min=0|7|min 0
		.min="x"|6|min
		.ifname="rail"|7|ifname {n}
		.ifname="averyveryverylong{n}"|7|ifname averyveryverylong0
		.ifname="a/{n}"|7|ifname a/0
		.master="ra0"|7|master ra0
		.linkInContainer=true|7|linkInContainer
		.mac="02:00:00:00:00:01"|7|mac macPrefix
		.ipam={"type":"another-ipam"}|7|ipam.type another-ipam railhead-ipam
		.ipam={"type":"railhead-ipam","subnet":"10.9.0.0/24"}|7|ipam.pool
		.ipam.pool="absent{n}"|7|absent0
		.ipam={"type":"railhead-ipam","pools":[3]}|6|ipam.pools 3
		.cniVersion="0.2.0"|7|0.2.0 several
	EOF
	IFN=averylongname
	rails_conf
	want_ok ADD DEL
	# Keys that runtimes and Multus add, and those of others.
	rails_conf '.capabilities={deviceID:true} | .runtimeConfig={} | .args={cni:{}} | .dns={} | .delegates=[] | .disableGC=true |
		.device="x" | .main=1 | .pin=2 | .nickname=3 | .link=4 | .rings={} | .logFile="" | ._rails="a comment"'
	want_ok ADD DEL
	rails_gone
}

test_allrails_the_file_of_the_node()
{
	local row
	rails_here 1
	rails_conf
	ip link add br0 type bridge && ip link add port0 type veth peer name far0 && ip link set port0 master br0 || fail 'test error: br0'
	while IFS='|' read -r row code words; do
		printf '%s' "$row" >/etc/railhead/rails.json
		# shellcheck disable=SC2086
		want_err ADD "$code" /etc/railhead/rails.json $words
		eq "how often the error names the file for $row" "$(grep -o 'rails\.json' "$W/out" | wc -l)" 1
	done <<-'EOF'
		{|6|JSON
		[]|6|object
		{"rails":{}}|6|rails
		{}|7|rails
		{"rails":[3]}|6|rails[0]
		{"rails":[{"interface":"ra0"}]}|7|rails[0].rail
		{"rails":[{"rail":0}]}|7|rails[0] interface pci
		{"rails":[{"rail":0,"interface":"ra0","pci":"0000:01:00.0"}]}|7|rails[0] interface pci
		{"rails":[{"rail":64,"interface":"ra0"}]}|7|rails[0].rail 64
		{"rails":[{"rail":0,"interface":"a/b"}]}|7|rails[0].interface a/b
		{"rails":[{"rail":0,"pci":"nonsense"}]}|7|rails[0].pci nonsense
		{"rails":[{"rail":0,"interface":"ra0"},{"rail":0,"interface":"ra1"}]}|7|rails[1].rail twice
		{"rails":[{"rail":0,"interface":"ra0","speed":1}]}|7|speed
		{"rails":[{"rail":0,"interface":"ra0"},{"rail":1,"interface":"ra0"}]}|7|rails 0 and 1 both ra0
		{"rails":[{"rail":0,"interface":"0000:01:00.0"}]}|7|rails[0].interface "pci"
		{"rails":[{"rail":"0","interface":"ra0"}]}|6|rails[0].rail number
		{"rails":[{"rail":0,"interface":["ra0"]}]}|6|rails[0].interface array
		{"rails":[{"rail":0,"interface":"gone0"}]}|7|rail 0: gone0 host link
		{"rails":[{"rail":0,"interface":"lo"}]}|100|rail 0: lo Ethernet
		{"rails":[{"rail":0,"interface":"port0"}]}|100|rail 0: port0 of br0
		{"rails":[{"rail":4,"pci":"ffff:1f:1f.7"}]}|7|rail 4 ffff:1f:1f.7 min
		{"rails":[]}|7|0 min
	EOF
	# A VLAN or a VF of a rail, STATUS and CHECK look the interface up on ways of their own.
	echo '{"rails":[{"rail":0,"interface":"gone0"}]}' >/etc/railhead/rails.json
	want_err STATUS 50 'rail 0: /etc/railhead/rails.json: there is no interface "gone0"'
	rails_conf '.master={vlan: 120, of: "rail"}'
	want_err ADD 7 'rail 0: /etc/railhead/rails.json: there is no interface "gone0"'
	rails_conf '.kind="sriov"'
	want_err ADD 7 'rail 0: /etc/railhead/rails.json: there is no interface "gone0"'
	PLUGIN=macvlan
	conf '.master="rail:0"'
	want_err ADD 7 'master: rail 0 by rails.json: there is no interface "gone0"'
	PLUGIN=rails
	rails_conf
	rails_file 1
	chmod 666 /etc/railhead/rails.json
	want_err ADD 106 /etc/railhead/rails.json
	rm /etc/railhead/rails.json
	ip link del br0
	ip link del port0
	# Without the file the machine says: there is no card here.
	want_err ADD 7 'this node has 0'
	want_ok DEL
	rails_gone
}
