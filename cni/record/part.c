/* SPDX-License-Identifier: Apache-2.0 */
/* part.c: the interfaces in the record of an ADD that made several. */
#include "cni/record/part.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

size_t record_parts(const struct record *r)
{
	return r->parts ? json_len(r->parts) : 1;
}

static int part_number_of(const struct json *o, const char *key)
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
	out->ifindex = part_number_of(o, "ifindex");
	out->lower_ifindex = part_number_of(o, "lowerIfindex");
	out->routing = json_get(o, "routing");
	out->device = json_get(o, "device");
	if (*json_text(o, "plugin"))
		out->plugin = json_text(o, "plugin");
}

static const struct json_field part_fields[] = {
	{ "ifname", J_STRING, J_AT(struct record, key.ifname) },
	{ "plugin", J_STRING, J_AT(struct record, plugin) },
	{ "master", J_STRING, J_AT(struct record, master) },
	{ "ifindex", J_UINT, J_AT(struct record, ifindex), .flags = J_OMIT },
	{ "lowerIfindex", J_UINT, J_AT(struct record, lower_ifindex), .flags = J_OMIT },
	{ "routing", J_ANY, J_AT(struct record, routing) },
	{ "device", J_ANY, J_AT(struct record, device) },
	{ 0 },
};

int record_add_part(struct json *list, const struct record *part)
{
	return json_encode(json_push_object(list), part_fields, part);
}

/* ---- the record of a part ---- */

/* Sets *part if r has this interface of the container. */
static bool has_part(const struct record *r, const struct record_key *key, struct record *part)
{
	for (size_t i = 0; i < record_parts(r); i++) {
		record_part(r, i, part);
		if (strcmp(part->key.ifname, key->ifname) == 0)
			return true;
	}
	return false;
}

struct part_search {
	const struct record_key *key;
	char ifname[NAME_MAX + 1]; /* CNI_IFNAME of the record that has the part; "": none */
};

static int consider_record(const struct record *r, void *arg)
{
	struct part_search *s = arg;
	struct record part;

	if (!r->parts || strcmp(r->key.container, s->key->container) != 0 ||
	    !has_part(r, s->key, &part))
		return 0;
	(void)snprintf(s->ifname, sizeof(s->ifname), "%s", r->key.ifname);
	return 1;
}

/* 1: *whole has the part; 0: there is no such record, or it lacks the part. */
static int read_with_part(const struct ctx *ctx, const struct record_key *at,
			  const struct record_key *key, struct record *whole, struct err *e)
{
	struct record part;
	struct err why;

	if (record_read(ctx, at, whole, &why)) {
		*whole = (struct record){ 0 };
		if (why.code == ERR_NOTFOUND)
			return 0;
		return err_pass(e, &why);
	}
	if (has_part(whole, key, &part))
		return 1;
	record_clear(whole);
	return 0;
}

int record_read_part(const struct ctx *ctx, const struct record_key *key, struct record *whole,
		     struct record *part, struct err *e)
{
	struct part_search s = { .key = key };
	const struct record_key several = { key->network, key->container, s.ifname };
	int rc = read_with_part(ctx, key, key, whole, e);

	if (rc == 0 && record_each(ctx, key->network, consider_record, &s, e))
		return -1;
	if (rc == 0 && *s.ifname)
		rc = read_with_part(ctx, &several, key, whole, e);
	if (rc < 0)
		return -1;
	if (rc && has_part(whole, key, part))
		return 0;
	return err_set(e, ERR_NOTFOUND, ENOENT, "container %.64s has no record of %.16s",
		       key->container, key->ifname);
}
