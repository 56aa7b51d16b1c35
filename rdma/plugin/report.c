/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: the key "rdma" of the result: device, port, GIDs and character devices. */
#include <stdio.h>

#include "rdma/plugin/pod.h"

#define KEY     "rdma"
#define DEV_DIR "/dev/infiniband/"

static int add_gids(const struct rdma_pod *p, struct json *o)
{
	struct json *list = p->n_gids ? json_add_array(o, "gids") : NULL;

	if (p->n_gids && !list)
		return -1;
	for (size_t i = 0; i < p->n_gids; i++) {
		const struct gid_entry *g = &p->gid[i];
		struct json *x = json_push_object(list);
		char gid[GID_STR_LEN], ip[IP_STR_LEN];

		if (!x || json_add_int(x, "index", g->index) ||
		    json_add_str(x, "gid", gid_format(&g->gid, gid)) ||
		    json_add_str(x, "address", ip_format(gid_to_ip(&g->gid), ip)) ||
		    json_add_str(x, "type", gid_type_name(g->type)))
			return -1;
	}
	return 0;
}

static int add_chardev(struct json *list, const struct rdma_chardev *c)
{
	char path[sizeof(DEV_DIR) + RDMA_CHARDEV_LEN];

	if (!*c->name)
		return 0;
	(void)snprintf(path, sizeof(path), DEV_DIR "%s", c->name);
	return json_push_str(list, path);
}

static int add_chardevs(const struct rdma_pod *p, struct json *o)
{
	struct json *list = json_add_array(o, "charDevices");

	if (!list || add_chardev(list, &p->chardevs.uverbs))
		return -1;
	for (size_t i = 0; i < RDMA_PORTS_MAX; i++) {
		if (add_chardev(list, &p->chardevs.umad[i]))
			return -1;
	}
	/* One file for all devices. */
	return *p->chardevs.uverbs.name ? json_push_str(list, DEV_DIR "rdma_cm") : 0;
}

/* NULL: no memory. */
static struct json *report_json(const struct rdma_pod *p)
{
	auto_json struct json *o = json_new_object();
	const struct rdma_serving *s = &p->serving;

	if (!o || json_add_str(o, "mode", rdma_mode_name(p->mode)) ||
	    json_add_str(o, "device", p->pod_name) || json_add_int(o, "port", s->port) ||
	    (*s->pci && json_add_str(o, "pciID", s->pci)) || add_gids(p, o) || add_chardevs(p, o))
		return NULL;
	return TAKE_PTR(o);
}

int rdma_result(const struct attach *a, struct cni_result *r, struct err *e)
{
	const struct rdma_pod *p = rdma_pod(a);
	const struct cni_conf *c = &a->call->conf;
	auto_json struct json *tree = json_dup(c->prev_result);

	if (!tree || json_put(tree, KEY, report_json(p)))
		return err_nomem(e);
	if (cni_result_parse(tree, "prevResult", c->version, r, e))
		return -1;
	r->tree = TAKE_PTR(tree);
	return 0;
}
