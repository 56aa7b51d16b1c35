/* SPDX-License-Identifier: Apache-2.0 */
/* dropin.c: follow the files of a drop-in folder one by one, and report the result of each. */
#include "lib/cli/dropin.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/sys/fs.h"
#include "lib/base/parse.h"

int dropin_dir(struct cmd_run *r, const char *usual, const char **out, struct err *e)
{
	const char *dir = opt_get(&r->opts, "dir");

	if (dir && *dir != '/')
		return cmd_usage(r, e, "--dir \"%.256s\" must be an absolute path", dir);
	*out = dir ? dir : usual;
	return 0;
}

static int dropin_open_dir(struct cmd_run *r, const char *usual, struct dropin *out, struct err *e)
{
	const char *wait = opt_get(&r->opts, "wait");
	struct dropin d = { .fd = -1 };
	uint64_t seconds = 0;
	struct err why;

	if (wait && parse_u64(wait, 0, 3600, &seconds))
		return cmd_usage(r, e, "--wait \"%.64s\" is not a number from 0 to 3600", wait);
	if (dropin_dir(r, usual, &d.dir, e))
		return -1;
	d.deadline = ctx_mono_ms() + (int64_t)seconds * 1000;
	d.fd = fs_open_dir(d.dir, false, &why);
	if (d.fd < 0 && (why.errnum != ENOENT || opt_is_set(&r->opts, "dir")))
		return err_pass(e, &why);
	*out = d;
	return 0;
}

static bool dropin_is_ours(const char *name)
{
	size_t len = strlen(name);

	return len > strlen(DROPIN_SUFFIX) &&
	       strcmp(name + len - strlen(DROPIN_SUFFIX), DROPIN_SUFFIX) == 0;
}

int dropin_each(const struct dropin *d, dropin_fn fn, void *arg, struct err *e)
{
	auto_fs_names struct fs_names files = { .n = 0 };
	int rc = 0;

	if (d->fd >= 0 && fs_names_at(d->fd, ".", FS_NAMES_MAX, &files, e))
		return err_wrap(e, "%s", d->dir);
	for (size_t i = 0; rc == 0 && i < files.n; i++) {
		if (dropin_is_ours(files.name[i]))
			rc = fn(files.name[i], arg, e);
	}
	return rc;
}

bool dropin_nap(const struct dropin *d)
{
	const struct timespec pause = { 0, 100 * 1000000 };

	if (ctx_mono_ms() >= d->deadline)
		return false;
	(void)nanosleep(&pause, NULL);
	return true;
}

ssize_t dropin_read(const struct dropin *d, const char *name, char **out, struct err *e)
{
	return fs_read_trusted_at(d->fd, name, DROPIN_MAX, out, e);
}

/* ---- one file after the other ---- */

void dropin_work_clear(struct dropin_work *w)
{
	base_close_fd(&w->d.fd);
	json_free(w->array);
	json_free(w->pfs);
}

int dropin_begin(struct cmd_run *r, const char *usual, struct dropin_work *out, struct err *e)
{
	auto_dropin_work struct dropin_work w = { .run = r, .d.fd = -1 };

	if (dropin_open_dir(r, usual, &w.d, e))
		return -1;
	w.array = r->out.json ? json_new_array() : NULL;
	w.pfs = json_new_object();
	if (!w.pfs || (r->out.json && !w.array))
		return err_nomem(e);
	*out = w;
	(void)TAKE_FD(w.d.fd);
	(void)TAKE_PTR(w.array);
	(void)TAKE_PTR(w.pfs);
	return 0;
}

int dropin_claim(const struct dropin_work *w, const char *pf, const char *name, struct err *e)
{
	const char *other = json_str(json_get(w->pfs, pf));

	if (other) {
		err_set(e, ERR_CONFIG, 0, "pf: %s is what %s is about already", pf, other);
		return err_hint(e, "one file for each PF; %s was followed", other);
	}
	return json_add_str(w->pfs, pf, name) ? err_nomem(e) : 0;
}

int dropin_end(const struct dropin_work *w, struct err *e)
{
	const struct out *o = &w->run->out;

	if (w->failed || (w->check && !w->done))
		w->run->status = CMD_FAILED;
	if (w->array)
		return out_json(o, w->array, e);
	if (!w->done && !w->failed)
		out_line(o, OUT_PLAIN, "No file %s/*" DROPIN_SUFFIX ": nothing was %s.", w->d.dir,
			 w->check ? "checked" : "done");
	else
		out_line(o, OUT_PLAIN, "%u file%s followed, %u failed", w->done,
			 w->done == 1 ? "" : "s", w->failed);
	return 0;
}
