# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2317 # functions that check calls
# seconds: 70
# unit: a boot of systemd, in namespaces of its own, as a container's is: railhead-vf.service makes the VFs before
# network-pre.target is reached and before a runtime starts, keeps them when restarted, and its failure stops no other unit.
# railheadd.service, in the sandbox of its unit and without a cluster store, repairs what a dead pod left. It starts railhead-devices.service,
# which sees the VFs in a sandbox of its own.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
SAW=/run/saw
ETC=/etc/systemd/system

# The machine's own units stay out: only what a boot to multi-user.target with ours must have.
units()
{
	rm -rf "$ETC" /lib/systemd/system/*.wants
	mkdir -p "$ETC/railhead-vf.service.d"
	printf '[Service]\nStandardOutput=append:%s/said\nStandardError=inherit\n' $SAW >"$ETC/railhead-vf.service.d/test.conf"
	install -m 755 -t /usr/local/sbin "$BIN/railctl" "$BIN/railheadd" "$BIN/railhead-devices"
	install -D -m 644 -t /usr/local/lib/systemd/system packaging/systemd/*.service
	cat >"$ETC/railhead-test.target" <<-END
		[Unit]
		DefaultDependencies=no
		Wants=multi-user.target containerd.service network-reader.service
	END
	cat >"$ETC/multi-user.target" <<-END
		[Unit]
		DefaultDependencies=no
	END
	witness containerd.service
	witness network-reader.service network-pre.target
	cat >"$ETC/end.service" <<-END
		[Unit]
		DefaultDependencies=no
		After=containerd.service network-reader.service railhead-vf.service railhead-qos.service railheadd.service
		SuccessAction=exit-force
		FailureAction=exit-force
		[Service]
		Type=oneshot
		ExecStart=-/bin/bash $SAW/script
	END
	systemctl --root=/ enable railhead-vf.service railhead-qos.service railheadd.service
	mkdir "$ETC/railhead-test.target.wants"
	ln -s ../end.service "$ETC/railhead-test.target.wants/"
}

# witness UNIT [AFTER]: a unit that writes down how many VFs there were when it started.
witness()
{
	cat >"$ETC/$1" <<-END
		[Unit]
		DefaultDependencies=no
		After=${2-}
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/bin/sh -c 'cat /sys/bus/pci/devices/*/sriov_numvfs | paste -sd+ | tr -d "\\\\n" >$SAW/$1'
	END
}

# boots SCRIPT: a boot, SCRIPT at its end.
boots()
{
	rm -rf $SAW
	mkdir $SAW
	printf '%s\n' "$1" >$SAW/script
	timeout "$LAST_RESORT" unshare --pid --fork --kill-child --mount --mount-proc --cgroup env -i container=railhead PATH="$PATH" \
		/lib/systemd/systemd --system --unit=railhead-test.target --log-target=console --log-level=info --show-status=no \
		</dev/null >$SAW/log 2>&1
	cat $SAW/log
	[ -e $SAW/end ]
}
saw() { is "$(cat "$SAW/$1")" "$2"; }
prop() { grep -qx "$2" "$SAW/$1" || { cat "$SAW/$1" && false; }; }

# shellcheck disable=SC2086 # words
set -- $PFS
ASK='systemctl show railhead-vf.service >'$SAW'/vf; systemctl show railhead-qos.service >'$SAW'/qos; touch '$SAW'/end'
check "the units are there" units
check "a boot without configuration" boots "$ASK"
check "the unit is not started" prop vf ConditionResult=no
check "neither is that of quality of service" prop qos ConditionResult=no
check "and there are no VFs" saw containerd.service 0+0

mkdir -p /etc/railhead/vf.d
echo '{"pf": "'"$1"'", "count": 4}' >/etc/railhead/vf.d/10.json
check "a boot with a file" boots "mv $SAW/containerd.service $SAW/first
	ls -l /sys/class/net >$SAW/before; systemctl restart railhead-vf.service; ls -l /sys/class/net >$SAW/after
	$ASK"
check "it ended well" prop vf Result=success
check "and counts as up" prop vf SubState=exited
check "a runtime that starts finds the VFs" saw first 4+0
check "and so does what sets up networks" saw network-reader.service 4+0
check "VFs are there" test "$(cat "/sys/class/net/$1/device/sriov_numvfs")" = 4
check "a restart" test -s $SAW/before
check "leaves the interfaces as they are" cmp $SAW/before $SAW/after

echo '{"pf": "ens99", "count": 3}' >/etc/railhead/vf.d/20.json
check "a boot with a card that is not there" boots "$ASK"
check "the unit has failed" prop vf Result=exit-code
check "and says which" grep -q 'ens99' $SAW/said
check "the runtime starts" saw containerd.service 4+0

# The namespace of the pod is made, and goes, after the unit has begun. A repair writes below /run, /var/lib and /var/log.
mkdir -p /opt/cni/bin
install -m 755 -t /opt/cni/bin "$BIN/macvlan" "$BIN/railhead-ipam"
rm /etc/railhead/vf.d/20.json
echo '{"repair": {"every": 1, "grace": 1}}' >/etc/railhead/agent.json
mkdir -p /etc/railhead/resources.d /var/lib/kubelet/device-plugins
echo '{"resources": [{"name": "example.com/rail0", "select": {"pf": "'"$1"'"}}]}' >/etc/railhead/resources.d/10.json
cat >/run/attach <<-END
	. $TREE/conformance/vm/guest/lib.sh
	railctl ipam pool add local --subnet 10.94.0.0/24 --cooldown 0 --this-node-only
	ip link add agent0 type dummy
	ip link set agent0 up
	ip netns add p1
	CNI_COMMAND=ADD CNI_CONTAINERID=p1 CNI_NETNS=/run/netns/p1 CNI_IFNAME=net1 CNI_PATH=/opt/cni/bin /opt/cni/bin/macvlan <<<'{
		"cniVersion": "1.1.0", "name": "rails", "type": "macvlan", "master": "agent0",
		"ipam": {"type": "railhead-ipam", "pool": "local", "auditLog": "/var/log/railhead-ipam.log"}}'
	eventually railctl cluster status
	ip netns del p1
	eventually grep '"verb":"release"' /var/log/railhead-ipam.log
	railctl cluster status --json | jq -r .repair.repaired.attachment >$SAW/repaired
	railctl ipam lease list --json | jq 'map(select(.state == "leased")) | length' >$SAW/leases
	systemctl show railheadd.service >$SAW/agent
	eventually eval 'railctl cluster status --json | jq -e ".devicePlugin.looks > 0"'
	railctl cluster status --json | jq -c '.devicePlugin | [.error, (.resources[0] | .healthy + .unhealthy)]' >$SAW/offered
	ls /var/lib/kubelet/device-plugins | sed 's/-[^-]*$//' >$SAW/sockets
	systemctl show railhead-devices.service >$SAW/devices
	kill -KILL "\$(systemctl show -p MainPID --value railhead-devices.service)"
	eventually eval '[ "\$(systemctl show -p NRestarts --value railhead-devices.service)" = 1 ]'
	systemctl show railheadd.service >$SAW/after
	jq -r .verb /var/log/railhead-ipam.log | paste -sd' ' >$SAW/audit
	touch $SAW/end
END
check "a boot with an agent" boots "exec bash /run/attach"
check "the unit runs" prop agent SubState=running
check "its first process does" prop agent NRestarts=0
check "it repaired what the dead pod left" saw repaired 1
check "and the address is free" saw leases 0
check "and stands in the audit log" saw audit "allocate release"
check "it started the device plugin" prop devices SubState=running
check "in a sandbox" prop devices CapabilityBoundingSet="cap_dac_read_search cap_sys_ptrace"
check "which sees the VFs" saw offered '[null,4]'
check "at a socket" saw sockets railhead-rail0
check "the agent outlives its end" prop after NRestarts=0

ip link del agent0
rm /run/attach
echo 0 >"/sys/class/net/$1/device/sriov_numvfs"
rm -rf /etc/railhead /run/railhead /var/lib/railhead /var/lib/kubelet
echo "# $(cut -d. -f1 /proc/uptime) s"
finish
