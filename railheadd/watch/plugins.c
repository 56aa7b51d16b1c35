/* SPDX-License-Identifier: Apache-2.0 */
/* plugins.c: the timer, what a look found, and whom it tells. */
#include "railheadd/watch/plugins.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "install/folder.h"
#include "lib/sys/fs.h"
#include "lib/sys/lock.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/events.h"
#include "railheadd/watch/chain_keep.h"
#include "railheadd/watch/folder.h"
#include "railheadd/watch/look.h"
#include "railheadd/watch/plugin_restore.h"
#include "railheadd/watch/plugin_state.h"

struct plugin_watch {
	struct plugin_watch_conf conf;
	struct timer *timer;
	struct folder_watch *folder; /* of the pod network; NULL: none */
	struct chain_keep chain;
	int64_t next;     /* ms until the next look, if that is earlier; -1 */
	bool has_receipt; /* at the last look */
	struct receipt receipt;
	struct plugin_table table;
	struct stat seen[RECEIPT_PROGRAMS]; /* of the file of each row */
	uint64_t restored, failed;          /* since the start of the agent */
	char said[LOOK_SAID_LEN];           /* the error of the last look; "": none */
};

/* ---- telling ---- */

static const char *what_happened(enum plugin_state s)
{
	switch (s) {
	case PLUGIN_OVERWRITTEN:
		return "another project has overwritten it";
	case PLUGIN_MISSING:
		return "it was removed";
	case PLUGIN_OTHER_BUILD:
		return "it is of another build of railhead than railhead-install wrote";
	case PLUGIN_INTACT:
		break;
	}
	return "it is the program of railhead-install again";
}

static void plugin_watch_tell(const struct plugin_watch *w, const struct plugin_row *x)
{
	const struct event_about about = { EVENT_PLUGIN_LOST, "", "", "", x->is.name, false };
	const struct log *log = &w->conf.ctx->log;

	if (!plugin_is_broken(x->state)) {
		log_info(log, "plugin %s in %s: %s", x->is.name, w->conf.folder,
			 what_happened(x->state));
		return;
	}
	log_warn(log, "plugin %s in %s: %s", x->is.name, w->conf.folder, what_happened(x->state));
	(void)events_tell(
		w->conf.events, &about,
		"Plugin %s in %s: %s. Pods that need it do not start. Install railhead with "
		"a prefix (PLUGIN_PREFIX), or start railhead-install with --force.",
		x->is.name, w->conf.folder, what_happened(x->state));
}

static void tell_restored(struct plugin_watch *w, const struct plugin_row *x, const char *why)
{
	const struct event_about about = { EVENT_PLUGIN_RESTORED, "", "", "", x->is.name, false };

	w->restored++;
	log_warn(&w->conf.ctx->log, "plugin %s in %s: %s; put back from %s", x->is.name,
		 w->conf.folder, why, w->conf.restore_from);
	(void)events_tell(w->conf.events, &about, "Plugin %s in %s: %s. The agent has put it back.",
			  x->is.name, w->conf.folder, why);
}

/* ---- one look ---- */

static bool plugin_watch_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* A file that has not changed since the last look is not read again. */
static int plugin_watch_look_at(const struct plugin_watch *w, int dir, struct plugin_row *row,
				struct stat *st, struct err *e)
{
	const struct plugin_row *known = plugin_row_of(&w->table, &row->is);
	struct plan_item seen = { .held = HELD_NONE };

	if (fstatat(dir, row->is.name, st, AT_SYMLINK_NOFOLLOW))
		*st = (struct stat){ .st_ino = 0 };
	if (known && known->state == PLUGIN_INTACT &&
	    plugin_watch_is_same_file(st, &w->seen[known - w->table.row])) {
		row->state = known->state;
		return 0;
	}
	memcpy(seen.name, row->is.name, sizeof(seen.name));
	if (folder_look(dir, &seen, e))
		return -1;
	row->state = plugin_state_of(&row->is, &seen);
	return 0;
}

static void handle(struct plugin_watch *w, int dir, struct plugin_row *row)
{
	const char *why = what_happened(row->state);
	struct err e = { .msg = "" };
	bool is_news = plugin_is_news(&w->table, row);

	if (w->conf.restore_from && plugin_is_broken(row->state)) {
		if (plugin_restore(dir, w->conf.restore_from, &row->is, &e) == 0) {
			row->state = PLUGIN_INTACT;
			tell_restored(w, row, why);
			return;
		}
		w->failed++;
		if (is_news)
			log_error(&w->conf.ctx->log, "plugin %s is not put back: %s%s%s",
				  row->is.name, e.msg, *e.detail ? ": " : "", e.detail);
	}
	if (is_news)
		plugin_watch_tell(w, row);
}

static int plugin_watch_compare(struct plugin_watch *w, int dir, struct err *e)
{
	struct plugin_table now = { .n = w->receipt.n };
	struct stat seen[RECEIPT_PROGRAMS] = { { .st_ino = 0 } };

	for (size_t i = 0; i < now.n; i++) {
		now.row[i].is = w->receipt.program[i];
		if (plugin_watch_look_at(w, dir, &now.row[i], &seen[i], e))
			return -1;
	}
	for (size_t i = 0; i < now.n; i++)
		handle(w, dir, &now.row[i]);
	w->table = now;
	memcpy(w->seen, seen, sizeof(seen));
	return 0;
}

static void plugin_watch_chain(struct plugin_watch *w)
{
	const struct receipt_program *p = receipt_find(&w->receipt, CHAIN_PROGRAM);
	const struct plugin_row *row = p ? plugin_row_of(&w->table, p) : NULL;

	if (w->conf.chain && *w->receipt.chain)
		w->next = chain_keep_look(&w->chain, row && !plugin_is_broken(row->state),
					  ctx_mono_ms());
}

/* Under the lock of railhead-install. 1: another process has it. */
static int look_locked(struct plugin_watch *w, struct err *e)
{
	auto_fd int run = fs_open_dir(w->conf.ctx->run_dir, false, e);
	auto_fd int lock = run < 0 ? -1 : lock_name(run, "railhead-install", true, 0, e);

	if (lock < 0)
		return run >= 0 && e->code == ERR_AGAIN ? 1 : -1;
	auto_fd int dir = folder_open(w->conf.folder, e);
	if (dir < 0)
		return -1;
	int rc = folder_receipt(dir, &w->receipt, e);
	if (rc < 0)
		return -1;
	w->has_receipt = rc == 0;
	if (!w->has_receipt)
		w->table.n = 0;
	if (!w->has_receipt || w->receipt.changing)
		return 0;
	if (plugin_watch_compare(w, dir, e))
		return -1;
	plugin_watch_chain(w);
	return 0;
}

static bool has_receipt_file(const char *folder)
{
	auto_fd int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir >= 0 && faccessat(dir, RECEIPT_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int plugin_watch_look(struct plugin_watch *w, struct err *e)
{
	if (has_receipt_file(w->conf.folder))
		return look_locked(w, e);
	w->has_receipt = false;
	w->table.n = 0;
	return 0;
}

static void plugin_watch_timer(void *arg)
{
	struct plugin_watch *w = arg;
	struct err e = { .msg = "" };

	w->next = -1;
	if (w->folder)
		(void)folder_watch_renew(w->folder);
	if (plugin_watch_look(w, &e) >= 0)
		e.msg[0] = '\0';
	look_note_error(&w->conf.ctx->log, "plugins", &e, w->said);
	(void)timer_arm(w->timer,
			w->next >= 0 && w->next < w->conf.every ? w->next : w->conf.every);
}

/* Its owner may write the file in several steps. */
static void plugin_watch_folder(void *arg)
{
	const struct plugin_watch *w = arg;

	(void)timer_arm(w->timer, 100);
}

/* ---- begin, end, status ---- */

int plugin_watch_new(const struct plugin_watch_conf *conf, struct plugin_watch **out, struct err *e)
{
	struct plugin_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_nomem(e);
	w->conf = *conf;
	w->chain = (struct chain_keep){ .ctx = conf->ctx, .folder = conf->chain };
	w->timer = timer_new(conf->base, plugin_watch_timer, w);

	const struct folder_watch_conf folder = { conf->base, conf->chain, plugin_watch_folder, w };
	int rc = w->timer ? 0 : err_nomem(e);

	if (rc == 0 && conf->chain)
		rc = folder_watch_new(&folder, &w->folder, e);
	if (rc) {
		plugin_watch_free(w);
		return -1;
	}
	(void)timer_arm(w->timer, 0);
	*out = w;
	return 0;
}

void plugin_watch_free(struct plugin_watch *w)
{
	if (!w)
		return;
	timer_free(w->timer);
	folder_watch_free(w->folder);
	free(w);
}

static int plugin_watch_add_status(const struct plugin_watch *w, struct json *o)
{
	if (json_add_str(o, "folder", w->conf.folder) || chain_keep_status(&w->chain, o) ||
	    (*w->said && json_add_str(o, "error", w->said)))
		return -1;
	if (!w->has_receipt)
		return 0;
	return json_add_str(o, "version", w->receipt.version) ||
			       json_add_bool(o, "changing", w->receipt.changing) ||
			       plugin_table_add_status(&w->table, o) ||
			       json_add_int(o, "restored", (int64_t)w->restored) ||
			       json_add_int(o, "restoreFailed", (int64_t)w->failed)
		       ? -1
		       : 0;
}

int plugin_watch_status(const struct plugin_watch *w, struct json *obj, struct err *e)
{
	struct json *o;

	if (!w)
		return json_add_bool(obj, "plugins", false) ? err_nomem(e) : 0;
	o = json_add_object(obj, "plugins");
	return o && plugin_watch_add_status(w, o) == 0 ? 0 : err_nomem(e);
}
