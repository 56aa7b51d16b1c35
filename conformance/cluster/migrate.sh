# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# migrate.sh: networks move from whereabouts and Spiderpool to railhead under living pods, by the commands of the documents. Both are the real programs
# (burst.sh). Sourced by run.sh.

# Old pods have addresses of the old IPAM, so that the audit has to wait until they are gone.
old_pods()
{
	pod old-1 rail0
	NODE=2 pod old-2 rail0
	running old-1 old-2
	OLD_ADDRESSES=$(addresses_of old-1 old-2 | cut -d' ' -f2 | sort)
}
# moved POOL: the network has this pool of railhead from now on. New pods of both nodes get other addresses than the old ones, reach these, and stay
# when the old ones go.
moved()
{
	local new
	nad rail0 "$(macvlan rail0 "$1")"
	for n in $NODES; do eventually migrate_has_pool "$n" "$1"; done
	pod new-1 rail0
	NODE=2 pod new-2 rail0
	running new-1 new-2
	new=$(addresses_of new-1 new-2 | cut -d' ' -f2 | sort)
	eq 'addresses of old and new pods' "$(printf '%s\n' "$OLD_ADDRESSES" "$new" | sort -u | grep -c .)" 4
	reaches new-1 "$(address old-2 net1)"
	reaches old-1 "$(address new-2 net1)"
	delete old-1 old-2
	audit
	reaches new-1 "$(address new-2 net1)"
}
migrate_has_pool() { node "$1" railctl ipam pool list --json | jq -e --arg n "$2" 'any(.[]; .name == $n)'; }
migrate_ends()
{
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	[ -z "${1-}" ] || "$1"
	k delete railpools,railreserved --all --timeout=${LONG}s >/dev/null 2>&1
	agents_end
}

once_move_from_whereabouts()
{
	local GUIDE=docs/coming-from-host-local.md page='From whereabouts to blocks under living pods'
	peers_have whereabouts whereabouts
	agents_begin "$LOOSE"
	trap migrate_ends EXIT
	whereabouts_up
	whereabouts_net rail0 10.12.0.0/16 '"range_start": "10.12.1.0", "range_end": "10.12.1.255"'
	old_pods
	follow "$page" '^(kubectl|railctl ipam|jq -r|jq .*new.json)'
	eq 'the pool' "$(jq -c '[.[] | [.name, .subnet, .ranges, .blockSize]]' "$W/people/pools.json")" '[["rail0","10.12.0.0/16",["10.12.1.0-10.12.1.255"],16]]'
	eq 'living addresses' "$(sort "$W/people/living")" "$OLD_ADDRESSES"
	follow "$page" RailReserved
	follow "$page" '<living'
	follow "$page" RailPool
	moved rail0
	eq 'what whereabouts still has' "$(k get ippools.whereabouts.cni.cncf.io -A -o json | jq -c '[.items[] | select(.spec.range == "10.12.0.0/16").spec.allocations[]?.podref]')" '[]'
}

once_move_from_spiderpool()
{
	peers_have spiderpool-agent spiderpool
	agents_begin "$LOOSE"
	trap 'migrate_ends spiderpool_down' EXIT
	spiderpool_ready 10.12
	spiderpool_net rail0
	old_pods
	follow 'From Spiderpool' 'spiderippools|ipam pool import'
	eq 'the pool' "$(jq -c '[.[] | [.name, .subnet, .ranges]]' "$W/people/pools.json")" '[["rail","10.12.0.0/16",["10.12.64.1-10.12.65.250"]]]'
	follow 'From Spiderpool' spiderendpoints
	eq 'living addresses' "$(sort "$W/people/living")" "$OLD_ADDRESSES"
	follow 'From Spiderpool' RailReserved
	follow 'From Spiderpool' '<living'
	follow 'From Spiderpool' RailPool
	moved rail
	eventually no_spiderendpoints
}
no_spiderendpoints() { [ -z "$(k get spiderendpoints -A -o name)" ]; }
