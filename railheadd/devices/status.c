/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: writes and reads the file about the device plugin. */
#include "railheadd/devices/status.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "lib/sys/lock.h"
#include "lib/sys/safe_path.h"
#include "railheadd/devices/resources.h"

#define LOCK    "device plugin"
#define LOCK_MS 2000 /* the agent has it for a moment, to see whether the plugin runs */

int devices_lock(const struct ctx *ctx, struct err *e)
{
	auto_fd int dir = safe_open_dir(ctx->run_dir, SAFE_OWNED | SAFE_CREATE, e);
	int fd = dir < 0 ? -1 : lock_name(dir, LOCK, true, LOCK_MS, e);

	if (fd >= 0 || dir < 0 || e->code != ERR_AGAIN)
		return fd;
	err_set(e, ERR_BUSY, 0, "%s: another device plugin runs on this node", ctx->run_dir);
	return err_hint(e, "stop it first: `systemctl stop railhead-devices`");
}

int devices_status_put(const struct ctx *ctx, const struct json *status, struct err *e)
{
	auto_fd int dir = safe_open_dir(ctx->run_dir, SAFE_OWNED, e);
	auto_free char *text = dir < 0 ? NULL : json_print(status, false);

	if (dir < 0)
		return -1;
	return text ? fs_replace_at(dir, DEVICES_STATUS, text, false, e) : err_nomem(e);
}

void devices_status_end(const struct ctx *ctx)
{
	struct err ignored;
	auto_fd int dir = safe_open_dir(ctx->run_dir, SAFE_OWNED, &ignored);

	if (dir >= 0)
		(void)!fs_unlink_at(dir, DEVICES_STATUS, &ignored);
}

/* ---- for the agent ---- */

static bool devices_run(int dir)
{
	struct err why;
	auto_fd int lock = lock_name(dir, LOCK, false, 0, &why);

	return lock < 0 && why.code == ERR_AGAIN;
}

/* False: there is no plugin, or it has not begun yet; *left: one has died. */
static bool status_read(const struct ctx *ctx, struct json **out, bool *left)
{
	auto_free char *text = NULL;
	struct err why;
	auto_fd int dir = safe_open_dir(ctx->run_dir, SAFE_OWNED, &why);
	ssize_t n = dir < 0 ? -1 : fs_read_at(dir, DEVICES_STATUS, JSON_MAX_SIZE, &text, &why);

	if (n < 0)
		return false;
	*left = !devices_run(dir);
	return !*left && json_parse(text, (size_t)n, DEVICES_STATUS, out, &why) == 0;
}

int devices_status(const struct devices_conf *conf, struct json *obj, struct err *e)
{
	auto_json struct json *status = NULL;
	char folder[PATH_MAX];
	struct json *o;
	bool dead = false;

	if (!conf->kubelet)
		return json_add_bool(obj, "devicePlugin", false) ? err_nomem(e) : 0;
	if (status_read(conf->ctx, &status, &dead))
		return json_add_copy(obj, "devicePlugin", status) ? err_nomem(e) : 0;
	(void)snprintf(folder, sizeof(folder), "%s%s",
		       conf->folder ? conf->folder : conf->ctx->etc_dir,
		       conf->folder ? "" : "/" RESOURCES_DIR);
	o = json_add_object(obj, "devicePlugin");
	/* A node without resources needs no plugin. */
	dead |= access(folder, F_OK) == 0;
	return !o || json_add_str(o, "folder", folder) ||
			       json_add_str(o, "kubelet", conf->kubelet) ||
			       json_add_int(o, "looks", 0) || json_add_num(o, "lookSeconds", 0) ||
			       (dead && json_add_str(o, "error",
						     "railhead-devices does not run: `systemctl "
						     "start railhead-devices`")) ||
			       !json_add_array(o, "resources")
		       ? err_nomem(e)
		       : 0;
}
