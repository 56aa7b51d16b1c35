/* SPDX-License-Identifier: Apache-2.0 */
/* child.c: reads a question at standard input, does what may take long, and prints the answer. */
#include "railheadd/devices/child.h"

#include <unistd.h>

#include "lib/grpc/call.h"
#include "lib/json/long.h"
#include "lib/sys/fs.h"
#include "railheadd/devices/ask.h"
#include "railheadd/devices/child_pods.h"
#include "railheadd/devices/job.h"

typedef int (*child_fn)(const struct ctx *ctx, const struct json *question, struct json *answer,
			struct err *e);

static int answer_question(child_fn fn, struct json *answer, struct err *e)
{
	auto_json struct json *question = NULL;
	auto_free char *text = NULL;
	size_t len = 0;
	struct ctx ctx;

	ctx_init(&ctx, "railheadd");
	return fs_read_fd(STDIN_FILENO, JSON_LONG_SIZE, &text, &len, e) ||
			       json_parse_long(text, len, "question", &question, e) ||
			       fn(&ctx, question, answer, e)
		       ? -1
		       : 0;
}

static int devices_child_main(child_fn fn)
{
	auto_json struct json *answer = json_new_object();
	struct err e;
	int rc = answer ? answer_question(fn, answer, &e) : err_nomem(&e);

	return job_say(rc ? NULL : answer, &e);
}

/* ---- look ---- */

static int put_look(const struct resource_set *set, const struct resource_look *look,
		    struct json *answer)
{
	return json_put(answer, "set", resource_set_to_json(set)) ||
			       json_add_int(answer, "interval", resources_interval(set)) ||
			       json_put(answer, "look", resource_look_to_json(look))
		       ? -1
		       : 0;
}

static int devices_child_look(const struct ctx *ctx, const struct json *question,
			      struct json *answer, struct err *e)
{
	auto_resource_set struct resource_set *set = NULL;
	auto_resource_look struct resource_look l = { .n = 0 };

	if (resources_load(ctx, json_str(json_get(question, "folder")), &set, e))
		return -1;
	/* Before the look: a pod that ends meanwhile leaves a free device, and not a busy one. */
	if (child_pods_add(ctx, set, json_text(question, "kubelet"), answer))
		return err_nomem(e);
	if (resource_count(set) && resources_look(ctx, set, &l, e))
		return -1;
	return put_look(set, &l, answer) ? err_nomem(e) : 0;
}

int child_look(void)
{
	return devices_child_main(devices_child_look);
}

/* ---- publish ---- */

static int devices_child_publish(const struct ctx *ctx, const struct json *question,
				 struct json *answer, struct err *e)
{
	auto_resource_set struct resource_set *set = NULL;
	auto_resource_look struct resource_look l = { .n = 0 };

	(void)answer;
	return resource_set_from_json(json_get(question, "set"), &set, e) ||
			       resource_look_from_json(json_get(question, "look"),
						       resource_count(set), &l, e) ||
			       resources_publish(ctx, set, &l, e)
		       ? -1
		       : 0;
}

int child_publish(void)
{
	return devices_child_main(devices_child_publish);
}

/* ---- allocate ---- */

static int allocate_one(const struct ctx *ctx, struct resource_request *r,
			const struct json *container, struct json *to, struct err *e)
{
	auto_resource_allocation struct resource_allocation a = { .n_env = 0 };
	const struct json *ids = json_get(container, "ids");
	auto_free const char **list = calloc(json_len(ids) + 1, sizeof(*list));

	if (!list)
		return err_nomem(e);
	r->n = 0;
	json_each (id, ids)
		list[r->n++] = json_str(id) ? json_str(id) : "";
	r->id = list;
	if (resources_allocate(ctx, r, &a, e))
		return -1;
	return json_push(to, resource_allocation_to_json(&a)) ? err_nomem(e) : 0;
}

static int devices_child_allocate(const struct ctx *ctx, const struct json *question,
				  struct json *answer, struct err *e)
{
	auto_resource_set struct resource_set *set = NULL;
	auto_resource_look struct resource_look l = { .n = 0 };
	struct json *to = json_add_array(answer, "containers");
	struct resource_request r = { .resource = 0 };

	if (!to)
		return err_nomem(e);
	if (resource_set_from_json(json_get(question, "set"), &set, e) ||
	    resource_look_from_json(json_get(question, "look"), 1, &l, e))
		return -1;
	if (resource_count(set) != 1)
		return err_set(e, ERR_DECODE, 0, "set: must have one resource");
	r.set = set;
	r.look = &l.of[0];
	json_each (container, json_get(question, "containers")) {
		if (allocate_one(ctx, &r, container, to, e))
			return -1;
	}
	return 0;
}

int child_allocate(void)
{
	return devices_child_main(devices_child_allocate);
}

/* ---- register ---- */

static int call_kubelet(const struct ctx *ctx, const struct json *question, struct json *answer,
			struct err *e)
{
	const struct wire_bytes m =
		wire_register(json_text(question, "endpoint"), json_text(question, "resource"));
	auto_free uint8_t *bytes = m.data;
	auto_grpc_answer struct grpc_answer a = { .len = 0 };
	const struct grpc_request r = { "/v1beta1.Registration/Register", bytes, (uint32_t)m.len,
					4096, CHILD_REGISTER_MS };

	(void)ctx;
	(void)answer;
	if (!bytes)
		return err_nomem(e);
	if (grpc_call(json_text(question, "kubelet"), &r, ctx_mono_ms() + CHILD_REGISTER_MS, &a, e))
		return -1;
	return a.status.code == GRPC_OK ? 0 : grpc_status_error(&a.status, e);
}

int child_register(void)
{
	return devices_child_main(call_kubelet);
}
