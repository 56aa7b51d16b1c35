/* SPDX-License-Identifier: Apache-2.0 */
/* result_rdma.c: describes an RDMA device in a result: mode, name, port and character devices. */
#include "cni/protocol/result_rdma.h"

#include <stdio.h>

#define DEV_DIR "/dev/infiniband/"

static int add_chardev(struct json *list, const struct rdma_chardev *c)
{
	char path[sizeof(DEV_DIR) + RDMA_CHARDEV_LEN];

	if (!*c->name)
		return 0;
	(void)snprintf(path, sizeof(path), DEV_DIR "%s", c->name);
	return json_push_str(list, path);
}

static int add_chardevs(struct json *o, const struct rdma_chardevs *c)
{
	struct json *list = json_add_array(o, "charDevices");

	if (!list || add_chardev(list, &c->uverbs))
		return -1;
	for (size_t i = 0; i < RDMA_PORTS_MAX; i++) {
		if (add_chardev(list, &c->umad[i]))
			return -1;
	}
	/* One file for all devices. */
	return *c->uverbs.name ? json_push_str(list, DEV_DIR "rdma_cm") : 0;
}

struct json *result_rdma_json(const struct result_rdma *r)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "mode", rdma_mode_name(r->mode)) ||
	    json_add_str(o, "device", r->device) || json_add_int(o, "port", r->port) ||
	    (*r->bus && json_add_str(o, "pciID", r->bus)) ||
	    (r->gids && json_add_copy(o, "gids", r->gids)) || add_chardevs(o, r->chardevs))
		return NULL;
	return TAKE_PTR(o);
}
