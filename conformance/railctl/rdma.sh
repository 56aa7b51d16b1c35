# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rdma.sh: list, env and check where there is no RDMA device; conformance/vm has some.
# shellcheck disable=SC2154

# Devices of this machine would be seen here as well: then the guest's suite is the better place.
bare()
{
	[ -z "$(ls /sys/class/infiniband 2>/dev/null)" ] || skip "this machine has RDMA devices"
}

test_rdma_list_without_devices()
{
	bare
	ok rdma list
	[[ $OUT == "No RDMA devices"* ]] || fail "$(said)"
	ok rdma list --gids
	[[ $OUT == "No RDMA devices"* ]] || fail "$(said)"
	ok rdma list --ib
	[[ $OUT == "No RDMA devices"* ]] || fail "$(said)"
	refused 2 '--gids and --ib exclude each other' rdma list --gids --ib
	ok rdma list --json
	want '. == []'
	ip netns add pod1
	ok rdma list --netns /run/netns/pod1 --json
	want '. == []'
}

test_rdma_env_without_devices()
{
	bare
	refused 1 'no RDMA' rdma env
	refused 1 'railctl rdma check' rdma env --format json
	refused 1 'no RDMA' rdma env --netns /proc/self/ns/net
	ip netns add pod1
	refused 1 'no RDMA' rdma env --netns /run/netns/pod1
	refused 1 'there is no interface "net7"' rdma env --interface net7
}

test_rdma_env_options_that_are_wrong()
{
	refused 2 'not one of shell, json, kubernetes' rdma env --format yaml
	refused 2 '--for "pytorch" is not one of nccl, ucx' rdma env --for pytorch
	refused 2 'exclude each other' rdma env --format shell --json
	refused 2 '--dir writes each format' rdma env --dir "$W" --explain
	refused 1 'no RDMA' rdma env --dir "$W/of-no-rails"
	isnt "a folder without rails" test -e "$W/of-no-rails"
	refused 2 '--expect-rails "0" is not a number from 1 to 256' rdma env --expect-rails 0
	refused 2 '--tc "256" is not a number from 0 to 255' rdma env --tc 256
	refused 2 '--tc "" is not a number' rdma env --tc ''
	refused 2 '--sl "16" is not a number from 0 to 15' rdma env --sl 16
	refused 2 '--cross-nic "3" is not a number from 0 to 2' rdma env --cross-nic 3
	refused 2 'neither 4 nor 6' rdma env --family 5
	refused 2 'neither infiniband nor ethernet' rdma env --link-layer roce
	refused 2 '--pkey "0x8000" is not a partition key' rdma env --pkey 0x8000
	refused 2 '--adaptive-routing "2" is not a number from 0 to 1' rdma env --adaptive-routing 2
	refused 2 '--interface "a/b"' rdma env --interface net1 --interface a/b
	refused 2 '--socket ""' rdma env --socket ''
	refused 2 'given twice' rdma env --tc 1 --tc 2
	refused 2 '--nccl-version "2" is not a version such as 2.27' rdma env --nccl-version 2
	refused 2 '--ucx-version "v1.18" is not a version' rdma env --ucx-version v1.18
	refused 2 '--nccl-version "new" is not a version' rdma check --nccl-version new
	refused 2 'one word too many' rdma env net1
}

test_rdma_check_without_devices()
{
	bare
	local reason
	r rdma check
	[ "$RC" = 1 ] && [ -z "$ERR" ] || fail "$(said)"
	[[ $OUT == "fail     devices"* ]] || fail "$(said)"
	has "so: "
	has "do: "
	eq "last line" "$(tail -n 1 "$W/out")" "0 ok, 0 warned, 1 failed, 0 unknown"
	reason=$(sed -n 's/^fail *devices *//p' "$W/out")
	r rdma check --json --strict
	[ "$RC" = 1 ] || fail "$(said)"
	want '(.findings | length) == 1 and (.findings[0] | .check == "devices" and .state == "fail" and (.consequence | length > 0) and
		(.remedy | length > 0) and .subject == null)'
	eq "evidence" "$(jq -r '.findings[0].value' "$W/out")" "$reason"
	refused 2 '--pkey "0x0" is not a partition key' rdma check --pkey 0x8001 --pkey 0x0
}

test_rdma_namespaces_that_are_none()
{
	local c
	touch "$W/plain"
	for c in list env check; do
		refused 2 'must be an absolute path' rdma $c --netns pod1
		refused 1 '/run/netns/nothing: No such file' rdma $c --netns /run/netns/nothing
		refused 1 'is a plain file' rdma $c --netns "$W/plain"
		refused 1 'not a network namespace' rdma $c --netns /proc/self/ns/mnt
		refused 1 'No such file' rdma $c --netns /proc/999999999/ns/net
	done
}

# The mounts of the command are in its own namespace.
test_rdma_netns_leaves_nothing()
{
	ip netns add pod1
	cp /proc/self/mountinfo "$W/before"
	r rdma list --netns /run/netns/pod1
	r rdma check --netns /run/netns/pod1
	cp /proc/self/mountinfo "$W/after"
	cmp -s "$W/before" "$W/after" || fail "mounts changed: $(diff "$W/before" "$W/after")"
	ip netns del pod1 || fail "the namespace is held"
}

test_rdma_netns_needs_root()
{
	ip netns add pod1
	chmod -R a+rX "$W"
	cp "$BIN/railctl" "$W/railctl"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$W/railctl" rdma list --netns /run/netns/pod1 \
		>"$W/out" 2>"$W/err"
	eq "status" $? 1
	grep -q 'needs root' "$W/err" || fail "stderr: $(<"$W/err")"
	rm -f "$W/railctl"
}
