/* SPDX-License-Identifier: Apache-2.0 */
/* pool_def.c: a pool definition from the options of `pool add` and `pool set`. Pure. */
#include "railctl/ipam/pool_def.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/guid.h"
#include "lib/base/parse.h"

#define QUOTA_MAX UINT32_MAX
#define EVERY     "*" /* the key for namespaces without a number of their own */

/* Each key has an option. The option with "no-" before its name removes the key. */
enum key_kind {
	KEY_TEXT,
	KEY_SECONDS,
	KEY_FLAG,
	KEY_LIST,
	KEY_ROUTES,
	KEY_QUOTA,
	KEY_SLICE,
	KEY_GUIDS
};

static const struct key {
	const char *option, *key;
	enum key_kind kind;
} keys[] = {
	{ "subnet", "subnet", KEY_TEXT },        { "range", "ranges", KEY_LIST },
	{ "guids", "subnet", KEY_GUIDS },        { "this-node-only", "thisNodeOnly", KEY_FLAG },
	{ "slice", "slice", KEY_SLICE },         { "exclude", "excludes", KEY_LIST },
	{ "reserved", "reserved", KEY_LIST },    { "gateway", "gateway", KEY_TEXT },
	{ "route", "routes", KEY_ROUTES },       { "sticky", "sticky", KEY_FLAG },
	{ "cooldown", "cooldown", KEY_SECONDS }, { "strict-cooldown", "strictCooldown", KEY_FLAG },
	{ "namespace", "namespaces", KEY_LIST }, { "fixed-namespace", "fixedNamespaces", KEY_LIST },
	{ "quota", "quota", KEY_QUOTA },
};

#define DEFINITION                                                                                 \
	{ "subnet", "CIDR", "the network: 10.1.0.0/16, fd00:1::/64", 0 },                          \
		{ "range", "RANGE", "this node's addresses: A-B, A or A/LEN; may be repeated",     \
		  OPT_MANY },                                                                      \
		{ "guids", "A-B", "a pool of GUIDs of InfiniBand: the first and the last one",     \
		  0 },                                                                             \
		{ "this-node-only", NULL,                                                          \
		  "use the whole subnet; no other node assigns its addresses", 0 },                \
		{ "slice", "/LEN|SIZE", "a part of this size for each node number", 0 },           \
		{ "exclude", "RANGE", "never assign these; may be repeated", OPT_MANY },           \
		{ "reserved", "RANGE", "the same, also of other networks; may be repeated",        \
		  OPT_MANY },                                                                      \
		{ "gateway", "IP", "gateway for the containers; never assigned", 0 },              \
		{ "route", "DST[,GW]", "route for the containers; may be repeated", OPT_MANY },    \
		{ "sticky", NULL, "a pod that comes back gets the same addresses", 0 },            \
		{ "cooldown", "SECONDS", "time that a released address rests (default: 60)", 0 },  \
		{ "strict-cooldown", NULL, "never assign a resting address", 0 },                  \
		{ "namespace", "NS", "only pods of NS may use it; may be repeated", OPT_MANY },    \
		{ "fixed-namespace", "NS",                                                         \
		  "only pods of NS may request an address of it; may be repeated", OPT_MANY },     \
	{                                                                                          \
		"quota", "[NS=]N", "at most N addresses for a namespace; may be repeated",         \
			OPT_MANY                                                                   \
	}

const struct opt pool_add_opts[] = {
	DEFINITION,
	{ "file", "FILE", "read the definition, JSON, from FILE or from standard input (-)", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct opt pool_set_opts[] = {
	DEFINITION,
	{ "no-range", NULL, "assign addresses of the whole subnet", 0 },
	{ "no-this-node-only", NULL, "other nodes also assign addresses of the subnet", 0 },
	{ "no-slice", NULL, "this node assigns all addresses of the ranges", 0 },
	{ "force", NULL, "no other node has leases in addresses that a slice adds here", 0 },
	{ "no-exclude", NULL, "exclude nothing", 0 },
	{ "no-reserved", NULL, "reserve nothing", 0 },
	{ "no-gateway", NULL, "no gateway", 0 },
	{ "no-route", NULL, "no routes", 0 },
	{ "no-sticky", NULL, "a pod does not get its old addresses again", 0 },
	{ "no-strict-cooldown", NULL, "assign a resting address when no other is left", 0 },
	{ "no-namespace", NULL, "pods of every namespace may use it", 0 },
	{ "no-fixed-namespace", NULL, "all pods that may use it may request an address", 0 },
	{ "no-quota", NULL, "no quotas", 0 },
	{ NULL, NULL, NULL, 0 },
};

static bool is_removed(const struct opts *o, const struct key *k)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "no-%s", k->option);
	return opt_is_set(o, name);
}

bool pool_def_given(const struct opts *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (opt_is_set(o, keys[i].option) || is_removed(o, &keys[i]))
			return true;
	}
	return false;
}

static int pool_def_add_number(struct json *def, const char *key, const char *option,
			       const char *text, struct err *e)
{
	uint64_t n;

	if (parse_u64(text, 0, QUOTA_MAX, &n))
		return err_set(e, ERR_CONFIG, 0, "--%s: \"%.64s\" is not a number", option, text);
	return json_add_int(def, key, (int64_t)n) ? err_nomem(e) : 0;
}

static int push_text(struct json *list, const char *text, struct err *e)
{
	return json_push_str(list, text) ? err_nomem(e) : 0;
}

static int push_route(struct json *list, const char *text, struct err *e)
{
	const char *comma = strchr(text, ',');
	char dst[64];
	int n = snprintf(dst, sizeof(dst), "%.*s", (int)strcspn(text, ","), text);

	if (n < 1 || (size_t)n >= sizeof(dst) || (comma && !comma[1]))
		return err_set(e, ERR_CONFIG, 0,
			       "--route: \"%.64s\" is not DST or DST,GW, as in 0.0.0.0/0,10.1.0.1",
			       text);
	struct json *route = json_push_object(list);
	if (!route || json_add_str(route, "dst", dst) ||
	    (comma && json_add_str(route, "gw", comma + 1)))
		return err_nomem(e);
	return 0;
}

/* One element for each time that the option is given. */
static int pool_def_add_list(struct json *def, const struct key *k, const struct opts *o,
			     struct err *e)
{
	int (*push)(struct json * list, const char *text, struct err *e) =
		k->kind == KEY_ROUTES ? push_route : push_text;
	struct json *list = json_add_array(def, k->key);
	const char *text;
	size_t i = 0;

	if (!list)
		return err_nomem(e);
	while ((text = opt_next(o, k->option, &i))) {
		if (push(list, text, e))
			return -1;
	}
	return 0;
}

/* "N" is for each namespace that has no number of its own. */
static int add_quota(struct json *quota, const char *text, struct err *e)
{
	const char *equals = strchr(text, '=');
	char ns[128] = EVERY;

	if (equals == text)
		return err_set(e, ERR_CONFIG, 0, "--quota: \"%.64s\" is not N or NS=N", text);
	if (equals)
		(void)snprintf(ns, sizeof(ns), "%.*s", (int)(equals - text), text);
	if (json_get(quota, ns))
		return err_set(e, ERR_CONFIG, 0, "--quota is given twice for %s", ns);
	return pool_def_add_number(quota, ns, "quota", equals ? equals + 1 : text, e);
}

static int add_quotas(struct json *def, const struct key *k, const struct opts *o, struct err *e)
{
	auto_json struct json *quota = json_new_object();
	const char *text;
	size_t i = 0;

	if (!quota)
		return err_nomem(e);
	while ((text = opt_next(o, k->option, &i))) {
		if (add_quota(quota, text, e))
			return -1;
	}
	const struct json *all = json_get(quota, EVERY);
	if (all && json_len(quota) == 1)
		return json_add_int(def, k->key, (int64_t)json_num(all)) ? err_nomem(e) : 0;
	return json_put(def, k->key, TAKE_PTR(quota)) ? err_nomem(e) : 0;
}

/* "/28" or "16" */
static int pool_def_add_slice(struct json *def, const char *key, const char *text, struct err *e)
{
	bool prefix = *text == '/';
	uint64_t n;

	if (parse_u64(text + prefix, 0, UINT64_C(1) << 53, &n))
		return err_set(e, ERR_CONFIG, 0,
			       "--slice: \"%.64s\" is neither a length like /28 nor a number of "
			       "addresses like 16",
			       text);
	struct json *slice = json_add_object(def, key);
	if (!slice || json_add_int(slice, prefix ? "prefix" : "size", (int64_t)n))
		return err_nomem(e);
	return 0;
}

static int parse_guids(const char *text, struct ip_range *out)
{
	const char *last = strrchr(text, '-');
	char first[2 * GUID_STR_LEN];
	struct guid a, b;

	if (!last ||
	    slice_copy((struct slice){ text, (size_t)(last - text) }, first, sizeof(first)) ||
	    guid_parse(first, &a) || guid_parse(last + 1, &b))
		return -1;
	*out = (struct ip_range){ guid_gid(a), guid_gid(b) };
	return ip_cmp(out->first, out->last) > 0 ? -1 : 0;
}

/* Such a pool has GIDs: addresses of the smallest network in fe80::/64 that contains the range. */
static int set_guids(struct json *def, const struct opts *o, struct err *e)
{
	const char *text = opt_get(o, "guids");
	char subnet[PREFIX_STR_LEN], first[IP_STR_LEN], last[IP_STR_LEN], range[2 * IP_STR_LEN];
	struct ip_range r;

	if (opt_is_set(o, "subnet") || opt_is_set(o, "range"))
		return err_set(e, ERR_CONFIG, 0,
			       "--guids sets the subnet and the range: "
			       "give neither --subnet nor --range with it");
	if (parse_guids(text, &r))
		return err_set(e, ERR_CONFIG, 0,
			       "--guids: \"%.64s\" is not FIRST-LAST, as in "
			       "02:00:00:00:00:00:00:00-02:00:00:00:00:00:ff:ff",
			       text);
	struct ip_prefix net = { r.first, 128 };
	while (!ip_in_prefix(net, r.last))
		net.len--;
	net.addr = ip_network(net);
	(void)snprintf(range, sizeof(range), "%s-%s", ip_format(r.first, first),
		       ip_format(r.last, last));
	json_del(def, "ranges");
	struct json *list = json_add_array(def, "ranges");
	if (!list || json_push_str(list, range) ||
	    json_add_str(def, "subnet", ip_format_prefix(net, subnet)))
		return err_nomem(e);
	return 0;
}

static int set_key(struct json *def, const struct key *k, const struct opts *o, struct err *e)
{
	const char *text = opt_get(o, k->option);

	switch (k->kind) {
	case KEY_TEXT:
		return json_add_str(def, k->key, text) ? err_nomem(e) : 0;
	case KEY_SECONDS:
		return pool_def_add_number(def, k->key, k->option, text, e);
	case KEY_FLAG:
		return json_add_bool(def, k->key, true) ? err_nomem(e) : 0;
	case KEY_LIST:
	case KEY_ROUTES:
		return pool_def_add_list(def, k, o, e);
	case KEY_QUOTA:
		return add_quotas(def, k, o, e);
	case KEY_SLICE:
		return pool_def_add_slice(def, k->key, text, e);
	case KEY_GUIDS:
		return set_guids(def, o, e);
	}
	return 0;
}

int pool_def_apply(const struct opts *o, struct json *def, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct key *k = &keys[i];
		bool given = opt_is_set(o, k->option), removed = is_removed(o, k);

		if (given && removed)
			return err_set(e, ERR_CONFIG, 0, "--%s and --no-%s exclude each other",
				       k->option, k->option);
		if (given || removed)
			json_del(def, k->key);
		if (given && set_key(def, k, o, e))
			return -1;
	}
	return 0;
}
