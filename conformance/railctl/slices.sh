# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# slices.sh: pools with slices, numbers of nodes, and `pool apply`.
#
# A node is a folder with its own /etc/railhead and /var/lib/railhead, and a host name.
# shellcheck disable=SC2154

# on NODE COMMAND...: run it on the node with this host name, which is made if need be.
on()
{
	local node=$W/nodes/$1
	mkdir -p "$node/etc" "$node/lib" "$STATE"
	# shellcheck disable=SC2016
	unshare --mount --uts bash -c 'hostname "$1" && mount --bind "$2/etc" /etc/railhead &&
		mount --bind "$2/lib" "$3" && shift 3 && exec "$@"' - "$1" "$node" "$STATE" "${@:2}"
}

# at NODE WORD...: railctl there. Sets RC, OUT, ERR.
at()
{
	local node=$1
	shift
	on "$node" timeout -s KILL 60 "$BIN/railctl" "$@" >"$W/out" 2>"$W/err"
	RC=$?
	OUT=$(<"$W/out")
	ERR=$(<"$W/err")
	LAST="on $node: railctl $*"
}
fine()
{
	at "$@"
	[ "$RC" = 0 ] && [ -z "$ERR" ] || fail "must succeed: $(said)"
}
# denied TEXT NODE WORD...
denied()
{
	local text=$1
	shift
	at "$@"
	[ "$RC" = 1 ] && [ -z "$OUT" ] && [ "$(wc -l <"$W/err")" = 1 ] || fail "must be refused: $(said)"
	[[ $ERR == *"$text"* ]] || fail "the error must say '$text': $(said)"
}

# attach_at VERB NODE CONTAINER: railhead-ipam alone, from pool rail0. Prints the address, or status and message.
attach_at()
{
	local rc
	jq -n '{cniVersion:"1.1.0",name:"net-a",type:"macvlan",ipam:{type:"railhead-ipam",pool:"rail0"}} +
		if $r != null then {prevResult:$r} else {} end' \
		--argjson r "$([ "$1" = CHECK ] && cat "$W/result.$2.$3" || echo null)" >"$W/lease.conf"
	CNI_COMMAND=$1 CNI_CONTAINERID=$3 CNI_NETNS=/run/netns/none CNI_IFNAME=net1 CNI_PATH=$BIN \
		CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod-$3" \
		on "$2" "$BIN/railhead-ipam" <"$W/lease.conf" >"$W/add.out" 2>&1
	rc=$?
	[ "$1 $rc" != "ADD 0" ] || cp "$W/add.out" "$W/result.$2.$3"
	[ "$rc" = 0 ] || echo -n "exit $rc: "
	jq -r 'if .ips then .ips[0].address else (.msg // empty) + "; " + (.details // "") end' "$W/add.out"
}
add_at() { attach_at ADD "$@"; }

rails() # SLICE [FILTER]
{
	jq -n "{name:\"rail0\",subnet:\"10.1.0.0/16\",gateway:\"10.1.0.1\",slice:$1} | ${2:-.}" >"$W/rails.json"
}

test_slices_one_file_for_all_nodes()
{
	need railhead-ipam
	local n i
	rails '{prefix:28}'
	for n in gpu-0 gpu-1 gpu-4095; do
		fine "$n" ipam node set --hostname-pattern 'gpu-(\d+)'
		fine "$n" ipam pool apply "$W/rails.json"
		eq "$n" "$OUT" "Pool rail0 added."
	done
	eq "gpu-0" "$(add_at gpu-0 c1)" 10.1.0.2/16
	eq "gpu-1" "$(add_at gpu-1 c1)" 10.1.0.16/16
	eq "gpu-4095" "$(add_at gpu-4095 c1)" 10.1.255.240/16
	for i in {2..16}; do add_at gpu-1 "c$i"; done | sort -t. -k4n >"$W/all"
	eq "the whole slice" "$(paste -sd ' ' "$W/all")" "$(printf '10.1.0.%s/16\n' {17..31} | paste -sd ' ')"
	[[ $(add_at gpu-1 c17) == "exit 1: no address is left in pool rail0, slice 1 (16 addresses)"* ]] ||
		fail "the slice has 16 addresses: $(<"$W/add.out")"
	fine gpu-1 ipam verify
}

test_slices_without_a_number()
{
	need railhead-ipam
	local said
	rails '{size:16}'
	fine a ipam pool apply "$W/rails.json"
	has "This node has no number"
	fine a ipam pool apply "$W/rails.json"
	has "Pool rail0 unchanged."
	fine a ipam pool show rail0
	has "Own slice:      none: node a has no number"
	said=$(add_at a c1)
	[[ $said == *"pool rail0: node a has no number"*"railctl ipam node set 17"* ]] || fail "ADD: $said"
	eq "code" "$(jq .code "$W/add.out")" 7
	fine a ipam node show --json
	want '. == {node:"a",file:"/etc/railhead/node.json",labels:{"kubernetes.io/hostname":"a"}}'
	# The store and DEL work without the file.
	eq "DEL" "$(attach_at DEL a c1)" ""
	denied "highest number that fits is 4095" a ipam node set 4096
	denied "gpu-(" a ipam node set --hostname-pattern 'gpu-(\d+)'
	denied "not supported" a ipam node set --hostname-pattern 'gpu-([0-9]+)'
	at a ipam node set -- -1
	eq "a negative number" "$RC" 2
	at a ipam node set
	eq "nothing" "$RC" 2
	at a ipam node set 1 --hostname-pattern 'gpu-(\d+)'
	eq "both" "$RC" 2
	fine a ipam node set 4095 --json
	want 'del(.labels) == {node:"a",file:"/etc/railhead/node.json",number:4095,from:"number"}'
	fine a ipam node show
	has "Number:         4095"
	eq "ADD" "$(add_at a c1)" 10.1.255.240/16
	chmod 666 "$W/nodes/a/etc/node.json"
	said=$(add_at a c2)
	[[ $said == *"/etc/railhead/node.json"* ]] || fail "a file that others may write: $said"
	eq "code" "$(jq .code "$W/add.out")" 106
}

test_slices_a_pool_for_some_nodes()
{
	need railhead-ipam
	local n said
	rails '{size:16}' '.nodes={leaf:["g3","g4"],"kubernetes.io/hostname":["a","b"]}'
	for n in a b c; do
		fine "$n" ipam node set 3
		fine "$n" ipam node label leaf=g3 example.org/rack=7
		fine "$n" ipam pool apply "$W/rails.json"
	done
	eq "a" "$(add_at a c1)" 10.1.0.48/16
	fine b ipam node label leaf- --json
	want '. == {node:"b",file:"/etc/railhead/node.json",number:3,from:"number",
		labels:{"kubernetes.io/hostname":"b","example.org/rack":"7"}}'
	said=$(add_at b c1)
	[[ $said == *"no IPv4 pool is for this node: pool rail0 is for nodes with leaf=g3 or g4, kubernetes.io/hostname=a or b; node b has no label leaf"* ]] ||
		fail "b has lost its label: $said"
	eq "code" "$(jq .code "$W/add.out")" 7
	said=$(add_at c c1)
	[[ $said == *"; node c has leaf=g3, kubernetes.io/hostname=c; "*"railctl ipam node label"* ]] || fail "c has another name: $said"
	fine a ipam node set 3
	fine a ipam node show
	has "leaf=g3"
	fine a ipam node label leaf=g9
	eq "CHECK" "$(attach_at CHECK a c1)" ""
	eq "DEL" "$(attach_at DEL a c1)" ""
	at a ipam node label leaf
	eq "no value" "$RC" 2
	at a ipam node label leaf=1 leaf-
	eq "twice" "$RC" 2
	denied "labels.leaf" a ipam node label 'leaf=a b'
	fine a ipam node show --json
	want '.labels.leaf == "g9"'
}

test_slices_number_under_living_leases()
{
	need railhead-ipam
	rails '{size:16}'
	fine a ipam node set 3
	fine a ipam pool apply "$W/rails.json"
	add_at a c1 >"$W/ip"
	denied "1 leased address would be in the slice of another node: 10.1.0.48 (ns/pod-c1)" a ipam node set 4
	denied "slice of another node" a ipam node set 4 --force
	fine a ipam node set 3
	# A file written by hand is not compared with leases; they stay with their pods.
	echo '{"number":4}' >"$W/nodes/a/etc/node.json"
	eq "ADD" "$(add_at a c2)" 10.1.0.64/16
	eq "CHECK" "$(attach_at CHECK a c1)" ""
	fine a ipam pool show rail0
	has "Own slice:      4: 10.1.0.64-10.1.0.79"
	has "Overlap:        1 leased address is in the slice of another node"
	at a ipam verify
	eq "verify" "$RC" 1
	has "pool rail0: this node has slice 4, and 1 leased address is in the slice of another node"
	eq "DEL" "$(attach_at DEL a c1)" ""
	fine a ipam lease list --json
	want 'map(.address) == ["10.1.0.64"]'
	fine a ipam verify
}

test_slices_from_a_range_and_between_sizes()
{
	need railhead-ipam
	fine a ipam pool add rail0 --subnet 10.1.0.0/16 --range 10.1.0.16-10.1.0.47
	eq "ADD" "$(add_at a c1)" 10.1.0.16/16
	rails '{size:16}' 'del(.gateway)'
	denied "railctl ipam node set 17" a ipam pool apply "$W/rails.json"
	fine a ipam node set 2
	denied "10.1.0.16 (ns/pod-c1)" a ipam pool apply "$W/rails.json"
	denied "10.1.0.16 (ns/pod-c1)" a ipam pool apply "$W/rails.json" --force
	fine a ipam node set 1
	fine a ipam pool apply "$W/rails.json"
	eq "changed" "$OUT" "Pool rail0 changed."
	fine a ipam pool apply "$W/rails.json"
	eq "unchanged" "$OUT" "Pool rail0 unchanged."
	# Another size is another grid.
	denied "10.1.0.16" a ipam pool set rail0 --slice 8
	attach_at DEL a c1
	denied "--force says that no other node has a lease" a ipam pool set rail0 --slice /29
	fine a ipam pool set rail0 --slice /29 --force
	has "Pool rail0 changed: 8 addresses for this node."
	eq "ADD" "$(add_at a c1)" 10.1.0.8/16
	# A change that leaves leases outside needs --force.
	rails '{prefix:29}' '.excludes=["10.1.0.8"]'
	denied "1 leased address is not in the new definition: 10.1.0.8 (ns/pod-c1)" a ipam pool apply "$W/rails.json"
	fine a ipam pool apply "$W/rails.json" --force --json
	want '. == [{name:"rail0",result:"changed",leasesOutside:1,nodeHasNumber:true}]'
	denied "did not have" a ipam pool set rail0 --no-slice --this-node-only
	fine a ipam pool set rail0 --no-slice --range 10.1.0.8-10.1.0.15
	fine a ipam verify
}

# A pool with blocks is a pool of all nodes: the commands for one node say which command makes it.
test_slices_blocks_are_for_the_cluster()
{
	refused 1 "power of two" ipam pool apply - <<<'{"name":"rail0","subnet":"10.1.0.0/16","blockSize":12}'
	refused 1 "only a pool with blocks" ipam pool apply - <<<'{"name":"rail0","subnet":"10.1.0.0/16","thisNodeOnly":true,"warm":12}'
	refused 1 "at most 30" ipam pool apply - <<<'{"name":"Rail","subnet":"10.1.0.0/16","blockSize":16}'
	ok ipam blocks
	has "This node has no blocks"
	refused 1 "railctl cluster pool apply FILE" ipam pool apply - \
		<<<'{"name":"rail0","subnet":"10.1.0.0/16","blockSize":16,"warm":4,"idle":60,"fence":"strict"}'
	echo '{"subnet":"10.1.0.0/16","blockSize":16}' >"$W/shared.json"
	refused 1 "railctl cluster pool apply FILE" ipam pool add rail0 --file "$W/shared.json"
	ok ipam pool list --json
	want '. == []'
	refused 1 "does not exist" ipam blocks rail1
	refused 1 "railctl cluster pool list" ipam pool show rail0
	ok ipam verify
}

test_slices_table()
{
	rails '{prefix:28}' '.excludes=["10.1.0.32/28","10.1.0.50"] | .ranges=["10.1.0.0-10.1.0.70"]'
	ok ipam pool apply "$W/rails.json"
	ok ipam node set 3
	ok ipam slices rail0 --nodes 6
	eq "the table" "$(sed 's/  */ /g; s/^ //' <<<"$OUT" | paste -sd ';')" \
		"NUMBER FIRST LAST ADDRESSES NODE;0 10.1.0.0 10.1.0.15 14 -;1 10.1.0.16 10.1.0.31 16 -;2 10.1.0.32 10.1.0.47 0 -;3 10.1.0.48 10.1.0.63 15 this node;4 10.1.0.64 10.1.0.79 7 -;5 10.1.0.80 10.1.0.95 0 -"
	ok ipam slices rail0 --nodes 1024 --json
	want 'length == 1024 and .[1023] == {number:1023,first:"10.1.63.240",last:"10.1.63.255",addresses:0}'
	ok ipam slices rail0 --json
	want 'length == 4096'
	refused 1 "highest number that fits is 4095" ipam slices rail0 --nodes 4097
	refused 2 "--nodes" ipam slices rail0 --nodes 0
	refused 1 "does not exist" ipam slices rail1
	refused 1 "slice 5 (10.1.0.80-10.1.0.95) has no address" ipam node set 5
	refused 1 "have numbers from 0 to 4" ipam node set 5
	ok ipam pool add v6 --subnet fd00::/64 --slice /112
	refused 1 "say how many nodes you have" ipam slices v6
	ok ipam slices v6 --nodes 2 --json
	want '.[1] == {number:1,first:"fd00::1:0",last:"fd00::1:ffff",addresses:65536}'
	ok ipam pool add plain --subnet 10.3.0.0/24 --this-node-only
	refused 1 "pool plain has no slices" ipam slices plain
	ok ipam usage
	has "pool rail0, slice 3"
	ok ipam usage rail0 --json
	want '.[0].slice.number == 3 and .[0].capacity == 15'
	ok ipam pool show rail0
	has "Slices:         /28"
}

test_pool_apply_takes_one_or_several()
{
	local one='{"name":"a","subnet":"10.1.0.0/24","thisNodeOnly":true}'
	printf '%s' "$one" | "$BIN/railctl" ipam pool apply - >"$W/out" 2>&1 || fail "from standard input: $(<"$W/out")"
	eq "said" "$(<"$W/out")" "Pool a added."
	jq -n "[$one, {name:\"b\",subnet:\"10.2.0.0/24\",slice:{size:8}}]" >"$W/two.json"
	ok ipam pool apply "$W/two.json" --json
	want '. == [{name:"a",result:"unchanged",leasesOutside:0,nodeHasNumber:true},
		{name:"b",result:"added",leasesOutside:0,nodeHasNumber:false}]'
	# The list of one node is a file for another one.
	ok ipam pool list --json
	cp "$W/out" "$W/list.json"
	ok ipam pool apply "$W/list.json" --data-dir "$W/other"
	ok ipam pool list --json --data-dir "$W/other"
	eq "the same pools" "$(jq -c 'map(.definition)' "$W/out")" "$(jq -c 'map(.definition)' "$W/list.json")"
	# Two pools of a file may change their places.
	ok ipam node set 1
	jq 'map(.definition + {name:(if .name == "a" then "b" else "a" end)})' "$W/list.json" >"$W/swapped.json"
	ok ipam pool apply "$W/swapped.json" --force
	ok ipam pool show a --json
	want '.definition.subnet == "10.2.0.0/24"'
}

test_pool_apply_is_all_or_nothing()
{
	local bad
	for bad in '{"name":"b","subnet":"10.2.0.0/24"}' '{"name":"b"}' '{"subnet":"10.2.0.0/24","thisNodeOnly":true}' \
		'{"name":"b","subnet":"10.2.0.0/24","thisNodeOnly":true,"blockSize":16}' 7 \
		'{"name":"b","subnet":"10.2.0.0/24","slice":{"size":8},"blockSize":16}' \
		'{"name":"b","subnet":"10.2.0.0/24","slices":{"size":8}}' '{"name":"a","subnet":"10.3.0.0/24","thisNodeOnly":true}' \
		'{"name":"b","subnet":"10.1.0.0/16","thisNodeOnly":true}' '{"name":"b","subnet":"10.2.0.0/24","slice":{}}'; do
		echo "[{\"name\":\"a\",\"subnet\":\"10.1.0.0/24\",\"thisNodeOnly\":true}, $bad]" >"$W/file.json"
		refused 1 "" ipam pool apply "$W/file.json"
	done
	refused 1 "a pool has slices or blocks, never both" ipam pool apply - <<<'{"name":"b","subnet":"10.2.0.0/24","slice":{"size":8},"blockSize":16}'
	ok ipam pool list --json
	want '. == []'
	refused 1 "no/such" ipam pool apply "$W/no/such"
	refused 2 "" ipam pool apply
}
