/* SPDX-License-Identifier: Apache-2.0 */
/* record_part.c: the interfaces in the record of an ADD that made several. Pure. */
#include "cni/record/record_part.h"

size_t record_parts(const struct record *r)
{
	return r->parts ? json_len(r->parts) : 1;
}

static int number_of(const struct json *o, const char *key)
{
	double n = json_num(json_get(o, key));

	return n >= 1 && n <= INT32_MAX ? (int)n : 0;
}

void record_part(const struct record *r, size_t i, struct record *out)
{
	const struct json *o = json_first(r->parts);

	*out = *r;
	if (!r->parts)
		return;
	for (; o && i; i--)
		o = json_next(o);
	out->tree = NULL;
	out->parts = NULL;
	out->whole = r;
	out->key.ifname = json_text(o, "ifname");
	out->master = json_text(o, "master");
	out->ifindex = number_of(o, "ifindex");
	out->lower_ifindex = number_of(o, "lowerIfindex");
	out->routing = json_get(o, "routing");
	out->device = json_get(o, "device");
	if (*json_text(o, "plugin"))
		out->plugin = json_text(o, "plugin");
}

int record_add_part(struct json *list, const struct record *part)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "ifname", part->key.ifname) ||
			       json_add_str(o, "plugin", part->plugin) ||
			       json_add_str(o, "master", part->master) ||
			       (part->ifindex && json_add_int(o, "ifindex", part->ifindex)) ||
			       (part->lower_ifindex &&
				json_add_int(o, "lowerIfindex", part->lower_ifindex)) ||
			       (part->routing && json_add_copy(o, "routing", part->routing)) ||
			       (part->device && json_add_copy(o, "device", part->device))
		       ? -1
		       : 0;
}
