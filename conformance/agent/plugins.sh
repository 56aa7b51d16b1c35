# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agent looks after the plugins that railhead-install put into a CNI folder. The host is that of repair.sh.

CNI_FOLDER=$W/cni-bin

plugins_begin() # [KEYS]
{
	host_begin
	trap 'case_ends host_end plugins_end' EXIT
	plugins_installed "$@"
}
# plugins_installed [KEYS]: the programs in the folder, and the agent of the host with these keys in "plugins"
plugins_installed()
{
	mkdir -p "$CNI_FOLDER"
	is 'railhead-install' "$BIN/railhead-install" --source "$BIN" --target "$CNI_FOLDER" --run-dir "$RUN" --prefix rh- --plugins macvlan,ipvlan
	host_kill TERM
	jq --arg f "$CNI_FOLDER" '.plugins = {folder: $f, every: 1}'"${1+ | .plugins += $1}" /etc/railhead/agent.json >"$W/agent.json" && cp "$W/agent.json" /etc/railhead/ || give_up "agent.json"
	host_agent
	eventually plugins_are .intact 3
}
plugins_end() { rm -r "$CNI_FOLDER"; }
plugins() { "$BIN/railctl" cluster status --json | jq -c ".plugins | $1"; }
plugins_are() { [ "$(plugins "$1" 2>/dev/null)" = "$2" ]; }
# another_project: its image copies a macvlan of its own over any file of that name
another_project() { cp /bin/true "$CNI_FOLDER/rh-macvlan"; }

# It is named once, and left alone. After an install by force the agent finds all programs.
test_plugins_an_overwritten_one_is_named()
{
	plugins_begin
	another_project
	rm "$CNI_FOLDER/rh-ipvlan"
	eventually plugins_are '[.intact, .overwritten, .missing]' '[1,["rh-macvlan"],["rh-ipvlan"]]'
	has 'the log' "$(<"$W/node/host/log")" "plugin rh-macvlan in $CNI_FOLDER: another project has overwritten it"
	eventually metric_is 'railhead_plugins{state="overwritten"} 1'
	has 'for people' "$("$BIN/railctl" cluster status)" 'rh-macvlan'
	# This host has no cluster store, and needs none.
	"$BIN/railctl" status --json >"$W/status"
	eq 'of this host' "$(jq -c '[.agent.up, .agent.store, .agent.health]' "$W/status")" '[true,"none",null]'
	eq 'for all' "$(jq -r '.findings[] | select(.check == "agent") | .state + " " + .code + " " + (.subject // "")' "$W/status" | paste -sd ',')" \
		'fail plugin rh-macvlan,fail plugin rh-ipvlan,ok agent-health '
	is 'it is left alone' cmp /bin/true "$CNI_FOLDER/rh-macvlan"
	is 'by force' "$BIN/railhead-install" --source "$BIN" --target "$CNI_FOLDER" --run-dir "$RUN" --prefix rh- --plugins macvlan,ipvlan --force
	eventually plugins_are .intact 3
	eq 'named once' "$(grep -c 'another project has overwritten it' "$W/node/host/log")" 1
}

# With restoreFrom it is put back, as often as it is overwritten.
test_plugins_an_overwritten_one_is_put_back()
{
	local i
	plugins_begin '{restoreFrom: "'"$BIN"'"}'
	for i in 1 2; do
		another_project
		eventually plugins_are .restored "$i"
		is 'it is ours again' cmp "$BIN/macvlan" "$CNI_FOLDER/rh-macvlan"
	done
	rm "$CNI_FOLDER/rh-ipvlan"
	eventually plugins_are .restored 3
	eq 'the folder' "$(find "$CNI_FOLDER" -type f | wc -l)" 4
	metric_is 'railhead_plugins_restored_total 3' || fail "the metric: $(scrape | grep plugins)"
	is 'a removal' "$BIN/railhead-install" --target "$CNI_FOLDER" --run-dir "$RUN" --remove
	eventually plugins_are . "{\"folder\":\"$CNI_FOLDER\"}"
	eq 'left' "$(ls -A "$CNI_FOLDER")" ''
}

# plugins.chain: the owner of the pod network writes its file again, into the same file as Calico does, and the entry comes back. A removal
# takes it out, and the agent leaves it out.
test_plugins_the_pod_network_keeps_railhead()
{
	local net=$W/net.d list='{"cniVersion":"1.0.0","name":"k8s-pod-network","plugins":[{"type":"calico"},{"type":"portmap"}]}' i
	mkdir -p "$net" && echo "$list" >"$net/10-calico.conflist"
	plugins_begin '{chain: "'"$net"'", every: 3600}'
	eq 'not without railhead-install' "$(<"$net/10-calico.conflist")" "$list"
	is 'railhead-install' "$BIN/railhead-install" --source "$BIN" --target "$CNI_FOLDER" --run-dir "$RUN" --prefix rh- --plugins macvlan,ipvlan --chain "$net"
	host_kill TERM
	host_agent
	for i in 1 2; do
		eventually is_chained "$net"
		echo "$list" >"$net/10-calico.conflist"
	done
	eventually is_chained "$net"
	eventually plugins_are .chain '{"file":"10-calico.conflist"}'
	is 'a removal' "$BIN/railhead-install" --target "$CNI_FOLDER" --run-dir "$RUN" --remove
	sleep 1
	eq 'as its owner wrote it' "$(<"$net/10-calico.conflist")" "$list"
}
is_chained() { [ "$(jq -r '.plugins[-1].type' "$1/10-calico.conflist" 2>/dev/null)" = railhead ]; }
