/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma/plugin/restore.h"

#include <stdio.h>
#include <string.h>

#include "cni/protocol/devinfo.h"
#include "lib/sys/fs.h"
#include "lib/sys/lock.h"
#include "rdma/plugin/return_to_host.h"
#include "rdma/plugin/peer.h"

#define LOCK_NAME "RDMA devices"
#define FOLDER    "/" RDMA_RECORDS

int rdma_place(const struct ctx *ctx, struct record_place *out, struct err *e)
{
	return record_place(ctx, RDMA_RECORDS, out, e);
}

int rdma_lock(const struct ctx *ctx, int timeout_ms, struct err *e)
{
	auto_fd int dir = fs_open_dir(ctx->run_dir, true, e);

	return dir < 0 ? -1 : lock_name(dir, LOCK_NAME, true, timeout_ms, e);
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

/* ---- the way back ---- */

static int restore_taken(const struct ctx *ctx, const struct record *r, bool locked, struct err *e)
{
	struct rdma_taken t;

	if (rdma_taken_read(r, &t, e))
		return -1;
	if (t.moved && (rdma_return_to_host(ctx, r, &t, locked, e) ||
			(t.bus && rdma_peer_forget(ctx, &r->key, t.bus, e))))
		return -1;
	if (t.devinfo && *t.devinfo == '/')
		return devinfo_restore(t.devinfo, t.devinfo_was, e);
	return 0;
}

int rdma_restore_locked(const struct ctx *ctx, const struct record *r, struct err *e)
{
	return restore_taken(ctx, r, true, e);
}

int rdma_restore(const struct ctx *ctx, const struct record *r, struct err *e)
{
	return restore_taken(ctx, r, false, e);
}

int rdma_restore_placed(const struct ctx *ctx, const struct record *r, struct err *e)
{
	struct ctx own = *ctx;
	auto_free char *run_dir = strdup(ctx->run_dir);

	if (!run_dir)
		return err_nomem(e);
	run_dir[strlen(run_dir) - strlen(FOLDER)] = '\0';
	own.run_dir = run_dir;
	return rdma_restore(&own, r, e);
}
