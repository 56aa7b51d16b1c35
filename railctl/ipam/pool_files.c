/* SPDX-License-Identifier: Apache-2.0 */
/* pool_files.c: writes files with pools, all or none. Files of the same text are left alone. */
#include "railctl/ipam/pool_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool.h"
#include "lib/sys/fs.h"
#include "railctl/ipam/ipam.h"

/* 1: the file is there and has the text. */
static int pool_files_look(int dir, const char *name, const char *text, struct err *e)
{
	auto_free char *old = NULL;

	if (fs_read_at(dir, name, JSON_MAX_SIZE, &old, e) < 0)
		return e->errnum == ENOENT ? 0 : -1;
	if (strcmp(old, text) == 0)
		return 1;
	err_set(e, ERR_BUSY, 0, "%s exists and has another text", name);
	return err_hint(e, "remove the file, or name another folder");
}

static int write_one(int dir, const struct json *pools, bool write, struct err *e)
{
	auto_free char *json = json_print(pools, true), *text = NULL;
	char name[256];
	int rc;

	if (!json || asprintf(&text, "%s\n", json) < 0)
		return err_nomem(e);
	(void)snprintf(name, sizeof(name), "%.240s.json", json_key(pools));
	rc = pool_files_look(dir, name, text, e);
	if (rc < 0)
		return -1;
	return rc || !write ? 0 : fs_replace_at(dir, name, text, false, e);
}

int pool_files_write(const char *dir, const struct json *files, struct err *e)
{
	auto_fd int fd = fs_open_dir(dir, true, e);

	if (fd < 0)
		return -1;
	for (int write = 0; write <= 1; write++) {
		json_each (pools, files) {
			if (write_one(fd, pools, write, e))
				return err_wrap(e, "%.256s", dir);
		}
	}
	return 0;
}

int pool_files_check(const struct json *pool, struct err *e)
{
	auto_clean(source_clear) struct source s = { .label = "" };
	const char *name = json_text(pool, "name");
	auto_json struct json *def = json_dup(pool);

	if (!def)
		return err_nomem(e);
	json_del(def, "name");
	return pool_name_valid(name, e) || pool_check_keys(def, e) || pool_decode(name, def, &s, e)
		       ? -1
		       : 0;
}
