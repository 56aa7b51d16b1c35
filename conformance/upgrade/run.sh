#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR OLDDIR [CASE...]: pods live through an upgrade of the programs in OLDDIR to those in BINDIR, and through a downgrade.
#
# CASE is the name of a case or a pattern. Each case shows what one version makes of the store, the records and the results of the
# other one: docs/kubernetes.md#versions has the statement. older.sh builds OLDDIR.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 2 ] && [ -x "$1/macvlan" ] && [ -x "$2/macvlan" ] || usage
NEW=$(cd "$1" && pwd) OLD=$(cd "$2" && pwd)
shift 2

W=/run/work BIN=/run/work/bin
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh" || exit 2

# --- a node and its pods -------------------------------------------------------------------------

# programs new|old: install them, as an upgrade does: file by file, under running pods.
programs()
{
	local from=$NEW p
	[ "$1" = new ] || from=$OLD
	for p in macvlan railhead-ipam railctl; do
		cp "$from/$p" "$BIN/.$p.new" && mv "$BIN/.$p.new" "$BIN/$p" || fail "test error: $p of $from"
	done
}

# network FILTER: the configuration of all calls
network()
{
	jq -n '{cniVersion: "1.1.0", name: "rail0", type: "macvlan", master: "mst0", ipam: {type: "railhead-ipam", pool: "rail0"}} | '"${1-.}" \
		>"$W/conf"
}

# cni VERB POD [CONF]: in the namespace of that name. The answer is in $W/out.
cni()
{
	env -i PATH="$PATH" CNI_COMMAND="$1" CNI_CONTAINERID="$2" CNI_NETNS="/run/netns/$2" CNI_IFNAME=net1 CNI_PATH="$BIN" \
		CNI_ARGS="K8S_POD_NAMESPACE=ns;K8S_POD_NAME=$2" "$BIN/${PLUGIN:-macvlan}" <"${3:-$W/conf}" >"$W/out" 2>"$W/log"
}
add()
{
	[ -e "/run/netns/$1" ] || ip netns add "$1"
	is "ADD of $1" cni_says ADD "$1" && cp "$W/out" "$W/result.$1"
}
check() { is "CHECK of $1" check_says "$1"; }
check_says() { jq --slurpfile r "$W/result.$1" '.prevResult = $r[0]' "$W/conf" >"$W/conf.check" && cni_says CHECK "$1" "$W/conf.check"; }
del()
{
	is "DEL of $1" cni_says DEL "$1"
	ip netns del "$1"
}
cni_says() { cni "$@" || { cat "$W/out" "$W/log"; return 1; }; }
address() { ip -n "$1" -j addr show net1 | jq -r '.[0].addr_info[] | select(.scope == "global") | .local'; }

ctl() { "$BIN/railctl" "$@"; }
leases() { ctl ipam lease list --json | jq -r '.[] | select(.state == "leased") | .address' | sort | xargs; }
states() { ctl attachments list --json | jq -r '.[].state' | sort -u | xargs; }
# well POD...: these pods, and no others, have a lease and a healthy attachment each
well()
{
	local p all=()
	for p; do all+=("$(address "$p")"); done
	eq leases "$(leases)" "$(printf '%s\n' "${all[@]}" | sort | xargs)"
	eq 'addresses of two pods' "$(printf '%s\n' "${all[@]}" | sort | uniq -d)" ''
	eq 'pods with addresses' "$(printf '%s\n' "${all[@]:-}" | grep -c '^10\.')" $#
	eq 'attachments' "$(states)" healthy
	is verify ctl ipam verify
}
nothing()
{
	eq leases "$(leases)" ''
	eq attachments "$(ctl attachments list --json | jq length)" 0
	is verify ctl ipam verify
}

case_begins()
{
	local p
	for p in $(ip netns list | cut -d' ' -f1); do ip netns del "$p"; done
	rm -rf /run/railhead /var/lib/railhead/*
	: >"$W/evidence"
	programs "$1"
	network
	is pool ctl ipam pool add rail0 --subnet 10.10.0.0/16 --range 10.10.1.1-10.10.1.100 --gateway 10.10.0.1 --sticky
}

# --- the cases -----------------------------------------------------------------------------------

# there_and_back FIRST SECOND: pods of one version go on under the other one, and end there. An address of a pod is remembered.
there_and_back()
{
	local first
	case_begins "$1"
	add a
	add b
	first=$(address a)
	programs "$2"
	well a b
	check a
	add c
	well a b c
	del a
	well b c
	add a
	eq 'the address that the pod had' "$(address a)" "$first"
	programs "$1"
	well a b c
	check a
	check c
	del a
	del b
	del c
	nothing
	programs "$2"
	nothing
}
test_upgrade() { there_and_back old new; }
test_downgrade() { there_and_back new old; }

# A pod whose ADD was killed, and one that ended without DEL, are cleaned up by the other version.
left_over()
{
	case_begins "$1"
	add a
	add b
	ip netns del a
	programs "$2"
	is 'GC' gc '[{"containerID": "b", "ifname": "net1"}]'
	well b
	del b
	nothing
}
gc() { jq --argjson l "$1" '."cni.dev/valid-attachments" = $l' "$W/conf" >"$W/conf.gc" && cni_says GC b "$W/conf.gc"; }
test_new_collects_what_old_left() { left_over old new; }
test_old_collects_what_new_left() { left_over new old; }

# Ranges in the configuration, both families, and a configuration of host-local.
ranges()
{
	case_begins "$1"
	network '.ipam = {type: "railhead-ipam", ranges: [[{subnet: "10.20.0.0/24"}], [{subnet: "fd00:20::/64"}]]}'
	add a
	add b
	programs "$2"
	add c
	check a
	well a b c
	del a
	well b c
	programs "$1"
	check c
	del b
	del c
	nothing
}
test_ranges_upgrade() { ranges old new; }
test_ranges_downgrade() { ranges new old; }

# A pool with a key that the older version does not know is a pool without it there, and has it again afterwards.
test_a_pool_with_a_later_key()
{
	case_begins new
	jq -n '{subnet: "10.30.0.0/16", ranges: ["10.30.1.1-10.30.1.9"], fixedNamespaces: ["ns"]}' >"$W/pool"
	is pool ctl ipam pool add later --file "$W/pool"
	network '.ipam.pool = "later"'
	add a
	programs old
	isnt 'the older version knows fixedNamespaces; take a newer key' ctl ipam pool set later --fixed-namespace other
	check a
	add b
	del a
	programs new
	well b
	eq 'the key' "$(ctl ipam pool show later --json | jq -c .definition.fixedNamespaces)" '["ns"]'
	del b
	nothing
}

# The programs are replaced while pods come and go.
test_under_load()
{
	local i
	case_begins old
	for ((i = 1; i <= 24; i++)); do
		[ $((i % 6)) != 3 ] || programs new
		[ $((i % 6)) != 0 ] || programs old
		add "p$i"
		[ "$i" -le 8 ] || del "p$((i - 8))"
	done
	well p17 p18 p19 p20 p21 p22 p23 p24
	programs new
	for ((i = 17; i <= 24; i++)); do del "p$i"; done
	nothing
}

# Several interfaces of one record: a version that knows only one of them must free no address of the others, whatever its ADD came to.
test_rails_downgrade()
{
	local PLUGIN=rails record before
	case_begins new
	mkdir -p "$W/etc" && cp -a /etc/. "$W/etc" && mount --bind "$W/etc" /etc && mkdir -p /etc/railhead || fail 'test error: /etc'
	jq -n '{rails: [{rail: 0, interface: "mst0"}, {rail: 1, interface: "wire0"}]}' >/etc/railhead/rails.json
	cp "$NEW/rails" "$BIN/rails" || fail 'test error: rails'
	is pool ctl ipam pool add rail1 --subnet 10.11.0.0/16 --range 10.11.1.1-10.11.1.9 --this-node-only
	network 'del(.master) | .type = "rails" | .kind = "macvlan" | .ipam.pool = "rail{n}"'
	add a
	record=$(find /run/railhead/attachments -type f -name 'a,net1')
	jq -c '.adding = true' "$record" >"$W/record" && cat "$W/record" >"$record"
	before="$(leases) $(ip -n a -o link show type macvlan | wc -l)"
	programs old
	ctl attachments repair >"$W/is" 2>&1
	eq 'after repair by the older version' "$(leases) $(ip -n a -o link show type macvlan | wc -l)" "$before"
	programs new
	jq --slurpfile r "$W/result.a" '.prevResult = $r[0]' "$W/conf" >"$W/conf.del"
	is DEL cni_says DEL a "$W/conf.del"
	eq interfaces "$(ip -n a -o link show type macvlan | wc -l)" 0
	ip netns del a
	nothing
	rm -f "$BIN/rails" /etc/railhead/rails.json
	umount /etc
}

# --- a version that is too new -------------------------------------------------------------------

# The store of a version whose records this one does not understand: each call is refused and says what to do. A pod that ends
# meanwhile keeps its lease. Its DEL, which runtimes repeat, succeeds when the newer version is back.
test_a_later_store()
{
	local store=/var/lib/railhead/ipam call
	case_begins new
	add a
	add b
	later_schema "$store"
	ip netns add c
	for call in 'ADD c' 'CHECK b' 'DEL a'; do
		# shellcheck disable=SC2086 # two words
		isnt "$call" refused_by_store $call
		eq "$call" "$(jq -r .code "$W/out")" 102
		has "$call" "$(<"$W/out")" 'the store has schema 9, this program knows 1; install a newer railhead'
	done
	isnt railctl ctl ipam lease list
	has railctl "$(<"$W/is")" 'install a newer railhead'
	earlier_schema "$store"
	eq 'leases' "$(leases)" '10.10.1.1 10.10.1.2'
	del a
	del c
	well b
	add c
	well b c
	del b
	del c
	nothing
}
refused_by_store() { if [ "$1" = CHECK ]; then check_says "$2"; else cni "$@"; fi; }
# The value of the key m/store begins with its schema. Both texts have one length, so the file stays whole.
schema() { grep -rlZF "\"schema\":$2," "$1" | xargs -0r sed -i "s/\"schema\":$2,/\"schema\":$3,/g"; }
later_schema() { schema "$1" 1 9; }
earlier_schema() { schema "$1" 9 1; }

# A record of a later version names its attachment by its place. DEL does what it can without it: nothing is left.
test_a_later_record()
{
	local record
	case_begins new
	add a
	add b
	record=$(find /run/railhead/attachments -type f -name 'a,net1')
	jq -c '.version = 9' "$record" >"$W/record" && cat "$W/record" >"$record"
	is 'repair' ctl attachments repair
	is 'the interface stays' ip -n a link show net1
	del a
	well b
	del b
	nothing
}

# --- all of them ---------------------------------------------------------------------------------

mkdir -p "$W" "$BIN"
ip link add mst0 type veth peer name wire0 && ip link set mst0 up && ip link set wire0 up || exit 2
while read -r name; do
	! chosen "$name" "$@" || {
		n=$((n + 1))
		: >"$W/evidence"
		run_case "test_$name"
		verdict "${name//_/ }" "$RC"
	}
done < <(grep -o '^test_[a-z0-9_]*' "$HERE/run.sh" | sed 's/^test_//')
closing "$@"
