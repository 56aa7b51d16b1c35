# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# podman.sh: podman 4 with the CNI backend, which has no daemon. Sourced by run.sh.

export CONTAINERS_CONF=$W/containers.conf CONTAINERS_STORAGE_CONF=$W/storage.conf

podman_config()
{
	# Without CAP_SYS_RESOURCE no limit can be raised.
	cat >"$CONTAINERS_CONF" <<-END
		[containers]
		default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
		cgroups = "disabled"
		log_driver = "k8s-file"
		[engine]
		cgroup_manager = "cgroupfs"
		events_logger = "file"
		runtime = "crun"
		[network]
		network_backend = "cni"
		cni_plugin_dirs = ["/opt/cni/bin"]
		network_config_dir = "$NETD"
	END
	cat >"$CONTAINERS_STORAGE_CONF" <<-END
		[storage]
		driver = "overlay"
		runroot = "$W/podman/run"
		graphroot = "$W/podman/root"
	END
}

# podman_up [FILTER]: networks rail and other (changed by a jq filter), and the image.
podman_up()
{
	local name
	rm -f "$NETD"/*
	NET=rail
	for name in rail other; do
		jq -n --arg name "$name" --arg master "$MASTER" '{cniVersion: "1.0.0", name: $name, plugins: [
			{type: "macvlan", master: $master, capabilities: {ips: true, mac: true}, ipam: {
				type: "railhead-ipam", subnet: "10.77.0.0/24", rangeStart: "10.77.0.2",
				rangeEnd: "10.77.0.99", gateway: "10.77.0.1"}},
			{type: "tuning", mtu: 1400}]} |
			if .name == "other" then .plugins[0].ipam.rangeStart = "10.77.0.100"
				| .plugins[0].ipam.rangeEnd = "10.77.0.199" else . end | '"${1-.}" >"$NETD/$name.conflist" ||
			fail "test error: podman_up $1" || return
	done
	podman_config
	podman image exists "$IMAGE" || {
		is pull podman pull -q "oci-archive:$W/image.tar" &&
			is tag podman tag localhost/1 "$IMAGE"
	}
}

# podman_run NAME [OPTION...]: sets PID, NS and ID.
podman_run()
{
	local name=$1
	shift
	[ $# -gt 0 ] || set -- --network rail
	is "pod $name" podman run -d --name "$name" "$@" "$IMAGE" sleep 1000 || return
	ID=$(podman inspect --format '{{.Id}}' "$name")
	PID=$(podman inspect --format '{{.State.Pid}}' "$name")
	NS=$(netns_of "$PID")
}
podman_end()
{
	is stop podman stop -t 0 "$1"
	is rm podman rm "$1"
}

test_podman_attach()
{
	local ns1 address1
	podman_up || return
	podman_run a || return
	ns1=$NS
	address1=$(addresses "$ns1" eth0)
	podman_run b || return
	attached "$ns1" eth0
	attached "$NS" eth0
	eq 'MTU of the chained plugin' "$(link "$NS" eth0 .mtu)" 1400
	eq 'what podman tells' "$(podman inspect --format '{{.NetworkSettings.Networks.rail.IPAddress}}' b)" \
		"$(addresses "$NS" eth0)"
	has 'seen from inside' "$(podman exec b ip -o -4 addr show dev eth0)" "$(addresses "$NS" eth0)"
	is 'ping the other pod' podman exec b ping -c 1 -W 3 "$address1"
	reach "$ns1" "$(addresses "$NS" eth0)"
	podman_end a
	podman_end b
	no_left_over
}

# Known behaviour of podman 4; the plugins must cope with it.
test_podman_calls()
{
	local n v
	podman_up || return
	podman_run a || return
	podman_end a
	v=$(first macvlan VERSION)
	eq 'variables of VERSION' "$(var "$v" CNI_CONTAINERID) $(var "$v" CNI_NETNS) $(var "$v" CNI_IFNAME) $(var "$v" CNI_PATH)" \
		' dummy dummy dummy'
	eq 'input of VERSION' "$(input "$v" .)" '{"cniVersion":"1.0.0"}'
	has 'answer to VERSION' "$(output "$v" .supportedVersions)" '"1.0.0"'
	eq 'other calls of macvlan' "$(commands macvlan -VERSION)" 'ADD DEL'
	n=$(first macvlan ADD)
	eq CNI_CONTAINERID "$(var "$n" CNI_CONTAINERID)" "$ID"
	like CNI_NETNS "$(var "$n" CNI_NETNS)" '/run/netns/netns-[-0-9a-f]+'
	eq 'keys of CNI_ARGS' "$(arg_keys "$n")" 'IgnoreUnknown K8S_POD_NAME '
	eq 'name of the pod' "$(arg "$n" K8S_POD_NAME)" a
	n=$(first macvlan DEL)
	like 'CNI_NETNS of DEL' "$(var "$n" CNI_NETNS)" '/run/netns/netns-[-0-9a-f]+'
	has 'prevResult of DEL' "$(input "$n" .prevResult.ips)" 10.77.0.
	again macvlan
	again railhead-ipam
	no_left_over
}

test_podman_wishes()
{
	podman_up || return
	podman_run a --network rail:ip=10.77.0.55,mac=02:77:00:00:00:55,interface_name=fast0 || return
	eq 'address' "$(addresses "$NS" fast0)" 10.77.0.55
	eq 'runtimeConfig' "$(input "$(first macvlan ADD)" .runtimeConfig)" null
	eq 'address in CNI_ARGS' "$(arg "$(first macvlan ADD)" IP)" 10.77.0.55
	# tuning, behind us, sets it as well.
	eq 'MAC address in the result' "$(output "$(first macvlan ADD)" '.interfaces[0].mac')" 02:77:00:00:00:55
	eq 'MAC address' "$(link "$NS" fast0 .address)" 02:77:00:00:00:55
	attached "$NS" fast0
	isnt 'the same address again' podman run -d --name b --network rail:ip=10.77.0.55 "$IMAGE" sleep 1000
	has 'what the user is told' "$(<"$W/is")" 10.77.0.55
	is 'rm b' podman rm -f -t 0 b
	attached "$NS" fast0
	podman_end a
	no_left_over
}

test_podman_two_networks()
{
	podman_up || return
	podman_run a --network rail --network other || return
	attached "$NS" eth0
	attached "$NS" eth1
	is disconnect podman network disconnect other a
	eq 'leases' "$(leases | grep -c .)" 1
	is connect podman network connect other a
	eq 'leases' "$(leases | grep -c .)" 2
	is 'ping from inside' podman exec a ping -c 1 -W 3 "$GATEWAY"
	podman_end a
	no_left_over
}

# A DEL and an ADD in a namespace that lives on.
test_podman_reload()
{
	podman_up || return
	podman_run a || return
	is reload podman network reload a
	eq 'calls of macvlan' "$(commands macvlan -VERSION)" 'ADD DEL ADD'
	attached "$NS" eth0
	is 'ping from inside' podman exec a ping -c 1 -W 3 "$GATEWAY"
	podman_end a
	no_left_over
}

test_podman_pool_exhausted()
{
	podman_up '.plugins[0].ipam |= (.rangeStart = "10.77.0.50" | .rangeEnd = .rangeStart)' || return
	podman_run a || return
	isnt 'a second pod' podman run -d --name b --network rail "$IMAGE" sleep 1000
	has 'what the user is told' "$(<"$W/is")" 'no address is left'
	is 'rm b' podman rm -f -t 0 b
	eq 'leases' "$(leases)" 10.77.0.50
	attached "$NS" eth0
	podman_end a
	podman_run b || return
	attached "$NS" eth0
	podman_end b
	no_left_over
}

test_podman_master_missing()
{
	podman_up '.plugins[0].master = "nope0"' || return
	isnt 'a pod without master' podman run -d --name a --network rail "$IMAGE" sleep 1000
	has 'what the user is told' "$(<"$W/is")" nope0
	is 'rm' podman rm -f -t 0 a
	no_left_over
}

# podman 4 calls no DEL then. An operator must see the remains.
test_podman_netns_gone()
{
	local path
	podman_up || return
	podman_run a || return
	path=$(var "$(first macvlan ADD)" CNI_NETNS)
	umount "$path" && rm -f "$path"
	is 'rm' podman rm -f -t 0 a
	eventually no_runtime_processes
	eq 'calls of macvlan' "$(commands macvlan -VERSION)" ADD
	eq 'what railctl sees' "$(attachments)" 'rail eth0 netns-gone'
	repair
	no_left_over
}

# conmon is podman's process of a running container. It is killed together with the container, so
# podman is not informed. The next command of podman must find the network.
test_podman_killed_between()
{
	podman_up || return
	podman_run a || return
	kill -KILL "$(podman inspect --format '{{.State.ConmonPid}}' a)" "$PID"
	eventually no_runtime_processes
	eq 'calls of macvlan' "$(commands macvlan -VERSION)" ADD
	is 'rm' podman rm -f -t 0 a
	eq 'calls of macvlan' "$(commands macvlan -VERSION)" 'ADD DEL'
	no_left_over
}

# podman itself is killed while ADD is at work. It has not noted the network yet, so its rm calls no DEL,
# and it stumbles over a mount of its own.
test_podman_killed_in_add()
{
	local podman
	podman_up || return
	hold macvlan ADD
	podman run -d --name a --network rail "$IMAGE" sleep 1000 >/dev/null 2>&1 &
	podman=$!
	held
	kill -KILL "$podman"
	wait "$podman" 2>/dev/null
	release
	eventually no_runtime_processes
	awk '$2 ~ "^/run/work/podman/.*/shm$" {print $2}' /proc/self/mounts | xargs -r umount
	is 'rm' podman rm -f -t 0 a
	eq 'calls of macvlan' "$(commands macvlan -VERSION)" ADD
	drop_netns
	eq 'what railctl sees' "$(attachments)" 'rail eth0 netns-gone'
	repair
	no_left_over
}
# The namespaces that podman does not know of any more.
drop_netns()
{
	local ns
	for ns in /run/netns/netns-*; do
		[ ! -e "$ns" ] || { umount "$ns" && rm -f "$ns"; }
	done
}

# podman lost its state; it will not call DEL.
test_podman_forgotten()
{
	podman_up || return
	podman_run a || return
	kill -KILL "$(podman inspect --format '{{.State.ConmonPid}}' a)" "$PID"
	eventually no_runtime_processes
	podman_wipe
	eq 'what railctl sees' "$(attachments)" 'rail eth0 healthy'
	is GC gc_of rail
	no_left_over
	drop_netns
}
podman_wipe()
{
	awk '$2 ~ "^/run/work/podman/" {print $2}' /proc/self/mounts | tac | while read -r m; do
		umount -l "$m"
	done
	rm -rf "$W/podman" /dev/shm/libpod_lock /run/libpod
}
gc_of() # NETWORK
{
	cp "$NETD/$1.conflist" "$NETD/10-rail.conflist"
	gc
	rm "$NETD/10-rail.conflist"
}
