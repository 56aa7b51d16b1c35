/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c: decodes the definition of a named pool, and the policy of a pool or ipam section. Pure.
 */
#include "ipam/conf/pool.h"

#include <stdio.h>
#include <string.h>

#include "cni/protocol/result.h"
#include "ipam/conf/labels.h"
#include "ipam/conf/pool_blocks.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/conf/range_list.h"
#include "lib/base/guid.h"

struct pool {
	const char *subnet, *gateway;
	const struct json *ranges, *excludes, *reserved, *routes, *namespaces, *fixed_namespaces,
		*quota, *slice, *nodes;
	bool this_node_only; /* no other node assigns addresses of the subnet */
};

#define KEY(k, kind_, field)                                                                       \
	{                                                                                          \
		k, kind_, J_AT(struct pool, field)                                                 \
	}

static const struct json_field pool_fields[] = {
	{ "subnet", J_STRING, J_AT(struct pool, subnet), .flags = J_REQUIRED },
	KEY("gateway", J_STRING, gateway),
	KEY("ranges", J_ARRAY, ranges),
	KEY("excludes", J_ARRAY, excludes),
	KEY("reserved", J_ARRAY, reserved),
	KEY("routes", J_ARRAY, routes),
	KEY("namespaces", J_ARRAY, namespaces),
	KEY("fixedNamespaces", J_ARRAY, fixed_namespaces),
	KEY("quota", J_ANY, quota),
	KEY("thisNodeOnly", J_BOOL, this_node_only),
	KEY("slice", J_OBJECT, slice),
	KEY("nodes", J_ANY, nodes),
	{ 0 },
};

struct policy_raw {
	bool sticky, strict;
	int64_t cooldown;
};

static const struct json_field policy_fields[] = {
	{ "sticky", J_BOOL, J_AT(struct policy_raw, sticky) },
	{ "strictCooldown", J_BOOL, J_AT(struct policy_raw, strict) },
	{ "cooldown", J_I64, J_AT(struct policy_raw, cooldown), .min = 0,
	  .max = SOURCE_COOLDOWN_MAX },
	{ 0 },
};

int policy_decode(const struct json *n, const char *where, struct policy *out, struct err *e)
{
	struct policy_raw r = { .cooldown = SOURCE_COOLDOWN_NS / 1000000000 };

	if (json_decode(n, where, policy_fields, &r, e))
		return -1;
	*out = (struct policy){
		.sticky = r.sticky,
		.strict = r.strict,
		.cooldown = r.cooldown * 1000000000,
	};
	return 0;
}

int pool_name_valid(const char *name, struct err *e)
{
	if (id_valid(name) && strlen(name) <= KEY_NAME_MAX)
		return 0;
	return err_set(
		e, ERR_CONFIG, 0,
		"pool: \"%.128s\" is not a name: letters, digits, '_', '.' and '-', at most %d",
		name, KEY_NAME_MAX);
}

int pool_is_restricted(const char *name, const struct json *def, struct err *e)
{
	if (json_get(def, "ranges") || json_get(def, "slice") || json_get(def, "blockSize") ||
	    json_true(json_get(def, "thisNodeOnly")))
		return 0;
	err_set(e, ERR_CONFIG, 0,
		"pool %.100s: without a range, other nodes may assign the same addresses", name);
	return err_hint(e, "give --range, --slice, or --this-node-only if no other node does (in a "
			   "file: ranges, slice, thisNodeOnly); for one pool of all nodes see "
			   "railhead-pool(5), BLOCKS");
}

int pool_missing(const char *name, const char *node, struct err *e)
{
	err_set(e, ERR_NOTFOUND, 0, "pool %.100s does not exist on node %.64s", name,
		*node ? node : "(without a name)");
	err_hint(
		e,
		"for a pool of this node alone: `railctl ipam pool add %.100s --subnet ... --range "
		"...`",
		name);
	return err_hint(e, "a pool that all nodes share comes through railheadd: `railctl cluster "
			   "pool list` shows whether the cluster has it");
}

int pool_check_keys(const struct json *def, struct err *e)
{
	static const struct json_field *const tables[] = { pool_fields, policy_fields,
							   pool_blocks_fields, NULL };

	if (json_type(def) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "a pool must be an object, got %s",
			       json_type_name(def));
	if (json_refuse_unknown_of(def, "", tables, e))
		return -1;
	size_t i = 0;
	json_each (route, json_get(def, "routes")) {
		char where[32];

		(void)snprintf(where, sizeof(where), "routes[%zu]", i++);
		if (json_refuse_unknown(route, where, cni_route_fields, e))
			return -1;
	}
	return 0;
}

static int decode_subnet(const struct pool *p, struct source *s, struct err *e)
{
	if (ip_parse_prefix(p->subnet, &s->subnet))
		return err_set(e, ERR_CONFIG, 0,
			       "subnet: \"%.64s\" is not a network like 10.1.0.0/16 or fd00:1::/64",
			       p->subnet);
	struct ip_prefix net = { ip_network(s->subnet), s->subnet.len };
	char text[PREFIX_STR_LEN];
	if (!ip_equal(net.addr, s->subnet.addr))
		return err_set(e, ERR_CONFIG, 0, "subnet: \"%.64s\" has host bits set; write %s",
			       p->subnet, ip_format_prefix(net, text));
	return 0;
}

static int decode_gateway(const struct pool *p, struct source *s, struct err *e)
{
	if (!p->gateway)
		return 0;
	if (ip_parse(p->gateway, &s->gateway))
		return err_set(e, ERR_CONFIG, 0, "gateway: \"%.64s\" is not an IP address",
			       p->gateway);
	if (!ip_in_prefix(s->subnet, s->gateway))
		return err_set(e, ERR_CONFIG, 0, "gateway: %.64s is not in subnet %s", p->gateway,
			       p->subnet);
	return 0;
}

/*
 * A network as a range loses its first and last address, because some devices treat those as
 * network and broadcast address. "10.1.1.0-10.1.1.255" keeps them.
 */
static int pool_add_range(struct ranges *s, const char *text, struct ip_range r, struct err *e)
{
	if (strchr(text, '/') && r.last.v - r.first.v >= 3) {
		r.first.v++;
		r.last.v -= r.first.family == IP_V4;
	}
	return ranges_add(s, r, e);
}

static int exclude_range(struct ranges *s, const char *text, struct ip_range r, struct err *e)
{
	(void)text;
	return ranges_remove(s, r, e);
}

/* One list can be in all pools, so an address of another network has no effect. */
static int reserve_range(void *arg, const char *text, struct ip_range r, struct err *e)
{
	struct source *s = arg;
	struct ip_range all = { ip_network(s->subnet), ip_last(s->subnet) };

	(void)text;
	if (r.first.family != all.first.family || ip_cmp(r.last, all.first) < 0 ||
	    ip_cmp(r.first, all.last) > 0)
		return 0;
	r.first = ip_cmp(r.first, all.first) < 0 ? all.first : r.first;
	r.last = ip_cmp(r.last, all.last) > 0 ? all.last : r.last;
	return ranges_remove(&s->usable, r, e);
}

static int remove_reserved(const struct json *list, struct source *s, struct err *e)
{
	return range_list_each(list, "reserved", reserve_range, s, e);
}

struct change {
	struct source *s;
	int (*fn)(struct ranges *s, const char *text, struct ip_range r, struct err *e);
};

static int change_inside(void *arg, const char *text, struct ip_range r, struct err *e)
{
	const struct change *c = arg;

	if (!ip_in_prefix(c->s->subnet, r.first) || !ip_in_prefix(c->s->subnet, r.last))
		return err_set(e, ERR_CONFIG, 0, "%.100s is not in the subnet", text);
	return c->fn(&c->s->usable, text, r, e);
}

/* A port never has the GUID of zero, or of all ones. */
static int pool_check_guids(const struct pool *p, struct source *s, struct err *e)
{
	const struct ip zero = guid_gid(GUID_ZERO), ones = guid_gid(GUID_ALL_ONE);

	if (!source_has_guids(s))
		return 0;
	if (p->gateway || p->routes)
		return err_set(e, ERR_CONFIG, 0,
			       "%s: %s is a network of GUIDs (fe80::/64), which has none",
			       p->gateway ? "gateway" : "routes", p->subnet);
	return ranges_remove(&s->usable, (struct ip_range){ zero, zero }, e) ||
	       ranges_remove(&s->usable, (struct ip_range){ ones, ones }, e);
}

static int decode_ranges(const struct pool *p, struct source *s, struct err *e)
{
	struct ip_range all = { ip_network(s->subnet), ip_last(s->subnet) };
	struct change add = { s, pool_add_range }, exclude = { s, exclude_range };

	if (!p->ranges && ranges_add(&s->usable, all, e))
		return -1;
	if (range_list_each(p->ranges, "ranges", change_inside, &add, e) ||
	    range_list_each(p->excludes, "excludes", change_inside, &exclude, e) ||
	    remove_reserved(p->reserved, s, e) || pool_check_guids(p, s, e))
		return -1;
	return source_finish(s, e);
}

static int pool_check_count(const struct json *n, const char *key, struct err *e)
{
	double v = json_num(n);

	if (json_type(n) == JSON_NUMBER && v >= 0 && v <= INT32_MAX && v == (double)(int32_t)v)
		return 0;
	return err_set(e, ERR_CONFIG, 0,
		       "quota%s%.64s: must be a whole number of addresses, got %s", *key ? "." : "",
		       key, json_type_name(n));
}

static int pool_check_names(const struct json *list, const char *key, struct err *e)
{
	size_t i = 0;

	json_each (item, list) {
		if (!json_str(item))
			return err_set(e, ERR_DECODE, 0, "%s[%zu]: must be a string, got %s", key,
				       i, json_type_name(item));
		i++;
	}
	return 0;
}

static int decode_policy(const struct pool *p, const struct json *def, struct source *s,
			 struct err *e)
{
	if (policy_decode(def, "pool", &s->policy, e) ||
	    pool_check_names(p->namespaces, "namespaces", e) ||
	    pool_check_names(p->fixed_namespaces, "fixedNamespaces", e))
		return -1;
	if (p->quota && json_type(p->quota) != JSON_OBJECT && pool_check_count(p->quota, "", e))
		return -1;
	if (p->quota && json_type(p->quota) == JSON_OBJECT) {
		json_each (item, p->quota) {
			if (pool_check_count(item, json_key(item), e))
				return -1;
		}
	}
	s->policy.namespaces = p->namespaces;
	s->policy.fixed_namespaces = p->fixed_namespaces;
	s->policy.quota = p->quota;
	return 0;
}

int pool_check_routes(const struct json *routes, const char *before, struct err *e)
{
	size_t i = 0;

	json_each (item, routes) {
		struct cni_route r;
		char where[48];

		(void)snprintf(where, sizeof(where), "%sroutes[%zu]", before, i++);
		if (cni_route_decode(item, where, &r, e))
			return -1;
	}
	return 0;
}

static int decode_sharing(const char *name, const struct pool *p, const struct json *def,
			  struct source *s, struct err *e)
{
	if (pool_blocks_decode(name, def, s->subnet, &s->blocks, e))
		return -1;
	if (p->slice && s->blocks.shared)
		return err_set(e, ERR_CONFIG, 0,
			       "blockSize: a pool has slices or blocks, never both");
	if (!p->slice && !s->blocks.shared)
		return 0;
	if (p->this_node_only)
		return err_set(e, ERR_CONFIG, 0,
			       "thisNodeOnly: %s are for several nodes; remove one of the two",
			       p->slice ? "slices" : "blocks");
	if (s->blocks.shared && p->quota)
		return err_set(e, ERR_CONFIG, 0,
			       "quota: a pool with blocks cannot have it, because a node does not "
			       "count the addresses of other nodes");
	return p->slice ? pool_slice_decode(p->slice, s->subnet, &s->slice, e) : 0;
}

#define SLICED "sliced"
#define SHARED "shared"

struct shared_raw {
	const struct json *def, *reserved;
	const char *uid;
	int64_t generation;
};

static const struct json_field shared_fields[] = {
	{ "definition", J_OBJECT, J_AT(struct shared_raw, def), .flags = J_REQUIRED },
	{ "uid", J_STRING, J_AT(struct shared_raw, uid), .min = 1, .max = POOL_UID_MAX },
	{ "generation", J_I64, J_AT(struct shared_raw, generation), .min = 0,
	  .max = INT64_C(1) << 53 },
	{ "reserved", J_ARRAY, J_AT(struct shared_raw, reserved) },
	{ 0 },
};

char *pool_record_shared(const struct pool_text *t)
{
	auto_json struct json *tree = json_new_object();
	struct json *o = tree ? json_add_object(tree, SHARED) : NULL;

	if (!o || json_add_copy(o, "definition", t->def) || json_add_str(o, "uid", t->uid) ||
	    (t->uid && json_add_int(o, "generation", t->generation)) ||
	    (json_len(t->reserved) && json_add_copy(o, "reserved", t->reserved)))
		return NULL;
	return json_print(tree, false);
}

char *pool_record(const struct json *def)
{
	auto_json struct json *o = NULL;

	if (json_get(def, "blockSize"))
		return pool_record_shared(&(struct pool_text){ .def = def });
	if (!json_get(def, "slice"))
		return json_print(def, false);
	o = json_new_object();
	return o && json_add_copy(o, SLICED, def) == 0 ? json_print(o, false) : NULL;
}

void pool_text_clear(struct pool_text *t)
{
	json_free(t->tree);
	*t = (struct pool_text){ .tree = NULL };
}

int pool_parse(const char *text, const char *what, struct pool_text *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct shared_raw r = { .uid = NULL };

	if (json_parse(text, strlen(text), what, &tree, e))
		return -1;
	const struct json *shared = json_get(tree, SHARED), *wrapped = json_get(tree, SLICED);
	if (shared && json_decode(shared, SHARED, shared_fields, &r, e))
		return err_wrap(e, "%s", what);
	const struct json *def = shared ? r.def : wrapped ? wrapped : tree;
	*out = (struct pool_text){ TAKE_PTR(tree), def, r.uid, r.generation, r.reserved };
	return 0;
}

int pool_load(const char *name, const char *record, struct pool_text *text, struct source *out,
	      struct err *e)
{
	struct pool_text t;

	if (pool_parse(record, name, &t, e))
		return -1;
	if (pool_text_decode(name, &t, out, e)) {
		pool_text_clear(&t);
		return -1;
	}
	*text = t;
	return 0;
}

int pool_reserve(struct source *s, const struct json *reserved, struct err *e)
{
	if (!reserved)
		return 0;
	if (remove_reserved(reserved, s, e))
		return -1;
	source_identify(s);
	return 0;
}

int pool_text_decode(const char *name, const struct pool_text *t, struct source *out, struct err *e)
{
	struct source s = { 0 };

	if (pool_decode(name, t->def, &s, e))
		return -1;
	if (pool_reserve(&s, t->reserved, e)) {
		source_clear(&s);
		return err_wrap(e, "pool %.100s", name);
	}
	s.blocks.uid = t->uid;
	*out = s;
	return 0;
}

int pool_decode(const char *name, const struct json *def, struct source *out, struct err *e)
{
	struct pool p = { 0 };
	struct source s = { 0 };

	key_scope(s.scope, 'p', name);
	(void)snprintf(s.label, sizeof(s.label), "pool %.100s", name);
	if (json_decode(def, "pool", pool_fields, &p, e) || decode_subnet(&p, &s, e) ||
	    decode_gateway(&p, &s, e) || decode_sharing(name, &p, def, &s, e) ||
	    decode_policy(&p, def, &s, e) || pool_check_routes(p.routes, "", e) ||
	    selector_check(p.nodes, "nodes", e) || decode_ranges(&p, &s, e)) {
		source_clear(&s);
		return err_wrap(e, "pool %.100s", name);
	}
	s.routes = p.routes;
	s.nodes = p.nodes;
	*out = s;
	return 0;
}
