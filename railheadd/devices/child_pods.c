/* SPDX-License-Identifier: Apache-2.0 */
/* child_pods.c: finds the kubelet's socket, and sorts the devices of its list by resource. */
#include "railheadd/devices/child_pods.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/site.h"
#include "topo/kubelet/pod_list.h"
#include "topo/kubelet/pod_resources.h"

#define PODS_MS 5000

struct given_lists {
	struct json *by_resource; /* has a list for each resource of the configurations */
};

static int take_given(void *arg, const char *resource, const char *id, struct err *e)
{
	struct given_lists *g = arg;
	struct json *list = json_get_mut(g->by_resource, resource);

	return list && json_push_str(list, id) ? err_nomem(e) : 0;
}

/* As railhead.json says; else beside the folder of device plugins, wherever the kubelet has it. */
static int find_pods_socket(const struct ctx *ctx, const char *folder, char out[PATH_MAX],
			    struct err *e)
{
	auto_site struct site s = { .tree = NULL };
	size_t len = strlen(folder);

	if (site_load(ctx, &s, e))
		return -1;
	while (len > 1 && folder[len - 1] == '/')
		len--;
	while (len && folder[len - 1] != '/')
		len--;
	if (strcmp(s.pod_resources, SITE_POD_RESOURCES) != 0)
		(void)snprintf(out, PATH_MAX, "%s", s.pod_resources);
	else
		(void)snprintf(out, PATH_MAX, "%.*spod-resources/kubelet.sock", (int)len, folder);
	return 0;
}

static int ask_pods(const struct ctx *ctx, const char *folder, struct given_lists *to,
		    struct err *e)
{
	char socket[PATH_MAX];
	const struct kubelet_at kubelet = { socket, ctx_mono_ms() + PODS_MS };
	auto_grpc_answer struct grpc_answer a = { .len = 0 };

	return find_pods_socket(ctx, folder, socket, e) || pod_list_ask(&kubelet, &a, e) ||
			       pod_resources_each(a.message, a.len, take_given, to, e)
		       ? -1
		       : 0;
}

int child_pods_add(const struct ctx *ctx, const struct resource_set *set, const char *folder,
		   struct json *answer)
{
	auto_json struct json *o = json_new_object();
	struct given_lists lists = { o };
	struct err e;

	for (size_t i = 0; o && i < resource_count(set); i++) {
		if (!json_add_array(o, resource_name(set, i)))
			return -1;
	}
	if (!o || !resource_count(set))
		return o ? 0 : -1;
	if (ask_pods(ctx, folder, &lists, &e) == 0)
		return json_put(answer, "given", TAKE_PTR(o));
	return e.code == ERR_NOMEM ? -1 : json_add_str(answer, "unlisted", e.msg);
}
