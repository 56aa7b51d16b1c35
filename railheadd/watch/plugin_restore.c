/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_restore.c: finds the program by its digest, and gives it the name as an install does. */
#include "railheadd/watch/plugin_restore.h"

#include <string.h>

#include "install/folder.h"
#include "lib/sys/fs.h"

/* 0: *out is the program of p. 1: this one is not, or cannot be read. */
static int read_if_same(int source, const char *name, const struct receipt_program *p,
			struct content *out)
{
	auto_content struct content c = { .data = NULL };
	struct build_mark mark;
	struct err why;

	if (folder_read(source, name, &c, &mark, &why) || strcmp(c.sha256, p->sha256) != 0)
		return 1;
	*out = c;
	c.data = NULL;
	return 0;
}

static int plugin_restore_find(const char *path, const struct receipt_program *p,
			       struct content *out, struct err *e)
{
	auto_fd int source = fs_open_dir(path, false, e);
	struct plan all;

	if (source < 0 || plan_choose(NULL, "", &all, e))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (read_if_same(source, all.item[i].program, p, out) == 0)
			return 0;
	}
	err_set(e, ERR_STATE, 0, "%s does not have the program that railhead-install wrote", path);
	return err_hint(e, "plugins.restoreFrom of agent.json needs the same build");
}

int plugin_restore(int dir, const char *source, const struct receipt_program *p, struct err *e)
{
	auto_content struct content c = { .data = NULL };
	struct plan_item x = { .held = HELD_NONE };

	memcpy(x.name, p->name, sizeof(x.name));
	if (plugin_restore_find(source, p, &c, e) || folder_look(dir, &x, e))
		return -1;
	if (x.held == HELD_FOLDER) {
		err_set(e, ERR_BUSY, 0, "%s is a folder", p->name);
		return err_hint(e, "move it out of the CNI folder");
	}
	if (folder_stage(dir, x.name, &c, e))
		return -1;
	if (folder_switch(dir, &x, e) == 0)
		return folder_sync(dir, e);
	folder_unstage(dir, x.name);
	return -1;
}
