#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/test.sh BINDIR: every file of this folder is what it claims to be.
#
# The real programs run each configuration (STATUS, ADD, CHECK, DEL) in namespaces with empty state
# folders. A manual page must have each of its keys. railctl adds each pool. References between manifests
# must be right. The last cases give the same checks broken files.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=${here%/*}

if [ "${1-}" != --inside ]; then
	bin=$(cd "${1:-$root/build/bin}" && pwd) || exit 2
	for tool in jq ip awk; do
		command -v "$tool" >/dev/null || { echo "${0##*/}: $tool is missing" >&2; exit 2; }
	done
	exec "$root/conformance/sandbox.sh" "$here/test.sh" --inside "$bin"
fi
BIN=$2
export CNI_PATH=$BIN
W=/run/work
cd "$here" || exit 2

passed=0 failed=0 skipped=0
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; }
skip() { skipped=$((skipped + 1)); printf 'skip %s\n' "$*"; }
# judge WHAT [EVIDENCE]: by the exit status of the command before
judge()
{
	if [ "$1" = 0 ]; then pass; else fail "$2: $(head -c 600 "$W/evidence" 2>/dev/null)"; fi
}

# --- the stage: eight rails with a wire behind each, and a pod ------------------------------------------

stage()
{
	local i
	for i in 1 2 3 4 5 6 7 8; do
		ip link add "eth$i" type veth peer name "wire$i" && ip link set "eth$i" up &&
			ip link set "wire$i" up || exit 2
	done
	ip netns add pod || exit 2
	echo 'nameserver 192.0.2.53' >"$W/resolv.conf"
	IPVLAN=yes
	ip link add link eth1 name probe0 type ipvlan 2>/dev/null || IPVLAN=
	[ -z "$IPVLAN" ] || ip link del probe0
	ON_DEMAND=yes
	ip link add link eth1 name probe0 type vlan id 9 2>/dev/null && ip link del probe0 &&
		ip link add probe0 type bond 2>/dev/null && ip link del probe0 || ON_DEMAND=
}

# call VERB PROGRAM CONF: run a plugin; its answer is in $W/out
call()
{
	CNI_COMMAND=$1 CNI_CONTAINERID=example-1 CNI_IFNAME=${IFNAME:-net1} CNI_NETNS=/run/netns/pod \
		CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=${POD_NS:-team-a};K8S_POD_NAME=example" \
		"$BIN/$2" <"$3" >"$W/out" 2>"$W/log"
}

# --- keys ----------------------------------------------------------------------------------------------

# The programs ignore unknown keys, so they do not report a misspelt key.
# keys_known FILE [FREE...]: every key of the JSON is documented, except those below FREE.
keys_known()
{
	local file=$1 unknown
	unknown=$(jq -r 'paths | map(select(type == "string")) |
		select(index("capabilities") == null or .[-1] == "capabilities") |
		select(index("quota") == null or .[-1] == "quota") |
		select(index("sysctl") == null or .[-1] == "sysctl") |
		.[-1] // empty' "$file" | sort -u | grep -vxF -f "$W/keys")
	[ -z "$unknown" ] && return
	echo "no manual page knows the key(s) $unknown" >"$W/evidence"
	return 1
}

# --- room for the nodes ---------------------------------------------------------------------------------

# The interfaces of the nodes have addresses in the subnet, too: as in a plan of `kubectl rail plan`, they are the first ones behind
# the gateway.
# room FILE: no source of addresses in the JSON assigns the first ten of its subnet. One of IPv6 says where it begins.
room()
{
	jq -e '
		def number: split(".") | map(tonumber) | reduce .[] as $b (0; . * 256 + $b);
		[.. | objects | select(.subnet // .range) | (.subnet // .range) as $net | ($net | split("/")[0]) as $base |
			[.rangeStart // .range_start // .slice.start // (.ranges // [] | arrays | .[] | strings | split("-")[0] | split("/")[0])] as $first |
			select($net | startswith("fe80:") | not) |
			select(if ($net | contains(":")) then $first == [] else ($first | length == 0 or any(number < ($base | number) + 10)) end)] |
		. == [] or error("no room for the nodes: \(.)")' "$1" >"$W/evidence" 2>&1
}

# rooms: also in the values of the chart and in the commands of the documents
rooms()
{
	local file line
	for file in pools/*.json many-nodes/*.json; do
		room "$file"
		judge $? "$file"
	done
	for file in helm/*.yaml ../packaging/helm/railhead/values.yaml; do
		grep -q '^pools:' "$file" || continue # its pools are those of a plan
		sed -nE 's/^#? +rail[0-9]+: (\{.*\})$/\1/; T; s/[^][{}, ]+/"&"/g; s/:"/":/g; p' "$file" >"$W/one"
		[ -s "$W/one" ] && room "$W/one"
		judge $? "$file"
	done
	while IFS= read -r line; do
		[[ $line = *--range* || $line = *--reserved* || $line = *--this-node-only* ]]
		judge $? "no room for the nodes: $line"
	done < <(sed -e ':a' -e '/\\e\{0,1\}$/{N;ba' -e '}' ../README.md ../docs/*.md ../docs/man/* README.md | grep -E 'pool add .*--subnet [0-9]')
}

# --- one configuration -----------------------------------------------------------------------------------

# as_given CONF: what a runtime would make of it
as_given()
{
	jq --arg f "$W/resolv.conf" --argjson rc "${RUNTIME:-null}" \
		'if .ipam.resolvConf then .ipam.resolvConf = $f else . end |
		 if $rc then .runtimeConfig = $rc else . end' "$1" >"$W/conf"
}

evidence_of() { { echo "$1 exits $2:"; cat "$W/out" "$W/log"; } | tr '\n\t' '  ' >"$W/evidence"; }

# works VERB PROGRAM: in order, with the state that is there
works()
{
	local rc
	call "$1" "$2" "$W/conf"
	rc=$?
	[ "$rc" = 0 ] && return
	evidence_of "$2 $1" "$rc"
	return 1
}

check_it()
{
	local version
	version=$(jq -r .cniVersion "$W/conf")
	case $version in 0.[123].*) return ;; esac
	jq --slurpfile r "$W/result" '.prevResult = $r[0]' "$W/conf" >"$W/conf.check"
	mv "$W/conf.check" "$W/conf"
	works CHECK "$1"
}

gone()
{
	[ -z "$(ip -n pod -o link show type macvlan)$(ip -n pod -o link show type ipvlan)" ] &&
		[ -z "$(ip -o link show type vlan)$(ip -o link show type bond)" ] &&
		[ -z "$(find /run/railhead/attachments /run/railhead/masters -type f 2>/dev/null)" ] && return
	echo 'an interface, a master or a record is left after DEL' >"$W/evidence"
	return 1
}

# round PROGRAM CONF: STATUS (1.1.0), ADD, CHECK (from 0.4.0), DEL
round()
{
	local program=$1
	as_given "$2"
	if [ "$(jq -r .cniVersion "$W/conf")" = 1.1.0 ]; then
		works STATUS "$program" || return 1
	fi
	works ADD "$program" || { call DEL "$program" "$W/conf"; return 1; }
	cp "$W/out" "$W/result"
	check_it "$program" && works DEL "$program" && gone
}

# Without ipvlan in the kernel: the configuration must be taken as far as the kernel's refusal, and its
# IPAM must give what it promises.
ipvlan_as_far_as_it_goes()
{
	local rc
	as_given "$1"
	call ADD ipvlan "$W/conf"
	rc=$?
	if [ "$(jq -r .code "$W/out")" != 100 ]; then
		evidence_of 'ipvlan ADD (the kernel should have refused)' "$rc"
		return 1
	fi
	jq .ipam.type "$W/conf" | grep -q railhead-ipam || return 0
	works ADD railhead-ipam && works DEL railhead-ipam
}

# Without VLANs or bonds in the kernel: the same. STATUS finds the interfaces below, and asks whether they are free.
on_demand_as_far_as_it_goes() # FILE PLUGIN
{
	local rc
	as_given "$1"
	works STATUS "$2" || return 1
	call ADD "$2" "$W/conf"
	rc=$?
	if ! jq -r '"\(.code) \(.msg)"' "$W/out" | grep -qE '^100 create (vlan|bond) '; then
		evidence_of "$2 ADD (the kernel should have refused)" "$rc"
		return 1
	fi
	works DEL "$2" && gone
}

# Without InfiniBand: the configuration is good, but its master is not there.
ipoib_as_far_as_it_goes()
{
	local rc
	as_given "$1"
	call ADD ipoib "$W/conf"
	rc=$?
	if [ "$(jq -r .code "$W/out")" != 7 ] || ! jq -r .msg "$W/out" | grep -q 'master: there is no interface'; then
		evidence_of 'ipoib ADD (its master should have been missing)' "$rc"
		return 1
	fi
}

# Without VFs: the same for the system that lacks them. Multus and a device plugin would give deviceID, and a kubelet GPUs.
sriov_as_far_as_it_goes() # FILE PLUGIN
{
	local rc
	as_given "$1"
	# ib-kubernetes and Multus would give these, too.
	jq '.args.cni += {"mellanox.infiniband.app": "configured", guid: "02:00:00:00:00:00:00:0b"}' "$W/conf" >"$W/given" && mv "$W/given" "$W/conf"
	call ADD "$2" "$W/conf"
	rc=$?
	if ! jq -r '"\(.code) \(.msg)"' "$W/out" | grep -qE '^7 .*(deviceID: missing|resource\.pf)|^11 (near|resourceName): .*/kubelet\.sock: connect'; then
		evidence_of "$2 ADD (a VF should have been missing)" "$rc"
		return 1
	fi
}

# Without RDMA: the node is found wanting, or well; and what stands before it in the list is.
rdma_as_far_as_it_goes()
{
	as_given "$1"
	if ! call STATUS rdma "$W/conf" && [ "$(jq -r .code "$W/out")" != 50 ]; then
		evidence_of 'rdma STATUS' 1
		return 1
	fi
	if call ADD rdma "$W/conf" || ! jq -r .msg "$W/out" | grep -q 'prevResult: missing'; then
		evidence_of 'rdma ADD (prevResult should have been missing)' 0
		return 1
	fi
}

# config NAME FILE: one plugin's configuration
config()
{
	local name=$1 file=$2 type
	keys_known "$file"
	judge $? "$name"
	room "$file"
	judge $? "$name"
	type=$(jq -r '.type | ltrimstr("rh-")' "$file") # PLUGIN_PREFIX of an install beside other plugins
	if [ ! -x "$BIN/$type" ] || { [[ $type != *sriov && $type != rdma ]] && [ ! -x "$BIN/$(jq -r .ipam.type "$file")" ]; }; then
		skip "$name: $type or its IPAM is not in $BIN"
	elif [ "$type" = ipvlan ] && [ -z "$IPVLAN" ]; then
		ipvlan_as_far_as_it_goes "$file"
		judge $? "$name"
		skip "$name: this kernel has no ipvlan: only its configuration was looked at"
	elif jq -e '.master | type == "object"' "$file" >/dev/null && [ -z "$ON_DEMAND" ]; then
		on_demand_as_far_as_it_goes "$file" "$type"
		judge $? "$name"
		skip "$name: this kernel has no VLANs or no bonds: only its configuration was looked at"
	elif [ "$type" = ipoib ]; then
		ipoib_as_far_as_it_goes "$file"
		judge $? "$name"
		skip "$name: there is no InfiniBand here: only its configuration was looked at"
	elif [[ $type = *sriov ]] || [ "$(jq -r .kind "$file")" = sriov ]; then
		sriov_as_far_as_it_goes "$file" "$type"
		judge $? "$name"
		skip "$name: there are no VFs here: only its configuration was looked at"
	elif [ "$type" = rdma ]; then
		rdma_as_far_as_it_goes "$file"
		judge $? "$name"
		skip "$name: there is no RDMA here: only its configuration was looked at"
	else
		round "$type" "$file"
		judge $? "$name"
	fi
}

conflist()
{
	local file=$1 i n
	n=$(jq '.plugins | length' "$file" 2>"$W/evidence") || { fail "$file: $(cat "$W/evidence")"; return; }
	[ "$n" -gt 0 ] || fail "$file: no plugins"
	for ((i = 0; i < n; i++)); do
		jq --argjson i "$i" '{cniVersion, name} + .plugins[$i]' "$file" >"$W/one"
		config "$file" "$W/one"
	done
}

# --- pools -----------------------------------------------------------------------------------------------

pools()
{
	local file name
	for file in pools/*.json; do
		name=$(basename "$file" .json)
		keys_known "$file"
		judge $? "$file"
		if [ ! -x "$BIN/railctl" ]; then
			skip "$file: railctl is not in $BIN"
			continue
		fi
		"$BIN/railctl" ipam pool add "$name" --file "$file" >"$W/evidence" 2>&1
		judge $? "$file"
	done
}

# --- many nodes ------------------------------------------------------------------------------------------

# apply_as HOSTNAME FILE: the pools of FILE on a node of this name, in a store of its own
apply_as()
{
	unshare --uts bash -c 'hostname "$1" && exec "$2/railctl" --data-dir "$3" ipam pool apply "$4" --json' - \
		"$1" "$BIN" "$W/many-$1" "$2" >"$W/out" 2>"$W/evidence"
}

many_nodes()
{
	local file
	for file in many-nodes/*.json; do
		jq 'if type == "array" then .[] | del(.name) else . end' "$file" | jq -s . >"$W/one"
		keys_known "$W/one"
		judge $? "$file"
	done
	[ -x "$BIN/railctl" ] || { skip "many-nodes: railctl is not in $BIN"; return; }
	install -m 644 many-nodes/node.json /etc/railhead/node.json
	apply_as gpu-0 many-nodes/rails.json && apply_as gpu-959.example.org many-nodes/rails.json
	judge $? many-nodes
	jq -e 'length == 8 and all(.result == "added" and .nodeHasNumber)' "$W/out" >"$W/evidence" 2>&1
	judge $? 'many-nodes: the result'
	if apply_as gpu-960 many-nodes/rails.json; then fail 'self-test: number 960 of 960 went unnoticed'; else pass; fi
	grep -q 'highest number that fits is 959' "$W/evidence"
	judge $? 'many-nodes: the highest number'
	rm /etc/railhead/node.json
}

# --- bandwidth tiers -------------------------------------------------------------------------------------

# A copy of /etc is mounted over it, for what the programs read there.
etc_of_ours()
{
	cp -a /etc "$W/etc" && mount --bind "$W/etc" /etc && mkdir -p /etc/railhead &&
		install -m 644 sriov/tiers.json rails/rails.json /etc/railhead || exit 2
}

tiers()
{
	jq '.tiers |= [.[]]' sriov/tiers.json >"$W/one" # their names are anybody's
	keys_known "$W/one"
	judge $? sriov/tiers.json
	jq '{cniVersion, name} + (.plugins[0] | .tier = "gold")' sriov/20-tier.conflist >"$W/conf"
	call STATUS sriov "$W/conf"
	jq -e '.msg | test("its tiers are critical, normal, background$")' "$W/out" >/dev/null 2>&1
	judge $? 'sriov/tiers.json is not a file of tiers'
}

# --- VFs at boot -----------------------------------------------------------------------------------------

# follows FOLDER: each file is understood, and only its card is missing here
follows()
{
	"$BIN/railctl" vf apply --dir "$1" --json >"$W/evidence" 2>&1
	jq -e 'length > 0 and all(.action == "failed" and (.error | test(": PF \""))) ' "$W/evidence" >"$W/out" 2>&1
}

vf_files()
{
	local file
	[ -x "$BIN/railctl" ] || { skip "vf.d: railctl is not in $BIN"; return; }
	for file in vf.d/*.json; do
		keys_known "$file"
		judge $? "$file"
	done
	follows "$here/vf.d"
	judge $? vf.d
	mkdir -p "$W/vf.d" && jq '.numVfs = .count' vf.d/10-eth1.json >"$W/vf.d/a.json"
	if follows "$W/vf.d"; then fail 'self-test: a key that is none went unnoticed in vf.d'; else pass; fi
}

# --- quality of service at boot --------------------------------------------------------------------------

# qos_follows FOLDER: each file is understood, and only what veth is not able to is refused
qos_follows()
{
	"$BIN/railctl" rdma qos apply --dir "$1" --json >"$W/evidence" 2>&1
	jq -e 'length > 0 and all(.action == "failed" and (.error | test("no data center bridging|no folder ecn")))' \
		"$W/evidence" >"$W/out" 2>&1
}

qos_files()
{
	local file
	[ -x "$BIN/railctl" ] || { skip "qos.d: railctl is not in $BIN"; return; }
	mkdir -p "$W/qos.d" && install -m 644 qos.d/*.json "$W/qos.d/"
	for file in qos.d/*.json; do
		keys_known "$file"
		judge $? "$file"
	done
	qos_follows "$W/qos.d"
	judge $? qos.d
	jq '.tc = 106' qos.d/eth1.json >"$W/qos.d/eth1.json"
	if qos_follows "$W/qos.d"; then fail 'self-test: a key that is none went unnoticed in qos.d'; else pass; fi
}

# --- manifests -------------------------------------------------------------------------------------------

manifests()
{
	local file base part
	mkdir -p "$W/m"
	for file in multus/*.yaml; do
		base=$W/m/$(basename "$file" .yaml)
		awk -v prefix="$base" -f yaml.awk "$file" 2>"$W/evidence"
		judge $? "$file"
		for part in "$base"-*.kind; do
			manifest "$file" "${part%.kind}"
		done
	done
	for part in "$W"/m/*.kind; do
		! grep -qxE 'Pod|Job' "$part" || pod "${part%.kind}"
	done
}

manifest() # FILE PART
{
	local kind name
	kind=$(cat "$2.kind") name=$(cat "$2.name" 2>/dev/null)
	{ [ -s "$2.json" ] && jq -e . "$2.json" >/dev/null; } 2>"$W/evidence"
	judge $? "$1: $kind $name: its JSON"
	[ "$kind" = NetworkAttachmentDefinition ] || return
	[ "$(jq -r .name "$2.json")" = "$name" ] ||
		fail "$1: the network is called $(jq -r .name "$2.json") inside and $name outside"
	if jq -e .plugins "$2.json" >/dev/null; then conflist "$2.json"; else config "$1: $name" "$2.json"; fi
	cp "$2.json" "$W/nad-$name"
}

# What Multus makes of a selection: interface names, and runtimeConfig of what is asked for.
pod() # PART
{
	local i n select net name
	n=$(jq length "$1.json") name=$(cat "$1.name")
	[ "$(jq '[.[].interface // empty] | (unique | length) == length and all(length < 16)' "$1.json")" = true ] ||
		fail "pod $name: interface names are not distinct, or too long"
	for ((i = 0; i < n; i++)); do
		select=$(jq -c ".[$i]" "$1.json")
		net=$(jq -r .name <<<"$select")
		if [ ! -e "$W/nad-$net" ]; then
			fail "pod $name: there is no network $net"
		elif jq -e '.ips // .mac' <<<"$select" >/dev/null; then
			pod_asks "pod $name: $net" "$W/nad-$net" "$select"
		else
			pass
		fi
	done
}

# The address and the MAC address that a pod asks for are those it gets.
pod_asks() # WHAT CONF SELECTION
{
	local type
	type=$(jq -r .type "$2")
	if [ ! -x "$BIN/$type" ] || [ ! -x "$BIN/railhead-ipam" ]; then
		skip "$1: $type or railhead-ipam is not in $BIN"
		return
	fi
	jq -e '.capabilities.ips and .capabilities.mac' "$2" >/dev/null ||
		fail "$1: the network does not declare the capabilities"
	RUNTIME=$(jq -c '{ips, mac} | del(..|nulls)' <<<"$3")
	round "$type" "$2"
	judge $? "$1"
	RUNTIME=
	jq -e --argjson s "$3" '(.ips[0].address | split("/")[0]) == $s.ips[0] and
		.interfaces[-1].mac == $s.mac' "$W/result" >"$W/evidence" 2>&1
	judge $? "$1 got other than it asked for"
}

# --- these tests can fail --------------------------------------------------------------------------------

# must_fail WHAT FILTER FUNCTION...: on the pool network, changed by a jq filter
must_fail()
{
	local what=$1 filter=$2
	shift 2
	jq "$filter" "$W/nad-rail0" >"$W/broken"
	if "$@" "$W/broken"; then fail "self-test: $what went unnoticed"; else pass; fi
}

self_tests()
{
	local text
	for text in '{"subnet":"10.1.0.0/16"}' '{"range":"10.1.0.0/16"}' '{"subnet":"10.1.0.0/16","ranges":["10.1.0.2/31","10.1.1.0/24"]}' \
		'{"subnet":"10.1.0.0/16","slice":{"prefix":28}}' '{"ranges":[[{"subnet":"fd00::/64"}]]}'; do
		must_fail "a source without room, $text" ".ipam = $text" room
	done
	must_fail 'a misspelt key' '.ipam.poool = "x"' keys_known
	must_fail 'a misspelt key of the plugin' '.linkincontainer = true' keys_known
	[ -x "$BIN/macvlan" ] && [ -x "$BIN/railhead-ipam" ] || return
	must_fail 'a wrong type' '.mtu = "1500"' round macvlan
	must_fail 'a wrong type of the IPAM' '.ipam.pool = 7' round macvlan
	must_fail 'a pool that is not there' '.ipam.pool = "nowhere"' round macvlan
	must_fail 'an unknown mode' '.mode = "source"' round macvlan
	for text in $'a:\tb' 'a b' $'a:\n b: c'; do
		printf '%s\n' "$text" >"$W/broken.yaml"
		if awk -v prefix="$W/broken" -f yaml.awk "$W/broken.yaml" 2>/dev/null; then
			fail "self-test: YAML out of form went unnoticed: $text"
		else
			pass
		fi
	done
}

awk -f "$root/docs/keys.awk" "$root"/docs/man/railhead-*.[1-8] | sort -u >"$W/keys"
[ "$(wc -l <"$W/keys")" -gt 50 ] || fail 'the manual pages name hardly any keys'
stage
etc_of_ours
pools
many_nodes
rooms
for file in */*.conflist; do
	conflist "$file"
done
tiers
vf_files
# sm_config FILE [JQ-FILTER]: the hook that it is for takes it. It fails later, because there is no message.
sm_config()
{
	local program
	program=$(basename "$1" .json)
	mkdir -p "$W/sm.d" && jq --arg w "$W" "${2-.}" "$1" >"$W/sm.d/conf" && (umask 077; echo x >"$W/sm.d/secret") &&
		: >"$W/sm.d/ca"
	! "$BIN/$program" --config "$W/sm.d/conf" </dev/null >"$W/evidence" 2>&1 && grep -q 'standard input' "$W/evidence"
}
sm_files()
{
	local file here='if .url then .passwordFile = $w + "/sm.d/secret" | .ca = $w + "/sm.d/ca" else . end'
	[ -x "$BIN/sm-opensm" ] || { skip "sm.d: sm-opensm is not in $BIN"; return; }
	for file in sm.d/*.json; do
		keys_known "$file"
		judge $? "$file"
		sm_config "$file" "$here"
		judge $? "$file"
	done
	sh -n sm.d/10-opensm
	judge $? sm.d/10-opensm
	if sm_config "$file" "$here"' | .colour = 1'; then fail 'self-test: a key that is none went unnoticed in sm.d'; else pass; fi
}
# The first thing that a stranger runs, on a kernel that sees the carrier late. The demo hides /run.
demo()
{
	local late
	[ -x "$BIN/macvlan" ] || { skip "demo.sh: macvlan is not in $BIN"; return; }
	late=$(mktemp -d) || { fail 'demo.sh: no temporary folder'; return; }
	cat >"$late/ip" <<-EOF
		#!/bin/sh
		PATH=$PATH
		[ "\$*" = "link set cable up" ] || exec ip "\$@"
		(sleep 1; exec ip "\$@") >/dev/null 2>&1 &
	EOF
	chmod +x "$late/ip"
	PATH=$late:$PATH ./demo.sh "$BIN" >"$W/evidence" 2>&1
	judge $? demo.sh
	rm -r "$late"
}
qos_files
sm_files
manifests
demo
self_tests
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
