# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# machine.sh: the guest that is the node n1, seen from outside. Sourced by run.sh, behind the parts of ../cluster.
#
# The guest's card is a port of the bridge br0, on which the API server listens. guest.sh makes the node there and then runs
# commands for us: calls.sh answers them over HTTP.

SHARE=$W/vm/share/node
NODE_ADDRESS=10.77.0.2

# machine: the control plane and the guest, until the node is Ready. Failures are in $W/evidence and $W/log.
machine()
{
	mkdir -p "$HOME" "$W/k8s" "$W/log" "$SHARE" && : >"$W/evidence" || return
	{ fabric && credentials && image "$IMAGE" && image localhost/pause:1 && image registry.example/app:latest && image busybox:1.37 && guest_begins; } >"$W/log/machine" 2>&1 || return
	{ control_plane && cluster_objects; } >>"$W/log/machine" 2>&1 || return
	# In one step: the guest waits for it.
	cp "$W/k8s/certs/apiserver.crt" "$SHARE/new" && mv "$SHARE/new" "$SHARE/apiserver.crt" || return
	eventually guest_serves && kubelet_serves
}

guest_begins()
{
	echo "$CLUSTER" >"$SHARE/cluster"
	cp -r "$W/images" "$SHARE/images" && ip tuntap add tap0 mode tap && ip link set tap0 master br0 up || return
	{
		VM_TAP=tap0 VM_MEMORY=${VM_MEMORY:-2304} "$TOP/conformance/vm/run" --inside --kernel "$KERNEL" --topology "$ROOM/cards.topo" \
			--bin "$FROM" --limit "${LIMIT:-14400}" "$ROOM/guest.sh" >"$W/log/guest" 2>&1
		echo $? >"$W/guest.rc"
	} &
	GUEST=$!
	# For what asks whether the node is on.
	mkdir -p "$W/n1" && : >"$W/n1/pid"
}
# A guest that has ended will never do what is waited for: that ends the wait.
guest_lives() { kill -0 "$GUEST" 2>/dev/null || { fail "the guest has ended: $(tail -n 20 "$W/log/guest")"; exit 1; }; }
guest_serves()
{
	guest_lives
	guest true
}
kubelet_serves()
{
	eventually k get node n1 && k wait --for=condition=Ready node n1 "--timeout=${LONG}s" >/dev/null || {
		k describe node n1 | tail -n 40
		fail "not within $LONG s: n1 is Ready"
	}
}

# guest COMMAND...: run it in the guest, outside of the node. If it fails, its stderr is shown behind its stdout.
guest()
{
	local said
	said=$({ printf '%q ' "$@" && echo && cat; } | curl -sS --data-binary @- "http://$NODE_ADDRESS/cgi-bin/calls.sh" && echo .) || return 255
	said=${said%$'\n'.}
	[[ $said =~ (.*)$'\n'([0-9]+)$ ]] || { printf '%s\n' "$said" && return 255; }
	printf '%s' "${BASH_REMATCH[1]}"
	return "${BASH_REMATCH[2]}"
}
# In place of that of node.sh: "1" is the only one.
node() { guest node "$@"; }

# machine_ends: the node is switched off, and the guest looks at what is left.
machine_ends()
{
	guest ends || fail "the guest does not end"
	eventually test -s "$W/guest.rc"
	[ "$(<"$W/guest.rc")" = 0 ] || fail "the guest: $(tail -n 30 "$W/log/guest")"
}
