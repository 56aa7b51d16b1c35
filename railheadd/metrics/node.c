/* SPDX-License-Identifier: Apache-2.0 */
/* node.c: the table of families, and where each finds its values in the two trees. */
#include "railheadd/metrics/node.h"

#include <stdlib.h>
#include <string.h>

#include "ipam/alloc/hint.h"

static const struct metric build = { "railhead_build_info", METRIC_GAUGE,
				     "The version of the node agent." };
static const struct metric contact = {
	"railhead_store_contact", METRIC_GAUGE,
	"1 if the cluster store answered the last request, and knows "
	"the agent."
};
static const struct metric contact_for = { "railhead_store_contact_seconds", METRIC_GAUGE,
					   "How long railhead_store_contact has had its value." };
static const struct metric heard = { "railhead_store_requests", METRIC_COUNTER,
				     "Requests to the cluster store, by their result." };
static const struct metric health = { "railhead_health", METRIC_GAUGE,
				      "1 for the state that the agent is in." };

/* Large numbers are decimal strings. */
static double node_metrics_number(const struct json *n)
{
	return json_str(n) ? strtod(json_str(n), NULL) : json_num(n);
}

static void add_one(struct exposition *x, const struct metric *m, double value,
		    struct metric_label label)
{
	exposition_family(x, m);
	exposition_sample(x, m, value, (struct metric_label[2]){ label });
}

/* ---- the agent and its store ---- */

static void add_health(struct exposition *x, const char *is)
{
	static const char *const states[] = { "ok", "cut-off", "unconfirmed", "frozen", "twin" };

	exposition_family(x, &health);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		exposition_sample(x, &health, strcmp(is, states[i]) == 0,
				  (struct metric_label[2]){ { "state", states[i] } });
}

static void add_store(struct exposition *x, const struct json *status)
{
	const char *store = json_text(status, "store");
	const struct metric_label label = { "store", store };

	add_one(x, &build, 1, (struct metric_label){ "version", json_text(status, "version") });
	if (strcmp(store, "none") == 0)
		return;
	add_one(x, &contact, json_true(json_get(status, "contact")), label);
	add_one(x, &contact_for, json_num(json_get(status, "contactSeconds")), label);
	exposition_family(x, &heard);
	json_each (n, json_get(status, "heard"))
		exposition_sample(x, &heard, json_num(n),
				  (struct metric_label[2]){ { "result", json_key(n) } });
	add_health(x, json_text(status, "health"));
}

static const struct metric conflicts = {
	"railhead_conflicts", METRIC_GAUGE,
	"Blocks that the cluster gives to others while pods live in them, pools that overlap, and "
	"nodes with the number of this one."
};

static void add_conflicts(struct exposition *x, const struct json *n)
{
	static const struct {
		const char *member, *kind;
	} kinds[] = { { "blocks", "block" }, { "pools", "pool" }, { "numbers", "number" } };

	if (!n)
		return;
	exposition_family(x, &conflicts);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		exposition_sample(x, &conflicts, json_num(json_get(n, kinds[i].member)),
				  (struct metric_label[2]){ { "kind", kinds[i].kind } });
}

static const struct metric events = {
	"railhead_events", METRIC_COUNTER,
	"Events of Kubernetes about pods and this node, by their result."
};

static void add_events(struct exposition *x, const struct json *counts)
{
	if (!counts)
		return;
	exposition_family(x, &events);
	json_each (n, counts)
		exposition_sample(x, &events, json_num(n),
				  (struct metric_label[2]){ { "result", json_key(n) } });
}

/* ---- pools ---- */

struct pool_metric {
	struct metric metric;
	const char *member, *below; /* below: of the object member; NULL: it is the number */
};

static const struct pool_metric of_pools[] = {
	{ { "railhead_pool_capacity", METRIC_GAUGE,
	    "Addresses of the pool that this node may assign." },
	  "capacity",
	  NULL },
	{ { "railhead_pool_reserved", METRIC_GAUGE,
	    "Addresses of the whole shared pool that the cluster reserves, as this node knows "
	    "them." },
	  "reserved",
	  NULL },
	{ { "railhead_pool_used", METRIC_GAUGE, "Addresses of the pool that pods have." },
	  "used",
	  NULL },
	{ { "railhead_pool_resting", METRIC_GAUGE,
	    "Released addresses of the pool that still cool down." },
	  "resting",
	  NULL },
	{ { "railhead_pool_blocks", METRIC_GAUGE,
	    "Blocks of the shared pool that this node assigns from." },
	  "blocks",
	  "granted" },
	{ { "railhead_pool_lent", METRIC_GAUGE,
	    "Addresses of its blocks that this node lends or offers to other nodes." },
	  "blocks",
	  "lent" },
	{ { "railhead_pool_borrowed", METRIC_GAUGE,
	    "Addresses in blocks of other nodes that they lend to this node." },
	  "blocks",
	  "borrowed" },
};

static const struct metric spare = {
	"railhead_pool_spare", METRIC_GAUGE,
	"Addresses of the shared pool that this node can assign without asking anyone."
};

static void add_of_pools(struct exposition *x, const struct pool_metric *m,
			 const struct json *pools)
{
	exposition_family(x, &m->metric);
	json_each (p, pools) {
		const struct json *n = json_get(p, m->member);

		if (m->below)
			n = json_get(n, m->below);
		if (n)
			exposition_sample(
				x, &m->metric, node_metrics_number(n),
				(struct metric_label[2]){ { "pool", json_text(p, "name") } });
	}
}

static const struct metric warm = { "railhead_pool_warm", METRIC_GAUGE,
				    "Addresses of the shared pool that this node wants ahead: "
				    "railhead_pool_spare should be so many." };

static void add_of_shared(struct exposition *x, const struct metric *m, const char *member,
			  const struct json *pools)
{
	exposition_family(x, m);
	json_each (p, pools) {
		const struct json *n = json_get(p, member);

		if (n)
			exposition_sample(
				x, m, json_num(n),
				(struct metric_label[2]){ { "pool", json_text(p, "name") } });
	}
}

/* ---- leases ---- */

static const struct metric leases = {
	"railhead_leases", METRIC_GAUGE,
	"Addresses in the store of this node, of pools and of networks without one, by state."
};

static void add_leases(struct exposition *x, const struct json *pools, const struct json *networks)
{
	static const char *const states[][2] = { { "leased", "used" }, { "resting", "resting" } };

	exposition_family(x, &leases);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		double n = 0;

		json_each (p, pools)
			n += node_metrics_number(json_get(p, states[i][1]));
		json_each (p, networks)
			n += node_metrics_number(json_get(p, states[i][1]));
		exposition_sample(x, &leases, n,
				  (struct metric_label[2]){ { "state", states[i][0] } });
	}
}

/* ---- repair ---- */

struct repair_metric {
	struct metric metric;
	const char *member;
	bool by_kind; /* the member is an object with a number for each kind */
};

static const struct repair_metric of_repair[] = {
	{ { "railhead_repair_passes", METRIC_COUNTER,
	    "How often the agent looked for what dead pods left." },
	  "passes",
	  false },
	{ { "railhead_repair_cut_off", METRIC_COUNTER, "Passes that did not come to their end." },
	  "cutOff",
	  false },
	{ { "railhead_repairs", METRIC_COUNTER,
	    "Stale attachments and VFs that the agent repaired." },
	  "repaired",
	  true },
	{ { "railhead_repair_failures", METRIC_COUNTER, "Repairs that failed; each is repeated." },
	  "failed",
	  true },
	{ { "railhead_repair_waiting", METRIC_GAUGE,
	    "Stale attachments and VFs that wait for their repair." },
	  "waitingCount",
	  false },
	{ { "railhead_repair_left", METRIC_GAUGE,
	    "Attachments and VFs that the agent leaves to a person." },
	  "leftCount",
	  false },
};

static void add_repair(struct exposition *x, const struct json *repair)
{
	static const struct metric_label none[2];

	for (size_t i = 0; i < ARRAY_SIZE(of_repair); i++) {
		const struct repair_metric *m = &of_repair[i];
		const struct json *n = json_get(repair, m->member);

		if (!n)
			continue;
		exposition_family(x, &m->metric);
		if (!m->by_kind)
			exposition_sample(x, &m->metric, json_num(n), none);
		json_each (kind, m->by_kind ? n : NULL)
			exposition_sample(x, &m->metric, json_num(kind),
					  (struct metric_label[2]){ { "kind", json_key(kind) } });
	}
}

/* ---- plugins ---- */

static const struct metric plugins = {
	"railhead_plugins", METRIC_GAUGE,
	"Programs that railhead-install put into the CNI folder, by what is there now."
};
static const struct metric restored = { "railhead_plugins_restored", METRIC_COUNTER,
					"Programs that the agent put back into the CNI folder." };
static const struct metric not_restored = { "railhead_plugins_restore_failures", METRIC_COUNTER,
					    "Programs that the agent could not put back." };

static void node_metrics_add_plugins(struct exposition *x, const struct json *n)
{
	static const char *const states[] = { "intact", "overwritten", "missing", "otherBuild" };
	static const struct metric_label none[2];

	if (!json_get(n, states[0]))
		return;
	exposition_family(x, &plugins);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		const struct json *is = json_get(n, states[i]);

		exposition_sample(x, &plugins,
				  json_type(is) == JSON_ARRAY ? (double)json_len(is) : json_num(is),
				  (struct metric_label[2]){ { "state", states[i] } });
	}
	exposition_family(x, &restored);
	exposition_sample(x, &restored, json_num(json_get(n, "restored")), none);
	exposition_family(x, &not_restored);
	exposition_sample(x, &not_restored, json_num(json_get(n, "restoreFailed")), none);
}

/* ---- rails ---- */

static const struct metric rails_read = {
	"railhead_rails_read", METRIC_GAUGE,
	"1 if the last look at the rails had no error. At 0, railhead_rail_degraded has no sample."
};
static const struct metric degraded = {
	"railhead_rail_degraded", METRIC_GAUGE,
	"1 if the RDMA port is degraded for that reason. Without a sample it is not known."
};

static void node_metrics_add_rail(struct exposition *x, const struct json *rail)
{
	char port[METRIC_NUMBER_LEN];

	json_each (state, json_get(rail, "checks")) {
		const struct metric_label labels[] = {
			{ "device", json_text(rail, "device") },
			{ "port", metric_number(json_num(json_get(rail, "port")), port) },
			{ "pci", json_text(rail, "pci") },
			{ "reason", json_key(state) },
			{ 0 }
		};

		if (strcmp(json_str(state), "unknown") != 0)
			exposition_sample(x, &degraded, strcmp(json_str(state), "ok") != 0, labels);
	}
}

/* The list is that of the last look without an error, and a card that hangs looks well there. */
static void add_rails(struct exposition *x, const struct json *n)
{
	static const struct metric_label none[2];
	const char *error = json_str(json_get(n, "error"));

	if (!error && json_num(json_get(n, "looks")) < 1)
		return;
	exposition_family(x, &rails_read);
	exposition_sample(x, &rails_read, !error, none);
	if (error)
		return;
	exposition_family(x, &degraded);
	json_each (rail, json_get(n, "list"))
		node_metrics_add_rail(x, rail);
}

/* ---- RDMA or not ---- */

static const struct metric transport = {
	"railhead_pod_transport", METRIC_GAUGE,
	"Pods of this node that hold rails, by whether they use RDMA. Without samples, the last "
	"look failed."
};

static void add_transport(struct exposition *x, const struct json *n)
{
	static const char *const states[] = { "rdma", "suspect", "unknown" };

	if (json_num(json_get(n, "looks")) < 1 || json_get(n, "error"))
		return;
	exposition_family(x, &transport);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		const struct metric_label labels[] = { { "state", states[i] }, { 0 } };
		double pods = 0;

		json_each (pod, json_get(n, "pods"))
			pods += strcmp(json_text(pod, "state"), states[i]) == 0;
		exposition_sample(x, &transport, pods, labels);
	}
}

/* ---- the device plugin ---- */

static const struct metric plugin_devices = {
	"railhead_device_plugin_devices", METRIC_GAUGE,
	"Devices that the kubelet can give to pods, by resource and health."
};
static const struct metric plugin_registered = {
	"railhead_device_plugin_registered", METRIC_GAUGE,
	"1 if the kubelet has registered the resource and watches its devices."
};
static const struct metric plugin_registrations = {
	"railhead_device_plugin_registrations", METRIC_COUNTER,
	"Registrations with the kubelet; it needs one after each of its starts."
};
static const struct metric plugin_calls = {
	"railhead_device_plugin_calls", METRIC_COUNTER,
	"Calls of the kubelet for devices of a pod, and those that failed."
};

/* Two samples for each resource. */
static void add_pairs(struct exposition *x, const struct metric *m, const struct json *resources,
		      const char *label, const char *const members[2])
{
	exposition_family(x, m);
	json_each (r, resources) {
		for (int i = 0; i < 2; i++)
			exposition_sample(
				x, m, json_num(json_get(r, members[i])),
				(struct metric_label[3]){ { "resource", json_text(r, "name") },
							  { label, members[i] } });
	}
}

static void add_device_plugin(struct exposition *x, const struct json *n)
{
	static const char *const states[] = { "healthy", "unhealthy" };
	static const char *const outcomes[] = { "allocated", "refused" };
	const struct json *all = json_get(n, "resources");

	if (!json_len(all))
		return;
	add_pairs(x, &plugin_devices, all, "health", states);
	exposition_family(x, &plugin_registered);
	json_each (r, all)
		exposition_sample(x, &plugin_registered,
				  json_true(json_get(r, "registered")) &&
					  json_true(json_get(r, "watched")),
				  (struct metric_label[2]){ { "resource", json_text(r, "name") } });
	exposition_family(x, &plugin_registrations);
	json_each (r, all)
		exposition_sample(x, &plugin_registrations, json_num(json_get(r, "registrations")),
				  (struct metric_label[2]){ { "resource", json_text(r, "name") } });
	add_pairs(x, &plugin_calls, all, "outcome", outcomes);
}

void node_metrics_add(struct exposition *x, const struct json *status, const struct json *pools,
		      const struct json *networks)
{
	add_store(x, status);
	add_conflicts(x, json_get(status, "conflicts"));
	add_events(x, json_get(status, "events"));
	for (size_t i = 0; i < ARRAY_SIZE(of_pools); i++)
		add_of_pools(x, &of_pools[i], pools);
	add_of_shared(x, &spare, "spare", json_get(status, "pools"));
	add_of_shared(x, &warm, "warm", json_get(status, "pools"));
	add_leases(x, pools, networks);
	add_repair(x, json_get(status, "repair"));
	node_metrics_add_plugins(x, json_get(status, "plugins"));
	add_rails(x, json_get(status, "rails"));
	add_transport(x, json_get(status, "transport"));
	add_device_plugin(x, json_get(status, "devicePlugin"));
}

/* ---- ADDs ---- */

void node_metrics_add_latency(struct exposition *x, const struct histogram *latency)
{
	static const struct metric m = { "railhead_add_seconds", METRIC_HISTOGRAM,
					 "Time in which ADDs got their addresses or failed to." };

	exposition_family(x, &m);
	for (unsigned i = 0; i < HINT_OUTCOMES; i++)
		exposition_histogram(x, &m, &latency[i],
				     (struct metric_label){
					     "outcome", hint_outcome_name((enum hint_outcome)i) });
}
