# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# import.sh: `railctl ipam import`: leases of host-local and whereabouts become ours.
# shellcheck disable=SC2154

HL=/var/lib/cni/networks
RESULTS=/var/lib/cni/results

# hl NETWORK ADDRESS CONTAINER [IFNAME]: a file as host-local makes it.
hl()
{
	mkdir -p "$HL/$1"
	printf '%s' "$3${4+$'\r\n'$4}" >"$HL/$1/$2"
	echo "$2" | tr -d '\n' >"$HL/$1/last_reserved_ip.0"
	: >"$HL/$1/lock"
}

# cached NETWORK CONTAINER IFNAME [NS POD]: what libcni keeps of an attachment.
cached()
{
	mkdir -p "$RESULTS"
	jq -nc --args '$ARGS.positional as $a | {kind:"cniCacheV1",containerId:$a[1],config:"e30=",ifName:$a[2],
		networkName:$a[0],result:{cniVersion:"1.0.0"}} + if $a[3] then {cniArgs:[["IgnoreUnknown","1"],
		["K8S_POD_NAMESPACE",$a[3]],["K8S_POD_NAME",$a[4]],["K8S_POD_UID","u-1"]]} else {} end' \
		"$@" >"$RESULTS/$1-$2-$3"
}

# net NAME IPAM-JSON: a network's configuration, $W/net.conf.
net() { jq -nc --arg n "$1" --argjson i "$2" '{cniVersion:"1.0.0",name:$n,type:"macvlan",ipam:({type:"railhead-ipam"} + $i)}' >"$W/net.conf"; }

actions() { jq -rc '.[] | "\(.address) \(.action) \(.container) \(.ifname) \(.namespace // "")/\(.pod // "")"' "$W/out"; }

# left WORD...: exit status 1 with a report, and nothing on standard error.
left()
{
	r "$@"
	[ "$RC" = 1 ] && [ -z "$ERR" ] && [ -n "$OUT" ] || fail "must report and exit 1: $(said)"
}

test_import_of_files()
{
	need railhead-ipam
	local before
	hl net-a 10.1.0.2 c1 net1
	hl net-a fd00:1::5 c1 net1
	hl net-a 10.1.0.4 c-2 net1
	hl net-b 10.1.0.5 c3 net1
	cached net-a c1 net1 team p-1
	net net-a '{"ranges":[[{"subnet":"10.1.0.0/24"}],[{"subnet":"fd00:1::/64"}]]}'
	before=$(find $HL -type f -exec md5sum {} + | sort)
	left ipam import --from host-local --config "$W/net.conf" --dry-run --json
	eq "a dry run" "$(actions)" "10.1.0.2 would-import c1 net1 team/p-1
10.1.0.4 would-import c-2 net1 /
fd00:1::5 would-import c1 net1 team/p-1"
	[ ! -e $STATE/ipam ] || fail "a dry run must not make a store"
	ok ipam import --from host-local --config "$W/net.conf"
	eq "what it says" "$OUT" "imported 10.1.0.2 c1 net1 (network net-a)
imported 10.1.0.4 c-2 net1 (network net-a)
imported fd00:1::5 c1 net1 (network net-a)
3 imported, 0 are railhead's already, 0 left alone"
	ok ipam lease list --json
	want 'map([.address, .network, .container, .ifname, .namespace, .pod, .uid]) == [
		["10.1.0.2","net-a","c1","net1","team","p-1","u-1"], ["10.1.0.4","net-a","c-2","net1",null,null,null],
		["fd00:1::5","net-a","c1","net1","team","p-1","u-1"]]'
	ok ipam import --from host-local --config "$W/net.conf"
	has "0 imported, 3 are railhead's already, 0 left alone"
	ok ipam import --from host-local --config "$W/net.conf" --dry-run --json
	want 'length == 3 and all(.action == "is-ours")'
	ok ipam verify
	eq "host-local's files" "$(find $HL -type f -exec md5sum {} + | sort)" "$before"
	# The address is not assigned, also without the files.
	rm -r $HL
	lease net-a c9 '{"subnet":"10.1.0.0/24"}'
	eq "the next pod" "$(jq -r '.ips[0].address' "$W/add.out")" 10.1.0.3/24
	lease net-a c1 '{"ranges":[[{"subnet":"10.1.0.0/24"}],[{"subnet":"fd00:1::/64"}]]}'
	eq "the pod that has them" "$(jq -rc '[.ips[].address]' "$W/add.out")" '["10.1.0.2/24","fd00:1::5/64"]'
}

test_import_into_a_pool()
{
	need railhead-ipam
	hl net-a 10.1.0.2 c1 net1
	hl net-a 10.1.0.77 c2 net1
	hl net-a 10.9.0.1 c3 net1
	refused 1 "does not exist on node" ipam import --from host-local --network net-a --pool p
	ok ipam pool add p --subnet 10.1.0.0/24 --range 10.1.0.1-10.1.0.9
	left ipam import --from host-local --network net-a --pool p --json
	want 'map([.address, .action, .scope]) == [["10.1.0.2","imported","pool p"],["10.1.0.77","imported","pool p"],
		["10.9.0.1","left-alone",null]] and (.[2].why | test("no subnet"))'
	ok ipam pool show p --json
	want '.used == 2'
	left ipam import --from host-local --network net-a --pool p
	has "left-alone 10.9.0.1 c3 net1: it is in no subnet of this configuration"
	has "0 imported, 2 are railhead's already, 1 left alone"
	# Another network with that pool does not get the address, though it has no file.
	ok ipam pool set p --range 10.1.0.2-10.1.0.3
	lease net-b c4 '{"pool":"p"}'
	eq "the next pod" "$(jq -r '.ips[0].address' "$W/add.out")" 10.1.0.3/24
}

test_import_does_not_overwrite()
{
	need railhead-ipam
	lease net-a c1 '{"subnet":"10.1.0.0/24"}'
	hl net-a 10.1.0.2 c2 net1
	hl net-a 10.1.0.3 c3 net1
	net net-a '{"subnet":"10.1.0.0/24"}'
	left ipam import --from host-local --config "$W/net.conf"
	has "left-alone 10.1.0.2 c2 net1 (network net-a): it is leased to container c1, interface net1 of network net-a"
	has "imported 10.1.0.3 c3 net1"
	ok ipam lease list --json
	want 'map([.address, .container]) == [["10.1.0.2","c1"],["10.1.0.3","c3"]]'
	ok ipam verify
}

test_import_of_files_without_an_interface()
{
	hl net-a 10.1.0.2 c1
	hl net-a 10.1.0.3 c2
	hl net-a 10.1.0.4 c3
	hl net-a 10.1.0.5 ''
	cached net-a c1 eth7 team p-1
	cached net-a c2 net1
	cached net-a c2 net2
	cached net-b c3 net1
	net net-a '{"subnet":"10.1.0.0/24"}'
	left ipam import --from host-local --config "$W/net.conf"
	has "imported 10.1.0.2 c1 eth7 (network net-a)"
	has "left-alone 10.1.0.3 c2 ?: its file names no interface, and the container has several"
	has "left-alone 10.1.0.4 c3 ?: its file names no interface, and nor does libcni's cache"
	has "left-alone 10.1.0.5 ? ?: its file cannot be read as one of host-local"
}

test_import_by_forms_of_the_configuration()
{
	local form
	hl net-a 10.1.0.2 c1 net1
	net net-a '{"subnet":"10.1.0.0/24"}'
	jq -c '{cniVersion, name, plugins: [{type:"first"}, del(.name, .cniVersion), {type:"tuning"}]}' \
		"$W/net.conf" >"$W/list.conf"
	jq -c '{kind:"NetworkAttachmentDefinition",metadata:{name:"net-a"},spec:{config:(del(.name) | tojson)}}' \
		"$W/net.conf" >"$W/nad.conf"
	jq -c '{kind:"NetworkAttachmentDefinition",metadata:{name:"other"},spec:{config:tojson}}' \
		"$W/list.conf" >"$W/nad-list.conf"
	jq -c 'del(.name, .cniVersion)' "$W/net.conf" >"$W/nameless.conf"
	for form in net list nad nad-list; do
		left ipam import --from host-local --config "$W/$form.conf" --dry-run --json
		want 'map([.network, .action]) == [["net-a","would-import"]]'
	done
	left ipam import --from host-local --config "$W/nameless.conf" --network net-a --dry-run
	left ipam import --from host-local --config - --dry-run <"$W/net.conf"
	refused 1 "has no name" ipam import --from host-local --config "$W/nameless.conf"
	refused 1 "is of network net-a" ipam import --from host-local --config "$W/net.conf" --network net-b
	mv $HL/net-a "$W/folder"
	refused 1 "has no folder of network net-a" ipam import --from host-local --config "$W/net.conf"
	left ipam import --from host-local --config "$W/net.conf" --dir "$W/folder" --dry-run
	# As the plugin does, with dataDir: store and files are there.
	mkdir /var/lib/cni/data && mv "$W/folder" /var/lib/cni/data/net-a
	net net-a '{"subnet":"10.1.0.0/24","dataDir":"/var/lib/cni/data"}'
	ok ipam import --from host-local --config "$W/net.conf"
	ok ipam lease list --data-dir /var/lib/cni/data --json
	want 'map(.address) == ["10.1.0.2"]'
	refused 1 "ipam.dataDir" ipam import --from host-local --config "$W/net.conf" --data-dir /other
	# railctl refuses the same folders for a store as the plugin.
	net net-a '{"subnet":"10.1.0.0/24","dataDir":"'"$W/data"'"}'
	refused 1 "dataDir" ipam import --from host-local --config "$W/net.conf"
	[ ! -e "$W/data" ] || fail "a refused dataDir must not be made"
}

test_import_mistakes()
{
	local text
	mkdir -p $HL/net-a
	net net-a '{"subnet":"10.1.0.0/24"}'
	refused 2 "say whose leases" ipam import --config "$W/net.conf"
	refused 2 "host-local or whereabouts" ipam import --from dhcp --config "$W/net.conf"
	refused 2 "--config FILE, or --network NAME with --pool NAME" ipam import --from host-local --network net-a
	refused 2 "--config FILE, or --network NAME with --pool NAME" ipam import --from host-local --config "$W/net.conf" --pool p
	refused 2 "--network NAME" ipam import --from host-local --pool p
	refused 2 "needs FILE" ipam import --from whereabouts --config "$W/net.conf"
	refused 2 "--dir" ipam import --from whereabouts --config "$W/net.conf" --dir /x f
	refused 2 "--from whereabouts" ipam import --from host-local --config "$W/net.conf" f
	refused 2 "--from whereabouts" ipam import --from host-local --config "$W/net.conf" --all
	refused 1 "No such file" ipam import --from host-local --config "$W/not-there"
	for text in '' '[]' '{}' '{"name":"net-a"}' '{"name":"net-a","plugins":[]}' '{"kind":"Pod","spec":{}}' \
		'{"kind":"X","spec":{"config":"["}}' '{"name":"net-a","ipam":{"range":"10.0.0.0/24"}}' '{"name":"../x","ipam":{}}'; do
		echo "$text" >"$W/bad.conf"
		refused 1 "--config $W/bad.conf" ipam import --from host-local --config "$W/bad.conf"
	done
	ok ipam import --from host-local --config "$W/net.conf"
	has "0 imported"
	[ ! -e $STATE/ipam ] || fail "nothing to import must not make a store"
}

# --- whereabouts -------------------------------------------------------------------------------

# wb RANGE ALLOCATIONS-JSON: one IPPool more in $W/pools.json.
wb()
{
	[ -s "$W/pools.json" ] || echo '{"apiVersion":"v1","kind":"List","items":[]}' >"$W/pools.json"
	jq --arg r "$1" --argjson a "$2" '.items += [{apiVersion:"whereabouts.cni.cncf.io/v1alpha1",kind:"IPPool",
		metadata:{name:($r | gsub("[:/]"; "-")),namespace:"kube-system"},spec:{range:$r,allocations:$a}}]' \
		"$W/pools.json" >"$W/pools.new" && mv "$W/pools.new" "$W/pools.json"
}

cluster()
{
	rm -f "$W/pools.json"
	wb 10.1.0.0/24 '{"1":{"id":"c1","podref":"team/p-1","ifname":"net1"},"2":{"id":"far","podref":"team/p-2","ifname":"net1"},
		"3":{"id":"c3","podref":"team/p-3"},"4":{"id":"c4","podref":"team/p-4","ifname":"net1"}}'
	wb fd00:1::/48 '{"36893488147419103233":{"id":"c1","podref":"team/p-1","ifname":"net1"}}'
	cached net-a c1 net1 team p-1
	cached net-a c3 net5
	cached net-b c4 net1 team p-4
	net net-a '{"ipRanges":[{"range":"10.1.0.0/24"},{"range":"fd00:1::/48"}],"thisNodeOnly":true}'
}

test_import_of_a_cluster()
{
	need railhead-ipam
	cluster
	left ipam import --from whereabouts --config "$W/net.conf" --dry-run "$W/pools.json"
	[ ! -e $STATE/ipam ] || fail "a dry run must not make a store"
	ok ipam import --from whereabouts --config "$W/net.conf" "$W/pools.json"
	eq "what it says" "$OUT" "imported 10.1.0.1 c1 net1 (whereabouts (no network_name))
imported 10.1.0.3 c3 net5 (whereabouts (no network_name))
imported fd00:1:0:2::1 c1 net1 (whereabouts (no network_name))
2 of other nodes or networks
3 imported, 0 are railhead's already, 0 left alone"
	ok ipam lease list --json
	want 'map([.address, .network, .container, .ifname, .namespace, .pod]) == [
		["10.1.0.1","net-a","c1","net1","team","p-1"],["10.1.0.3","net-a","c3","net5","team","p-3"],
		["fd00:1:0:2::1","net-a","c1","net1","team","p-1"]]'
	r ipam import --from whereabouts --config "$W/net.conf" - <"$W/pools.json"
	has "0 imported, 3 are railhead's already, 0 left alone"
	lease net-a c9 '{"range":"10.1.0.0/24","thisNodeOnly":true}'
	eq "the next pod" "$(jq -r '.ips[0].address' "$W/add.out")" 10.1.0.2/24
	ok ipam verify
}

# Ranges that do not look at each other have leases of their own: the scope must be the right one.
test_import_of_a_cluster_where_ranges_may_overlap()
{
	need railhead-ipam
	cluster
	local apart='{"range":"10.1.0.0/30","thisNodeOnly":true,"enable_overlapping_ranges":false,"network_name":"x"}'
	rm "$W/pools.json"
	wb 10.1.0.0/30 '{"1":{"id":"c1","podref":"team/p-1","ifname":"net1"}}'
	net net-a "$apart"
	ok ipam import --from whereabouts --config "$W/net.conf" "$W/pools.json"
	lease net-b c9 "$apart"
	eq "the next pod" "$(jq -r '.ips[0].address' "$W/add.out")" 10.1.0.2/30
}

test_import_of_all_nodes()
{
	cluster
	wb 10.7.0.0/24 '{"1":{"id":"elsewhere","podref":"team/p-7","ifname":"net1"}}'
	rm -r $RESULTS
	refused 1 "--all" ipam import --from whereabouts --config "$W/net.conf" "$W/pools.json"
	left ipam import --from whereabouts --config "$W/net.conf" --all "$W/pools.json"
	has "left-alone 10.1.0.3 c3 ?: whereabouts names no interface for it, and nor does libcni's cache"
	has "1 of other networks"
	has "4 imported, 0 are railhead's already, 1 left alone"
	ok ipam lease list --json
	want 'map(.address) == ["10.1.0.1","10.1.0.2","10.1.0.4","fd00:1:0:2::1"] and (.[1] | .namespace == "team" and .pod == "p-2")'
}

# docs/coming-from-host-local.md: on one node, all addresses that whereabouts gave out, to reserve them in the cluster. An allocation
# without an interface has an address, too.
test_import_lists_the_addresses_of_all_nodes()
{
	cluster
	rm -r $RESULTS
	r ipam import --from whereabouts --config "$W/net.conf" --all --dry-run --json "$W/pools.json"
	eq "addresses" "$(jq -r '.[].address' "$W/out" | xargs)" "10.1.0.1 10.1.0.2 10.1.0.3 10.1.0.4 fd00:1:0:2::1"
	[ ! -e $STATE/ipam ] || fail "a dry run must not make a store"
}

test_import_of_what_is_no_list()
{
	local text
	cluster
	for text in '' '[]' '{}' '{"items":[{}]}' '{"items":[' '{"items":[{"spec":{"range":"x"}}]}' \
		'{"items":[{"spec":{"range":"10.0.0.0/24","allocations":[]}}]}'; do
		printf '%s' "$text" >"$W/bad.json"
		refused 1 "$W/bad.json" ipam import --from whereabouts --config "$W/net.conf" "$W/bad.json"
	done
	refused 1 "No such file" ipam import --from whereabouts --config "$W/net.conf" "$W/not-there"
	[ ! -e $STATE/ipam ] || fail "a mistake must not make a store"
}
