/* SPDX-License-Identifier: Apache-2.0 */
/* taken.c: the plugin's part of a record as JSON. */
#include "plugins/rdma/taken.h"

#include "lib/json/json.h"

int rdma_place(const struct ctx *ctx, struct record_place *out, struct err *e)
{
	return record_place(ctx, RDMA_RECORDS, out, e);
}

/* ---- what the record keeps ---- */

static const struct json_field fields[] = {
	{ "moved", J_BOOL, J_AT(struct rdma_taken, moved), .flags = J_REQUIRED },
	{ "bus", J_STRING, J_AT(struct rdma_taken, bus) },
	{ "index", J_U32, J_AT(struct rdma_taken, index), .flags = J_REQUIRED },
	{ "port", J_U32, J_AT(struct rdma_taken, port) },
	{ "name", J_STRING, J_AT(struct rdma_taken, name), .flags = J_REQUIRED },
	{ "podName", J_STRING, J_AT(struct rdma_taken, pod_name) },
	{ "uverbs", J_STRING, J_AT(struct rdma_taken, uverbs) },
	{ "deviceInfo", J_STRING, J_AT(struct rdma_taken, devinfo) },
	{ "deviceInfoWas", J_STRING, J_AT(struct rdma_taken, devinfo_was) },
	{ 0 },
};

struct json *rdma_taken_json(const struct rdma_taken *t)
{
	return json_encoded(fields, t);
}

int rdma_taken_read(const struct record *r, struct rdma_taken *out, struct err *e)
{
	struct rdma_taken t = { .bus = "", .uverbs = "" };

	if (json_decode(r->device, "device", fields, &t, e)) {
		if (e->code != ERR_NOMEM)
			e->code = ERR_DECODE;
		return -1;
	}
	if (!t.pod_name)
		t.pod_name = t.name;
	*out = t;
	return 0;
}
