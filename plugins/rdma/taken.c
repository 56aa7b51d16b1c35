/* SPDX-License-Identifier: Apache-2.0 */
/* taken.c: the plugin's part of a record as JSON. */
#include "plugins/rdma/taken.h"

#include "lib/json/json.h"

int rdma_place(const struct ctx *ctx, struct record_place *out, struct err *e)
{
	return record_place(ctx, RDMA_RECORDS, out, e);
}

/* ---- what the record keeps ---- */

struct json *rdma_taken_json(const struct rdma_taken *t)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_bool(o, "moved", t->moved) || json_add_str(o, "bus", t->bus) ||
	    json_add_int(o, "index", t->index) || json_add_int(o, "port", t->port) ||
	    json_add_str(o, "name", t->name) || json_add_str(o, "podName", t->pod_name) ||
	    json_add_str(o, "uverbs", t->uverbs) || json_add_str(o, "deviceInfo", t->devinfo) ||
	    json_add_str(o, "deviceInfoWas", t->devinfo_was))
		return NULL;
	return TAKE_PTR(o);
}

#define FIELD(k, m) .key = k, .offset = offsetof(struct rdma_taken, m)

int rdma_taken_read(const struct record *r, struct rdma_taken *out, struct err *e)
{
	static const struct json_field fields[] = {
		{ FIELD("moved", moved), .kind = J_BOOL, .flags = J_REQUIRED },
		{ FIELD("bus", bus), .kind = J_STRING },
		{ FIELD("index", index), .kind = J_U32, .flags = J_REQUIRED },
		{ FIELD("port", port), .kind = J_U32 },
		{ FIELD("name", name), .kind = J_STRING, .flags = J_REQUIRED },
		{ FIELD("podName", pod_name), .kind = J_STRING },
		{ FIELD("uverbs", uverbs), .kind = J_STRING },
		{ FIELD("deviceInfo", devinfo), .kind = J_STRING },
		{ FIELD("deviceInfoWas", devinfo_was), .kind = J_STRING },
		{ 0 },
	};
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
