# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# `railctl ipam import`: pods that the reference plugins attached, with the real host-local, become ours.

FILES=/var/lib/cni/networks

need_reference()
{
	need_railhead
	need_peer host-local
	need_peer macvlan
	need_kind macvlan
}

# A range of five addresses, .2 to .6, and an IPv6 one.
few() { printf '{"type":"%s","ranges":[[{"subnet":"10.77.0.0/29"}],[{"subnet":"fd00:77::/64"}]]}' "$1"; }

# reference POD...: attached by the reference macvlan with host-local, in network moved. $W/result.POD.
reference()
{
	local p
	for p; do
		pod "$p"
		(
			BIN=$PEER_DIR RAILCTL='' PEERS=1 PLUGIN=macvlan
			conf_ipam "$(few host-local)" '.cniVersion="1.0.0" | .name="moved"'
			want_ok ADD
			cp "$W/result" "$W/result.$p"
		)
	done
}
of() { jq -r '.ips[].address | sub("/.*"; "")' "$W/result.$1" | sort | tr '\n' ' '; }

# import WORD...: the configuration in $W/conf is the network's now.
import() { "$RAILCTL" ipam import --from host-local --config "$W/conf" "$@" >"$W/ctl" 2>&1; }

held() { "$RAILCTL" ipam lease list --json | jq -rc '.[] | "\(.address) \(.network) \(.container) \(.ifname)"' | sort; }

test_import_of_living_pods()
{
	local n
	need_reference
	reference p1 p2
	[ -n "$(of p1)" ] && [ -n "$(of p2)" ] || fail "test error: the reference gave no addresses"
	conf_ipam "$(few railhead-ipam)" '.name="moved"'
	cp "$W/conf" "$W/now.conf"
	import --dry-run
	eq "a dry run's exit status" "$?" 1
	eq "leases after a dry run" "$(held)" ''
	eq "files after a dry run" "$(find $FILES/moved -name '*[.:]*[0-9]' ! -name 'last*' | wc -l)" 4
	import || fail "import: $(<"$W/ctl")"
	eq "leases" "$(held)" "$(for p in p1 p2; do
		for n in $(of $p); do echo "$n moved cid-$p net1"; done
	done | sort)"
	import || fail "import again: $(<"$W/ctl")"
	has "again" "$(<"$W/ctl")" "0 imported, 4 are railhead's already, 0 left alone"
	# The leases alone must keep the addresses: the files are out of the way.
	mv $FILES/moved "$W/files"
	IPAM=railhead-ipam
	for n in 1 2 3; do
		ask "$n" "$(few railhead-ipam)" '.name="moved"'
		for a in $(got); do
			[[ " $(of p1)$(of p2) " != *" ${a%/*} "* ]] || fail "${a%/*} is a living pod's"
		done
	done
	refused 4 "$(few railhead-ipam)" '.name="moved"' 101
	give 1 2 3
	mv "$W/files" $FILES/moved
	# CHECK and DEL by our plugins, with what the reference had answered.
	for p in p1 p2; do
		use $p
		PLUGIN=railhead-ipam
		jq -c --slurpfile r "$W/result.$p" 'del(.master) | .prevResult=($r[0] | .cniVersion="1.1.0")' \
			"$W/now.conf" >"$W/conf"
		want_ok CHECK
		PLUGIN=macvlan
		cp "$W/now.conf" "$W/conf"
		want_ok DEL
		no_link $p net1
		for a in $(of $p); do
			no_lease "$a"
			[ ! -e "$FILES/moved/$a" ] || fail "host-local's file of $a is left"
		done
		[ $p = p2 ] || for a in $(of p2); do has_lease "$a"; done
	done
	rm -rf $FILES
}

# Into a named pool: another network with that pool must not get the addresses either.
test_import_into_a_pool()
{
	local a
	need_reference
	reference p1
	pool_add four --subnet 10.77.0.0/29 --gateway 10.77.0.1 --this-node-only
	pool_add six --subnet fd00:77::/64 --this-node-only
	"$RAILCTL" ipam import --from host-local --network moved --pool four --pool six >"$W/ctl" 2>&1 ||
		fail "import: $(<"$W/ctl")"
	for n in 1 2 3 4; do
		draw "$n" '["four","six"]' '.name="another"'
		for a in $(got); do
			[[ " $(of p1)" != *" ${a%/*} "* ]] || fail "${a%/*} is a living pod's"
		done
	done
	give 1 2 3 4
	use p1
	PLUGIN=macvlan
	conf_ipam '{"type":"railhead-ipam","pools":["four","six"]}' '.name="moved"'
	want_ok DEL
	no_link p1 net1
	eq "leases" "$(held)" ''
	pool_del four six
	rm -rf $FILES
}

# An address that another attachment got meanwhile is reported, and stays with its owner.
test_import_of_an_address_that_is_taken()
{
	local a
	need_reference
	reference p1
	a=$(of p1)
	mv $FILES "$W/files"
	ask 1 "$(few railhead-ipam)" '.name="moved" | .runtimeConfig={"ips":["'"${a%% *}"'"]}'
	has "the same address" " $(got | sed 's,/[0-9]*,,g') " " ${a%% *} "
	mv "$W/files" $FILES
	conf_ipam "$(few railhead-ipam)" '.name="moved"'
	! import || fail "a conflict must be the exit status: $(<"$W/ctl")"
	has "the conflict" "$(<"$W/ctl")" "left-alone ${a%% *} cid-p1 net1"
	has "who has it" "$(<"$W/ctl")" "leased to container c1"
	has_lease "${a%% *}"
	conf_ipam "$(few railhead-ipam)" 'del(.master) | .name="moved"'
	give 1
	use p1
	PLUGIN=macvlan
	conf_ipam "$(few railhead-ipam)" '.name="moved"'
	want_ok DEL
	eq "leases" "$(held)" ''
	rm -rf $FILES
}
