# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# railhead-ipam as a program of its own, with host-local's and whereabouts' configuration. It opens no
# namespace, so there are no pods here.

# ask N IPAM-JSON [FILTER]: ADD for container cN.
ask()
{
	PLUGIN=$IPAM CID=c$1 NS=/run/netns/none
	conf_ipam "$2" "del(.master) | .ipam.type=\"$IPAM\" | ${3:-.}"
	want_ok ADD
}
# give N...: DEL with the present configuration.
give()
{
	local n
	PLUGIN=$IPAM
	for n; do
		CID=c$n
		want_ok DEL
	done
}
# refused N IPAM-JSON FILTER CODES [TEXT...]
refused()
{
	PLUGIN=$IPAM CID=c$1 NS=/run/netns/none
	conf_ipam "$2" "del(.master) | .ipam.type=\"$IPAM\" | $3"
	want_err ADD "${@:4}"
}
got() { res '[.ips[].address] | join(" ")'; }

# CNI-128
test_ipam_result_is_abbreviated_in_every_version()
{
	local v
	for v in "${VERSIONS[@]}"; do
		ask 1 "$(dual_ipam)" ".cniVersion=\"$v\" | .ipam.routes=[{\"dst\":\"0.0.0.0/0\"},{\"dst\":\"::/0\"}]" || continue
		want "version" ".cniVersion == \"$v\""
		want "no interfaces" '(has("interfaces") or ((.ips // []) | any(has("interface")))) | not'
		case $v in
		0.1.0 | 0.2.0) want "old shape" '(.ip4.ip | test("/24$")) and (.ip6.ip | test("/64$")) and
			.ip4.gateway == "10.77.0.1" and .ip4.routes[0].dst == "0.0.0.0/0" and .ip6.routes[0].dst == "::/0"' ;;
		0.*) want "ips with versions" '[.ips[].version] == ["4","6"] and (.routes | length == 2)' ;;
		*) want "ips" '(.ips | length == 2) and (.ips | all(has("version") | not)) and (.routes | length == 2)' ;;
		esac
		give 1
	done
}

answer() { jq -Sc '[(.ips | map(del(.interface))), .routes, (.dns // {})]' "$W/result"; }

# The same configuration, the same answers as the reference gives, address by address.
same_as_host_local()
{
	local i a=() b=()
	for i in 1 2 3; do
		ask "$i" "$1" ".cniVersion=\"1.0.0\" | .name=\"hl\" | ${2:-.}" || return
		a+=("$(answer)")
	done
	give 1 2 3
	(
		IPAM=host-local BIN=$PEER_DIR RAILCTL='' PEERS=1
		for i in 1 2 3; do
			ask "$i" "$1" ".cniVersion=\"1.0.0\" | .name=\"hl\" | ${2:-.}"
			answer >"$W/hl.$i"
		done
		give 1 2 3
	)
	for i in 1 2 3; do
		b+=("$(<"$W/hl.$i")")
	done
	eq "answers to $1" "${a[*]}" "${b[*]}"
	rm -rf /var/lib/cni/networks $STATE
}

test_ipam_answers_as_host_local_does()
{
	need_railhead
	need_peer host-local
	printf 'nameserver 10.2.2.2\nnameserver fd00::53\nsearch a.local b.local\ndomain d.local\noptions ndots:2 edns0\n' \
		>"$W/resolv.conf"
	same_as_host_local '{"subnet":"10.1.0.0/24"}'
	same_as_host_local '{"subnet":"10.1.0.0/24","gateway":"10.1.0.254"}'
	same_as_host_local '{"subnet":"10.1.0.0/24","rangeStart":"10.1.0.10","rangeEnd":"10.1.0.20","gateway":"10.1.0.11"}'
	same_as_host_local '{"subnet":"10.1.0.0/16","rangeStart":"10.1.0.254","rangeEnd":"10.1.1.2"}'
	same_as_host_local '{"subnet":"fd00:5::/64"}'
	same_as_host_local '{"subnet":"fd00:5::/112","rangeStart":"fd00:5::fff0","rangeEnd":"fd00:5::ffff","gateway":"fd00:5::9"}'
	same_as_host_local '{"ranges":[[{"subnet":"10.1.0.0/24"}],[{"subnet":"fd00:5::/64"}]]}'
	same_as_host_local '{"ranges":[[{"subnet":"10.1.0.0/30"},{"subnet":"10.2.0.0/24","rangeStart":"10.2.0.9"}]]}'
	same_as_host_local '{"ranges":[[{"subnet":"10.1.0.0/24"}],[{"subnet":"10.2.0.0/24"}],[{"subnet":"fd00:5::/64"}]]}'
	same_as_host_local '{"subnet":"10.3.0.0/24","ranges":[[{"subnet":"fd00:5::/64"}]]}'
	same_as_host_local '{"subnet":"10.1.0.0/24","routes":[{"dst":"0.0.0.0/0"},{"dst":"10.9.0.0/16","gw":"10.1.0.7"}]}'
	same_as_host_local "{\"subnet\":\"10.1.0.0/24\",\"resolvConf\":\"$W/resolv.conf\"}"
	same_as_host_local '{"subnet":"10.1.0.0/24"}' \
		'.runtimeConfig={"ipRanges":[[{"subnet":"10.4.0.0/24"}],[{"subnet":"fd00:4::/64"}]]}'
	same_as_host_local '{}' '.runtimeConfig={"ipRanges":[[{"subnet":"10.4.0.0/24","rangeStart":"10.4.0.40"}]]}'
}

test_ipam_requested_addresses()
{
	ask 1 "$(dual_ipam)" '.args={"cni":{"ips":["10.77.0.50"]}}'
	eq "args.cni.ips" "$(got)" "10.77.0.50/24 $(addr6)"
	give 1
	ask 1 "$(dual_ipam)" '.runtimeConfig={"ips":["10.77.0.51/24","fd00:77::51"]}'
	eq "runtimeConfig.ips" "$(got)" "10.77.0.51/24 fd00:77::51/64"
	# Taken by another one.
	refused 2 "$(dual_ipam)" '.runtimeConfig={"ips":["10.77.0.51"]}' '103|101' 10.77.0.51
	eq "leases of the refused one" "$(lease_count)" 2
	give 1
	CARGS='IgnoreUnknown=1;IP=10.77.0.52'
	ask 1 "$(v4_ipam)"
	eq "CNI_ARGS IP" "$(got)" "10.77.0.52/24"
	give 1
	# Multus sends a list, with prefix lengths (CNI-135).
	CARGS='IgnoreUnknown=1;IP=10.77.0.53/24,fd00:77::53/64'
	ask 1 "$(dual_ipam)"
	eq "CNI_ARGS IP, a list" "$(got)" "10.77.0.53/24 fd00:77::53/64"
	give 1
}

test_ipam_one_network_name_is_one_pool()
{
	local a
	ask 1 "$(v4_ipam)" '.name="net-a"'
	a=$(got)
	ask 2 "$(v4_ipam)" '.name="net-b"'
	eq "the first address of another network" "$(got)" "$a"
	give 2
	ask 1 "$(v4_ipam)" '.name="net-a"'
	give 1
}

# --- whereabouts' keys -------------------------------------------------------------------------

test_ipam_whereabouts_keys()
{
	need_railhead
	ask 1 '{"thisNodeOnly":true,"range":"192.168.10.0/24"}'
	eq "range" "$(got)" 192.168.10.1/24
	give 1
	ask 1 '{"thisNodeOnly":true,"range":"192.168.10.10-192.168.10.20/24"}'
	eq "range a-b" "$(got)" 192.168.10.10/24
	give 1
	ask 1 '{"thisNodeOnly":true,"range":"192.168.11.0/24","range_start":"192.168.11.100","range_end":"192.168.11.101",
		"exclude":["192.168.11.100/32"],"gateway":"192.168.11.1","routes":[{"dst":"10.0.0.0/8"}]}'
	eq "range_start, exclude" "$(got)" 192.168.11.101/24
	want "gateway and routes" '.ips[0].gateway == "192.168.11.1" and .routes[0].dst == "10.0.0.0/8"'
	refused 2 '{"thisNodeOnly":true,"range":"192.168.11.0/24","range_start":"192.168.11.100","range_end":"192.168.11.101",
		"exclude":["192.168.11.100/32"]}' . 101 192.168.11.0/24
	give 1
	ask 1 '{"thisNodeOnly":true,"range":"192.168.12.0/24","exclude":["192.168.12.0/28","192.168.12.16"],"gateway":"192.168.12.17"}'
	eq "exclude a network, an address, and the gateway" "$(got)" 192.168.12.18/24
	give 1
	ask 1 '{"thisNodeOnly":true,"ipRanges":[{"range":"192.168.13.0/24"},{"range":"abcd::/64","exclude":["abcd::1"]}]}'
	eq "ipRanges" "$(got)" "192.168.13.1/24 abcd::2/64"
	give 1
	ask 1 '{"thisNodeOnly":true,"range":"192.168.14.0/24","ipRanges":[{"range":"abce::/64"}],"network_name":"n","log_level":"debug",
		"kubernetes":{"kubeconfig":"/x"},"datastore":"kubernetes","enable_overlapping_ranges":true,
		"leader_lease_duration":1500,"node_slice_size":"/26"}'
	eq "range beside ipRanges, and keys without meaning here" "$(got)" "192.168.14.1/24 abce::1/64"
	give 1
}

# whereabouts keeps addresses by range, not by network; network_name parts them.
test_ipam_whereabouts_network_name()
{
	local a
	need_railhead
	ask 1 '{"thisNodeOnly":true,"range":"192.168.20.0/24"}' '.name="net-a"'
	a=$(got)
	ask 2 '{"thisNodeOnly":true,"range":"192.168.20.0/24"}' '.name="net-b"'
	[ "$(got)" != "$a" ] || fail "two networks on one range both got $a"
	ask 3 '{"thisNodeOnly":true,"range":"192.168.20.0/24","network_name":"apart"}' '.name="net-b"'
	eq "network_name parts them" "$(got)" "$a"
	give 3
	ask 2 '{"thisNodeOnly":true,"range":"192.168.20.0/24"}' '.name="net-b"'
	give 2
	ask 1 '{"thisNodeOnly":true,"range":"192.168.20.0/24"}' '.name="net-a"'
	give 1
}

# Two networks name one range, one with the flag and one without.
test_ipam_whereabouts_overlap_flag()
{
	local a
	need_railhead
	ask 1 '{"thisNodeOnly":true,"range":"192.168.30.0/24"}' '.name="net-a"'
	a=$(got)
	ask 2 '{"thisNodeOnly":true,"range":"192.168.30.0/24","enable_overlapping_ranges":false}' '.name="net-b"'
	[ "$(got)" != "$a" ] || fail "two networks on one range both got $a"
	give 2
	ask 1 '{"thisNodeOnly":true,"range":"192.168.30.0/24"}' '.name="net-a"'
	give 1
}

test_ipam_whereabouts_numbers_as_it_reads_them()
{
	need_railhead
	ask 1 '{"thisNodeOnly":true,"range":"192.168.031.000/024","exclude":["192.168.31.001"],"gateway":"192.168.031.2"}'
	eq "leading zeros" "$(got)" 192.168.31.3/24
	give 1
	ask 1 '{"thisNodeOnly":true,"range":"::ffff:192.168.32.0/120"}'
	eq "IPv4-mapped" "$(got)" 192.168.32.1/24
	give 1
}

# --- moving from host-local --------------------------------------------------------------------

# The IPAM is swapped under living pods: real host-local gave the first ones their addresses.
test_ipam_swapped_under_living_pods()
{
	local a b
	need_railhead
	need_peer host-local
	(
		IPAM=host-local BIN=$PEER_DIR RAILCTL='' PEERS=1
		for i in 1 2; do
			ask "$i" "$(v4_ipam)" '.cniVersion="1.0.0" | .name="moved"'
			got >"$W/hl.$i"
		done
	)
	a=$(<"$W/hl.1") b=$(<"$W/hl.2")
	eq "host-local's files" "$(find /var/lib/cni/networks/moved -name '10.*' | wc -l)" 2
	ask 3 "$(v4_ipam)" '.name="moved"'
	[ "$(got)" != "$a" ] && [ "$(got)" != "$b" ] || fail "$(got) is a living pod's: $a and $b"
	refused 4 "$(v4_ipam)" '.name="moved" | .runtimeConfig={"ips":["'"${a%/*}"'"]}' 103 "${a%/*}" host-local
	# DEL comes to us, who never gave it: the address is free, and that of the other pod is not.
	conf_ipam "$(v4_ipam)" 'del(.master) | .name="moved"'
	give 1
	[ ! -e "/var/lib/cni/networks/moved/${a%/*}" ] || fail "host-local's file of c1 is left"
	[ -e "/var/lib/cni/networks/moved/${b%/*}" ] || fail "host-local's file of c2 is gone"
	ask 4 "$(v4_ipam)" '.name="moved" | .runtimeConfig={"ips":["'"${a%/*}"'"]}'
	eq "the address of the pod that went" "$(got)" "$a"
	conf_ipam "$(v4_ipam)" 'del(.master) | .name="moved"'
	give 2 3 4
	eq "files that are left" "$(find /var/lib/cni/networks/moved -name '10.*')" ''
	rm -rf /var/lib/cni/networks
}

# Interface plugin and IPAM are swapped: DEL finds an interface without a record, and an address without a lease.
test_ipam_swapped_with_the_interface_plugin()
{
	local a
	need_railhead
	need_peer host-local
	need_peer macvlan
	need_kind macvlan
	pod p1
	(
		IPAM=host-local BIN=$PEER_DIR RAILCTL='' PEERS=1 PLUGIN=macvlan
		conf_ipam "$(v4_ipam)" '.cniVersion="1.0.0" | .name="moved"'
		want_ok ADD
	)
	a=$(find /var/lib/cni/networks/moved -name '10.*' -printf %f)
	is "the reference's interface is there" ip -n p1 link show net1
	conf_ipam "$(v4_ipam)" '.name="moved"'
	want_ok DEL
	no_link p1 net1
	[ -n "$a" ] && [ ! -e "/var/lib/cni/networks/moved/$a" ] || fail "host-local's file of '$a' is left"
	want_ok DEL
	rm -rf /var/lib/cni/networks
}

# A link in the way to host-local's file leads anywhere: the address counts as assigned, and DEL removes nothing there.
test_ipam_swapped_behind_a_link()
{
	local link
	need_railhead
	mkdir -p /var/lib/cni/networks "$W/elsewhere"
	for link in /var/lib/cni/networks/moved /var/lib/railhead/other /var/lib/railhead/other/moved; do
		mkdir -p "${link%/*}" "$W/elsewhere/moved"
		ln -s "$W/elsewhere$([ "${link##*/}" = moved ] && echo /moved)" "$link"
		printf 'c1\r\nnet1' >"$W/elsewhere/moved/10.77.0.2"
		conf_ipam "$(v4_ipam)" 'del(.master) | .name="moved"'
		[[ $link != *other* ]] || edit '.ipam.dataDir="/var/lib/railhead/other"'
		PLUGIN=railhead-ipam CID=c1
		[ "$link" = /var/lib/railhead/other ] || want_ok DEL
		is "the file behind $link stays" test -e "$W/elsewhere/moved/10.77.0.2"
		rm "$link"
		rm -rf /var/lib/railhead/other
	done
	rm -rf /var/lib/cni/networks
}

# --- promises ----------------------------------------------------------------------------------

test_ipam_ADD_twice_gives_the_same()
{
	local a
	need_railhead
	ask 1 "$(dual_ipam)"
	a=$(got)
	ask 1 "$(dual_ipam)"
	eq "the second answer" "$(got)" "$a"
	eq "leases" "$(lease_count)" 2
	IFN=net2
	ask 1 "$(dual_ipam)"
	[ "$(addr4)" != "${a% *}" ] || fail "two interfaces of one pod share $a"
	give 1
	IFN=net1
	give 1 1
}

# Both or neither: the IPv6 range holds one address only.
test_ipam_dual_stack_is_one_transaction()
{
	local narrow='{"ranges":[[{"subnet":"10.77.20.0/24"}],[{"subnet":"fd00:77:20::/126","rangeStart":"fd00:77:20::2",
		"rangeEnd":"fd00:77:20::2"}]]}'
	ask 1 "$narrow"
	refused 2 "$narrow" . 101 fd00:77:20::
	eq "leases" "$(leases | tr '\n' ' ')" "10.77.20.2 fd00:77:20::2 "
	give 1
	ask 2 "$narrow"
	give 2
}

test_ipam_exhausted()
{
	local small='{"subnet":"10.77.2.0/29"}' i
	for i in 1 2 3 4 5; do
		ask "$i" "$small"
	done
	refused 6 "$small" . 101 10.77.2.0/29
	[ -n "$PEERS" ] || want_ok STATUS
	edit '.ipam.statusWhenFull=true'
	cni_net STATUS
	[ -n "$PEERS" ] || is_err 50 10.77.2.0/29
	give 3
	[ -n "$PEERS" ] || want_ok STATUS
	ask 6 "$small"
	eq "the one that was released" "$(got)" 10.77.2.4/29
	give 1 2 4 5 6
}

# The longest-rested goes first; those that never were given go before all of them.
test_ipam_cooldown_order()
{
	local r='{"subnet":"10.77.3.0/29"}'
	need_railhead
	for i in 1 2 3 4 5; do ask "$i" "$r"; done
	give 4
	give 2
	give 5
	ask 6 "$r"
	eq "released first, given first" "$(got)" 10.77.3.5/29
	give 6
	ask 7 "$r"
	eq "then the next" "$(got)" 10.77.3.3/29
	ask 8 "$r"
	eq "then the next" "$(got)" 10.77.3.6/29
	ask 9 "$r"
	eq "and at last the one released last" "$(got)" 10.77.3.5/29
	give 1 3 7 8 9
	r='{"subnet":"10.77.4.0/24"}'
	ask 1 "$r"
	give 1
	ask 2 "$r"
	eq "never given before goes before resting" "$(got)" 10.77.4.3/24
	give 2
}

test_ipam_strictCooldown_is_a_wall()
{
	local r='{"subnet":"10.77.5.0/30","cooldown":2,"strictCooldown":true}' i released
	need_railhead
	ask 1 "$r"
	released=${EPOCHREALTIME/[.,]/}
	give 1
	refused 2 "$r" . 101 10.77.5.0/30
	edit '.ipam.statusWhenFull=true'
	cni_net STATUS
	is_err 50
	for i in {1..60}; do
		cni ADD
		[ "$RC" != 0 ] || break
		sleep 0.1
	done
	eq "ADD after the cooldown" "$RC" 0
	[ $((${EPOCHREALTIME/[.,]/} - released)) -ge 2000000 ] || fail "it was given again before two seconds had passed"
	give 2
}

test_ipam_sticky()
{
	local r='{"subnet":"10.77.6.0/24","sticky":true}' a
	need_railhead
	CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-0'
	ask 1 "$r"
	a=$(got)
	give 1
	CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-1'
	ask 2 "$r"
	[ "$(got)" != "$a" ] || fail "another pod got the address that rests for the first one"
	CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-0'
	ask 3 "$r"
	eq "the same pod in a new container" "$(got)" "$a"
	IFN=net2
	ask 3 "$r"
	[ "$(got)" != "$a" ] || fail "two interfaces share $a"
	give 3
	IFN=net1
	give 3
	CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=other;K8S_POD_NAME=web-0'
	ask 4 "$r"
	[ "$(got)" != "$a" ] || fail "a pod of that name in another namespace got $a"
	give 4 2
}

test_ipam_wide_ipv6()
{
	local p a b
	need_railhead
	for p in 64 56 48 32 8; do
		ask 1 "{\"subnet\":\"fd00::/$p\"}"
		a=$(got)
		ask 2 "{\"subnet\":\"fd00::/$p\"}"
		b=$(got)
		[[ $a == fd00::*/$p && $b == fd00::*/$p && $a != "$b" ]] || fail "/$p gave $a and $b"
		give 1 2
		ask 1 "{\"subnet\":\"fd00::/$p\"}" '.args={"cni":{"ips":["fd00::ffff:ffff:ffff:fffe"]}}'
		eq "a far address of /$p" "$(got)" "fd00::ffff:ffff:ffff:fffe/$p"
		give 1
	done
	ask 1 '{"subnet":"fd00::/64","rangeStart":"fd00::ffff:ffff:ffff:fffe"}'
	ask 2 '{"subnet":"fd00::/64","rangeStart":"fd00::ffff:ffff:ffff:fffe"}'
	refused 3 '{"subnet":"fd00::/64","rangeStart":"fd00::ffff:ffff:ffff:fffe"}' . 101
	give 1 2
}

# Leases of an earlier boot are free.
test_ipam_boot_id()
{
	local r='{"subnet":"10.77.7.0/30"}'
	need_railhead
	other_boot
	ask 1 "$r"
	refused 2 "$r" . 101
	umount /proc/sys/kernel/random/boot_id
	ask 2 "$r"
	eq "the address of the earlier boot" "$(got)" 10.77.7.2/30
	# The late DEL of the earlier boot's container does not free it.
	give 1
	refused 3 "$r" . 101
	give 2
}

test_ipam_parallel()
{
	local i
	conf_ipam "$(dual_ipam)" "del(.master) | .ipam.type=\"$IPAM\""
	PLUGIN=$IPAM
	for i in {1..50}; do
		(
			CID=par$i
			cni_to "$i" ADD
		) &
	done
	wait
	for i in {1..50}; do
		eq "exit of $i" "$(<"$W/par.$i.rc")" 0
	done
	eq "distinct addresses" "$(cat "$W"/par.{1..50} | jq -r '.ips[].address' | sort -u | wc -l)" 100
	eq "leases" "$(lease_count)" 100
	for i in {1..50}; do
		(
			CID=par$i
			cni_to "$i" DEL
		) &
	done
	wait
	eq "leases after DEL" "$(lease_count)" 0
}

# Several networks at once, ADD and DEL mixed, one container doing both.
test_ipam_parallel_mixed()
{
	local i
	PLUGIN=$IPAM
	conf_ipam '{"subnet":"10.77.8.0/27"}' "del(.master) | .ipam.type=\"$IPAM\""
	for i in {1..24}; do
		(
			CID=mix$i
			for _ in 1 2 3; do
				cni_to "$i" ADD
				[ "$(<"$W/par.$i.rc")" = 0 ] || echo "ADD $i: $(tr -d '\n' <"$W/par.$i")" >>"$W/mixed"
				cni_to "$i" DEL
				[ "$(<"$W/par.$i.rc")" = 0 ] || echo "DEL $i: $(tr -d '\n' <"$W/par.$i")" >>"$W/mixed"
			done
		) &
	done
	wait
	eq "failures" "$(cat "$W/mixed" 2>/dev/null | head -3)" ""
	eq "leases" "$(lease_count)" 0
}

test_ipam_killed_at_random_points()
{
	local E i pid
	need_railhead
	PLUGIN=$IPAM
	conf_ipam "$(dual_ipam)" "del(.master) | .ipam.type=\"$IPAM\""
	seed_random
	for i in {1..60}; do
		CID=kill$i
		cni_env ADD
		env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" >/dev/null 2>&1 &
		pid=$!
		usleep_ $((RANDOM % 3000))
		kill -KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		want_ok DEL
	done
	eq leases "$(lease_count)" 0
	is "the store is sound" "$RAILCTL" ipam verify
}

test_ipam_CHECK()
{
	need_railhead
	ask 1 "$(dual_ipam)"
	prev
	want_ok CHECK
	CID=c2
	want_err CHECK '104|108' c2
	CID=c1 IFN=net2
	want_err CHECK '104|108' net2
	IFN=net1
	give 1
	CID=c1
	want_err CHECK '104|108' c1
}

test_ipam_GC()
{
	local i
	need_railhead
	for i in 1 2 3; do ask $i "$(dual_ipam)"; done
	IFN=net2
	ask 1 "$(dual_ipam)"
	IFN=net1
	ask 9 "$(v4_ipam)" '.name="othernet"'
	conf_ipam "$(dual_ipam)" "del(.master) | .ipam.type=\"$IPAM\" |
		.\"cni.dev/valid-attachments\"=[{containerID:\"c1\",ifname:\"net2\"},{containerID:\"c3\",ifname:\"net1\"}]"
	want_ok GC
	eq "leases left" "$(lease_count)" 5
	# The same answer for those that were kept.
	IFN=net2
	ask 1 "$(dual_ipam)"
	eq "leases after asking again" "$(lease_count)" 5
	conf_ipam "$(dual_ipam)" "del(.master) | .ipam.type=\"$IPAM\""
	want_ok GC
	eq "without a list nothing goes" "$(lease_count)" 5
	edit '."cni.dev/attachments"=[]'
	want_ok GC
	eq "only the other network's is left" "$(lease_count)" 1
	IFN=net1
	ask 9 "$(v4_ipam)" '.name="othernet"'
	give 9
}

test_ipam_auditLog()
{
	local log=/var/log/audit.log v
	need_railhead
	rm -f $log
	CARGS='K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web'
	ask 1 '{"subnet":"10.77.9.0/30"}' ".ipam.auditLog=\"$log\""
	refused 2 '{"subnet":"10.77.9.0/30"}' ".ipam.auditLog=\"$log\"" 101
	give 1
	eq "lines" "$(wc -l <$log)" 3
	is "every line is an object with all keys" jq -es 'length == 3 and all(.[];
		(.time | test("^[0-9]{4}-.*Z$")) and has("verb") and has("address") and has("pool") and
		has("owner") and has("result"))' $log
	is "allocation" sh -c "sed -n 1p $log | jq -e '.address == \"10.77.9.2\" and .result == \"ok\" and
		.owner.container == \"c1\" and .owner.ifname == \"net1\" and .owner.pod == \"web\"'"
	is "refusal" sh -c "sed -n 2p $log | jq -e '.result != \"ok\" and .owner.container == \"c2\"'"
	eq "one name for one range" "$(jq -r .pool $log | sort -u | wc -l)" 1
	is "release" sh -c "sed -n 3p $log | jq -e '.address == \"10.77.9.2\" and .owner.container == \"c1\"'"
	eq "the log is for root only" "$(stat -c %a $log)" 600
	# A log that cannot be written does not keep a pod from starting, nor does it leave half a lease.
	CARGS=
	conf_ipam '{"subnet":"10.77.9.0/30"}' "del(.master) | .ipam.type=\"$IPAM\" | .ipam.auditLog=\"/nonexistent/x.log\""
	CID=c3
	cni ADD
	[ "$RC" = 0 ] || is_err '5|7' /nonexistent/x.log
	want_ok DEL
	eq leases "$(lease_count)" 0
}

test_ipam_dataDir()
{
	need_railhead
	ask 1 "$(v4_ipam)" '.ipam.dataDir="/var/lib/cni/elsewhere"'
	give 1
	rm -rf /var/lib/cni/elsewhere
}

test_ipam_store_is_private()
{
	need_railhead
	rm -rf $STATE
	(umask 000; ask 1 "$(v4_ipam)")
	eq "mode of the folder" "$(stat -c %a $STATE)" 700
	eq "files that others may read" "$(find $STATE -perm /077)" ""
	give 1
}

# An IPAM does not need the netns: it is only a string.
test_ipam_DEL_in_all_forms()
{
	local r
	r=$(dual_ipam)
	ask 1 "$r"
	NS=
	give 1 1
	ask 1 "$r"
	unset NS
	give 1 1
	NS=/etc/passwd
	ask 1 "$r"
	give 1
	# A configuration that has become unreadable where a deletion does not need it.
	ask 1 "$r"
	edit '.ipam.ranges="x" | .ipam.routes=5 | .runtimeConfig={"ips":7} | .args={"cni":{"ips":{}}}'
	[ -n "$PEERS" ] || give 1
	ask 1 "$r"
	give 1
	eq leases "$(lease_count)" 0
}
