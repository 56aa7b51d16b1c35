# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# render.sh: cases that need helm alone: what the chart renders, and what it refuses. Sourced by run.sh.

PLAIN=$TOP/packaging/kubernetes

# rendered [OPTION...]: all objects of the chart for the namespace railhead
rendered() { "$HELM" template railhead "$CHART" --namespace railhead "$@"; }
# lines FILE: the documents of a YAML file, as a line of JSON each
lines() { "$HELM" template x "$HERE/json" --set-file "text=$1" | grep '^{'; }
# objects FILE...: the objects of manifests as one sorted array, without what differs by intent: labels that only Helm's users need,
# the note that starts agents again, the namespace, and who names the version.
objects()
{
	local file
	for file; do lines "$file" || return; done | jq -S . | jq -s --arg v "$("$TOP/tools/version.sh")" 'map(select(.kind != "Namespace") |
		if .metadata.labels then del(.metadata.labels["app.kubernetes.io/instance", "app.kubernetes.io/version", "helm.sh/chart"]) else . end |
		if .kind == "ConfigMap" then del(.metadata.labels) | .data["agent.json"] |= fromjson else . end |
		if .kind == "DaemonSet" then del(.spec.template.metadata.annotations) |
			.spec.template.spec |= ((.initContainers, .containers) |= map(.image |= sub("VERSION$"; $v))) else . end) |
		sort_by(.kind, .metadata.name)'
}
# same WHAT FILE FILE
same() { diff -u "$2" "$3" >"$W/diff" || fail "$1: $(head -n 40 "$W/diff")"; }

# No finding, and none that is only a recommendation but the icon, which the chart has not.
test_lint_has_no_finding()
{
	local values
	is "lint" "$HELM" lint --strict "$CHART"
	eq "findings" "$(grep -c '^\[' "$W/is")" "$(grep -c 'icon is recommended' "$W/is")"
	for values in "$HERE"/values/*.yaml "$TOP"/examples/helm/*.yaml; do
		is "lint $values" "$HELM" lint --strict "$CHART" -f "$values"
	done
}

# The folder of the tree and the packed file give the same objects.
test_the_folder_and_the_file_are_the_same_chart()
{
	rendered --include-crds >"$W/file" || fail "the file"
	"$HELM" template railhead "$TOP/packaging/helm/railhead" --namespace railhead --include-crds >"$W/folder" 2>"$W/log" || fail "the folder"
	same "folder" "$W/file" "$W/folder"
	"$TOP/tools/chart.sh" "$W/again" >"$W/is" || fail "again"
	is "the same bytes" cmp "$CHART" "$W/again/${CHART##*/}"
}

# kubectl apply of packaging/kubernetes and an install of the chart give the same objects.
test_the_defaults_are_the_plain_manifests()
{
	rendered --include-crds >"$W/chart.yaml" || fail "rendered"
	objects "$W/chart.yaml" >"$W/ours"
	objects "$PLAIN"/{rbac,policy,flow,daemonset}.yaml "$PLAIN"/crds/*.yaml >"$W/plain"
	[ "$(jq length "$W/plain")" -ge 20 ] || fail "only $(jq length "$W/plain") plain objects"
	same "objects" "$W/plain" "$W/ours"
}
test_all_of_the_plain_manifests_can_be_had()
{
	rendered --set agent.machines=true,agent.reclaim=true >"$W/chart.yaml" || fail "rendered"
	objects "$W/chart.yaml" >"$W/ours"
	"$PLAIN/reclaim.sh" >"$W/reclaim.yaml" || fail "reclaim.sh"
	objects "$PLAIN"/{rbac,policy,flow,daemonset,machines}.yaml "$W/reclaim.yaml" >"$W/plain"
	same "objects" "$W/plain" "$W/ours"
}

# The comments of daemonset.yaml are the container of the device plugin.
test_the_device_plugin_is_that_of_the_plain_manifest()
{
	rendered --set devicePlugin.enabled=true >"$W/chart.yaml" || fail "rendered"
	objects "$W/chart.yaml" | jq '.[] | select(.kind == "DaemonSet")' >"$W/ours"
	sed 's/^\( *\)#\(- \|  \)/\1\2/' "$PLAIN/daemonset.yaml" >"$W/plain.yaml"
	objects "$W/plain.yaml" | jq '.[] | select(.kind == "DaemonSet")' >"$W/plain"
	eq "containers" "$(jq -r '[.spec.template.spec.containers[].name] | join(" ")' "$W/ours")" "railheadd devices"
	same "the DaemonSet" "$W/plain" "$W/ours"
}

# In another namespace nothing names the usual one.
test_no_object_stays_in_another_namespace()
{
	"$HELM" template x "$CHART" --namespace team-net --set agent.machines=true,agent.reclaim=true >"$W/chart.yaml" || fail "rendered"
	lines "$W/chart.yaml" >"$W/objects"
	eq "namespaces" "$(jq -r '.. | objects | .namespace? // empty | strings' "$W/objects" | sort -u | xargs)" team-net
	eq "users" "$(grep -o 'system:serviceaccount:[a-z-]*:[a-z]*' "$W/objects" | sort -u | xargs)" system:serviceaccount:team-net:railheadd
	eq "policies with this user" "$(jq -r 'select(.kind == "ValidatingAdmissionPolicy") | .spec.matchConditions[].expression |
		select(contains("team-net"))' "$W/objects" | grep -c team-net)" 3
}

# Without the policy nothing else keeps an agent from the addresses that people reserve.
test_without_the_policy_no_agent_writes_reserved_addresses()
{
	local policy want
	for policy in true false; do
		want=2
		[ $policy = true ] || want=1
		rendered --set agent.policy=$policy -s templates/access.yaml >"$W/chart.yaml" || fail "rendered"
		eq "rules of the agents with policy $policy" "$(objects "$W/chart.yaml" | jq '[.[] | select(.kind == "ClusterRole" and
			.metadata.name == "railheadd").rules[] | select(.resources | index("railreserved"))] | length')" $want
	done
}

# golden NAME TEMPLATE...: these templates, with the values of that name, are as in its file
golden()
{
	local name=$1 options=() template
	for template in "${@:2}"; do options+=(--show-only "templates/$template.yaml"); done
	[ ! -e "$HERE/values/$name.yaml" ] || options+=(-f "$HERE/values/$name.yaml")
	rendered "${options[@]}" >"$W/$name" || fail "rendered"
	[ -z "${WRITE-}" ] || cp "$W/$name" "$HERE/golden/$name.yaml"
	same "$name" "$HERE/golden/$name.yaml" "$W/$name"
}
test_golden_default() { golden default agents; }
test_golden_rails() { golden rails rails; }
test_golden_all() { golden all agents metrics network-policy; }
test_golden_lean() { golden lean agents; }
test_golden_restore() { golden restore agents; }
test_golden_claims() { golden claims agents classes; }
test_golden_slots() { golden slots agents; }
# The agent does not undo a removal.
test_a_removal_restores_nothing()
{
	rendered -f "$HERE/values/restore.yaml" --set plugins.remove=true --show-only templates/agents.yaml >"$W/remove.yaml" || fail "rendered"
	hasnt "objects" "$(<"$W/remove.yaml")" estore
	has "agent.json" "$(<"$W/remove.yaml")" '"folder": "/usr/libexec/cni"'
}

# A container with a claim or a slot starts through the first, and gets the second as a mount.
test_a_choice_of_plugins_keeps_the_hook_and_railctl()
{
	local values
	for values in claims slots; do
		rendered -f "$HERE/values/$values.yaml" --set 'plugins.only={macvlan,railctl}' -s templates/agents.yaml >"$W/chart.yaml" || fail "rendered"
		eq "plugins with $values" "$(sed -n 's/.*{name: PLUGINS, value: "\(.*\)"}/\1/p' "$W/chart.yaml" | sort -u | xargs)" \
			"macvlan,railctl,railhead-hook"
	done
	rendered --set 'plugins.only={macvlan}' -s templates/agents.yaml >"$W/chart.yaml" || fail "rendered"
	eq "plugins without" "$(sed -n 's/.*{name: PLUGINS, value: "\(.*\)"}/\1/p' "$W/chart.yaml" | sort -u | xargs)" macvlan
}

# Each network is JSON that the plugins' own parsers read; here only the names and the prefix.
test_rails_name_installed_plugins()
{
	rendered -f "$HERE/values/rails.yaml" >"$W/chart.yaml" || fail "rendered"
	lines "$W/chart.yaml" >"$W/objects"
	jq -c 'select(.kind == "NetworkAttachmentDefinition") | [.metadata.namespace, .metadata.name, (.spec.config | fromjson | .name,
		([.type // .plugins[].type] | join(" ")), ([.. | objects | .ipam?.pool // .ipam?.pools // empty] | flatten | join(" ")))]' \
		"$W/objects" >"$W/networks"
	eq "networks" "$(sort "$W/networks")" '["default","all-rails","all-rails","rh-rails","rail{n}"]
["default","all-vfs","all-vfs","rh-rails","rail{n} rail{n}-v6"]
["default","ib0","ib0","rh-ipoib","rail0"]
["default","rail0","rail0","rh-macvlan","rail0"]
["default","rail1","rail1","rh-sriov rh-rdma","rail1"]
["default","storage","storage","rh-ipvlan","rail0"]
["team-a","rail0-dual","rail0-dual","rh-macvlan","rail0 rail0-v6"]
["team-b","rail0-dual","rail0-dual","rh-macvlan","rail0 rail0-v6"]'
	# railhead-ipam keeps its name whatever the prefix is.
	eq "ipam" "$(jq -r 'select(.kind == "NetworkAttachmentDefinition") | .spec.config | fromjson | .. | objects | .ipam?.type // empty' \
		"$W/objects" | sort -u)" railhead-ipam
}

# The rules and the dashboard are those of packaging/prometheus, with what looks like a template in them.
test_monitoring_is_that_of_the_tree()
{
	rendered --set metrics.rules.enabled=true,metrics.dashboard.enabled=true >"$W/chart.yaml" || fail "rendered"
	lines "$W/chart.yaml" >"$W/objects"
	jq -S 'select(.kind == "PrometheusRule").spec' "$W/objects" >"$W/ours"
	lines "$TOP/packaging/prometheus/railhead.rules.yml" | jq -S . >"$W/tree"
	grep -q RailheadPoolNearlyFull "$W/tree" || fail "no rules: $(head -c 300 "$W/tree")"
	same "rules" "$W/tree" "$W/ours"
	jq -S 'select(.metadata.name == "railhead-dashboard").data["railhead.json"] | fromjson' "$W/objects" >"$W/ours"
	jq -S . "$TOP/packaging/prometheus/railhead.dashboard.json" >"$W/tree"
	same "dashboard" "$W/tree" "$W/ours"
}

test_bad_values_are_refused_by_name()
{
	local set part
	while IFS=$'\t' read -r set part; do
		[[ $set != \#* ]] || continue
		isnt "$set" rendered --set "$set"
		has "$set" "$(<"$W/is")" "$part"
	done <"$HERE/refused.tsv"
}

# The chart can write each object of railhead-agent.json(5): as a key of agent.config, or by a value of its own. An unknown key would be refused.
test_the_values_have_each_object_of_the_agent()
{
	local schema=$TOP/packaging/helm/railhead/values.schema.json
	sed -n 's/^\.It Cm \([a-zA-Z]*\) No (object.*/\1/p' "$TOP/docs/man/railhead-agent.json.5" | sort >"$W/page"
	[ "$(grep -c . "$W/page")" -ge 7 ] || fail "only $(xargs <"$W/page")"
	{
		jq -r '.properties.agent.properties.config.properties | to_entries[] | select(.value.type == "object" or .value.oneOf) | .key' "$schema"
		# The chart writes these by claims, devicePlugin, fabric, metrics and the lack of etcd.
		printf '%s\n' claims devicePlugin fabric kubernetes metrics
	} | sort >"$W/values"
	same "objects" "$W/page" "$W/values"
}

# VALUES.md explains each value, and no other one.
test_the_page_has_each_value()
{
	lines "$TOP/packaging/helm/railhead/values.yaml" |
		jq -r 'def keys_of($at): to_entries[] | (if $at == "" then .key else "\($at).\(.key)" end) as $p |
			if (.value | type) == "object" and (.value | length) > 0 and ($p | test("resources$|Selector$|labels$") | not) then .value | keys_of($p) else $p end;
			keys_of("")' | sort >"$W/values"
	sed -n 's/^| `\([^`]*\)`.*/\1/p' "$TOP/packaging/helm/railhead/VALUES.md" | grep -v '^rails\[\]\|\*' | sort >"$W/page"
	same "values" "$W/values" "$W/page"
	# Also those of a rail and of a class.
	jq -r '.definitions | (.rail.properties | keys[] | "rails[].\(.)"), (.class.properties | keys[] | "claims.classes.*.\(.)"),
		(.slots.properties | keys[] | "devicePlugin.rails.*.\(.)")' \
		"$TOP/packaging/helm/railhead/values.schema.json" | sort >"$W/values"
	sed -n 's/^| `\(rails\[\][^`]*\|[^`]*\*[^`]*\)`.*/\1/p' "$TOP/packaging/helm/railhead/VALUES.md" | sort >"$W/page"
	same "rails and classes" "$W/values" "$W/page"
}
