/* SPDX-License-Identifier: Apache-2.0 */
/* host_local.c: decodes host-local's keys, and accepts and refuses what host-local does. */
#include <stdio.h>

#include "cni/protocol/result.h"
#include "ipam/conf/priv.h"

struct range_text {
	const char *subnet, *start, *end, *gateway;
};

#define TEXT(k, field)                                                                             \
	{                                                                                          \
		k, J_STRING, J_AT(struct range_text, field), .flags = J_EMPTY_OK                   \
	}

static const struct json_field range_fields[] = {
	{ "subnet", J_STRING, J_AT(struct range_text, subnet), .flags = J_REQUIRED },
	TEXT("rangeStart", start),
	TEXT("rangeEnd", end),
	TEXT("gateway", gateway),
	{ 0 },
};

static int read_subnet(const struct range_text *t, const char *where, struct source *s,
		       struct err *e)
{
	char text[PREFIX_STR_LEN];

	/* host-local refuses IPv4-mapped networks: the address is IPv4 and the mask is IPv6. */
	if (ip_parse_prefix(t->subnet, &s->subnet) ||
	    ip_unmap(s->subnet.addr).family != s->subnet.addr.family)
		return err_set(e, ERR_CONFIG, 0,
			       "%s.subnet: \"%.64s\" is not a network like 10.1.0.0/16", where,
			       t->subnet);
	if (s->subnet.len > ip_bits(s->subnet.addr.family) - 2)
		return err_set(e, ERR_CONFIG, 0,
			       "%s.subnet: network %.64s too small to allocate from", where,
			       t->subnet);
	struct ip_prefix net = { ip_network(s->subnet), s->subnet.len };
	if (!ip_equal(net.addr, s->subnet.addr))
		return err_set(e, ERR_CONFIG, 0,
			       "%s.subnet: network has host bits set: %.64s; write %s", where,
			       t->subnet, ip_format_prefix(net, text));
	(void)snprintf(s->label, sizeof(s->label), "range %s", ip_format_prefix(net, text));
	return 0;
}

/* Default of gateway and rangeStart: .1. Default of rangeEnd: the last, for IPv4 the one before. */
static int read_ends(const struct range_text *t, const char *where, struct source *s, struct err *e)
{
	struct ip first = { s->subnet.addr.family, s->subnet.addr.v + 1 };
	struct ip last = ip_last(s->subnet);
	struct ip_range r = { first, last };

	if (last.family == IP_V4)
		r.last.v--;
	s->gateway = first;
	if (cni_ip_decode(t->start, where, "rangeStart", &r.first, e) ||
	    cni_ip_decode(t->end, where, "rangeEnd", &r.last, e) ||
	    cni_ip_decode(t->gateway, where, "gateway", &s->gateway, e))
		return -1;
	if (!ip_in_prefix(s->subnet, r.first))
		return err_set(e, ERR_CONFIG, 0, "%s.rangeStart: %.64s not in network %.64s", where,
			       t->start, t->subnet);
	if (!ip_in_prefix(s->subnet, r.last))
		return err_set(e, ERR_CONFIG, 0, "%s.rangeEnd: %.64s not in network %.64s", where,
			       t->end, t->subnet);
	if (ip_cmp(r.first, r.last) > 0)
		return err_set(e, ERR_CONFIG, 0, "%s.rangeEnd: %.64s is before rangeStart %.64s",
			       where, t->end ? t->end : "the last address",
			       t->start ? t->start : "(the first address)");
	if (s->gateway.family != first.family)
		return err_set(e, ERR_CONFIG, 0, "%s.gateway: %.64s is not of the family of %.64s",
			       where, t->gateway, t->subnet);
	return ranges_add(&s->usable, r, e);
}

static int read_range(const struct json *n, const char *where, struct source *s, struct err *e)
{
	struct range_text t = { 0 };

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (json_decode(n, where, range_fields, &t, e) || read_subnet(&t, where, s, e) ||
	    read_ends(&t, where, s, e))
		return -1;
	if (source_finish(s, e))
		return err_wrap(e, "%s", where);
	return 0;
}

/* An address must belong to one range only, else it could be assigned twice with two gateways. */
static int host_local_check_overlap(const struct source_sets *sets, const struct source *s,
				    const char *where, struct err *e)
{
	struct ip_range both;
	char a[IP_STR_LEN], b[IP_STR_LEN];

	for (size_t i = 0; i < sets->n; i++) {
		for (size_t j = 0; j < sets->sets[i].n; j++) {
			const struct source *other = &sets->sets[i].items[j];
			if (ranges_overlap(&other->usable, &s->usable, &both))
				return err_set(e, ERR_CONFIG, 0,
					       "%s: %s overlaps with %s of range set %zu in %s-%s",
					       where, s->label, other->label, i,
					       ip_format(both.first, a), ip_format(both.last, b));
		}
	}
	return 0;
}

struct reader {
	const struct cni_conf *conf;
	const struct policy *policy;
	struct source_sets *sets;
};

/* Limits the time: each range is compared with each other one. */
static int host_local_check_number(const struct source_sets *sets, const char *where, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < sets->n; i++)
		n += sets->sets[i].n;
	if (n < RANGES_MAX)
		return 0;
	return err_set(e, ERR_CONFIG, 0, "%s: more than %d ranges; join neighbouring ones", where,
		       RANGES_MAX);
}

/* Add one range to set number `set`. */
static int host_local_add_range(const struct reader *r, const struct json *n, size_t set,
				const char *where, struct err *e)
{
	struct source s = { .policy = *r->policy };
	const struct source_set *to = &r->sets->sets[set];

	if (host_local_check_number(r->sets, where, e))
		return -1;
	key_scope(s.scope, 'n', r->conf->name);
	int rc = read_range(n, where, &s, e);
	if (rc == 0 && set < r->sets->n && to->items[0].subnet.addr.family != s.subnet.addr.family)
		rc = err_set(e, ERR_CONFIG, 0, "%s: IPv4 and IPv6 are mixed in one range set",
			     where);
	if (rc == 0)
		rc = host_local_check_overlap(r->sets, &s, where, e);
	if (rc) {
		source_clear(&s);
		return -1;
	}
	return sources_add(r->sets, set, &s, e);
}

static int add_set(const struct reader *r, const struct json *n, const char *where, struct err *e)
{
	size_t set = r->sets->n, i = 0;
	char name[80];

	if (json_type(n) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "%s: must be an array of ranges, got %s", where,
			       json_type_name(n));
	if (json_len(n) == 0)
		return err_set(e, ERR_CONFIG, 0, "%s: empty range set", where);
	if (set == SOURCE_SETS_MAX)
		return err_set(e, ERR_CONFIG, 0, "%s: more than %d range sets", where,
			       SOURCE_SETS_MAX);
	json_each (item, n) {
		(void)snprintf(name, sizeof(name), "%s[%zu]", where, i++);
		if (host_local_add_range(r, item, set, name, e))
			return -1;
	}
	return 0;
}

static int add_sets(const struct reader *r, const struct json *list, const char *where,
		    struct err *e)
{
	char name[64];
	size_t i = 0;

	if (list && json_type(list) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "%s: must be an array of range sets, got %s",
			       where, json_type_name(list));
	json_each (item, list) {
		(void)snprintf(name, sizeof(name), "%s[%zu]", where, i++);
		if (add_set(r, item, name, e))
			return -1;
	}
	return 0;
}

/* host-local's order: the runtime's ranges, then the single range of the key subnet, then ranges.
 */
int conf_host_local(const struct cni_conf *conf, const struct policy *policy, struct ipam_conf *out,
		    struct err *e)
{
	struct reader r = { conf, policy, &out->fixed };

	if (add_sets(&r, json_get(conf->runtime, "ipRanges"), "runtimeConfig.ipRanges", e))
		return -1;
	if (json_get(conf->ipam, "subnet") && out->fixed.n == SOURCE_SETS_MAX)
		return err_set(e, ERR_CONFIG, 0, "ipam.subnet: more than %d range sets",
			       SOURCE_SETS_MAX);
	if (json_get(conf->ipam, "subnet") &&
	    host_local_add_range(&r, conf->ipam, out->fixed.n, "ipam", e))
		return -1;
	if (add_sets(&r, json_get(conf->ipam, "ranges"), "ipam.ranges", e))
		return -1;
	if (out->fixed.n == 0)
		return err_set(e, ERR_CONFIG, 0, "ipam.ranges: no IP ranges specified");
	return 0;
}
