# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The protocol: verbs, versions, environment, results, one JSON document.

# shape VERSION FAMILIES: the result has the shape that the version prescribes (CNI-093 to CNI-099).
shape()
{
	local v=$1 fam=$2
	want "$v: cniVersion is the configuration's" ".cniVersion == \"${v:-0.1.0}\""
	case $v in
	'' | 0.1.0 | 0.2.0)
		want "$v: only the keys of the old shape" 'keys - ["cniVersion","ip4","ip6","dns"] == []'
		[[ $fam != *4* ]] || want "$v: ip4" '.ip4.ip | test("^[0-9.]+/[0-9]+$")'
		[[ $fam != *6* ]] || want "$v: ip6" '.ip6.ip | test("^[0-9a-f:]+/[0-9]+$")'
		return
		;;
	esac
	want "$v: one interface, complete" '.interfaces | length == 1 and (.[0] |
		.name == "net1" and (.mac | test("^([0-9a-f]{2}:){5}[0-9a-f]{2}$")) and (.sandbox | length > 0))'
	want "$v: dns is an object when there" '(.dns // {}) | type == "object"'
	[ "$fam" = l2 ] || want "$v: ips refer to it" '.ips | length > 0 and all(.[]; .interface == 0 and
		(.address | test("/[0-9]+$")))'
	case $v in
	0.*)
		want "$v: ips have a version" '(.ips // []) | all(.[]; .version == (if .address | contains(":")
			then "6" else "4" end))'
		want "$v: no keys of 1.1" '.interfaces | all(.[]; has("mtu") or has("pciID") | not)'
		;;
	*) want "$v: ips have no version" '(.ips // []) | all(.[]; has("version") | not)' ;;
	esac
	[ "$v" != 1.1.0 ] || [ -n "$PEERS" ] || want "$v: mtu" '.interfaces[0].mtu == 1500'
}

# cycle VERSION FAMILIES: each command once.
cycle()
{
	local v=$1 fam=$2
	want_ok ADD || return
	shape "$v" "$fam"
	prev
	case $v in
	0.4.0 | 1.*) want_ok CHECK ;;
	*) want_err CHECK 1 CHECK ;;
	esac
	case $v in
	1.1.0) want_ok STATUS GC ;;
	*)
		want_err STATUS 1 STATUS
		want_err GC 1 GC
		;;
	esac
	want_ok DEL DEL
	no_link "${NS##*/}" net1
}

matrix()
{
	local v
	pod p1
	for v in "" "${VERSIONS[@]}"; do
		conf_ipam "$1" ".cniVersion=\"$v\"${3-}"
		cycle "$v" "$2"
	done
	conf_ipam "$1" "del(.cniVersion)${3-}"
	cycle "" "$2"
}

test_protocol_every_verb_in_every_version_ipv4() { matrix "$(v4_ipam)" 4; }
test_protocol_every_verb_in_every_version_ipv6() { matrix "$(v6_ipam)" 6; }
test_protocol_every_verb_in_every_version_dual_stack() { matrix "$(dual_ipam)" 46; }

# CNI-142: the old versions cannot say "no address".
test_protocol_every_version_layer_2_only()
{
	local v
	pod p1
	for v in "" "${VERSIONS[@]}"; do
		conf ".cniVersion=\"$v\""
		case $v in
		'' | 0.1.0 | 0.2.0)
			want_err ADD 7
			no_link p1 net1
			;;
		*)
			cycle "$v" l2
			;;
		esac
	done
}

# Multus makes its network status of the interfaces of a result, and these have none.
test_protocol_old_versions_warn_of_the_network_status()
{
	local v
	need_railhead
	pod p1
	for v in 0.1.0 0.2.0 0.3.0 0.3.1 1.1.0; do
		conf_ipam "$(v4_ipam)" ".cniVersion=\"$v\""
		CARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p1"
		want_ok ADD
		case $v in
		0.[12].0) has "$v: the log" "$ERR" "network-status" ;;
		*) eq "$v: the log" "$ERR" "" ;;
		esac
		stderr_is_log
		want_ok DEL
		# who is not in Kubernetes has no use for it
		CARGS=
		want_ok ADD
		eq "$v: the log without a pod" "$ERR" ""
		want_ok DEL
	done
	conf_ipam "$(v4_ipam)" 'del(.cniVersion)'
	CARGS="K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p1"
	want_ok ADD
	has "without a version" "$ERR" "network-status"
	want_ok DEL
}

test_protocol_VERSION_of_every_program()
{
	local v want
	want=$(printf '"%s",' "${VERSIONS[@]}")
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		# What runtimes send (CNI-025), then garbage: neither is looked at.
		for v in '{"cniVersion":"1.1.0"}' '{garbage' ''; do
			printf '%s' "$v" >"$W/conf"
			NS=dummy IFN=dummy CPATH=dummy
			unset CID
			cni VERSION
			eq "$PLUGIN VERSION exit" "$RC" 0
			want "$PLUGIN VERSION" ".supportedVersions == [${want%,}] and .cniVersion == \"1.1.0\""
		done
	done
}

test_protocol_VERSION_does_not_wait_for_stdin()
{
	need_railhead
	mkfifo "$W/fifo"
	exec 8<>"$W/fifo"
	STDIN=$W/fifo
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		cni VERSION
		eq "$PLUGIN VERSION exit with stdin open" "$RC" 0
	done
	exec 8>&-
	rm "$W/fifo"
}

test_protocol_unknown_versions()
{
	local v
	pod p1
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		for v in 9.9.9 1.0 1 v1.0.0 " 1.0.0" 1.1.0.0; do
			conf_ipam "$(v4_ipam)" ".cniVersion=\"$v\""
			want_err ADD 1 "$v"
			[ -n "$PEERS" ] || want_err STATUS 1 "$v"
		done
		conf_ipam "$(v4_ipam)" '.cniVersion=1.1'
		want_err ADD '6' cniVersion
	done
}

test_protocol_missing_variables_are_reported_at_once()
{
	pod p1
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		conf_ipam "$(v4_ipam)"
		(
			unset CID NS IFN CPATH
			want_err ADD 4 CNI_CONTAINERID CNI_NETNS CNI_IFNAME CNI_PATH
			want_err DEL 4 CNI_CONTAINERID CNI_IFNAME
			want_err CHECK 4 CNI_CONTAINERID CNI_NETNS CNI_IFNAME
			cni GC
			is_err 4 CNI_PATH
		)
		(
			# empty is missing
			CID='' NS=''
			want_err ADD 4 CNI_CONTAINERID CNI_NETNS
		)
	done
}

test_protocol_unknown_and_missing_command()
{
	local v
	conf_ipam "$(v4_ipam)"
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		for v in add Add UPDATE "ADD " -; do
			want_err "$v" 4 "$v"
		done
		# CNI-007: a person called it; or code 4.
		cni ''
		if [ "$RC" = 0 ]; then
			eq "stdout without a command" "$OUT" ""
			has "stderr without a command" "$ERR" 1.1.0
		else
			is_err 4 CNI_COMMAND
		fi
	done
}

test_protocol_container_ids()
{
	local id long
	pod p1
	long=$(printf 'a%.0s' {1..200})
	conf_ipam "$(v4_ipam)"
	for id in "$(printf '%064x' 7)" a 0 a.b_c-d "$long"; do
		CID=$id
		want_ok ADD DEL
	done
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		conf_ipam "$(v4_ipam)"
		for id in ../x a/b /etc/passwd -x .x _x 'a b' $'abc\n' 'a;b' é; do
			CID=$id
			want_err ADD 4
			want_err DEL 4
		done
		[ -z "$PEERS" ] || continue
		CID=${long}b
		want_err ADD 4 CNI_CONTAINERID
		CID=$(printf '%04096d' 1)
		want_err ADD 4 CNI_CONTAINERID
	done
}

test_protocol_network_names()
{
	local long v
	pod p1
	long=$(printf 'n%.0s' {1..200})
	for v in a net.1 n_e-t "$long"; do
		conf_ipam "$(v4_ipam)" ".name=\"$v\""
		want_ok ADD DEL
	done
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		for v in '"a/b"' '"../x"' '"-a"' '"a b"' '"a\n"' '""' null; do
			conf_ipam "$(v4_ipam)" ".name=$v"
			want_err ADD 7 name
		done
		conf_ipam "$(v4_ipam)" 'del(.name)'
		want_err ADD 7 name
		conf_ipam "$(v4_ipam)" '.name=5'
		want_err ADD '6' name
		[ -n "$PEERS" ] || {
			conf_ipam "$(v4_ipam)" ".name=\"${long}x\""
			want_err ADD 7 name
		}
	done
}

# CNI-155
test_protocol_interface_names()
{
	local v
	pod p1
	conf_ipam "$(v4_ipam)"
	for v in a fifteen_bytes_1 éééééééx 'a#b"\x'; do
		IFN=$v
		want_ok ADD || continue
		eq "name in the result" "$(res '.interfaces[0].name')" "$v"
		eq "name of the link" "$(link_get p1 "$v" .ifname)" "$v"
		want_ok DEL
	done
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		conf_ipam "$(v4_ipam)"
		for v in sixteen_bytes_12 éééééééé . .. a/b a:b 'a b' $'a\tb' $'a\n'; do
			IFN=$v
			want_err ADD 4
			want_err DEL 4
		done
	done
}

test_protocol_percent_d_in_the_name_is_not_expanded()
{
	pod p1
	conf_ipam "$(v4_ipam)"
	IFN=net%d
	cni ADD
	if [ "$RC" = 0 ]; then
		eq "name of the link" "$(link_get p1 net%d .ifname)" net%d
	else
		is_err '4|100' net%d
	fi
	no_link p1 net0
	want_ok DEL
}

# CNI-147, CNI-005, CNI-052
test_protocol_own_namespace_is_refused_before_any_change()
{
	conf_ipam "$(v4_ipam)"
	NS=/proc/self/ns/net CID=own
	want_err ADD 8 CNI_NETNS
	isnt "net1 on the host" ip link show dev net1
	NS=/proc/$$/ns/net
	want_err ADD 8 CNI_NETNS
	want_ok DEL
}

test_protocol_own_namespace_with_override()
{
	local v
	conf_ipam "$(v4_ipam)"
	NS=/proc/$$/ns/net CID=own
	for v in 1 TRUE true; do
		XENV=("CNI_NETNS_OVERRIDE=$v")
		want_ok ADD || continue
		is "net1 on the host" ip link show dev net1
		want_ok DEL
		isnt "net1 on the host" ip link show dev net1
	done
}

# CNI-173
same_file() { [ "$1" -ef "$2" ]; }
test_protocol_sandbox_is_verbatim()
{
	local pid p
	pod p1
	ip netns exec p1 sleep infinity &
	pid=$!
	eventually same_file "/proc/$pid/ns/net" /run/netns/p1
	mkdir -p /run/other
	ln -s /run/netns/p1 /run/other/link
	conf_ipam "$(v4_ipam)"
	for p in /run/netns/p1 /run/../run/netns/p1 "/proc/$pid/ns/net" /run/other/link; do
		NS=$p
		conf_ipam "$(v4_ipam)"
		want_ok ADD || continue
		eq "sandbox" "$(res '.interfaces[0].sandbox')" "$p"
		prev
		want_ok CHECK DEL
		no_link p1 net1
	done
	kill "$pid"
	rm -r /run/other
}

# CNI-157
test_protocol_odd_CNI_PATH()
{
	pod p1
	conf_ipam "$(v4_ipam)"
	CPATH=:/nonexistent:relative::$BIN:$PEER_DIR:
	want_ok ADD DEL
	CPATH=/nonexistent:/etc
	want_err ADD '105' "$IPAM" /nonexistent
	no_link p1 net1
	CPATH=$BIN:$PEER_DIR
	want_ok DEL
}

# CNI-016: of duplicate keys the last wins, everywhere alike.
test_protocol_duplicate_keys()
{
	pod p1
	printf '{"cniVersion":"1.1.0","name":"testnet","type":"macvlan","master":"nosuch0","mode":"vepa",
		"master":"%s","mode":"private"}' "$MASTER" >"$W/conf"
	want_ok ADD
	eq mode "$(link_get p1 net1 .linkinfo.info_data.mode)" private
	want_ok DEL
}

test_protocol_unknown_keys_are_tolerated()
{
	pod p1
	conf_ipam "$(v4_ipam)" '.x={"y":[1]} | .args={"cni":{"labels":[]},"other":{}} | .disableCheck=true |
		.capabilities={"mac":true,"ips":true} | .ipMasq=false | .runtimeConfig={"bandwidth":
		{"ingressBurst":4294967295},"portMappings":[]} | .ipam.unknown=1 | ."cni.dev/x"=null'
	CARGS='IgnoreUnknown=1;K8S_POD_NAME=a=b;;FOO;K8S_POD_NAMESPACE=ns;'
	want_ok ADD
	prev
	want_ok CHECK STATUS GC DEL
}

# A chained plugin hands on what it does not understand (CNI-105): macvlan replaces the result, so the
# question is only that odd but valid values do not break it (CNI-146).
test_protocol_odd_but_harmless_values()
{
	local f
	pod p1
	for f in '.prevResult=null' '.ipam=null' '.ipam={}' '.runtimeConfig={}' '.runtimeConfig=null' '.args={}' \
		'.args={"cni":{}}' '.dns={}' '.dns=null' '.capabilities={}' '.mode=null' '.mtu=null'; do
		conf "$f"
		want_ok ADD DEL || fail "with $f"
	done
}

test_protocol_prevResult_of_every_wrong_kind()
{
	local v
	pod p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	for v in null '{}' '[]' '"x"' 5 '{"cniVersion":"1.1.0"}' '{"cniVersion":"1.1.0","interfaces":"x"}' \
		'{"cniVersion":"1.1.0","ips":[{"address":"banana"}]}' '{"cniVersion":"0.3.1","ips":[]}'; do
		conf_ipam "$(v4_ipam)" ".prevResult=$v"
		want_err CHECK '1|6|7|104' || fail "CHECK with prevResult $v"
		[[ $OUT != *'"code":999'* ]] || fail "code 999"
	done
	conf_ipam "$(v4_ipam)" '.prevResult="x"'
	want_ok DEL
	no_link p1 net1
}

# CNI-174
test_protocol_closed_stdout_rolls_back()
{
	local E
	pod p1
	conf_ipam "$(v4_ipam)"
	cni_env ADD
	env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" >&- 2>"$W/err" && fail "ADD with stdout closed succeeded"
	no_link p1 net1
	eq leases "$(lease_count)" 0
	env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" >/dev/full 2>"$W/err" && fail "ADD to a full device succeeded"
	no_link p1 net1
	eq leases "$(lease_count)" 0
	# A pipe without a reader: opened for reading and closed again.
	mkfifo "$W/fifo"
	exec 7<>"$W/fifo" 8>"$W/fifo" 7<&-
	env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" >&8 2>"$W/err" && fail "ADD to a broken pipe succeeded"
	exec 8>&-
	rm "$W/fifo"
	no_link p1 net1
	eq leases "$(lease_count)" 0
	want_ok DEL
}

test_protocol_dns_of_the_configuration_is_returned()
{
	local v
	pod p1
	for v in 0.2.0 0.4.0 1.1.0; do
		conf_ipam "$(v4_ipam)" ".cniVersion=\"$v\" | .dns={nameservers:[\"10.1.1.1\"],domain:\"d.local\",
			search:[\"a\",\"b\"],options:[\"ndots:5\"]}"
		want_ok ADD
		want "dns" '.dns == {nameservers:["10.1.1.1"],domain:"d.local",search:["a","b"],options:["ndots:5"]}'
		want_ok DEL
	done
}

# The reference drops it (R-4).
test_protocol_dns_of_the_ipam_is_returned()
{
	pod p1
	printf 'nameserver 10.2.2.2\nsearch x.local\n' >"$W/resolv.conf"
	conf_ipam "$(v4_ipam)" ".ipam.resolvConf=\"$W/resolv.conf\""
	want_ok ADD
	want "dns of the IPAM" '.dns.nameservers == ["10.2.2.2"] and .dns.search == ["x.local"]'
	want_ok DEL
}

# logLevel debug says each step of ADD and of DEL, in their order; without it nothing is said.
test_protocol_debug_says_each_step()
{
	local got

	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD DEL
	eq "without it" "$(grep -c level=debug "$W/err")" 0
	conf_ipam "$(v4_ipam)" '.logLevel="debug"'
	want_ok ADD
	got=$(grep -oE 'is on record|ADD of|is in the pod|[0-9]+ addresses, up|[0-9]+ routes' "$W/err" | tr '\n' ,)
	has "steps of ADD" "$got" "is on record,ADD of,"
	has "steps of ADD" "$got" "is in the pod,"
	has "steps of ADD" "$got" "1 addresses, up,0 routes,"
	want_ok DEL
	got=$(grep -oE 'the interface has gone|DEL of|the record goes' "$W/err" | tr '\n' ,)
	eq "steps of DEL" "$got" "the interface has gone,DEL of,the record goes,"
}
