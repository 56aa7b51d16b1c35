/* SPDX-License-Identifier: Apache-2.0 */
/* range_list.c: reads and prints arrays of ranges. Pure. */
#include "ipam/conf/range_list.h"

#include <stdio.h>
#include <string.h>

static int range_list_refuse(const struct json *item, const char *key, size_t i, struct err *e)
{
	const char *text = json_str(item), *dash = text ? strchr(text, '-') : NULL;
	char turned[2 * IP_STR_LEN];
	struct ip_range r;

	if (dash && strlen(text) < sizeof(turned)) {
		(void)snprintf(turned, sizeof(turned), "%s-%.*s", dash + 1, (int)(dash - text),
			       text);
		if (ip_parse_range(turned, &r) == 0)
			return err_set(e, ERR_CONFIG, 0,
				       "%s[%zu]: %s is written backwards: write %s", key, i, text,
				       turned);
	}
	return err_set(e, text ? ERR_CONFIG : ERR_DECODE, 0,
		       "%s[%zu]: %.64s is not \"address\", \"first-last\" or \"network/len\"", key,
		       i, text ? text : json_type_name(item));
}

int range_list_each(const struct json *list, const char *key, range_list_fn fn, void *arg,
		    struct err *e)
{
	size_t i = 0;

	json_each (item, list) {
		const char *text = json_str(item);
		struct ip_range r;

		if (!text || ip_parse_range(text, &r))
			return range_list_refuse(item, key, i, e);
		if (fn(arg, text, r, e))
			return err_wrap(e, "%s[%zu]", key, i);
		i++;
	}
	return 0;
}

static int conf_range_list_add(void *arg, const char *text, struct ip_range r, struct err *e)
{
	(void)text;
	return ranges_add(arg, r, e);
}

int range_list_add(const struct json *list, const char *key, struct ranges *s, struct err *e)
{
	return range_list_each(list, key, conf_range_list_add, s, e);
}

static int remove_range(void *arg, const char *text, struct ip_range r, struct err *e)
{
	(void)text;
	return ranges_remove(arg, r, e);
}

int range_list_remove(const struct json *list, const char *key, struct ranges *s, struct err *e)
{
	return range_list_each(list, key, remove_range, s, e);
}

/* True: the range is a whole network of more than one address. */
static bool is_network(const struct ip_range *r, struct ip_prefix *out)
{
	u128 mask = r->first.v ^ r->last.v;
	uint8_t host = 0;

	if ((mask & (mask + 1)) || (r->first.v & mask) || !mask)
		return false;
	for (; mask; mask >>= 1)
		host++;
	*out = (struct ip_prefix){ r->first, (uint8_t)(ip_bits(r->first.family) - host) };
	return true;
}

static int push_range(struct json *list, const struct ip_range *r)
{
	char first[IP_STR_LEN], last[IP_STR_LEN], text[2 * IP_STR_LEN + PREFIX_STR_LEN];
	struct ip_prefix net;

	ip_format(r->first, first);
	if (ip_equal(r->first, r->last))
		return json_push_str(list, first);
	if (is_network(r, &net))
		return json_push_str(list, ip_format_prefix(net, text));
	(void)snprintf(text, sizeof(text), "%s-%s", first, ip_format(r->last, last));
	return json_push_str(list, text);
}

struct json *range_list_print(const struct ranges *s)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < s->n; i++) {
		if (push_range(list, &s->items[i]))
			return NULL;
	}
	return TAKE_PTR(list);
}

struct json *range_list_print_in(const struct ranges *s, struct ip_prefix subnet)
{
	const struct ip_range all = { ip_network(subnet), ip_last(subnet) };
	auto_ranges struct ranges in = { 0 };
	struct err ignored;

	return ranges_copy_in(s, all, &in, &ignored) ? NULL : range_list_print(&in);
}

struct reserved_raw {
	const struct json *ranges;
};

static const struct json_field reserved_fields[] = {
	{ "ranges", J_ARRAY, J_AT(struct reserved_raw, ranges) },
	{ 0 },
};

int cluster_reserved_fits(size_t ranges, struct err *e)
{
	if (ranges <= CLUSTER_RESERVED_MAX)
		return 0;
	err_set(e, ERR_CONFIG, 0, "reserved.ranges: %zu ranges, at most %d", ranges,
		CLUSTER_RESERVED_MAX);
	return err_hint(e, "join neighbouring ranges, or reserve a whole network");
}

int cluster_reserved_decode(const struct json *value, struct ranges *out, struct err *e)
{
	struct reserved_raw raw = { NULL };

	if (json_decode(value, "reserved", reserved_fields, &raw, e) ||
	    cluster_reserved_fits(json_len(raw.ranges), e))
		return -1;
	if (range_list_add(raw.ranges, "reserved.ranges", out, e) == 0)
		return 0;
	ranges_clear(out);
	return -1;
}
