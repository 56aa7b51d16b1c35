/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: questions and answers as JSON. */
#include "railheadd/devices/ask.h"

#include <stdio.h>
#include <string.h>

char *ask_look(const char *folder, const char *kubelet)
{
	auto_json struct json *o = json_new_object();

	return !o || json_add_str(o, "folder", folder) || json_add_str(o, "kubelet", kubelet)
		       ? NULL
		       : json_print(o, false);
}

void ask_seen_clear(struct ask_seen *s)
{
	json_free(s->set);
	json_free(s->given);
	resource_look_clear(&s->look);
	*s = (struct ask_seen){ .set = NULL };
}

int ask_look_read(const struct json *answer, struct ask_seen *out, struct err *e)
{
	const struct json *set = json_get(answer, "set");
	auto_resource_set struct resource_set *decoded = NULL;
	double interval = json_num(json_get(answer, "interval"));
	const struct json *given = json_get(answer, "given");
	auto_json struct json *copy = NULL, *copy_given = NULL;
	struct resource_look look;

	if (resource_set_from_json(set, &decoded, e))
		return err_wrap(e, "set");
	if (interval < 1 || interval > RESOURCES_INTERVAL_MAX)
		return err_set(e, ERR_DECODE, 0, "interval: %g is out of range", interval);
	copy = json_dup(set);
	copy_given = given ? json_dup(given) : NULL;
	if (!copy || (given && !copy_given))
		return err_nomem(e);
	if (resource_look_from_json(json_get(answer, "look"), json_len(set), &look, e))
		return -1;
	*out = (struct ask_seen){
		.set = TAKE_PTR(copy),
		.given = TAKE_PTR(copy_given),
		.interval = (uint32_t)interval,
		.look = look,
	};
	(void)snprintf(out->unlisted, sizeof(out->unlisted), "%s", json_text(answer, "unlisted"));
	return 0;
}

char *ask_publish(const struct ask_seen *seen)
{
	auto_json struct json *o = json_new_object();

	return !o || json_add_copy(o, "set", seen->set) ||
			       json_put(o, "look", resource_look_to_json(&seen->look))
		       ? NULL
		       : json_print(o, false);
}

/* ---- Allocate ---- */

/*
 * A look with the devices of the request alone: a shared resource may have thousands. NULL: no
 * memory. Ids that d lacks are missing there, too.
 */
static struct json *look_at_request(const struct resource_devices *d,
				    const struct wire_allocate *request)
{
	struct resource_devices some = { .hca = d->hca, .n_hcas = d->n_hcas };
	const struct resource_look look = { .of = &some, .n = 1 };
	size_t n = 0;

	for (size_t i = 0; i < request->n; i++)
		n += request->of[i].n;
	auto_free struct resource_device *all = calloc(n + 1, sizeof(*all));
	if (!all)
		return NULL;
	some.device = all;
	for (size_t i = 0; i < request->n; i++) {
		for (size_t k = 0; k < request->of[i].n; k++) {
			const struct resource_device *x =
				resource_devices_find(d, request->of[i].id[k]);

			if (x)
				all[some.n++] = *x;
		}
	}
	return resource_look_to_json(&look);
}

static int add_containers(struct json *o, const struct wire_allocate *request)
{
	struct json *list = json_add_array(o, "containers");

	for (size_t i = 0; i < request->n; i++) {
		struct json *c = list ? json_push_object(list) : NULL;
		struct json *ids = c ? json_add_array(c, "ids") : NULL;

		for (size_t k = 0; ids && k < request->of[i].n; k++) {
			if (json_push_str(ids, request->of[i].id[k]))
				return -1;
		}
		if (!ids)
			return -1;
	}
	return list ? 0 : -1;
}

char *ask_allocate(const struct json *resource, const struct resource_devices *d,
		   const struct wire_allocate *request)
{
	auto_json struct json *o = json_new_object();
	struct json *set = o ? json_add_array(o, "set") : NULL;

	return !set || json_push(set, json_dup(resource)) ||
			       json_put(o, "look", look_at_request(d, request)) ||
			       add_containers(o, request)
		       ? NULL
		       : json_print(o, false);
}

void ask_allocated_clear(struct ask_allocated *a)
{
	for (size_t i = 0; a->of && i < a->n; i++)
		resource_allocation_clear(&a->of[i]);
	free(a->of);
	*a = (struct ask_allocated){ .n = 0 };
}

int ask_allocate_read(const struct json *answer, size_t n, struct ask_allocated *out, struct err *e)
{
	const struct json *list = json_get(answer, "containers");
	auto_ask_allocated struct ask_allocated a = { .n = 0 };

	if (json_type(list) != JSON_ARRAY || json_len(list) != n)
		return err_set(e, ERR_DECODE, 0, "containers: is not a list of %zu", n);
	a.of = calloc(n + 1, sizeof(*a.of));
	if (!a.of)
		return err_nomem(e);
	json_each (x, list) {
		if (resource_allocation_from_json(x, &a.of[a.n], e))
			return -1;
		a.n++;
	}
	out->n = a.n;
	out->of = TAKE_PTR(a.of);
	return 0;
}

char *ask_register(const char *kubelet, const char *endpoint, const char *resource)
{
	auto_json struct json *o = json_new_object();

	return !o || json_add_str(o, "kubelet", kubelet) || json_add_str(o, "endpoint", endpoint) ||
			       json_add_str(o, "resource", resource)
		       ? NULL
		       : json_print(o, false);
}
