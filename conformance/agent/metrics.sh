# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Scrapes of the agent, and Debian's promtool on what they give. The host is that of repair.sh.

need_promtool() { [ -x "$ENGINES/promtool" ] || skip "Debian's package prometheus is not available here"; }
# scrape [CURL ARGUMENT...]: the metrics at the unix socket
scrape() { curl -sS --max-time 10 --unix-socket "$RUN/metrics.sock" "$@" http://localhost/metrics; }
metric_is() { scrape | grep -qxF "$1"; }
metrics_begin() # JSON: the key "metrics"
{
	host_begin
	host_kill TERM
	jq -n --argjson r "$FAST" --argjson m "$1" '{node:"host",repair:$r,metrics:$m}' >/etc/railhead/agent.json
	host_agent
}

test_metrics_of_a_host()
{
	local before
	host_begin
	pod p1
	has "the pool" "$(scrape)" 'railhead_pool_used{pool="local"} 1'
	has "the version" "$(scrape)" 'railhead_build_info{version="'
	before=$(scrape)
	hasnt "no store" "$before" railhead_store_contact
	pod_dies host p1
	eventually metric_is 'railhead_repairs_total{kind="attachment"} 1'
	metric_is 'railhead_pool_used{pool="local"} 0' || fail "the address must be free"
	eq "the socket is root's alone" "$(stat -c %a "$RUN/metrics.sock")" 600
}

# The ADD and the DEL say so by a datagram: one that fails counts as well, and none of them needs the agent.
test_metrics_of_adds()
{
	host_begin
	eq "nothing yet" "$(scrape | grep -cxF 'railhead_add_seconds_count{outcome="done"} 0')" 1
	pod p1
	eventually metric_is 'railhead_add_seconds_count{outcome="done"} 1'
	metric_is 'railhead_add_seconds_count{outcome="failed"} 0' || fail "nothing failed"
	eq "the socket is root's alone" "$(stat -c %a "$RUN/hint.sock")" 600
	host_kill KILL
	pod p2
	host_agent
	pod p3
	eventually metric_is 'railhead_add_seconds_count{outcome="done"} 1'
}

test_metrics_are_what_promtool_reads()
{
	need_promtool
	host_begin
	pod p1
	scrape >"$W/text"
	is "promtool check metrics" "$ENGINES/promtool" check metrics <"$W/text"
	eq "its remarks" "$(<"$W/is")" ""
	has "OpenMetrics" "$(scrape -i -H 'Accept: application/openmetrics-text; version=1.0.0')" "Content-Type: application/openmetrics-text"
	eq "its end" "$(scrape -H 'Accept: application/openmetrics-text' | tail -n 1)" "# EOF"
}

# A real Prometheus scrapes OpenMetrics at the port, and knows the rules: an alert of a pool that pods fill is pending.
test_metrics_are_scraped_by_prometheus()
{
	need_promtool
	metrics_begin '{"listen":"127.0.0.1:9750"}'
	pod p1
	is "the rules" "$ENGINES/promtool" check rules "$HERE/../../packaging/prometheus/railhead.rules.yml"
	mkdir -p "$W/tsdb"
	printf '%s\n' 'global: {scrape_interval: 1s, evaluation_interval: 1s}' "rule_files: ['$HERE/../../packaging/prometheus/railhead.rules.yml']" \
		'scrape_configs: [{job_name: railhead, static_configs: [{targets: ["127.0.0.1:9750"]}]}]' >"$W/prometheus.yml"
	"$ENGINES/prometheus" --config.file="$W/prometheus.yml" --storage.tsdb.path="$W/tsdb" --web.listen-address=127.0.0.1:9751 \
		>"$W/node/host/prometheus.log" 2>&1 </dev/null &
	echo $! >"$W/node/host/pod.prometheus"
	eventually queried 'railhead_pool_used{pool="local"}' 1
	eventually queried 'up{job="railhead"}' 1
	eventually queried 'railhead_repair_passes_total > bool 0' 1
	eq "alerts" "$(nearly_full)" ""
	is "a small pool" "$BIN/railctl" ipam pool add small --subnet 10.95.0.0/24 --range 10.95.0.1-10.95.0.2 --cooldown 0 --this-node-only
	POOL=small pod p2
	eventually queried 'railhead_pool_used{pool="small"}' 1
	eq "alerts of a pool that is half full" "$(nearly_full)" ""
	POOL=small pod p3
	eventually nearly_full_is "small pending"
}
nearly_full()
{
	curl -sS --max-time 5 http://127.0.0.1:9751/api/v1/alerts |
		jq -r '.data.alerts[] | select(.labels.alertname == "RailheadPoolNearlyFull") | .labels.pool + " " + .state'
}
nearly_full_is() { [ "$(nearly_full)" = "$1" ]; }
queried()
{
	[ "$(curl -sS --max-time 5 http://127.0.0.1:9751/api/v1/query --data-urlencode "query=$1" | jq -r '.data.result[0].value[1]')" = "$2" ]
}

# Rules and dashboard ask for metrics that exist; the dashboard's questions are ones that Prometheus can answer.
test_metrics_of_the_dashboard_exist()
{
	local name packaging=$HERE/../../packaging/prometheus
	need_promtool
	# The series of a histogram have the name of its family, and an ending.
	for name in $(grep -oh 'railhead_[a-z_]*' "$packaging"/* | sed -E 's/_(bucket|count|sum)$//' | sort -u); do
		grep -q "$name" "$HERE/../../docs/man/railhead-metrics.5" || fail "railhead-metrics(5) does not have $name"
	done
	jq '{groups: [{name: "dashboard", rules: [.panels[].targets[].expr | gsub("\\$instance"; ".*") | .] | to_entries | map({record: "dashboard:n\(.key)", expr: .value})}]}' \
		"$packaging/railhead.dashboard.json" >"$W/dashboard.rules"
	is "the dashboard" "$ENGINES/promtool" check rules "$W/dashboard.rules"
	has "the dashboard" "$(<"$W/is")" "33 rules found"
}

# Each alert has a time at which it is silent, and one at which it fires.
test_metrics_rules_fire()
{
	local name packaging=$HERE/../../packaging/prometheus
	need_promtool
	is "the tests of the rules" "$ENGINES/promtool" test rules "$packaging/railhead.rules.test.yml"
	for name in $(sed -n 's/.*- alert: //p' "$packaging/railhead.rules.yml"); do
		grep -qF "alertname: $name}" "$packaging/railhead.rules.test.yml" || fail "$name: no test when it is silent"
		grep -qx "        alertname: $name" "$packaging/railhead.rules.test.yml" || fail "$name: no test when it fires"
	done
}

# A client at the port can neither stop the agent nor get anything but the metrics.
test_metrics_under_bad_requests()
{
	local i
	metrics_begin '{"listen":"127.0.0.1:9750"}'
	local at=http://127.0.0.1:9750
	eq "another path" "$(curl -s -o /dev/null -w '%{http_code}' "$at/")" 404
	eq "another method" "$(curl -s -o /dev/null -w '%{http_code}' -X POST "$at/metrics")" 405
	eq "too long" "$(curl -s -o /dev/null -w '%{http_code}' -H "A: $(head -c 9000 /dev/zero | tr '\0' a)" "$at/metrics")" 400
	for ((i = 0; i < 100; i++)); do exec {fd}<>/dev/tcp/127.0.0.1/9750; done
	is "the agent" "$BIN/railctl" cluster status
	[ "$(find "/proc/$(<"$W/node/host/pid")/fd" -lname 'socket:*' | wc -l)" -lt 60 ] || fail "connections are not bounded"
	# They hold the port open, and ask nothing.
	is "another client" curl -sS --max-time 5 -o /dev/null "$at/metrics"
	is "the unix socket" curl -sS --max-time 5 -o /dev/null --unix-socket "$RUN/metrics.sock" http://localhost/metrics
	for ((i = 10; i < 130; i++)); do eval "exec $i>&-"; done 2>/dev/null
	eventually curl -sS --max-time 5 -o /dev/null "$at/metrics"
}

test_metrics_can_be_off_or_wrong()
{
	metrics_begin false
	[ ! -e "$RUN/metrics.sock" ] || fail "the socket must not be there"
	host_kill TERM
	jq -n '{metrics:{listen:"9750"}}' >/etc/railhead/agent.json
	isnt "no address" timeout -s KILL "$LIMIT" "$BIN/railheadd"
	has "no address" "$(<"$W/is")" 'metrics.listen: "9750" is not an address with a port'
}

# The tree of the guest has RDMA devices, this host has none: interfaces and attachments, with their pods.
test_metrics_of_attachments_and_interfaces()
{
	local downs
	host_begin
	pod p1
	pod p2
	has "by plugin" "$(scrape)" 'railhead_attachments{plugin="macvlan"} 2'
	has "the pod" "$(scrape)" \
		'railhead_attachment_info{network="rails",container="p1",interface="net1",namespace="ns",pod="p1",plugin="macvlan"} 1'
	downs=$(</sys/class/net/mst0/carrier_down_count)
	metric_is "railhead_interface_carrier_down_total{interface=\"mst0\"} $downs" || fail "the lost links of mst0: $(scrape | grep carrier)"
	ip link set wire0 down && ip link set wire0 up
	metric_is "railhead_interface_carrier_down_total{interface=\"mst0\"} $((downs + 1))" || fail "a lost link must count: $(scrape | grep carrier)"
	metric_is 'railhead_devices_read 1' || fail "the devices must be read"
	pod_dies host p1
	eventually metric_is 'railhead_attachments{plugin="macvlan"} 1'
	hasnt "no pod that is gone" "$(scrape)" 'pod="p1"'
	metric_is 'railhead_leases{state="leased"} 1' || fail "leases: $(scrape | grep leases)"
}
