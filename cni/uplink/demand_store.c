/* SPDX-License-Identifier: Apache-2.0 */
/* demand_store.c: the folder of the masters on demand, and its lock. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cni/uplink/demand_store.h"
#include "lib/sys/fs.h"
#include "lib/sys/lock.h"

#define LOCK_MS  10000
#define NAME_LEN (IFNAME_LEN + 8)

static int demand_store_open_folder(int run, bool create, struct err *e)
{
	return run < 0 ? -1 : fs_open_dir_at(run, DEMAND_FOLDER, create, e);
}

static int absent_or_error(const struct ctx *ctx, const struct err *why, struct err *e)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.1024s/" DEMAND_FOLDER, ctx->run_dir);
	if (fs_is_gone(AT_FDCWD, path, why))
		return 0;
	return err_pass(e, why);
}

/* The folder is made, and removed when it is empty, with the lock held. */
int demand_open(const struct ctx *ctx, bool create, struct demand_store *out, struct err *e)
{
	struct err why;
	auto_fd int run = fs_open_dir(ctx->run_dir, create, &why);
	auto_fd int early = create ? -1 : demand_store_open_folder(run, false, &why);

	if (run < 0 || (!create && early < 0))
		return create ? err_pass(e, &why) : absent_or_error(ctx, &why, e);
	auto_fd int lock = lock_name(run, DEMAND_FOLDER, true, LOCK_MS, e);
	if (lock < 0)
		return err_wrap(e, "lock the masters on demand");
	auto_fd int dir = demand_store_open_folder(run, create, &why);
	if (dir < 0)
		return create ? err_pass(e, &why) : absent_or_error(ctx, &why, e);
	*out = (struct demand_store){ TAKE_FD(run), TAKE_FD(dir), TAKE_FD(lock) };
	return 1;
}

int demand_tidy(const struct demand_store *s, struct err *e)
{
	return fs_remove_empty_at(s->run, DEMAND_FOLDER, e);
}

void demand_close(struct demand_store *s)
{
	struct err ignored;

	if (s->dir >= 0)
		(void)!demand_tidy(s, &ignored);
	base_close_fd(&s->dir);
	base_close_fd(&s->lock);
	base_close_fd(&s->run);
	*s = (struct demand_store)DEMAND_CLOSED;
}

static void file_of(const char *name, char out[NAME_LEN])
{
	(void)snprintf(out, NAME_LEN, "%.15s.json", name);
}

bool demand_name_of_file(const char *file, char out[IFNAME_LEN])
{
	const char *dot = strrchr(file, '.');

	if (!dot || strcmp(dot, ".json") != 0 || (size_t)(dot - file) >= IFNAME_LEN)
		return false;
	(void)snprintf(out, IFNAME_LEN, "%.*s", (int)(dot - file), file);
	return true;
}

/* With a copied or renamed file, another link would be removed. */
static int demand_store_check_place(const char *name, const struct demand_state *s, struct err *e)
{
	return strcmp(s->link.name, name) == 0
		       ? 0
		       : err_set(e, ERR_DECODE, 0, "it has the name \"%s\"", s->link.name);
}

int demand_read(int dir, const char *name, struct demand_state *out, struct err *e)
{
	auto_demand_state struct demand_state s = { .users = NULL };
	auto_free char *text = NULL;
	char file[NAME_LEN];
	struct err why;

	file_of(name, file);
	ssize_t len = fs_read_at(dir, file, JSON_MAX_SIZE, &text, &why);
	if (len < 0 && fs_is_gone(dir, file, &why))
		return 0;
	if (len < 0 || demand_state_decode(text, (size_t)len, &s, &why) ||
	    demand_store_check_place(name, &s, &why)) {
		*e = why;
		return err_wrap(e, DEMAND_FOLDER "/%s", file);
	}
	*out = s;
	s.users = NULL;
	return 1;
}

int demand_peek(const struct ctx *ctx, const char *name, struct demand_state *out, struct err *e)
{
	struct err why;
	auto_fd int run = fs_open_dir(ctx->run_dir, false, &why);
	auto_fd int dir = demand_store_open_folder(run, false, &why);

	return dir >= 0 ? demand_read(dir, name, out, e) : absent_or_error(ctx, &why, e);
}

int demand_write(int dir, const struct demand_state *s, struct err *e)
{
	auto_free char *text = demand_state_print(s);
	char file[NAME_LEN];

	if (!text)
		return err_nomem(e);
	file_of(s->link.name, file);
	if (strlen(text) > JSON_MAX_SIZE)
		return err_set(e, ERR_BUSY, 0,
			       DEMAND_FOLDER "/%s: with %zu users it is longer than %d bytes", file,
			       json_len(s->users), JSON_MAX_SIZE);
	/* Not durable on purpose, as the records: it must survive our death, not the machine's. */
	return fs_replace_at(dir, file, text, false, e) ? err_wrap(e, DEMAND_FOLDER "/%s", file)
							: 0;
}

int demand_forget(int dir, const char *name, struct err *e)
{
	char file[NAME_LEN];

	file_of(name, file);
	return fs_unlink_at(dir, file, e);
}
