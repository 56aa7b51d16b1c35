/* SPDX-License-Identifier: Apache-2.0 */
/* node_pools.c: writes and reads the reports of a node; each length and number is checked. */
#include "cluster/protocol/node_pools.h"

#include <stdio.h>

#include "lib/json/json.h"

struct raw {
	const char *name, *uid, *waits;
	int64_t generation, number;
};

#define TEXT(k, member, size)                                                                      \
	{                                                                                          \
		.key = (k), .kind = J_STRING, .offset = offsetof(struct raw, member),              \
		.flags = J_EMPTY_OK, .min = 1, .max = (size)-1                                     \
	}

static const struct json_field fields[] = {
	TEXT("name", name, GRID_POOL_MAX + 1),
	TEXT("uid", uid, CLUSTER_UID_LEN),
	TEXT("waits", waits, NODE_POOL_WAITS_LEN),
	{ .key = "generation",
	  .kind = J_I64,
	  .offset = offsetof(struct raw, generation),
	  .max = 1LL << 53 },
	{ .key = "number",
	  .kind = J_I64,
	  .offset = offsetof(struct raw, number),
	  .max = UINT32_MAX },
	{ .key = NULL },
};

static int write_report(struct json *o, const struct node_pool *p)
{
	return !o || json_add_str(o, "name", p->name) || json_add_str(o, "uid", p->uid) ||
			       json_add_int(o, "generation", p->generation) ||
			       (*p->waits && json_add_str(o, "waits", p->waits))
		       ? -1
		       : 0;
}

static bool read_report(const struct json *item, const char *key, struct node_pool *out)
{
	struct raw r = { .number = -1 };
	struct err ignored;

	if (!item || json_decode(item, key, fields, &r, &ignored))
		return false;
	*out = (struct node_pool){ .generation = r.generation, .number = r.number };
	(void)snprintf(out->name, sizeof(out->name), "%s", r.name ? r.name : "");
	(void)snprintf(out->uid, sizeof(out->uid), "%s", r.uid ? r.uid : "");
	(void)snprintf(out->waits, sizeof(out->waits), "%s", r.waits ? r.waits : "");
	return true;
}

int node_pool_add(struct json *list, const struct node_pool *p)
{
	struct json *o = json_push_object(list);

	return write_report(o, p) || (p->number >= 0 && json_add_int(o, "number", p->number)) ? -1
											      : 0;
}

bool node_pool_find(const struct json *value, const char *name, struct node_pool *out)
{
	json_each (item, json_get(value, "pools")) {
		const char *its = json_str(json_get(item, "name"));

		if (its && strcmp(its, name) == 0)
			return read_report(item, "pools", out);
	}
	return false;
}

int node_reserved_put(struct json *value, const struct node_pool *p)
{
	return write_report(json_add_object(value, "reserved"), p);
}

bool node_reserved_find(const struct json *value, struct node_pool *out)
{
	return read_report(json_get(value, "reserved"), "reserved", out);
}
