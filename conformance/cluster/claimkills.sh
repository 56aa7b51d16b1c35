# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# claimkills.sh: pods with rails by one line come and go on n1, while programs of the node are killed at random. Sourced by run.sh with
# PODS=N, the number of pods. SEED=N chooses what is killed, and when (1).
#
# The first action of each container writes into a file of the node how many rails it has. Another process looks all the time whether
# two network namespaces have one address.

SEED=${SEED:-1}
SAID=/run/said
AT_ONCE=${AT_ONCE:-12}
STUCK=600 # seconds without a word of a pod

# kills_pod NUMBER: each fourth container ends again and again.
kills_pod()
{
	local sleep=1000000
	[ $(($1 % 4)) != 3 ] || sleep=2
	pod "k$1" '' 'del(.spec.nodeName) | .spec.nodeSelector = {"kubernetes.io/hostname": "n1"}
		| .spec.volumes = [{name: "said", hostPath: {path: "'$SAID'"}}]
		| .spec.containers[0] += {resources: {limits: {"railhead.io/rails": "1"}}, volumeMounts: [{name: "said", mountPath: "/said"}],
			command: ["/bin/sh", "-c", "echo $(hostname) $(ls /sys/class/net | grep -c ^rail) $(ip -4 -o addr | grep -c \" rail\") $(ls /run/railhead | grep -c nccl.conf) >>/said/all; trap exit TERM; sleep '$sleep' & wait"]}'
}

# --- who dies ----------------------------------------------------------------------------------

# slay PATTERN CHOICE: one of the processes with that name, which is waited for.
slay()
{
	node 1 bash -c 'for ((i = 0; i < 400; i++)); do
			mapfile -t pids < <(pgrep "$1")
			[ ${#pids[@]} = 0 ] || break
			sleep 0.002
		done
		[ ${#pids[@]} -gt 0 ] && kill -KILL "${pids[$2 % ${#pids[@]}]}"' - "$1" "$2"
}
restart() { service 1 "$1" kill && is "$1 comes again" service 1 "$1" start; }
# chain CHOICE: the owner of the pod network writes its file, with the entry of the plugin or without.
chain() { multus_thin 1 "$(cluster_network 1 | jq -c 'if '"$1"' % 2 == 0 then .plugins += [{type: "railhead"}] else . end')"; }

# killer NUMBER PAUSE VICTIM...: until the file stop is there. Lines of $W/kills are what was killed.
killer()
{
	local who pause=$2
	RANDOM=$((100 * SEED + $1))
	shift 2
	until [ -e "$W/stop" ]; do
		who=${*:RANDOM % $# + 1:1}
		case $who in
		hook) slay '^railhead-hook$' "$RANDOM" ;;
		plugin) slay '^railhead$' "$RANDOM" ;;
		shim) slay '^containerd-shim' "$RANDOM" ;;
		driver) restart railhead-devices ;;
		agent) restart railheadd ;;
		chain) chain "$RANDOM" ;;
		*) restart "$who" ;;
		esac >/dev/null 2>&1 && echo "$who" >>"$W/kills"
		sleep "$((RANDOM % pause)).$((RANDOM % 10))"
	done
}

# --- what is wrong -----------------------------------------------------------------------------

# observer: addresses of rails that two network namespaces have. One is read again, since its pod may have ended meanwhile.
observer()
{
	node 1 bash -c 'rails_of() { ip -n "$1" -4 -o addr 2>/dev/null | gawk -v n="$1" "/ 10\.2[0-7]\./ { split(\$4, a, \"/\"); print a[1], n }"; }
		while [ -e '$SAID' ] && [ ! -e '$SAID'/stop ]; do
			for f in /run/netns/*; do rails_of "${f##*/}"; done >/run/observed
			echo >>'$SAID'/looks
			gawk "seen[\$1] { print \$1, seen[\$1], \$2 } { seen[\$1] = \$2 }" /run/observed | while read -r address a b; do
				rails_of "$a" | grep -q "^$address " && rails_of "$b" | grep -q "^$address " && rails_of "$a" | grep -q "^$address " &&
					echo "$address $a $b" >>'$SAID'/twice
			done
			sleep 0.3
		done'
}
# starts_said [FILTER]: of the lines "POD RAILS ADDRESSES SETTINGS", one for each start of a container
starts_said() { node 1 cat $SAID/all 2>/dev/null | awk "${1-1}"; }
NOT_WHOLE='$2 != 8 || $3 != 8 || $4 != 1'
# nothing_of_pods: on the node
nothing_of_pods()
{
	nothing_of_claims && [ "$(interfaces 1)" = '[]' ] && [ -z "$(node 1 ls /run/netns)" ] &&
		[ -z "$(node 1 sh -c 'ip -o link show type macvlan')" ]
}

# --- pods --------------------------------------------------------------------------------------

# pods_go: those that have said something; each fifth one in its first seconds, whatever it does, and each eleventh one by force. Prints how many are left.
pods_go()
{
	local name seconds went=() forced=()
	starts_said '{ print $1 }' | sort -u >"$W/spoke"
	while read -r name seconds; do
		if [ $((${name#k} % 11)) = 10 ] && [ "$seconds" -ge $((${name#k} % 7)) ]; then
			forced+=("$name")
		elif { [ $((${name#k} % 5)) = 4 ] && [ "$seconds" -ge $((${name#k} % 7)) ]; } || grep -qx "$name" "$W/spoke"; then
			went+=("$name")
		elif [ "$seconds" -gt "$STUCK" ]; then
			{ echo "$name said nothing"; kn get events --field-selector "involvedObject.name=$name" -o json | jq -r '.items[-3:][].message'; } >>"$W/stuck"
			went+=("$name")
		fi
	done < <(kn get pods -o json | jq -r '.items[] | select(.metadata.deletionTimestamp == null) | "\(.metadata.name) \(now - (.metadata.creationTimestamp | fromdate) | floor)"')
	[ ${#went[@]} = 0 ] || kn delete pod --wait=false "${went[@]}" >/dev/null 2>&1
	[ ${#forced[@]} = 0 ] || kn delete pod --wait=false --force --grace-period=0 "${forced[@]}" >/dev/null 2>&1
	kn get pods -o name | wc -l
}
pods_are_few() { [ "$(pods_go)" -lt "$1" ]; }

# kills_begin: what the two cases share. Pools are small, so an address has its next pod soon.
kills_begin()
{
	LEAST=27 claims_up
	trap kills_end EXIT
	is 'the folder' node 1 mkdir -m 777 $SAID
	rm -f "$W/stop" "$W/kills" "$W/stuck"
	observer &
}
kills_end()
{
	: >"$W/stop"
	node 1 touch $SAID/stop
	wait
	claims_down
	node 1 rm -rf $SAID
}
# kills_pods N: come and go, and end.
kills_pods()
{
	local i
	for ((i = 0; i < $1; i++)); do
		PATIENCE=7200 eventually pods_are_few "$AT_ONCE"
		kills_pod "$i"
	done
	PATIENCE=$((2 * STUCK)) eventually pods_are_few 1
}

once_pods_under_kills()
{
	local began=$SECONDS killers
	kills_begin
	killer 1 1 hook hook plugin &
	killers=$!
	killer 2 3 driver driver agent shim shim chain chain kubelet containerd &
	killers+=" $!"
	kills_pods "$PODS"
	: >"$W/stop"
	# shellcheck disable=SC2086 # two words
	wait $killers
	PATIENCE=120 eventually nothing_of_pods || fail "left: $(cat "$W/is") $(leases 1 | xargs) $(records 1 | xargs) $(interfaces 1) $(node 1 ls /run/netns)"
	eq 'starts of containers without all rails' "$(starts_said "$NOT_WHOLE" | head)" ''
	eq 'addresses that two pods had' "$(node 1 cat $SAID/twice 2>/dev/null | head)" ''
	eq 'pods that never started' "$(cat "$W/stuck" 2>/dev/null | head -n 30)" ''
	{
		echo "seed $SEED: $PODS pods in $((SECONDS - began)) s, $(starts_said | wc -l) containers of $(starts_said '{ print $1 }' | sort -u | wc -l) pods started," \
			"$(starts_said "$NOT_WHOLE" | wc -l) without all rails; $(node 1 sh -c "wc -l <$SAID/looks") looks at all addresses"
		echo "killed: $(sort "$W/kills" | uniq -c | xargs)"
	} >>"$W/speed"
}

# A gate that refuses nothing: the same count notices it.
once_kills_are_noticed()
{
	kills_begin
	is 'a gate that does nothing' node 1 cp /bin/true /opt/cni/bin/railhead-hook
	kills_pods 4
	isnt 'all had their rails' test -z "$(starts_said "$NOT_WHOLE")"
}
