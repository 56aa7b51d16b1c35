/* SPDX-License-Identifier: Apache-2.0 */
/* allocation_json.c: the answer of Allocate as a tree, and back. */
#include <string.h>

#include "lib/base/array.h"
#include "railheadd/devices/allocate.h"

#define PARTS_MAX 65536

/* ---- to JSON ---- */

static int put_pairs(struct json *o, const char *key, const struct resource_pair *p, size_t n)
{
	struct json *to = json_add_object(o, key);

	for (size_t i = 0; to && i < n; i++) {
		if (json_add_str(to, p[i].name, p[i].value))
			return -1;
	}
	return to ? 0 : -1;
}

static int put_mounts(struct json *o, const struct resource_allocation *a)
{
	struct json *to = json_add_array(o, "mounts");

	for (size_t i = 0; to && i < a->n_mounts; i++) {
		struct json *m = json_push_object(to);

		if (!m || json_add_str(m, "container", a->mount[i].container_path) ||
		    json_add_str(m, "host", a->mount[i].host_path) ||
		    json_add_bool(m, "readOnly", a->mount[i].read_only))
			return -1;
	}
	return to ? 0 : -1;
}

static int allocation_json_put_nodes(struct json *o, const struct resource_allocation *a)
{
	struct json *to = json_add_array(o, "nodes"), *cdi = json_add_array(o, "cdi");

	for (size_t i = 0; to && i < a->n_nodes; i++) {
		struct json *n = json_push_object(to);

		if (!n || json_add_str(n, "path", a->node[i].path) ||
		    json_add_str(n, "permissions", a->node[i].permissions))
			return -1;
	}
	for (size_t i = 0; cdi && i < a->n_cdi; i++) {
		if (json_push_str(cdi, a->cdi[i]))
			return -1;
	}
	return to && cdi ? 0 : -1;
}

struct json *resource_allocation_to_json(const struct resource_allocation *a)
{
	auto_json struct json *o = json_new_object();

	if (!o || put_pairs(o, "env", a->env, a->n_env) ||
	    put_pairs(o, "annotations", a->annotation, a->n_annotations) || put_mounts(o, a) ||
	    allocation_json_put_nodes(o, a))
		return NULL;
	return TAKE_PTR(o);
}

/* ---- from JSON ---- */

static int allocation_json_bad(struct err *e)
{
	return err_set(e, ERR_DECODE, 0, "this is not an answer to Allocate");
}

/* A copy of text, which is malformed if NULL. */
static int allocation_json_copy(const char *text, char **out, struct err *e)
{
	if (!text)
		return allocation_json_bad(e);
	*out = strdup(text);
	return *out ? 0 : err_nomem(e);
}

static int allocation_json_take_pairs(const struct json *from, struct resource_pair **list,
				      size_t *n, struct err *e)
{
	json_each (member, from) {
		struct resource_pair p = { NULL, NULL };

		if (ARRAY_GROW(*list, *n, PARTS_MAX, "variables", e))
			return -1;
		if (allocation_json_copy(json_key(member), &p.name, e) ||
		    allocation_json_copy(json_str(member), &p.value, e)) {
			free(p.name);
			return -1;
		}
		(*list)[(*n)++] = p;
	}
	return 0;
}

static int take_mounts(const struct json *from, struct resource_allocation *a, struct err *e)
{
	json_each (m, from) {
		struct resource_mount x = { .read_only = json_true(json_get(m, "readOnly")) };

		if (ARRAY_GROW(a->mount, a->n_mounts, PARTS_MAX, "mounts", e))
			return -1;
		if (allocation_json_copy(json_str(json_get(m, "container")), &x.container_path,
					 e) ||
		    allocation_json_copy(json_str(json_get(m, "host")), &x.host_path, e)) {
			free(x.container_path);
			return -1;
		}
		a->mount[a->n_mounts++] = x;
	}
	return 0;
}

static const char *permissions_of(const char *text)
{
	static const char *const known[] = { "r", "rw", "rwm" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(text, known[i]) == 0)
			return known[i];
	}
	return NULL;
}

static int take_nodes(const struct json *from, struct resource_allocation *a, struct err *e)
{
	json_each (n, from) {
		struct resource_node x = { NULL, permissions_of(json_text(n, "permissions")) };

		if (!x.permissions)
			return allocation_json_bad(e);
		if (ARRAY_GROW(a->node, a->n_nodes, PARTS_MAX, "device nodes", e) ||
		    allocation_json_copy(json_str(json_get(n, "path")), &x.path, e))
			return -1;
		a->node[a->n_nodes++] = x;
	}
	return 0;
}

static int take_cdi(const struct json *from, struct resource_allocation *a, struct err *e)
{
	json_each (name, from) {
		if (ARRAY_GROW(a->cdi, a->n_cdi, PARTS_MAX, "CDI devices", e) ||
		    allocation_json_copy(json_str(name), &a->cdi[a->n_cdi], e))
			return -1;
		a->n_cdi++;
	}
	return 0;
}

int resource_allocation_from_json(const struct json *j, struct resource_allocation *out,
				  struct err *e)
{
	auto_resource_allocation struct resource_allocation a = { 0 };

	if (json_type(j) != JSON_OBJECT)
		return allocation_json_bad(e);
	if (allocation_json_take_pairs(json_get(j, "env"), &a.env, &a.n_env, e) ||
	    allocation_json_take_pairs(json_get(j, "annotations"), &a.annotation, &a.n_annotations,
				       e) ||
	    take_mounts(json_get(j, "mounts"), &a, e) || take_nodes(json_get(j, "nodes"), &a, e) ||
	    take_cdi(json_get(j, "cdi"), &a, e))
		return -1;
	*out = a;
	a = (struct resource_allocation){ 0 };
	return 0;
}
