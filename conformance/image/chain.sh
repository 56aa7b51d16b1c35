# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# chain.sh: the plugin railhead in the list of plugins of the pod network, between files as Calico, Cilium, flannel and Multus write
# them. Sourced by run.sh.

NET=$C/host/etc/cni/net.d
INSIDE=/host/etc/cni/net.d

# net NAME: the file as its owner writes it, with the owner's mode
net()
{
	mkdir -p "$NET" "$W/nets"
	case $1 in
	*calico*) printf '{\n  "name": "k8s-pod-network",\n  "cniVersion": "1.0.0",\n  "plugins": [\n    {\n      "type": "calico",\n      "mtu": 1450,\n      "ipam": {\n          "type": "calico-ipam"\n      }\n    },\n    {\n      "type": "portmap",\n      "snat": true,\n      "capabilities": {"portMappings": true}\n    }\n  ]\n}' ;;
	*cilium*) printf '\n{\n  "cniVersion": "0.3.1",\n  "name": "cilium",\n  "plugins": [\n    {\n       "type": "cilium-cni",\n       "enable-debug": false\n    }\n  ]\n}' ;;
	*flannel*) printf '{\n  "name": "cbr0",\n  "cniVersion": "0.3.1",\n  "plugins": [\n    {\n      "type": "flannel",\n      "delegate": {\n        "hairpinMode": true\n      }\n    },\n    {\n      "type": "portmap",\n      "capabilities": {\n        "portMappings": true\n      }\n    }\n  ]\n}\n' ;;
	*thick*) echo '{"cniVersion":"0.3.1","clusterNetwork":"/host/etc/cni/net.d/10-flannel.conflist","name":"multus-cni-network","type":"multus-shim"}' ;;
	*thin*) # the first other file, as one line
		printf '{\n        "cniVersion": "0.3.1",\n        "name": "multus-cni-network",\n        "type": "multus",\n        "delegates": [\n                %s\n        ]\n}\n' "$(jq -c . "$NET"/10-*)" ;;
	esac >"$W/nets/$1"
	cp "$W/nets/$1" "$NET/${2-$1}" && chmod "$([[ $1 = *calico* ]] && echo 600 || echo 644)" "$NET/${2-$1}"
}
plugins_of() { jq -r "[${2-}.plugins[].type] | join(\" \")" "$NET/$1"; }
as_before() { cmp "$W/nets/$1" "$NET/${2-$1}" >>$W/out 2>&1; } # NAME [NAME THERE]
has_program() { [ -x "$CNI/railhead" ]; }

is_off_without_the_option()
{
	net 10-flannel.conflist
	image a && start && holds a && as_before 10-flannel.conflist && ! has_program
}

owners_files_are_chained()
{
	local file
	image a || return
	for file in 10-calico.conflist 05-cilium.conflist 10-flannel.conflist; do
		rm -rf "$NET" && net $file && start CNI_CONF=$INSIDE && says "chained railhead in the pod network: $file" && has_program || return
		[ "$(plugins_of $file)" = "$(jq -r '[.plugins[].type] | join(" ")' "$W/nets/$file") railhead" ] &&
			[ "$(stat -c %a "$NET/$file")" = "$([[ $file = *calico* ]] && echo 600 || echo 644)" ] || return
		# The pod's network of before, and the entry.
		jq 'del(.plugins[-1])' "$NET/$file" | jq -e --slurpfile b "$W/nets/$file" '. == $b[0]' >>$W/out || return
		start CNI_CONF=$INSIDE && says "unchanged railhead in the pod network: $file" && start --remove && says "unchained railhead" &&
			empty && as_before $file && [ "$(ls -A "$NET")" = $file ] || return
	done
}

an_owner_that_writes_again_is_chained_again()
{
	image a && net 10-calico.conflist && start CNI_CONF=$INSIDE && net 10-calico.conflist && start CNI_CONF=$INSIDE &&
		says "chained railhead" && [ "$(plugins_of 10-calico.conflist)" = "calico portmap railhead" ] &&
		image b && start CNI_CONF=$INSIDE && says "replaced railhead" && says "unchanged railhead in the pod network"
}

Multus_is_chained_where_it_reads()
{
	image a && net 10-flannel.conflist && net thin 00-multus.conf && start CNI_CONF=$INSIDE &&
		[ "$(plugins_of 10-flannel.conflist)" = "flannel portmap railhead" ] &&
		[ "$(plugins_of 00-multus.conf '.delegates[0]')" = "flannel portmap railhead" ] && start --remove && as_before 10-flannel.conflist &&
		as_before thin 00-multus.conf && net thick 00-multus.conf && start CNI_CONF=$INSIDE && as_before thick 00-multus.conf &&
		[ "$(plugins_of 10-flannel.conflist)" = "flannel portmap railhead" ]
}

what_cannot_be_chained_is_said()
{
	image a && start CNI_CONF=$INSIDE && says "not chained in the pod network: folder of network configurations" && has_program || return
	mkdir -p "$NET" && start CNI_CONF=$INSIDE && says "no file has the pod network" || return
	echo '{"cniVersion":"0.2.0","name":"old","type":"bridge"}' >"$NET/10-old.conf" && start CNI_CONF=$INSIDE &&
		says "10-old.conf is not a list of plugins" || return
	printf '{"cniVersion":' >"$NET/10-old.conf" && start CNI_CONF=$INSIDE && says "not chained in the pod network: 10-old.conf" &&
		[ "$(<"$NET/10-old.conf")" = '{"cniVersion":' ]
}

not_before_the_program_is_there()
{
	net 10-flannel.conflist
	foreign macvlan
	image a && ! start CNI_CONF=$INSIDE && as_before 10-flannel.conflist && ! start --chain relative && says "absolute path" &&
		as_before 10-flannel.conflist && rm "$CNI/macvlan" && start CNI_CONF=$INSIDE --dry-run &&
		says "would chain railhead in the pod network: $INSIDE" && as_before 10-flannel.conflist && empty
}

an_install_without_the_option_unchains()
{
	net 10-flannel.conflist
	image a && start CNI_CONF=$INSIDE && start --dry-run && says "would unchain railhead" && ! as_before 10-flannel.conflist && start &&
		says "unchained railhead" && as_before 10-flannel.conflist && ! has_program && holds a
}

# A runtime may call the program at the DEL of each pod that was started with it.
a_chained_pod_stops_a_removal_and_no_new_one_is_chained()
{
	net 10-flannel.conflist
	image a && start CNI_CONF=$INSIDE && cached results/cbr0-p9-eth0 "$(<"$NET/10-flannel.conflist")" && ! start --remove && message_says "1 attachment" &&
		as_before 10-flannel.conflist && has_program && ! jq -e 'has("chain")' "$CNI/.railhead-install.json" >>$W/out &&
		rm "$C/var/lib/cni/results/cbr0-p9-eth0" && start --remove && empty
}

a_missing_mount_stops_a_removal_of_a_chained_program()
{
	net 10-flannel.conflist
	image a && start CNI_CONF=$INSIDE && mv "$C/host/etc" "$C/host/there" && ! start --remove && message_says "--remove --chain names the folder" &&
		has_program && start --remove --chain /host/there/cni/net.d && empty && [ "$(grep -c railhead "$C/host/there/cni/net.d/10-flannel.conflist")" = 0 ]
}

# At no time a pod network has the entry without the program.
never_without_the_program() { ! grep -q railhead "$NET/10-flannel.conflist" || has_program; }
network_is_whole() { jq -e . "$NET/10-flannel.conflist" >>$W/out 2>&1 && never_without_the_program && [ "$(stat -c %a "$NET/10-flannel.conflist")" = 644 ]; }
chained_and_whole() { network_is_whole && [ "$(plugins_of 10-flannel.conflist)" = "flannel portmap railhead" ] && [ "$(ls -A "$NET")" = 10-flannel.conflist ]; }
unchained_and_whole() { empty && as_before 10-flannel.conflist; }
killed_at_any_call_of_a_chaining()
{
	kill_at_each_call "net 10-flannel.conflist" network_is_whole "heads a --chain $NET" chained_and_whole a --chain "$NET"
}
chained_before() { net 10-flannel.conflist && heads a --chain "$NET"; }
killed_at_any_call_of_an_unchaining()
{
	kill_at_each_call chained_before network_is_whole "heads a --remove --chain $NET" unchained_and_whole a --remove
}

CASES+=(
	"is_off_without_the_option|without the option no pod network is chained, and the plugin railhead is not there"
	"owners_files_are_chained|the files of Calico, Cilium and flannel get the entry and lose it, byte for byte"
	"an_owner_that_writes_again_is_chained_again|a file that its owner has written again gets the entry again"
	"Multus_is_chained_where_it_reads|behind thin and thick Multus the pod network is chained where Multus reads it"
	"what_cannot_be_chained_is_said|a file that cannot be chained is named, and the install is done"
	"not_before_the_program_is_there|an install that fails, or is a trial, chains nothing"
	"an_install_without_the_option_unchains|an install without the option takes the entry out"
	"a_chained_pod_stops_a_removal_and_no_new_one_is_chained|a chained pod stops a removal, and new ones are not chained"
	"a_missing_mount_stops_a_removal_of_a_chained_program|a folder of networks that is not there stops a removal"
	"killed_at_any_call_of_a_chaining|killed at any call, no pod network has the entry without the program"
	"killed_at_any_call_of_an_unchaining|so does a removal"
)
