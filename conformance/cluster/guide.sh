# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# guide.sh: what docs/kubernetes.md says is done as it stands there. Sourced by run.sh.

# blocks SECTION LANGUAGE: the code blocks of a section of the file GUIDE; the indent of a list is removed.
GUIDE=docs/kubernetes.md
blocks()
{
	awk -v title="## $1" -v fence="^ *\`\`\`$2\$" '$0 == title || $0 == "#" title { on = 1; next } /^###? / { on = 0 }
		on && $0 ~ fence { code = 1; next } on && /^ *```$/ { code = 0 } on && code' "$TOP/$GUIDE" | sed 's/^   //'
}
# follow SECTION PATTERN: do the commands of the section that match, each where the guide says: make and railctl on the node of the case,
# kubectl and helm where people work. $W/is has the output of the last one. HELM_MORE: further values for the release.
follow()
{
	local line lines
	mapfile -t lines < <(blocks "$1" sh | grep -E -- "$2")
	[ ${#lines[@]} -gt 0 ] || fail "$GUIDE, $1: no command matches $2"
	for line in "${lines[@]}"; do
		case $line in
		'sudo make '*)
			# shellcheck disable=SC2086 # words
			is "$line" make_on_node ${line#sudo make }
			;;
		*helm*' railhead packaging/helm/railhead '*) is "$line" where_people_work "$line $HELM_MORE" ;;
		helm* | kubectl* | jq* | 'railctl ipam '*import*) is "$line" where_people_work "$line" ;;
		*' <living') is "$line" node_with_files "$line" ;;
		railctl*) is "$line" node "$NODE" bash -ec "${line/node set 1/node set $NODE}" ;;
		*) fail "test error: nobody knows where to run: $line" ;;
		esac
	done
}
# make_on_node install|uninstall [VARIABLE=VALUE...]: what the target runs, with the root that the node sees as its destination
make_on_node()
{
	(cd "$TOP" && env BIN="$FROM" DESTDIR="/proc/$(node_pid "$NODE")/root" CNI_BIN=/opt/cni/bin bindir=/usr/local/bin sbindir=/usr/local/sbin libexecdir=/usr/local/libexec \
		mandir=/usr/local/share/man bashcompdir=/usr/local/share/bash-completion/completions unitdir=/usr/local/lib/systemd/system \
		"${@:2}" tools/install.sh "$1")
}
where_people_work()
{
	mkdir -p "$W/people/bin" && ln -sfn "$CLUSTER"/bin/{kubectl,helm} "$FROM/railctl" "$TOP/packaging/kubectl/kubectl-rail" "$W/people/bin" &&
		ln -sfn "$TOP"/{packaging,examples} "$W/people" && sed "s/context: {/&namespace: $NAMESPACE, /" "$KUBECONFIG" >"$W/people/kubeconfig" &&
		(cd "$W/people" && KUBECONFIG=$W/people/kubeconfig PATH=$W/people/bin:$PATH timeout $((2 * LONG)) bash -eo pipefail -c "$1")
}
# node_with_files LINE: on the node of the case, in a folder with the files of where people work
node_with_files()
{
	(cd "$W/people" && find . -maxdepth 1 -type f -print0 | tar --null -T - -cf -) | node "$NODE" sh -c 'rm -rf /root/files && mkdir /root/files && tar -C /root/files -xf -' &&
		node "$NODE" bash -ec "cd /root/files; $1"
}
prefixed() { node "$NODE" sh -c 'ls /opt/cni/bin | grep -c ^rh-'; }

# Plugins with a prefix beside others, a network that names them, and their removal.
# quick: thin
test_guide()
{
	follow 'Beside other plugins' 'make install'
	eq 'the plugins' "$(prefixed)" 7
	follow 'Beside other plugins' 'railctl ipam (node|pool)'
	blocks 'Beside other plugins' yaml >"$W/trial.yaml"
	is 'the network' kn apply -f "$W/trial.yaml"
	pod one trial
	running one
	has 'its address' "$(address one net1)" "10.10.$NODE."
	follow 'Beside other plugins' 'attachments list'
	has 'attachments' "$(<"$W/is")" 'trial  '
	follow 'Beside other plugins' 'lease list'
	has 'leases' "$(<"$W/is")" "$NAMESPACE/one"
	audit
	follow 'Upgrade and downgrade' 'make install'
	pod two trial
	running two
	audit
	delete one two
	follow Removal 'attachments list'
	has 'attachments' "$(<"$W/is")" 'No attachments.'
	follow Removal 'make uninstall'
	eq 'the plugins' "$(prefixed)" 0
	guide_ends
}
guide_ends() # the node has the programs of the other cases again
{
	node_plugins "$NODE"
	node "$NODE" rm -f /etc/railhead/node.json
}

# Programs are removed under a pod, which is refused at first. With thin Multus it stays Terminating, and goes when they are back. Thick Multus 4.2.4 reports success: the pod
# goes, and repair releases its address. Both keep the lease until then.
test_guide_removed_too_early()
{
	rails trial
	is install make_on_node install PLUGIN_PREFIX=rh-
	nad trial "$(macvlan trial trial '.type = "rh-macvlan"')"
	pod one trial
	running one
	isnt 'uninstall under a pod' make_on_node uninstall PLUGIN_PREFIX=rh-
	has 'what it says' "$(<"$W/is")" 'still needs the plugins for its DEL: multus/results/trial-'
	is 'uninstall all the same' make_on_node uninstall PLUGIN_PREFIX=rh- FORCE=1
	kn delete pod one --wait=false >/dev/null
	if [ "$NODE" = 1 ]; then
		event one 'failed to find plugin'
		is 'it is still there' kn get pod one
	else
		kn wait --for=delete pod/one --timeout=${LONG}s >"$W/is" 2>&1 || fail "the pod stays: $(<"$W/is")"
	fi
	eq leases "$(leases "$NODE" | wc -l)" 1
	is install make_on_node install PLUGIN_PREFIX=rh-
	[ "$NODE" = 1 ] || is repair node 2 railctl attachments repair
	kn wait --for=delete pod/one --timeout=${LONG}s >"$W/is" 2>&1 || fail "the pod stays: $(<"$W/is")"
	eventually nothing_at_all "$NODE"
	# Thick Multus says success, and keeps the file of libcni for ever.
	[ "$NODE" = 1 ] || {
		isnt 'uninstall with a file of libcni' make_on_node uninstall PLUGIN_PREFIX=rh-
		has 'what it says' "$(<"$W/is")" 'if pod and sandbox are gone, remove it by hand'
		is 'it is removed by hand' node 2 sh -c 'rm /var/lib/cni/multus/results/trial-*'
	}
	is uninstall make_on_node uninstall PLUGIN_PREFIX=rh-
	guide_ends
}

objects_of_railhead()
{
	k get crd,clusterrole,clusterrolebinding,namespace,validatingadmissionpolicy,validatingadmissionpolicybinding,flowschema,prioritylevelconfiguration -o name |
		grep -iE 'railhead|rail0'
}

# All of it goes: no type, right or policy of railhead is left in the cluster.
once_guide_removal()
{
	agents_begin "$LOOSE"
	pod one shared
	running one
	delete one
	trap - EXIT
	agents_end
	follow Removal 'kubectl delete'
	eq 'what is left' "$(objects_of_railhead)" ''
	follow 'Upgrade and downgrade' 'kubectl apply'
	is 'all is there again' k get crd/railpools.railhead.io
}
