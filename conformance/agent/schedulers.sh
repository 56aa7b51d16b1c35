# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The groups of nodes that are cabled alike, as schedulers read them: the real slurmctld. kubectl.sh has the labels.

SLURM=$ENGINES/slurmctld/usr
# with_slurm PROGRAM...: with its libraries
with_slurm()
{
	local at
	at=$SLURM/lib/$(uname -m)-linux-gnu
	SLURM_CONF=$W/slurm/slurm.conf LD_LIBRARY_PATH=$at:$at/slurm-wlm "$@"
}
slurm_begin() # TOPOLOGY NODES
{
	mkdir -p "$W/slurm/state"
	cp "$1" "$W/slurm/topology.conf"
	cat >"$W/slurm/slurm.conf" <<-END
	ClusterName=railhead
	SlurmctldHost=$(hostname)(127.0.0.1)
	SlurmUser=root
	AuthType=auth/none
	CredType=cred/none
	PluginDir=$(with_slurm printenv LD_LIBRARY_PATH | cut -d: -f2)
	StateSaveLocation=$W/slurm/state
	SlurmctldPidFile=$W/slurm/state/pid
	ProctrackType=proctrack/pgid
	SelectType=select/cons_tres
	TopologyPlugin=topology/tree
	NodeName=$2 NodeAddr=127.0.0.1
	PartitionName=all Nodes=ALL Default=YES State=UP
	END
	with_slurm exec "$SLURM/sbin/slurmctld-wlm" -D -c -f "$W/slurm/slurm.conf" >"$W/slurm/log" 2>&1 &
	echo $! >"$W/slurm/pid"
}
slurm_end() { [ ! -e "$W/slurm/pid" ] || kill -KILL "$(<"$W/slurm/pid")"; }
slurm_says() { with_slurm "$SLURM/bin/scontrol" show topology >"$W/is" 2>&1; }

# cabled_as NODE LEAF: what its agent says
cabled_as() { engine_object nodes "$1" '{"rails":[{"rail":0,"interface":"eth1","chassis":"mac '"$2"'","system":"'"$2"'","portName":"swp1"}]}' "$1" >/dev/null; }

# topology OPTION...: no node has the label of a group
topology() { ctl n1 cluster topology --labels "$W/labels.json" "$@"; }
test_schedulers_get_each_node_in_one_group()
{
	local n
	[ -x "$SLURM/sbin/slurmctld-wlm" ] || skip "Debian's package slurmctld is not available here"
	NODES=1 cluster_begin
	trap 'case_ends slurm_end cluster_end' EXIT
	echo '{}' >"$W/labels.json"
	isnt "without labels" ctl n1 cluster topology --format slurm
	has "without labels" "$(<"$W/is")" "--labels is missing"
	isnt "nobody listens" topology --format slurm
	has "nobody listens" "$(<"$W/is")" "no agent listens"
	for n in 1 2; do cabled_as "gpu-$n" leaf-a; done
	isnt "two are no group" topology --format slurm
	has "two are no group" "$(<"$W/is")" "no group is known: fewer than 3 nodes are cabled alike"
	cabled_as gpu-3 leaf-a
	for n in 4 5 6; do cabled_as "gpu-$n" leaf-b; done
	cabled_as gpu-7 leaf-c
	isnt "a format that there is not" topology --format moab
	topology --format slurm >"$W/topology.conf"
	eq "for Slurm" "$(<"$W/topology.conf")" "# topology.conf for TopologyPlugin=topology/tree
# g0: rail 0 is on leaf-a
SwitchName=g0 Nodes=gpu-1,gpu-2,gpu-3
# g1: rail 0 is on leaf-b
SwitchName=g1 Nodes=gpu-4,gpu-5,gpu-6
SwitchName=fabric Switches=g0,g1
# in no group: gpu-7"
	eq "for programs" "$(topology --json | jq -c .)" \
		'{"version":1,"groups":[{"name":"g0","nodes":["gpu-1","gpu-2","gpu-3"]},{"name":"g1","nodes":["gpu-4","gpu-5","gpu-6"]}],"undecided":["gpu-7"]}'
	eq "labels" "$(topology --format labels | grep -v '^#' | sed 's/kubectl label node //; s/--overwrite fabric.topograph.run.tier-0=//' | paste -sd ' ')" \
		"gpu-1 g0 gpu-2 g0 gpu-3 g0 gpu-4 g1 gpu-5 g1 gpu-6 g1"
	eq "names that stay" "$(ctl n1 cluster topology --json --labels - <<<'{"gpu-4":"g0","gpu-5":"g0","gpu-1":"g5","gpu-6":"rack-7"}' | jq -r '[.groups[] | .name + " " + .nodes[0]] | join(", ")')" \
		"g5 gpu-1, g0 gpu-4"
	# Two more groups; a file has the switches above the leaves: those of g0 and g2 are the same.
	for n in 81 82 83; do cabled_as "gpu-$n" leaf-d; done
	for n in 84 85 86; do cabled_as "gpu-$n" leaf-e; done
	printf '%s\n' leaf-a,s1,spine-1,p leaf-b,s1,spine-2,p leaf-d,s1,spine-1,q spine-2,q,leaf-e,s1 gpu-1,eth1,leaf-a, >"$W/cables.csv"
	topology --format slurm --topology - <"$W/cables.csv" >"$W/blocks.conf"
	eq "blocks" "$(grep Switches= "$W/blocks.conf" | paste -sd ' ')" "SwitchName=b0 Switches=g0,g2 SwitchName=b1 Switches=g1,g3 SwitchName=fabric Switches=b0,b1"
	eq "labels of blocks" "$(topology --format labels --topology - <"$W/cables.csv" | grep -c 'tier-0=g2 fabric.topograph.run/tier-1=b0$')" 3
	eq "Kueue" "$(topology --format kueue --topology - <"$W/cables.csv" | sed -n 's/.*nodeLabel: //p' | paste -sd ' ')" \
		"fabric.topograph.run/tier-1 fabric.topograph.run/tier-0 kubernetes.io/hostname"
	eq "Volcano" "$(topology --format volcano --topology - <"$W/cables.csv" | sed -n 's/.*nodeLabel: //p' | paste -sd ' ')" \
		"fabric.topograph.run/tier-1 fabric.topograph.run/tier-0 kubernetes.io/hostname"
	eq "blocks for programs" "$(topology --json --topology - <"$W/cables.csv" | jq -r '[.groups[] | .name + " " + .block] | join(", ")')" "g0 b0, g1 b1, g2 b0, g3 b1"
	# One group without a known switch above: no level above at all.
	sed -i /leaf-e/d "$W/cables.csv"
	eq "not of all" "$(topology --format slurm --topology - <"$W/cables.csv" | grep Switches=)" "SwitchName=fabric Switches=g0,g1,g2,g3"
	slurm_begin "$W/blocks.conf" "gpu-[1-7,81-86]"
	eventually slurm_says
	eq "slurmctld with blocks" "$(sed 's/LinkSpeed=1 //; s/ *$//' "$W/is" | grep Switches)" "SwitchName=b0 Level=1 Nodes=gpu-[1-3,81-83] Switches=g0,g2
SwitchName=b1 Level=1 Nodes=gpu-[4-6,84-86] Switches=g1,g3
SwitchName=fabric Level=2 Nodes=gpu-[1-6,81-86] Switches=b0,b1"
	slurm_end && wait "$(<"$W/slurm/pid")"
	# Slurm has all nodes of groups in one switch of each level, and names the one that has none.
	slurm_begin "$W/topology.conf" "gpu-[1-7]"
	eventually slurm_says
	eq "slurmctld" "$(sed 's/LinkSpeed=1 //; s/ *$//' "$W/is")" "SwitchName=g0 Level=0 Nodes=gpu-1,gpu-2,gpu-3
SwitchName=g1 Level=0 Nodes=gpu-4,gpu-5,gpu-6
SwitchName=fabric Level=1 Nodes=gpu-[1-6] Switches=g0,g1"
	has "slurmctld" "$(<"$W/slurm/log")" "switches lack access to 1 nodes: gpu-7"
}
