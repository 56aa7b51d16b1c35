/* SPDX-License-Identifier: Apache-2.0 */
/* set_json.c: the parts of a configuration that outlive the look, as a tree, and back. */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "railheadd/resources/conf.h"

static const char *way_name(enum node_way way)
{
	const struct json_enum *x = conf_node_ways;

	while (x->name && x->value != (int)way)
		x++;
	return x->name;
}

static int put_resource(struct json *list, const struct resource_conf *r)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "name", r->name) || json_add_bool(o, "shared", r->shared) ||
			       json_add_str(o, "deviceNodes", way_name(r->nodes)) ||
			       (r->info && json_add_copy(o, "info", r->info))
		       ? -1
		       : 0;
}

struct json *resource_set_to_json(const struct resource_set *s)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < s->n; i++) {
		if (put_resource(list, &s->conf[i]))
			return NULL;
	}
	return TAKE_PTR(list);
}

struct members {
	const char *name;
	bool shared;
	int nodes;
	const struct json *info;
};

static const struct json_field fields[] = {
	{ .key = "name",
	  .kind = J_STRING,
	  .offset = offsetof(struct members, name),
	  .flags = J_REQUIRED,
	  .max = RESOURCE_NAME_LEN - 1 },
	{ .key = "shared", .kind = J_BOOL, .offset = offsetof(struct members, shared) },
	{ .key = "deviceNodes",
	  .kind = J_ENUM,
	  .offset = offsetof(struct members, nodes),
	  .names = conf_node_ways },
	{ .key = "info", .kind = J_OBJECT, .offset = offsetof(struct members, info) },
	{ 0 },
};

static int take_resource(const struct json *n, struct resource_set *s, struct err *e)
{
	struct members x = { .name = "" };
	struct resource_conf *r;

	if (json_type(n) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "a resource must be an object");
	if (json_decode(n, "resource", fields, &x, e) ||
	    ARRAY_GROW(s->conf, s->n, RESOURCES_MAX, "resources", e))
		return -1;
	if (!strchr(x.name, '/'))
		return err_set(e, ERR_DECODE, 0, "\"%s\" is not the name of a resource", x.name);
	r = &s->conf[s->n];
	*r = (struct resource_conf){ .shared = x.shared, .nodes = (enum node_way)x.nodes };
	(void)snprintf(r->name, sizeof(r->name), "%s", x.name);
	if (x.info && !(r->info = json_dup(x.info)))
		return err_nomem(e);
	s->n++;
	return 0;
}

int resource_set_from_json(const struct json *j, struct resource_set **out, struct err *e)
{
	auto_resource_set struct resource_set *s = NULL;

	if (json_type(j) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "this is no list of resources");
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	json_each (n, j) {
		if (take_resource(n, s, e))
			return -1;
	}
	*out = TAKE_PTR(s);
	return 0;
}
