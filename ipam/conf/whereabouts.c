/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whereabouts.c: decodes whereabouts' keys. Each range gives the pod one address.
 *
 * An address is unique within one range of one network_name, in all networks. Unless
 * enable_overlapping_ranges is false, it is unique within all ranges of that network_name.
 */
#include <stdio.h>
#include <string.h>

#include "ipam/conf/priv.h"

#define NETWORK_NAME_MAX 200 /* KEY_SCOPE_MAX holds it */

struct range_text {
	const char *range, *start, *end;
	const struct json *exclude;
};

static const struct json_field range_fields[] = {
	{ "range", J_STRING, J_AT(struct range_text, range), .flags = J_REQUIRED },
	{ "range_start", J_STRING, J_AT(struct range_text, start), .flags = J_EMPTY_OK },
	{ "range_end", J_STRING, J_AT(struct range_text, end), .flags = J_EMPTY_OK },
	{ "exclude", J_ARRAY, J_AT(struct range_text, exclude) },
	{ 0 },
};

struct common {
	const char *gateway, *network_name;
	bool overlapping, this_node_only;
};

static const struct json_field common_fields[] = {
	{ "gateway", J_STRING, J_AT(struct common, gateway), .flags = J_EMPTY_OK },
	{ "network_name", J_STRING, J_AT(struct common, network_name), .max = NETWORK_NAME_MAX },
	{ "enable_overlapping_ranges", J_BOOL, J_AT(struct common, overlapping) },
	{ "thisNodeOnly", J_BOOL, J_AT(struct common, this_node_only) },
	{ 0 },
};

/*
 * With whereabouts all nodes share such a range, or its controller divides it into slices. Here
 * each node would assign the same addresses without an error, so such a range is refused.
 */
static int whereabouts_check_shared(const struct cni_conf *conf, const struct common *c,
				    struct err *e)
{
	const struct json *slice = conf_given(conf->ipam, "node_slice_size");
	char shown[JSON_SHOW_LEN];

	if (c->this_node_only)
		return 0;
	if (slice)
		err_set(e, ERR_CONFIG, 0,
			"ipam.node_slice_size: %s: this program does not divide a range into "
			"slices for nodes",
			json_show(slice, shown));
	else
		err_set(e, ERR_CONFIG, 0,
			"ipam.range: whereabouts shares a range among all nodes; this program "
			"shares pools only");
	err_hint(e, "with railheadd on each node, all nodes share a pool with \"blockSize\": run "
		    "`railctl cluster pool apply FILE` once, and name the pool in ipam.pool");
	return err_hint(e,
			"without railheadd, use a pool with slices: railhead-pool(5); or give each "
			"node its own range and set \"thisNodeOnly\": true");
}

static int parse_ip(const char *text, struct ip *out)
{
	char plain[PREFIX_STR_LEN];

	if (ip_drop_zeros(text, plain) || ip_parse(plain, out))
		return -1;
	*out = ip_unmap(*out);
	return 0;
}

/* A network of IPv4-mapped addresses is one of IPv4. */
static int parse_cidr(const char *text, struct ip_prefix *out)
{
	char plain[PREFIX_STR_LEN];
	struct ip_prefix p;

	if (ip_drop_zeros(text, plain) || ip_parse_prefix(plain, &p))
		return -1;
	struct ip a = ip_unmap(p.addr);
	if (a.family != p.addr.family) {
		if (p.len < 96)
			return -1;
		p = (struct ip_prefix){ a, p.len - 96 };
	}
	*out = p;
	return 0;
}

/* "network/len" or "first-last/len". Host bits are allowed. */
static int parse_range(const char *text, struct ip_prefix *subnet, struct ip_range *r)
{
	const char *dash = strchr(text, '-');
	char first[IP_STR_LEN];
	struct ip_prefix p;

	if (parse_cidr(dash ? dash + 1 : text, &p))
		return -1;
	struct ip_prefix net = { ip_network(p), p.len };
	struct ip_range all = { net.addr, ip_last(net) };
	if (dash) {
		all.last = p.addr;
		if (slice_copy((struct slice){ text, (size_t)(dash - text) }, first,
			       sizeof(first)) ||
		    parse_ip(first, &all.first))
			return -1;
	}
	*subnet = net;
	*r = all;
	return 0;
}

static int read_end(const char *text, const char *where, const char *key, struct ip *out,
		    struct err *e)
{
	if (text && parse_ip(text, out))
		return err_set(e, ERR_CONFIG, 0, "%s.%s: \"%.64s\" is not an IP address", where,
			       key, text);
	return 0;
}

static int whereabouts_read_ends(const struct range_text *t, const char *where, struct source *s,
				 struct err *e)
{
	char first[IP_STR_LEN], last[IP_STR_LEN];
	struct ip_range r;

	if (parse_range(t->range, &s->subnet, &r))
		return err_set(e, ERR_CONFIG, 0,
			       "%s.range: \"%.100s\" is not \"network/len\" or \"first-last/len\"",
			       where, t->range);
	if (read_end(t->start, where, "range_start", &r.first, e) ||
	    read_end(t->end, where, "range_end", &r.last, e))
		return -1;
	if (!ip_in_prefix(s->subnet, r.first))
		return err_set(e, ERR_CONFIG, 0, "%s.range_start: %.64s is not in range %.100s",
			       where, t->start ? t->start : "the first address", t->range);
	if (!ip_in_prefix(s->subnet, r.last))
		return err_set(e, ERR_CONFIG, 0, "%s.range_end: %.64s is not in range %.100s",
			       where, t->end ? t->end : "the last address", t->range);
	if (ip_cmp(r.first, r.last) > 0)
		return err_set(e, ERR_CONFIG, 0,
			       "%s.range: %.100s ends before it starts: %s comes after %s", where,
			       t->range, ip_format(r.first, first), ip_format(r.last, last));
	return ranges_add(&s->usable, r, e);
}

/* An address or a network; also "first-last", which whereabouts does not have. */
static int parse_excluded(const char *text, struct ip_range *out)
{
	struct ip_prefix p;

	if (parse_cidr(text, &p) == 0) {
		*out = (struct ip_range){ ip_network(p), ip_last(p) };
		return 0;
	}
	if (parse_ip(text, &out->first) == 0) {
		out->last = out->first;
		return 0;
	}
	return ip_parse_range(text, out);
}

static int read_excludes(const struct range_text *t, const char *where, struct source *s,
			 struct err *e)
{
	size_t i = 0;

	json_each (item, t->exclude) {
		const char *text = json_str(item);
		struct ip_range r;

		if (!text || parse_excluded(text, &r))
			return err_set(e, text ? ERR_CONFIG : ERR_DECODE, 0,
				       "%s.exclude[%zu]: %.64s is not an address or network", where,
				       i, text ? text : json_type_name(item));
		if (ranges_remove(&s->usable, r, e))
			return err_wrap(e, "%s.exclude[%zu]", where, i);
		i++;
	}
	return 0;
}

static int read_source(const struct json *n, const char *where, const struct common *c,
		       struct source *s, struct err *e)
{
	struct range_text t = { 0 };
	char text[PREFIX_STR_LEN];
	struct ip gateway = { 0 };

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(n));
	if (json_decode(n, where, range_fields, &t, e) || whereabouts_read_ends(&t, where, s, e) ||
	    read_excludes(&t, where, s, e))
		return -1;
	if (c->gateway && parse_ip(c->gateway, &gateway))
		return err_set(e, ERR_CONFIG, 0, "ipam.gateway: \"%.64s\" is not an IP address",
			       c->gateway);
	(void)snprintf(s->label, sizeof(s->label), "range %s", ip_format_prefix(s->subnet, text));
	if (gateway.family == s->subnet.addr.family)
		s->gateway = gateway;
	key_scope_range(s->scope, c->network_name,
			(struct ip_range){ s->subnet.addr, ip_last(s->subnet) });
	(void)snprintf(s->range, sizeof(s->range), "%s", strrchr(s->scope, '/') + 1);
	if (c->overlapping)
		key_scope(s->scope, 'w', c->network_name);
	if (source_finish(s, e))
		return err_wrap(e, "%s", where);
	return 0;
}

int conf_whereabouts(const struct cni_conf *conf, const struct policy *policy,
		     struct ipam_conf *out, struct err *e)
{
	struct common c = { .network_name = "", .overlapping = true };
	const struct json *list = json_get(conf->ipam, "ipRanges");
	char where[48] = "ipam";
	size_t i = 0;

	if (json_decode(conf->ipam, "ipam", common_fields, &c, e) ||
	    whereabouts_check_shared(conf, &c, e))
		return -1;
	out->whereabouts = true;
	if (*c.network_name && !id_valid(c.network_name))
		return err_set(e, ERR_CONFIG, 0,
			       "ipam.network_name: \"%.64s\" has characters other than letters, "
			       "digits, '_', '.' and '-'",
			       c.network_name);
	if (list && json_type(list) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "ipam.ipRanges: must be an array, got %s",
			       json_type_name(list));
	/* The key range comes before ipRanges. */
	const struct json *n = conf_given(conf->ipam, "range") ? conf->ipam : json_first(list);
	if (!n)
		return err_set(e, ERR_CONFIG, 0, "ipam.ipRanges: it is empty; give a range");
	while (n) {
		struct source s = { .policy = *policy };

		if (n != conf->ipam)
			(void)snprintf(where, sizeof(where), "ipam.ipRanges[%zu]", i++);
		if (read_source(n, where, &c, &s, e)) {
			source_clear(&s);
			return -1;
		}
		if (sources_add(&out->fixed, out->fixed.n, &s, e))
			return err_wrap(e, "%s", where);
		n = n == conf->ipam ? json_first(list) : json_next(n);
	}
	return 0;
}
