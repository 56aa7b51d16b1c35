/* SPDX-License-Identifier: Apache-2.0 */
/* agent_conf.c: reads agent.json; a person writes it, so an unknown key is an error. */
#include "railheadd/conf/agent_conf.h"

#include <string.h>

#include "topo/read/rail_list.h"

#define SECOND     INT64_C(1000000000)
#define NODE_MAX   63
#define VALUE_MAX  1024
#define CNI_FOLDER "/opt/cni/bin"
#define KUBELET    "/var/lib/kubelet"

struct fields {
	const char *node;
	uint32_t hold, renew;
	int fence;
	const struct json *etcd, *kube, *repair, *plugins, *rails, *transport, *fabric, *devices,
		*claims, *metrics;
};

static const struct json_enum fences[] = { { "off", 0 }, { "strict", 1 }, { NULL, 0 } };

static const struct json_field top[] = {
	{ "node", J_STRING, J_AT(struct fields, node) },
	{ "nodeHold", J_U32, J_AT(struct fields, hold), .min = 10, .max = 86400 },
	{ "heartbeat", J_U32, J_AT(struct fields, renew), .min = 1, .max = 3600 },
	{ "fence", J_ENUM, J_AT(struct fields, fence), .names = fences },
	{ "etcd", J_OBJECT, J_AT(struct fields, etcd) },
	{ "repair", J_ANY, J_AT(struct fields, repair) },
	{ "plugins", J_ANY, J_AT(struct fields, plugins) },
	{ "rails", J_ANY, J_AT(struct fields, rails) },
	{ "transport", J_ANY, J_AT(struct fields, transport) },
	{ "fabric", J_ANY, J_AT(struct fields, fabric) },
	{ "devicePlugin", J_ANY, J_AT(struct fields, devices) },
	{ "claims", J_ANY, J_AT(struct fields, claims) },
	{ "kubernetes", J_OBJECT, J_AT(struct fields, kube) },
	{ "metrics", J_ANY, J_AT(struct fields, metrics) },
	{ 0 },
};

#define TEXT(name, type, member)                                                                   \
	{                                                                                          \
		name, J_STRING, J_AT(type, member), .min = 1, .max = VALUE_MAX                     \
	}
#define ETCD_TEXT(name, member) TEXT(name, struct etcd_fields, member)
#define KUBE_TEXT(name, member) TEXT(name, struct agent_conf_kube, member)

struct etcd_fields {
	const struct json *endpoints;
	struct agent_conf_etcd is;
};

static const struct json_field etcd_keys[] = {
	{ "endpoints", J_ARRAY, J_AT(struct etcd_fields, endpoints), .flags = J_REQUIRED },
	ETCD_TEXT("prefix", is.prefix),
	ETCD_TEXT("ca", is.ca),
	ETCD_TEXT("cert", is.cert),
	ETCD_TEXT("key", is.key),
	ETCD_TEXT("user", is.user),
	ETCD_TEXT("passwordFile", is.password_file),
	{ 0 },
};

/* At most max texts; out has room for one more, and NULLs. */
static int decode_texts(const struct json *list, const char *key, const char **out, size_t max,
			struct err *e)
{
	size_t n = 0;

	json_each (item, list) {
		char shown[JSON_SHOW_LEN];

		if (n == max)
			return err_set(e, ERR_CONFIG, 0, "%s: more than %zu", key, max);
		if (!json_str(item))
			return err_set(e, ERR_DECODE, 0, "%s[%zu]: %s is not a string", key, n,
				       json_show(item, shown));
		out[n++] = json_str(item);
	}
	return 0;
}

static int decode_endpoints(const struct json *list, struct agent_conf_etcd *out, struct err *e)
{
	if (decode_texts(list, "etcd.endpoints", out->endpoints, AGENT_CONF_ENDPOINTS_MAX, e))
		return -1;
	if (out->endpoints[0])
		return 0;
	err_set(e, ERR_CONFIG, 0, "etcd.endpoints: is empty");
	return err_hint(e, "write at least one, as \"https://10.0.0.1:2379\"");
}

static int check_path(const char *key, const char *path, struct err *e)
{
	if (!path || path[0] == '/')
		return 0;
	return err_set(e, ERR_CONFIG, 0, "%s: \"%.256s\" is not an absolute path", key, path);
}

static int decode_etcd(const struct json *n, struct agent_conf_etcd *out, struct err *e)
{
	struct etcd_fields f = { 0 };

	if (json_decode_known(n, "etcd", etcd_keys, &f, e) ||
	    decode_endpoints(f.endpoints, &f.is, e) || check_path("etcd.ca", f.is.ca, e) ||
	    check_path("etcd.cert", f.is.cert, e) || check_path("etcd.key", f.is.key, e) ||
	    check_path("etcd.passwordFile", f.is.password_file, e))
		return -1;
	if (!f.is.cert != !f.is.key)
		return err_set(e, ERR_CONFIG, 0, "etcd.%s: is missing; cert and key go together",
			       f.is.cert ? "key" : "cert");
	if (!f.is.user != !f.is.password_file)
		return err_set(e, ERR_CONFIG, 0,
			       "etcd.%s: is missing; user and passwordFile go together",
			       f.is.user ? "passwordFile" : "user");
	*out = f.is;
	return 0;
}

struct repair_fields {
	uint32_t every, grace;
};

static const struct json_field repair_keys[] = {
	{ "every", J_U32, J_AT(struct repair_fields, every), .min = 1, .max = 86400 },
	{ "grace", J_U32, J_AT(struct repair_fields, grace), .min = 1, .max = 86400 },
	{ 0 },
};

/* An object, or false: then *off is set. Absent: neither. */
static int object_or_false(const struct json *n, const char *key, bool *off, struct err *e)
{
	char shown[JSON_SHOW_LEN];

	*off = n && json_type(n) == JSON_BOOL && !json_true(n);
	if (!n || *off || json_type(n) == JSON_OBJECT)
		return 0;
	return err_set(e, ERR_DECODE, 0, "%s: %s is neither an object nor false", key,
		       json_show(n, shown));
}

static const struct json_field metrics_keys[] = {
	{ .key = "listen", .kind = J_STRING, .offset = 0, .min = 1, .max = 80 },
	{ 0 },
};

static int agent_conf_decode_metrics(const struct json *n, struct agent_conf *out, struct err *e)
{
	bool off;

	if (object_or_false(n, "metrics", &off, e))
		return -1;
	out->metrics = !off;
	if (!n || off)
		return 0;
	return json_decode_known(n, "metrics", metrics_keys, &out->metrics_listen, e);
}

static int decode_repair(const struct json *n, struct agent_conf_repair *out, struct err *e)
{
	struct repair_fields f = { .every = 60, .grace = 30 };
	bool off;

	if (object_or_false(n, "repair", &off, e))
		return -1;
	if (off) {
		*out = (struct agent_conf_repair){ .every = 0 };
		return 0;
	}
	if (n && json_decode_known(n, "repair", repair_keys, &f, e))
		return -1;
	*out = (struct agent_conf_repair){ f.every * INT64_C(1000), f.grace * INT64_C(1000) };
	return 0;
}

struct plugins_fields {
	const char *folder, *restore_from, *chain;
	uint32_t every;
};

static const struct json_field plugins_keys[] = {
	TEXT("folder", struct plugins_fields, folder),
	TEXT("restoreFrom", struct plugins_fields, restore_from),
	TEXT("chain", struct plugins_fields, chain),
	{ "every", J_U32, J_AT(struct plugins_fields, every), .min = 1, .max = 86400 },
	{ 0 },
};

static int decode_plugins(const struct json *n, struct agent_conf_plugins *out, struct err *e)
{
	struct plugins_fields f = { .folder = CNI_FOLDER, .every = 60 };
	bool off;

	if (object_or_false(n, "plugins", &off, e))
		return -1;
	if (off) {
		*out = (struct agent_conf_plugins){ .folder = NULL };
		return 0;
	}
	if (n && json_decode_known(n, "plugins", plugins_keys, &f, e))
		return -1;
	if (check_path("plugins.folder", f.folder, e) ||
	    check_path("plugins.restoreFrom", f.restore_from, e) ||
	    check_path("plugins.chain", f.chain, e))
		return -1;
	*out = (struct agent_conf_plugins){ f.folder, f.restore_from, f.chain,
					    f.every * INT64_C(1000) };
	return 0;
}

struct rails_fields {
	uint32_t every;
	const struct json *except;
};

static const struct json_field rails_keys[] = {
	{ "every", J_U32, J_AT(struct rails_fields, every), .min = 1, .max = 86400 },
	{ "except", J_ARRAY, J_AT(struct rails_fields, except) },
	{ 0 },
};

static int decode_rails(const struct json *n, struct agent_conf_rails *out, struct err *e)
{
	struct rails_fields f = { .every = 60 };
	struct agent_conf_rails c = { .every = 0 };
	bool off;

	if (object_or_false(n, "rails", &off, e))
		return -1;
	if (!off && n &&
	    (json_decode_known(n, "rails", rails_keys, &f, e) ||
	     decode_texts(f.except, "rails.except", c.except, AGENT_CONF_EXCEPT_MAX, e)))
		return -1;
	c.every = off ? 0 : f.every * INT64_C(1000);
	*out = c;
	return 0;
}

struct transport_fields {
	uint32_t every, limit;
};

static const struct json_field transport_keys[] = {
	{ "every", J_U32, J_AT(struct transport_fields, every), .min = 5, .max = 60 },
	{ "mbps", J_U32, J_AT(struct transport_fields, limit), .min = 1, .max = 1000000 },
	{ 0 },
};

static int decode_transport(const struct json *n, struct agent_conf_transport *out, struct err *e)
{
	struct transport_fields f = { .every = 20, .limit = 1000 };
	bool off;

	if (object_or_false(n, "transport", &off, e) ||
	    (!off && n && json_decode_known(n, "transport", transport_keys, &f, e)))
		return -1;
	*out = (struct agent_conf_transport){ off ? 0 : f.every * INT64_C(1000), f.limit };
	return 0;
}

static const struct json_field fabric_keys[] = {
	{ "every", J_U32, 0, sizeof(uint32_t), .min = 1, .max = 86400 },
	{ 0 },
};

static int decode_fabric(const struct json *n, int64_t *every, struct err *e)
{
	uint32_t seconds = 60;
	bool off;

	if (object_or_false(n, "fabric", &off, e) ||
	    (!off && n && json_decode_known(n, "fabric", fabric_keys, &seconds, e)))
		return -1;
	*every = off || !n ? 0 : seconds * INT64_C(1000);
	return 0;
}

static const struct json_field devices_keys[] = {
	TEXT("resources", struct agent_conf_devices, resources),
	TEXT("kubelet", struct agent_conf_devices, kubelet),
	{ 0 },
};

static int decode_devices(const struct json *n, const struct agent_conf_plugins *plugins,
			  struct agent_conf_devices *out, struct err *e)
{
	struct agent_conf_devices d = { .kubelet = KUBELET "/device-plugins" };
	bool off;

	if (object_or_false(n, "devicePlugin", &off, e))
		return -1;
	if (off)
		d.kubelet = NULL;
	else if (n && json_decode_known(n, "devicePlugin", devices_keys, &d, e))
		return -1;
	if (check_path("devicePlugin.resources", d.resources, e) ||
	    check_path("devicePlugin.kubelet", d.kubelet, e))
		return -1;
	d.bin = plugins->folder ? plugins->folder : CNI_FOLDER;
	*out = d;
	return 0;
}

/* ---- groups of rails ---- */

/* It is a part of the names of devices, before a hyphen and a number. */
static bool is_group_name(const char *s)
{
	const size_t len = strlen(s);

	return *s >= 'a' && *s <= 'z' && len < AGENT_CONF_GROUP_LEN &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789") == len;
}

static int decode_group(const struct json *list, struct agent_conf_group *out, uint64_t *others,
			struct err *e)
{
	char shown[JSON_SHOW_LEN];

	if (!is_group_name(json_key(list)))
		return err_set(e, ERR_CONFIG, 0,
			       "claims.groups: \"%.80s\" is not the name of a group: at most %d "
			       "lower-case letters and digits, the first one a letter",
			       json_key(list), AGENT_CONF_GROUP_LEN - 1);
	memcpy(out->name, json_key(list), strlen(json_key(list)) + 1);
	if (json_type(list) != JSON_ARRAY || !json_len(list))
		return err_set(e, ERR_CONFIG, 0,
			       "claims.groups.%s: must be a list of rails, and not empty",
			       out->name);
	json_each (rail, list) {
		const double number = json_num(rail);

		if (json_type(rail) != JSON_NUMBER || number < 0 || number > RAIL_NUMBER_MAX ||
		    number != (unsigned)number)
			return err_set(e, ERR_CONFIG, 0,
				       "claims.groups.%s: %s is not the number of a rail (0 to %d)",
				       out->name, json_show(rail, shown), RAIL_NUMBER_MAX);
		if ((out->rails | *others) >> (unsigned)number & 1)
			return err_set(e, ERR_CONFIG, 0, "claims.groups.%s: rail %u is given twice",
				       out->name, (unsigned)number);
		out->rails |= UINT64_C(1) << (unsigned)number;
	}
	*others |= out->rails;
	return 0;
}

static int decode_groups(const struct json *n, struct agent_conf_groups *out, struct err *e)
{
	uint64_t all = 0;

	if (json_len(n) > AGENT_CONF_GROUPS)
		return err_set(e, ERR_CONFIG, 0, "claims.groups: more than %d", AGENT_CONF_GROUPS);
	json_each (list, n) {
		if (decode_group(list, &out->of[out->n++], &all, e))
			return -1;
	}
	return 0;
}

struct claims_fields {
	const struct json *groups;
	struct agent_conf_claims is;
};

static const struct json_field claims_keys[] = {
	TEXT("kubelet", struct claims_fields, is.kubelet),
	{ "groups", J_OBJECT, J_AT(struct claims_fields, groups) },
	{ 0 },
};

/* Off unless it is there. */
static int decode_claims(const struct json *n, struct agent_conf *out, struct err *e)
{
	struct claims_fields c = { .is.kubelet = KUBELET };
	bool off;

	if (object_or_false(n, "claims", &off, e))
		return -1;
	if (!n || off)
		return 0;
	c.is.bin = out->plugins.folder ? out->plugins.folder : CNI_FOLDER;
	if (json_decode_known(n, "claims", claims_keys, &c, e) ||
	    check_path("claims.kubelet", c.is.kubelet, e) ||
	    decode_groups(c.groups, &c.is.groups, e))
		return -1;
	if (out->has_etcd) {
		err_set(e, ERR_CONFIG, 0, "claims: is set, and the cluster store is etcd");
		return err_hint(e, "claims are objects of Kubernetes: set kubernetes, or no store");
	}
	out->claims = c.is;
	return 0;
}

static const struct json_field kube_keys[] = {
	KUBE_TEXT("kubeconfig", kubeconfig),
	KUBE_TEXT("context", context),
	KUBE_TEXT("namespace", namespace),
	{ 0 },
};

static int decode_kube(const struct json *n, struct agent_conf_kube *out, struct err *e)
{
	struct agent_conf_kube k = { .kubeconfig = NULL };

	if (json_decode_known(n, "kubernetes", kube_keys, &k, e) ||
	    check_path("kubernetes.kubeconfig", k.kubeconfig, e))
		return -1;
	if (k.context && !k.kubeconfig)
		return err_set(e, ERR_CONFIG, 0,
			       "kubernetes.context: \"%.256s\" is of no kubeconfig", k.context);
	*out = k;
	return 0;
}

static int decode_store(const struct fields *f, struct agent_conf *c, struct err *e)
{
	c->has_etcd = f->etcd != NULL;
	c->has_kube = f->kube != NULL;
	if (f->etcd && f->kube) {
		err_set(e, ERR_CONFIG, 0, "kubernetes: is set, and etcd is set, too");
		return err_hint(e, "a cluster has one store: name one of both");
	}
	if (f->etcd)
		return decode_etcd(f->etcd, &c->etcd, e);
	return f->kube ? decode_kube(f->kube, &c->kube, e) : 0;
}

int agent_conf_node_check(const char *name, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
	size_t len = strlen(name);
	const char *ends = "-.";

	if (len > 0 && len <= NODE_MAX && strspn(name, allowed) == len && !strstr(name, "..") &&
	    !strchr(ends, name[0]) && !strchr(ends, name[len - 1]))
		return 0;
	err_set(e, ERR_CONFIG, 0,
		"node: \"%.80s\" is not a name of 1 to %d lower-case letters, digits, \"-\" and "
		"\".\"",
		name, NODE_MAX);
	return err_hint(e, "set \"node\" in agent.json to the name of the node in the cluster");
}

int agent_conf_decode(const struct json *n, struct agent_conf *out, struct err *e)
{
	struct fields f = { .hold = 600, .renew = 60 };
	struct agent_conf c = { .node = NULL };

	if (n && json_decode_known(n, "agent.json", top, &f, e))
		return -1;
	if (f.node && agent_conf_node_check(f.node, e))
		return -1;
	if (f.hold < 4 * f.renew)
		return err_set(e, ERR_CONFIG, 0,
			       "nodeHold: %u s is less than 4 times the heartbeat of %u s", f.hold,
			       f.renew);
	if (decode_store(&f, &c, e) || decode_repair(f.repair, &c.repair, e) ||
	    decode_plugins(f.plugins, &c.plugins, e) || decode_rails(f.rails, &c.rails, e) ||
	    decode_transport(f.transport, &c.transport, e) ||
	    decode_fabric(f.fabric, &c.fabric_every, e) ||
	    decode_devices(f.devices, &c.plugins, &c.devices, e) ||
	    decode_claims(f.claims, &c, e) || agent_conf_decode_metrics(f.metrics, &c, e))
		return -1;
	c.node = f.node;
	c.hold = f.hold * SECOND;
	c.renew = f.renew * SECOND;
	c.strict = f.fence == 1;
	*out = c;
	return 0;
}
