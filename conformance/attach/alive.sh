# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Nothing is freed while a pod may use it: the pod exists, but differs from the state after ADD, or
# the command runs in another namespace.

# audit WHAT: each address that an interface of kind macvlan has, in any namespace that is mounted or that a
# process is in, is leased. Looked at from outside, with ip(8).
audit()
{
	local what=$1 ns a
	leases | sed 's,/.*,,' >"$W/leased"
	for ns in $({ ls -d /run/netns/* "$W"/netns.*; ls -d /proc/[0-9]*/ns/net; } 2>/dev/null); do
		stat -L -c '%i %n' "$ns" 2>/dev/null
	done | sort -u -k1,1 | while read -r _ ns; do
		for a in $(nsenter --net="$ns" ip -j -d addr show 2>/dev/null | jq -r '.[] |
			select(.linkinfo.info_kind == "macvlan") | .addr_info[] | select(.scope == "global").local'); do
			grep -qxF "$a" "$W/leased" || echo "$what: $a is in use in $ns and not leased"
		done
	done >"$W/audit"
	[ ! -s "$W/audit" ] || fail "$(<"$W/audit")"
}

repair() { "$RAILCTL" attachments repair "$@" >"$W/repair" 2>&1; }
state() { "$RAILCTL" attachments list --json | jq -r '.[0].state'; }

attached_pod()
{
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)"
	want_ok ADD
	ADDR=$(addr4)
}

# cni_elsewhere VERB: from a mount namespace that lacks what is mounted below /run/netns.
cni_elsewhere()
{
	local E
	cni_env "$1"
	unshare --mount sh -c 'umount -l /run/netns/p1 2>/dev/null; "$@"' sh env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" \
		>"$W/out" 2>"$W/err"
	RC=$?
	take_output
}

# DEL finds the pod where the host has it mounted, and its interface with it.
test_alive_DEL_from_another_mount_namespace()
{
	attached_pod
	cni_elsewhere DEL
	eq "exit" "$RC" 0
	audit "DEL elsewhere"
	nothing_left "DEL elsewhere"
	want_ok DEL
}

# The mounts of process 1 can be read from other mount namespaces, too: that is the proof.
test_alive_DEL_of_what_is_gone_from_another_mount_namespace()
{
	attached_pod
	unpod p1
	cni_elsewhere DEL
	eq 'exit status' "$RC" 0
	eq leases "$(lease_count)" 0
}

# An unknown state is an error, and the same call on the host succeeds. A container with its own process namespace
# does not see the processes of the host.
test_alive_DEL_of_what_cannot_be_seen()
{
	local E
	attached_pod
	unpod p1
	cni_env DEL
	unshare --mount --pid --fork --mount-proc env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" >"$W/out" 2>"$W/err"
	RC=$?
	take_output
	is_err 8 "may be alive" "process namespace"
	has_lease "$ADDR"
	want_ok DEL DEL
	eq leases "$(lease_count)" 0
}

test_alive_repair_from_another_mount_namespace()
{
	attached_pod
	unshare --mount sh -c 'umount -l /run/netns/p1; "$@"' sh "$RAILCTL" attachments repair >"$W/repair" 2>&1
	eq "exit of repair" "$?" 1
	has_lease "$ADDR"
	has_addr p1 net1 "$ADDR"
	audit "repair elsewhere"
	want_ok DEL
}

renamed()
{
	ip -n p1 link set net1 down
	ip -n p1 link set net1 name net1-nic
	ip -n p1 addr add "$ADDR" dev net1-nic 2>/dev/null
	ip -n p1 link add net1 type bridge
}
bridge_gone() { ip -n p1 link del net1; }

# KubeVirt's bridge binding, with repair, a second ADD, and DEL.
test_alive_interface_renamed_and_replaced()
{
	attached_pod
	renamed
	eq "state" "$(state)" interface-renamed
	is "repair" repair
	has_lease "$ADDR"
	audit "repair"
	want_err ADD 103 "run DEL"
	bridge_gone
	want_err ADD 103 "run DEL"
	renamed 2>/dev/null || ip -n p1 link add net1 type bridge 2>/dev/null
	has_addr p1 net1-nic "$ADDR"
	want_ok DEL
	no_link p1 net1-nic
	is "the pod's own bridge stays" ip -n p1 link show net1
	bridge_gone
	nothing_left "renamed"
}

# The same name and kind, another number: the pod's own.
test_alive_interface_replaced_by_one_of_its_kind()
{
	attached_pod
	ip -n p1 link del net1
	ip -n p1 link add own0 type veth peer name own0p
	ip -n p1 link add link own0 name net1 type macvlan
	eq "state" "$(state)" interface-replaced
	isnt "repair" repair
	has_lease "$ADDR"
	want_ok DEL
	is "the pod's own interface stays" ip -n p1 link show net1
	ip -n p1 link del net1
	ip -n p1 link del own0
	nothing_left "replaced"
}

# reused INODE: a namespace of that inode under the path of p1; the kernel gives out the lowest free one.
reused()
{
	local i
	for i in {1..300}; do
		ip netns add p1
		[ "$(stat -L -c %i /run/netns/p1)" != "$1" ] || return 0
		touch "/run/netns/spare$i"
		mount --bind /run/netns/p1 "/run/netns/spare$i"
		ip netns del p1
	done
	return 1
}
spares_gone()
{
	local f
	for f in /run/netns/spare*; do
		umount "$f"
		rm "$f"
	done 2>/dev/null
}

# A pod that was attached as container "old", whose namespace has gone, and another one that has its path and its inode.
# Another process of the machine may take the inode for long: then a new pod.
pod_with_the_same_inode()
{
	local inode
	for _ in {1..10}; do
		attached_pod
		inode=$(stat -L -c %i /run/netns/p1)
		mv "$(find $RUN -name 'cid-p1,net1')" "$W/record"
		jq -c '.container = "old"' "$W/record" >"$RUN/attachments/testnet/old,net1"
		unpod p1
		reused "$inode" && echo p1 >>"$W/pods" && return
		spares_gone
		CID=old
		want_ok DEL
		CID=cid-p1
		want_ok DEL
	done
	fail "test error: no inode came again"
}

# The new pod has the path, the name and the inode of the old one, whose DEL comes late.
test_alive_inode_used_again()
{
	local a
	pod_with_the_same_inode || return
	CID=new
	want_ok ADD
	a=$(addr4)
	CID=old
	want_ok DEL
	has_addr p1 net1 "$a"
	has_lease "$a"
	audit "late DEL"
	CID=new
	want_ok DEL
	CID=cid-p1
	want_ok DEL
	spares_gone
	nothing_left "inode used again"
}

# ADD by the path of a process that is gone; its namespace lives on under a name.
test_alive_DEL_by_another_path()
{
	local pid
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)"
	ip netns exec p1 sleep infinity &
	pid=$!
	until [ "$(stat -L -c %i /proc/$pid/ns/net)" = "$(stat -L -c %i /run/netns/p1)" ]; do usleep_ 1000; done
	NS=/proc/$pid/ns/net
	want_ok ADD
	ADDR=$(addr4)
	kill $pid
	wait $pid 2>/dev/null
	eq "state" "$(state)" netns-moved
	isnt "repair" repair
	has_lease "$ADDR"
	audit "repair"
	NS=/run/netns/p1
	want_ok DEL
	nothing_left "DEL by another path"
}

# The pod has no path at all any more, but a process lives in it.
test_alive_DEL_when_only_a_process_is_left()
{
	local pid
	attached_pod
	ip netns exec p1 sleep infinity &
	pid=$!
	until [ "$(stat -L -c %i /proc/$pid/ns/net)" = "$(stat -L -c %i /run/netns/p1)" ]; do usleep_ 1000; done
	unpod p1
	isnt "repair" repair
	has_lease "$ADDR"
	audit "repair"
	want_ok DEL
	isnt "the interface is gone" nsenter --net="/proc/$pid/ns/net" ip link show net1
	eq leases "$(lease_count)" 0
	kill $pid
	wait $pid 2>/dev/null
}

# Records of earlier versions know neither cookie nor number nor from where.
test_alive_record_of_an_earlier_version()
{
	local f
	attached_pod
	f=$(find $RUN -name 'cid-p1,net1')
	jq -c 'del(.netnsCookie, .pidNs, .mntNs, .ifindex, .lowerIfindex)' "$f" >"$W/record"
	cat "$W/record" >"$f"
	eq "state" "$(state)" healthy
	want_ok DEL
	nothing_left "earlier version"
}

# The kernel finds an interface by its altname, too.
test_alive_altname_is_another_interface()
{
	need_railhead
	pod p1
	ip -n p1 link add own0 type veth peer name own0p
	ip -n p1 link add link own0 name own1 type macvlan
	ip -n p1 link property add dev own1 altname net1
	conf_ipam "$(dual_ipam)"
	want_err ADD 103 "net1 is an alternative name of interface own1"
	eq leases "$(lease_count)" 0
	want_ok DEL
	is "the pod's own interface stays" ip -n p1 link show own1
	ip -n p1 link property del dev own1 altname net1
	want_ok ADD
	ip -n p1 link del net1
	ip -n p1 link property add dev own1 altname net1
	want_ok DEL
	is "the pod's own interface stays" ip -n p1 link show own1
	ip -n p1 link del own1
	ip -n p1 link del own0
	# A master may be named by its altname, as with the reference plugins.
	ip link property add dev "$MASTER" altname uplink
	conf_ipam "$(v4_ipam)" '.master="uplink"'
	want_ok ADD
	eq "on the master" "$(link_get p1 net1 .link_index)" "$(cat /sys/class/net/$MASTER/ifindex)"
	want_ok DEL
	ip link property del dev "$MASTER" altname uplink
	nothing_left altname
}

# An IPAM that gives an address and then neither takes it back nor goes on.
test_alive_failed_ADD_whose_address_stays()
{
	local f
	need_railhead
	pod p1
	fake stuck <<-'EOF'
		case $CNI_COMMAND in
		ADD) echo '{"cniVersion":"1.1.0","ips":[{"address":"10.9.0.5/24"}],"routes":[{"dst":"10.1.0.0/16","gw":"172.31.9.9"}]}' ;;
		DEL) [ ! -e "$log.refuse" ] || { echo '{"code":11,"msg":"not now"}'; exit 1; } ;;
		esac
	EOF
	conf '.ipam={"type":"stuck"}'
	touch "$FAKE/stuck.refuse"
	want_err ADD '100|7'
	no_link p1 net1
	eq "state" "$(state)" unfinished
	isnt "repair while the IPAM refuses" repair
	want_err DEL 11
	eq "state" "$(state)" unfinished
	rm "$FAKE/stuck.refuse"
	is "repair" repair
	eq "IPAM" "$(fake_log stuck)" "ADD DEL DEL DEL DEL "
	nothing_left "repair"
	f=$(find $RUN -name '*,net1')
	eq "record" "$f" ""
	want_ok DEL
}
