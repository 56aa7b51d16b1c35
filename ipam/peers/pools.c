/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.c: finds the reader of each object, and has what the readers share. Names become names
 * of shared pools, because the pools of the other projects belong to a whole cluster.
 */
#include "ipam/peers/pools_priv.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/hash.h"

#define DEPTH_MAX 4  /* lists in lists */
#define NODES_MIN 16 /* that a pool with ranges has a block for */

void peer_pools_clear(struct peer_pools *p)
{
	json_free(p->pools);
	json_free(p->notes);
	json_free(p->reserved);
	json_free(p->ranges);
	json_free(p->subnets);
	*p = (struct peer_pools){ .block = p->block };
}

/* ---- notes ---- */

int(peer_note)(const struct peer *p, const char *key, const char *fmt, ...)
{
	char why[512];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);

	struct json *o = json_push_object(p->all->notes);

	if (!o || json_add_str(o, "object", p->label) || json_add_str(o, "key", key) ||
	    json_add_str(o, "why", why))
		return err_nomem(p->e);
	return 0;
}

bool peer_is_empty(const struct json *n)
{
	switch (json_type(n)) {
	case JSON_NULL:
		return true;
	case JSON_BOOL:
		return !json_true(n);
	case JSON_STRING:
		return !*json_str(n);
	case JSON_ARRAY:
	case JSON_OBJECT:
		return json_len(n) == 0;
	case JSON_NUMBER:
		return false;
	}
	return false;
}

const char *peer_text(const struct json *o, const char *key)
{
	const char *text = json_str(json_get(o, key));

	return text ? text : "";
}

static const struct peer_key *find_key(const struct peer_key *keys, const char *key)
{
	for (; keys->key; keys++) {
		if (strcmp(keys->key, key) == 0)
			return keys;
	}
	return NULL;
}

int peer_notes(const struct peer *p, const struct json *o, const struct peer_key *keys)
{
	json_each (member, o) {
		const struct peer_key *k = find_key(keys, json_key(member));
		const char *why = k ? k->why : "railhead does not know this key";

		if (why && !peer_is_empty(member) && peer_note(p, json_key(member), "%s", why))
			return -1;
	}
	return 0;
}

/* ---- names ---- */

/* Lower-case letters, digits and '-'; a long name keeps its beginning and gets a hash. */
static void label_of(const char *name, char out[PEER_POOLS_NAME_MAX + 1])
{
	char text[PEER_POOLS_NAME_MAX + 2];
	size_t n = 0;

	for (const char *s = name; *s && n < sizeof(text) - 1; s++) {
		if (isalnum((unsigned char)*s))
			text[n++] = (char)tolower((unsigned char)*s);
		else if (n > 0)
			text[n++] = '-';
	}
	text[n] = '\0';
	if (n > PEER_POOLS_NAME_MAX)
		(void)snprintf(out, PEER_POOLS_NAME_MAX + 1, "%.21s-%08x", text,
			       (uint32_t)hash_add_text(HASH_START, name));
	else
		(void)snprintf(out, PEER_POOLS_NAME_MAX + 1, "%.30s", n ? text : "pool");
	for (n = strlen(out); n > 1 && out[n - 1] == '-';)
		out[--n] = '\0';
}

static bool pools_is_taken(const struct peer_pools *all, const char *name)
{
	json_each (pool, all->pools) {
		if (strcmp(peer_text(pool, "name"), name) == 0)
			return true;
	}
	return false;
}

/* The first name that no pool has: "rail0", "rail0-2". */
static void free_name(const struct peer_pools *all, char name[PEER_POOLS_NAME_MAX + 1])
{
	char base[PEER_POOLS_NAME_MAX + 1];

	memcpy(base, name, sizeof(base));
	for (unsigned i = 2; pools_is_taken(all, name); i++)
		(void)snprintf(name, PEER_POOLS_NAME_MAX + 1, "%.25s-%u", base, i);
}

/* ---- pools ---- */

/* A power of two, such that the subnet has a few blocks. */
static uint64_t pools_block_of(uint64_t want, struct ip_prefix subnet)
{
	unsigned host = ip_bits(subnet.addr.family) - subnet.len;
	uint64_t block = 1;

	while (block * 2 <= want && block < 65536)
		block *= 2;
	while (block > 1 && host < 60 && block * 4 > (UINT64_C(1) << host))
		block /= 2;
	return block;
}

static int pools_read_subnet(const struct peer *p, const char *text, struct ip_prefix *out)
{
	char right[PREFIX_STR_LEN];

	if (ip_parse_prefix(text, out))
		return 1;
	out->addr = ip_unmap(out->addr);
	if (out->len > ip_bits(out->addr.family))
		return 1;

	struct ip net = ip_network(*out);

	if (ip_equal(net, out->addr))
		return 0;
	out->addr = net;
	return peer_note(p, "subnet", "%.64s has host bits set: written as %s", text,
			 ip_format_prefix(*out, right));
}

int peer_pool(const struct peer *p, const struct peer_pool *from, struct json **out)
{
	char name[PEER_POOLS_NAME_MAX + 1], subnet[PREFIX_STR_LEN];
	struct ip_prefix net;
	int rc = pools_read_subnet(p, from->subnet, &net);

	*out = NULL;
	if (rc > 0)
		return peer_note(p, "subnet", "\"%.64s\" is not a network: no pool is made",
				 from->subnet);
	if (rc < 0)
		return -1;
	if (json_len(p->all->pools) >= PEER_POOLS_MAX)
		return err_set(p->e, ERR_CONFIG, 0, "more than %d pools", PEER_POOLS_MAX);
	label_of(from->name, name);
	free_name(p->all, name);

	uint64_t block = pools_block_of(from->block ? from->block : p->all->block, net);

	if (strcmp(name, from->name) != 0 &&
	    peer_note(p, "name", "\"%.100s\": the pool is called %s", from->name, name))
		return -1;
	if (from->block && block != from->block &&
	    peer_note(p, "blockSize",
		      "%" PRIu64 " becomes %" PRIu64 ": it is a power of two, and "
		      "the subnet has at least four blocks",
		      from->block, block))
		return -1;

	struct json *pool = json_push_object(p->all->pools);

	if (!pool || json_add_str(pool, "name", name) ||
	    json_add_str(pool, "subnet", ip_format_prefix(net, subnet)) ||
	    json_add_int(pool, "blockSize", (int64_t)block))
		return err_nomem(p->e);
	*out = pool;
	return 0;
}

static struct json *array_of(struct json *pool, const char *key)
{
	struct json *list = json_get_mut(pool, key);

	return list ? list : json_add_array(pool, key);
}

int peer_list(const struct peer *p, struct json *pool, const char *key, const struct json *from)
{
	json_each (item, from) {
		struct json *list;

		if (!json_str(item)) {
			if (peer_note(p, key, "an element is not a text"))
				return -1;
			continue;
		}
		list = array_of(pool, key);
		if (!list || json_push_str(list, json_str(item)))
			return err_nomem(p->e);
	}
	return 0;
}

static bool subnet_of(const struct json *pool, struct ip_prefix *out)
{
	return ip_parse_prefix(peer_text(pool, "subnet"), out) == 0;
}

int peer_mask(const struct peer *p, struct json *pool, const char *key, struct ip_range r)
{
	char first[IP_STR_LEN], last[IP_STR_LEN], text[2 * IP_STR_LEN];
	struct ip_prefix net;

	if (!subnet_of(pool, &net) || r.first.family != net.addr.family)
		return 1;

	struct ip_range all = { ip_network(net), ip_last(net) };

	if (ip_cmp(r.last, all.first) < 0 || ip_cmp(r.first, all.last) > 0)
		return 1;
	if (ip_cmp(r.first, all.first) < 0)
		r.first = all.first;
	if (ip_cmp(r.last, all.last) > 0)
		r.last = all.last;
	(void)snprintf(text, sizeof(text), "%s%s%s", ip_format(r.first, first),
		       ip_equal(r.first, r.last) ? "" : "-",
		       ip_equal(r.first, r.last) ? "" : ip_format(r.last, last));

	struct json *list = array_of(pool, key);

	return !list || json_push_str(list, text) ? err_nomem(p->e) : 0;
}

int peer_gateway(const struct peer *p, struct json *pool, const char *gateway)
{
	struct ip_prefix net;
	struct ip ip;

	if (!*gateway)
		return 0;
	if (!subnet_of(pool, &net) || ip_parse(gateway, &ip) || !ip_in_prefix(net, ip_unmap(ip)))
		return peer_note(p, "gateway", "\"%.64s\" is not an address of subnet %.64s",
				 gateway, peer_text(pool, "subnet"));
	return json_add_str(pool, "gateway", gateway) ? err_nomem(p->e) : 0;
}

int peer_route(const struct peer *p, struct json *pool, const char *dst, const char *gw)
{
	struct ip_prefix net;
	struct ip ip;

	if (ip_parse_prefix(dst, &net) || (*gw && ip_parse(gw, &ip)))
		return peer_note(p, "routes", "\"%.64s\" through \"%.64s\" is not a route", dst,
				 gw);

	struct json *list = array_of(pool, "routes");
	struct json *route = list ? json_push_object(list) : NULL;

	if (!route || json_add_str(route, "dst", dst) ||
	    json_add_str(route, "gw", *gw ? gw : json_str(json_get(pool, "gateway"))))
		return err_nomem(p->e);
	return 0;
}

/* ---- objects ---- */

static bool is_kind(const struct json *o, const char *group, const char *kind)
{
	const char *version = peer_text(o, "apiVersion");
	size_t len = strlen(group);

	return strcmp(peer_text(o, "kind"), kind) == 0 && strncmp(version, group, len) == 0 &&
	       version[len] == '/';
}

#define SPIDER "spiderpool.spidernet.io"
#define NVIPAM "nv-ipam.nvidia.com"

static int read_nad(const struct peer *p)
{
	const char *text = peer_text(p->spec, "config");
	auto_json struct json *conf = NULL;
	struct peer nested = *p;
	struct err why;

	if (!*text)
		return peer_note(p, "spec.config", "it is empty: no pool is made");
	if (json_parse(text, strlen(text), "config", &conf, &why))
		return why.code == ERR_NOMEM ? err_nomem(p->e)
					     : peer_note(p, "spec.config", "%s", why.msg);
	nested.spec = conf;
	return peer_netconf(&nested);
}

static int pools_read_object(const struct peer *p, const struct json *o)
{
	const struct json *status = json_get(o, "status");

	if (is_kind(o, SPIDER, "SpiderIPPool"))
		return peer_spider_pool(p);
	if (is_kind(o, SPIDER, "SpiderReservedIP"))
		return peer_spider_reserved(p);
	if (is_kind(o, SPIDER, "SpiderSubnet"))
		return json_push(p->all->subnets, json_dup(o)) ? err_nomem(p->e) : 0;
	if (is_kind(o, NVIPAM, "IPPool"))
		return peer_nv_pool(p, status);
	if (is_kind(o, NVIPAM, "CIDRPool"))
		return peer_nv_cidr_pool(p, status);
	if (is_kind(o, "whereabouts.cni.cncf.io", "IPPool"))
		return peer_whereabouts_pool(p);
	if (is_kind(o, "k8s.cni.cncf.io", "NetworkAttachmentDefinition"))
		return read_nad(p);
	return peer_note(p, "kind", "objects of %.64s \"%.64s\" are not imported",
			 peer_text(o, "apiVersion"), peer_text(o, "kind"));
}

static struct peer peer_of(struct peer_pools *all, const struct json *o, struct err *e)
{
	struct peer p = { .all = all, .spec = json_get(o, "spec"), .e = e };
	const char *kind = peer_text(o, "kind");

	p.name = peer_text(json_get(o, "metadata"), "name");
	if (!json_get(o, "kind")) {
		kind = "network";
		p.name = peer_text(o, "name");
		p.spec = o;
	}
	(void)snprintf(p.label, sizeof(p.label), "%.40s %.100s", kind,
		       *p.name ? p.name : "(without a name)");
	return p;
}

static int add_at(struct peer_pools *all, const struct json *doc, unsigned depth, struct err *e)
{
	struct peer p = peer_of(all, doc, e);
	const struct json *items = json_get(doc, "items");

	if (json_type(doc) != JSON_OBJECT || depth > DEPTH_MAX)
		return peer_note(&p, "", "it is not an object of Kubernetes or CNI");
	if (json_type(items) == JSON_ARRAY) {
		json_each (item, items) {
			if (add_at(all, item, depth + 1, e))
				return -1;
		}
		return 0;
	}
	if (p.spec && json_type(p.spec) != JSON_OBJECT)
		return peer_note(&p, "spec", "%s, not an object", json_type_name(p.spec));
	return json_get(doc, "kind") ? pools_read_object(&p, doc) : peer_netconf(&p);
}

static struct json *made(struct json **at)
{
	if (!*at)
		*at = json_new_array();
	return *at;
}

int peer_pools_add(struct peer_pools *p, const struct json *doc, struct err *e)
{
	if (!made(&p->pools) || !made(&p->notes) || !made(&p->reserved) || !made(&p->ranges) ||
	    !made(&p->subnets))
		return err_nomem(e);
	return add_at(p, doc, 0, e);
}

/* ---- the end ---- */

static int pools_reserve(const struct peer *p, const struct json *ips)
{
	json_each (item, ips) {
		const char *text = json_str(item);
		struct ip_range r;
		bool used = false;

		if (!text || ip_parse_range(text, &r)) {
			if (peer_note(p, "ips", "\"%.64s\" is not a range", text ? text : ""))
				return -1;
			continue;
		}
		if (json_push_str(p->all->ranges, text))
			return err_nomem(p->e);
		for (size_t i = 0; i < json_len(p->all->pools); i++) {
			int rc = peer_mask(p, json_at_mut(p->all->pools, i), "reserved", r);

			if (rc < 0)
				return -1;
			used = used || rc == 0;
		}
		if (!used && peer_note(p, "ips", "%.64s is in no pool of these files", text))
			return -1;
	}
	return 0;
}

/*
 * Pools with few addresses get small blocks, so that many nodes find one. The sources with ranges
 * say nothing about blocks.
 */
static int fit_block(struct json *pool, struct err *e)
{
	double block = json_num(json_get(pool, "blockSize"));
	u128 n = 0;

	json_each (item, json_get(pool, "ranges")) {
		struct ip_range r;

		if (ip_parse_range(json_str(item), &r) == 0)
			n += r.last.v - r.first.v + 1;
	}
	while (n > 0 && block > 1 && (u128)block * NODES_MIN > n)
		block /= 2;
	json_del(pool, "blockSize");
	return json_add_int(pool, "blockSize", (int64_t)block) ? err_nomem(e) : 0;
}

static int pools_check_overlap(struct peer_pools *all, const struct json *pool, struct err *e)
{
	struct peer p = { .all = all, .e = e };
	struct ip_prefix a, b;

	(void)snprintf(p.label, sizeof(p.label), "pool %.64s", peer_text(pool, "name"));
	for (const struct json *o = json_next(pool); o; o = json_next(o)) {
		if (!subnet_of(pool, &a) || !subnet_of(o, &b) ||
		    (!ip_in_prefix(a, b.addr) && !ip_in_prefix(b, a.addr)))
			continue;
		if (peer_note(&p, "subnet",
			      "pool %.64s has addresses of the same network: pools of a cluster "
			      "must not overlap; join the two",
			      peer_text(o, "name")))
			return -1;
	}
	return 0;
}

int peer_pools_finish(struct peer_pools *p, struct err *e)
{
	json_each (o, p->subnets) {
		struct peer of = peer_of(p, o, e);

		if (peer_spider_subnet(&of))
			return -1;
	}
	json_each (o, p->reserved) {
		struct peer of = { .all = p, .e = e };

		(void)snprintf(of.label, sizeof(of.label), "%.150s", peer_text(o, "object"));
		if (pools_reserve(&of, json_get(o, "ips")))
			return -1;
	}
	for (size_t i = 0; i < json_len(p->pools); i++) {
		if (fit_block(json_at_mut(p->pools, i), e))
			return -1;
	}
	json_each (pool, p->pools) {
		if (pools_check_overlap(p, pool, e))
			return -1;
	}
	return 0;
}
