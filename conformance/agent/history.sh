# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# history.sh: which pod had which address, and when. Sourced by lib.sh; the cases at the end feed it mistakes.
#
# Lines of $W/history: "TIME begin ADDRESS NODE/POD" when an ADD has returned, "TIME end - NODE/POD" when a DEL is called or the pod ends.
# A pod certainly has its addresses in between. history_check compares them at the end of each case.

# pod_has NODE POD RESULT: an ADD returned this. ADDRESS becomes the first address.
pod_has()
{
	local now=$EPOCHREALTIME address
	ADDRESS=
	while read -r address; do
		ADDRESS=${ADDRESS:-$address}
		echo "$now begin ${address%/*} $1/$2" >>"$W/history"
	done < <(jq -r '.ips[].address' <<<"$3")
}
pod_ends() { echo "$EPOCHREALTIME end - $1/$2" >>"$W/history"; } # NODE POD

# overlaps: addresses that two pods had at the same time; on the lines of a history
overlaps()
{
	sort -s -n -k 1,1 | awk '
		$2 == "begin" {
			for (held in has) {
				split(held, of, " ")
				if (of[1] == $3 && of[2] != $4) print $3 ": " of[2] " and " $4
			}
			has[$3 " " $4] = 1
		}
		$2 == "end" {
			for (held in has) {
				split(held, of, " ")
				if (of[2] == $4) delete has[held]
			}
		}'
}
# living NODE: addresses of the pods that have not ended
living()
{
	awk -v node="$1" '
		$4 !~ "^" node "/" { next }
		$2 == "begin" { has[$3 " " $4] = 1 }
		$2 == "end" { for (held in has) { split(held, of, " "); if (of[2] == $4) delete has[held] } }
		END { for (held in has) { split(held, of, " "); print of[1] } }' "$W/history" | sort
}

# may_overlap ADDRESS WHY; may_stay NODE WHY: exceptions of the case. WHY is for the reader.
may_overlap() { echo "$1" >>"$W/may_overlap"; }
may_stay() { echo "$1" >>"$W/may_stay"; }
excepted() { grep -qsxF -- "$2" "$W/$1"; } # FILE WHAT

# history_check: no address had two pods at once, and each lease of a node belongs to a pod that lives.
history_check()
{
	local node line
	[ -s "$W/history" ] || : >"$W/history"
	while IFS= read -r line; do
		excepted may_overlap "${line%%: *}" || fail "an address of two pods at once: $line"
	done < <(overlaps <"$W/history")
	for node in "$W"/node/*; do
		node=${node##*/}
		[ "$node" != '*' ] && ! excepted may_stay "$node" || continue
		eq "leases of $node, and addresses of its pods" "$(leased_on "$node" | xargs)" "$(living "$node" | xargs)"
	done
}
# leased_on NODE: from its own store, with or without an agent. The node "host" is this sandbox.
leased_on()
{
	local list=("$BIN/railctl" ipam lease list --json)
	if [ "$1" = host ]; then "${list[@]}"; else on_node "$1" "${list[@]}"; fi | jq -r '.[] | select(.state == "leased").address' | sort
}

# --- the check must be able to fail ------------------------------------------------------------

# found TEXT LINES: overlaps() prints exactly this
found() { eq "overlaps of $(tr '\n' ',' <<<"$2")" "$(overlaps <<<"$2")" "$1"; }

test_history_finds_an_overlap()
{
	found "" $'1.5 begin 10.0.0.1 n1/a\n2.5 end - n1/a\n2.5 begin 10.0.0.1 n2/b'
	found "" $'1.5 begin 10.0.0.1 n1/a\n1.6 begin 10.0.0.2 n2/b\n2.5 end - n1/a\n3.5 begin 10.0.0.1 n2/c'
	found "" $'1.5 begin 10.0.0.1 n1/a\n1.6 begin 10.0.0.1 n1/a'
	found "10.0.0.1: n1/a and n2/b" $'1.5 begin 10.0.0.1 n1/a\n2.5 end - n2/a\n2.6 begin 10.0.0.1 n2/b'
	found "10.0.0.1: n1/a and n2/b" $'2.499999 begin 10.0.0.1 n2/b\n2.5 end - n1/a\n1.5 begin 10.0.0.1 n1/a'
	found "fd00::1: n1/a and n1/b" $'1 begin 10.0.0.1 n1/a\n1 begin fd00::1 n1/a\n2 begin fd00::1 n1/b\n3 end - n1/a\n4 begin fd00::1 n1/b'
	found $'10.0.0.1: n1/a and n2/b\n10.0.0.1: n1/a and n3/c' $'1 begin 10.0.0.1 n1/a\n2 begin 10.0.0.1 n2/b\n3 end - n2/b\n4 begin 10.0.0.1 n3/c'
}

# A real case ends with each of the mistakes. Its evidence must say so, and is then forgotten.
test_history_is_checked_at_the_end_of_a_case()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 "$RAIL"
	add n1 p1 rail0
	history_check
	[ ! -s "$W/evidence" ] || return
	echo "$EPOCHREALTIME begin ${ADDRESS%/*} n2/other" >>"$W/history"
	told "an address of two pods at once: ${ADDRESS%/*}: n1/p1 and n2/other"
	pod_ends n2 other
	cp "$W/history" "$W/history.right"
	pod_ends n1 p1
	told "leases of n1, and addresses of its pods: got '${ADDRESS%/*}', want ''"
	grep -v ' n1/' "$W/history.right" >"$W/history"
	pod_has n1 lost '{"ips":[{"address":"10.92.0.200/24"}]}'
	told "want '10.92.0.200'"
	mv "$W/history.right" "$W/history"
}
told() # TEXT: history_check fails and says it
{
	history_check
	grep -qF -- "$1" "$W/evidence" || { echo "the check did not say: $1" >>"$W/evidence" && exit 1; }
	rm -f "$W/evidence"
	sed -i "/n2\/other/d" "$W/history"
}
