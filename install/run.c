/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c: one install or removal, from the look at the folder to the receipt.
 *
 * All new programs are on disk before the first one gets its name. A run that is killed among the
 * renames leaves programs of two builds, and these serve each other: a plugin executes the
 * railhead-ipam that it finds, of whatever build. The receipt then says that a change has begun.
 */
#include "install/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "install/chain.h"
#include "install/folder.h"
#include "install/needed.h"
#include "lib/base/version.h"
#include "lib/sys/fs.h"
#include "lib/sys/lock.h"
#include "lib/sys/safe_path.h"

#define LOCK_MS 60000

struct job {
	const struct install *in;
	int dir;          /* the CNI folder */
	bool run_of_root; /* the folder of attachments may be that of the image */
	bool had_receipt;
	bool damaged; /* there is a receipt, but it cannot be read */
	struct receipt before;
	struct plan plan;
	struct needed needed;
	struct content content[ARRAY_SIZE(((struct plan *)0)->item)]; /* as plan.item */
};

static void job_clear(struct job **job)
{
	for (size_t i = 0; *job && i < ARRAY_SIZE((*job)->content); i++)
		content_clear(&(*job)->content[i]);
	free(*job);
}

/* ---- looking ---- */

/* A part of the root file system, and no mount of its own. Unknown before Linux 5.8. */
static bool is_of_root(int fd)
{
	struct statx x, root;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x) ||
	    statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, &root))
		return false;
	return x.stx_dev_major == root.stx_dev_major && x.stx_dev_minor == root.stx_dev_minor &&
	       (x.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
	       !(x.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static int open_run_dir(const char *path, struct err *e)
{
	auto_fd int fd = safe_open_dir(path, SAFE_OWNED, e);

	if (fd >= 0)
		return TAKE_FD(fd);

	bool missing = e->errnum == ENOENT;

	err_wrap(e, "folder of attachments %s", path);
	return missing ? err_hint(e, "mount the host's folder (hostPath, type DirectoryOrCreate), "
				     "or make it: it says which pods need the plugins")
		       : -1;
}

/* The folder of an image would look like a host without attachments. */
static int refuse_folder_of_root(const char *path, struct err *e)
{
	err_set(e, ERR_IO, 0,
		"folder of attachments %s: it is not known to be the host's, because it belongs "
		"to the root file system",
		path);
	err_hint(e, "in a container, mount the host's folder (hostPath)");
	return err_hint(e, "on a host whose /run is not a mount: mount --bind %s %s", path, path);
}

static int take_lock(int run, const char *path, struct err *e)
{
	int fd = lock_name(run, "railhead-install", true, LOCK_MS, e);

	if (fd >= 0)
		return fd;
	err_wrap(e, "folder of attachments %s", path);
	return e->errnum == EROFS ? err_hint(e, "mount it writable: the lock is there") : -1;
}

static int read_receipt(struct job *j, struct err *e)
{
	struct err why = { .msg = "" };
	int rc = folder_receipt(j->dir, &j->before, &why);

	j->had_receipt = rc == 0;
	if (rc >= 0)
		return 0;
	/* By force the damaged one is replaced. Its programs stay in the folder. */
	j->damaged = j->in->force && !j->in->remove;
	if (j->damaged)
		return 0;
	*e = why;
	if (j->in->remove)
		return err_hint(e, "it does not say what to remove: run an install with --force "
				   "first");
	return err_hint(e, "with --force it is ignored and replaced; programs with another "
			   "prefix than today's then stay");
}

static bool is_downgrade(const struct job *j)
{
	return j->had_receipt && version_older(RAILHEAD_VERSION, j->before.version);
}

/* ---- the pod network ---- */

static void tell_chain(const struct job *j, const char *what, const char *where)
{
	out_line(j->in->out, OUT_GOOD, "%s " CHAIN_PROGRAM " in the pod network: %s", what, where);
}

/*
 * The entry goes before the program, and before it is known whether an attachment needs the
 * program: each new pod would. Another folder is the same one, as another mount shows it, or an
 * earlier one.
 */
static int unchain(struct job *j, struct err *e)
{
	const char *now = j->in->chain;

	if (!*j->before.chain || (!j->in->remove && now && strcmp(now, j->before.chain) == 0))
		return 0;
	if (j->in->dry_run) {
		tell_chain(j, "would unchain", j->before.chain);
		return 0;
	}
	auto_fd int dir = chain_open(j->in->remove && now ? now : j->before.chain, e);
	int rc = dir < 0 ? -1 : chain_take(dir, e);

	if (rc < 0)
		return err_hint(e, "the pod network may name the plugin " CHAIN_PROGRAM
				   ", so that it stays; --remove --chain names the folder");
	if (rc)
		tell_chain(j, "unchained", j->before.chain);
	j->before.chain[0] = '\0';
	return folder_write_receipt(j->dir, &j->before, e);
}

/* A node may get its pod network later: then the agent chains it. */
static void chain(const struct job *j)
{
	char file[CHAIN_FILE_LEN];
	struct err why = { .msg = "" };

	if (j->in->dry_run) {
		tell_chain(j, "would chain", j->in->chain);
		return;
	}
	auto_fd int dir = chain_open(j->in->chain, &why);
	int rc = dir < 0 ? -1 : chain_put(dir, file, &why);

	if (rc < 0)
		out_line(j->in->out, OUT_WARN, "not chained in the pod network: %s", why.msg);
	else
		tell_chain(j, rc ? "chained" : "unchanged", file);
}

/* The names: those of this install, then those of the receipt. */
static int make_plan(struct job *j, struct err *e)
{
	const struct install *in = j->in;

	if (plan_choose(in->list, in->prefix, &j->plan, e))
		return -1;
	if (in->remove)
		j->plan.n = 0;
	else if (in->chain)
		plan_add_chained(&j->plan);
	if (j->had_receipt)
		plan_add_earlier(&j->plan, &j->before);
	plan_order(&j->plan, in->remove || is_downgrade(j));
	return 0;
}

static int load_program(struct job *j, int source, size_t i, struct err *e)
{
	struct plan_item *x = &j->plan.item[i];
	struct build_mark mark;

	if (folder_read(source, x->program, &j->content[i], &mark, e))
		return -1;
	if (strcmp(mark.program, x->program) != 0 || strcmp(mark.id, j->in->build) != 0)
		return err_set(e, ERR_STATE, 0, "%s is of another build than this program",
			       x->program);
	memcpy(x->sha256, j->content[i].sha256, sizeof(x->sha256));
	return 0;
}

static int load_programs(struct job *j, struct err *e)
{
	if (j->in->remove)
		return 0;

	auto_fd int source = fs_open_dir(j->in->source, false, e);
	int rc = source < 0 ? -1 : 0;

	for (size_t i = 0; rc == 0 && i < j->plan.n; i++) {
		if (j->plan.item[i].program)
			rc = load_program(j, source, i, e);
	}
	if (rc == 0)
		return 0;
	err_wrap(e, "programs in %s", j->in->source);
	return err_hint(e, "all programs must come from one image, or from one build");
}

static int load_needed(struct job *j, struct err *e)
{
	if (needed_load(j->in->ctx, j->had_receipt ? &j->before : NULL, &j->needed, e))
		return -1;
	/* There may be attachments that are not seen. */
	j->needed.all |= j->run_of_root;
	return 0;
}

static int look_at_folder(struct job *j, struct err *e)
{
	if (!j->in->dry_run)
		folder_heal_receipt(j->dir);
	for (size_t i = 0; i < j->plan.n; i++) {
		struct plan_item *x = &j->plan.item[i];

		if (!j->in->dry_run && folder_heal(j->dir, x->name, e))
			return -1;
		if (folder_look(j->dir, x, e))
			return -1;
		x->needed = needed_has(&j->needed, x->name);
	}
	return 0;
}

static bool has_action(const struct plan *p, enum plan_action action)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->item[i].action == action)
			return true;
	}
	return false;
}

static int install_prepare(struct job *j, struct err *e)
{
	if (read_receipt(j, e) || unchain(j, e) || make_plan(j, e) || load_programs(j, e) ||
	    load_needed(j, e) || look_at_folder(j, e) || plan_decide(&j->plan, j->in->force, e))
		return -1;
	if (j->in->remove && has_action(&j->plan, PLAN_NEEDED))
		return needed_refuse(&j->needed, e);
	return 0;
}

/* ---- changing ---- */

/*
 * A removal keeps version and build of the receipt: it removes those programs. A downgrade keeps
 * the version while it runs: if it is killed, the next run is a downgrade, too.
 */
static int write_receipt(const struct job *j, bool changing, struct err *e)
{
	struct receipt r = { .changing = changing, .version = RAILHEAD_VERSION };

	(void)snprintf(r.build, sizeof(r.build), "%s", j->in->build);
	if (j->in->remove)
		memcpy(r.build, j->before.build, sizeof(r.build));
	if (j->in->remove || (changing && is_downgrade(j)))
		memcpy(r.version, j->before.version, sizeof(r.version));
	if (j->in->chain && !j->in->remove)
		(void)snprintf(r.chain, sizeof(r.chain), "%s", j->in->chain);
	if (plan_receipt(&j->plan, &r, e))
		return -1;
	return folder_write_receipt(j->dir, r.n ? &r : NULL, e);
}

static bool is_new(const struct plan_item *x)
{
	return x->action == PLAN_ADD || x->action == PLAN_REPLACE || x->action == PLAN_REPAIR;
}

static void unstage_all(const struct job *j)
{
	for (size_t i = 0; i < j->plan.n; i++) {
		if (is_new(&j->plan.item[i]))
			folder_unstage(j->dir, j->plan.item[i].name);
	}
}

/*
 * No program was changed. Where the receipt was damaged, that of this run stays: without any, a
 * removal would find nothing. Returns -1.
 */
static int put_receipt_back(const struct job *j, struct err *e)
{
	struct err again = { .msg = "" };

	if (j->damaged)
		return -1;
	if (folder_write_receipt(j->dir, j->had_receipt ? &j->before : NULL, &again))
		err_hint(e, "the receipt says that a change has begun: %s", again.msg);
	return -1;
}

/* The same after new content was written beside the names. Returns -1. */
static int take_back(const struct job *j, struct err *e)
{
	unstage_all(j);
	(void)put_receipt_back(j, e);
	return err_hint(e, "no program was changed");
}

static int stage_all(const struct job *j, struct err *e)
{
	for (size_t i = 0; i < j->plan.n; i++) {
		const struct plan_item *x = &j->plan.item[i];

		if (is_new(x) && folder_stage(j->dir, x->name, &j->content[i], e))
			return take_back(j, e);
	}
	return 0;
}

/* Another program may have written into the folder since the first look. */
static int install_look_again(const struct job *j, struct err *e)
{
	for (size_t i = 0; i < j->plan.n; i++) {
		const struct plan_item *x = &j->plan.item[i];
		int rc = is_new(x) ? folder_is_other(j->dir, x, e) : 0;

		if (rc > 0)
			err_set(e, ERR_AGAIN, 0,
				"another program has changed %s in the CNI folder meanwhile; try "
				"again",
				x->name);
		if (rc)
			return take_back(j, e);
	}
	return 0;
}

static int switch_all(const struct job *j, struct err *e)
{
	size_t done = 0;

	for (size_t i = 0; i < j->plan.n; i++) {
		const struct plan_item *x = &j->plan.item[i];

		if (!is_new(x))
			continue;
		if (folder_switch(j->dir, x, e) == 0) {
			done++;
			continue;
		}
		if (done == 0)
			return take_back(j, e);
		unstage_all(j);
		return err_hint(e, "some programs are of the new build already, and work with the "
				   "others; run it again");
	}
	return folder_sync(j->dir, e);
}

typedef int (*folder_fn)(int dir, const char *name, struct err *e);

static int each_dropped(const struct job *j, folder_fn fn, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < j->plan.n; i++) {
		if (j->plan.item[i].action == PLAN_DROP && fn(j->dir, j->plan.item[i].name, e))
			rc = -1;
	}
	return rc;
}

/* A file that another program has put there since the first look gets its name back. */
static int set_aside(const struct job *j, struct plan_item *x, struct err *e)
{
	int rc;

	if (folder_set_aside(j->dir, x->name, e))
		return -1;
	rc = folder_is_other_aside(j->dir, x, e);
	if (rc <= 0)
		return rc;
	if (folder_put_back(j->dir, x->name, e))
		return -1;
	x->action = PLAN_FORGET;
	return 0;
}

static int set_all_aside(struct job *j, struct err *e)
{
	for (size_t i = 0; i < j->plan.n; i++) {
		struct plan_item *x = &j->plan.item[i];

		if (x->action == PLAN_DROP && set_aside(j, x, e))
			return -1;
	}
	return 0;
}

/* An ADD that began before its program was set aside may write its record only now. */
static int check_dropped(struct job *j, struct err *e)
{
	for (size_t i = 0; i < j->plan.n; i++) {
		const struct plan_item *x = &j->plan.item[i];
		int rc = x->action == PLAN_DROP ? folder_runs_aside(j->dir, x->name, e) : 0;

		if (rc < 0)
			return -1;
		if (rc)
			return err_set(e, ERR_AGAIN, 0, "%s runs at this moment; try again",
				       x->name);
	}
	if (load_needed(j, e))
		return -1;
	for (size_t i = 0; i < j->plan.n; i++) {
		const struct plan_item *x = &j->plan.item[i];

		if (x->action == PLAN_DROP && needed_has(&j->needed, x->name))
			return needed_refuse(&j->needed, e);
	}
	return 0;
}

/* 1: all have their names again. Else the error is that one does not, and the next run tries. */
static int put_all_back(const struct job *j, struct err *e)
{
	struct err why = { .msg = "" };

	if (each_dropped(j, folder_heal, &why) == 0)
		return 1;
	err_hint(&why, "the removal ended before, because of: %s", e->msg);
	*e = why;
	return err_hint(e, "run it again: it gives the name back first");
}

/* All programs that are dropped, or none. 1: none, *e says why, and the names are as before. */
static int drop_all(struct job *j, struct err *e)
{
	if (set_all_aside(j, e) || check_dropped(j, e))
		return put_all_back(j, e);
	if (each_dropped(j, folder_discard, e))
		return -1;
	return folder_sync(j->dir, e);
}

static void keep_dropped(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->item[i].action == PLAN_DROP)
			p->item[i].action = PLAN_NEEDED;
	}
}

static int install_drop(struct job *j, struct err *e)
{
	struct err why = { .msg = "" };
	int rc = has_action(&j->plan, PLAN_DROP) ? drop_all(j, &why) : 0;

	if (rc == 0)
		return 0;
	/* An install is done without it: the next one drops what it can. */
	if (rc > 0 && !j->in->remove && (why.code == ERR_AGAIN || why.code == ERR_BUSY)) {
		keep_dropped(&j->plan);
		return 0;
	}
	*e = why;
	return rc > 0 && j->in->remove ? put_receipt_back(j, e) : -1;
}

/* Nothing is to be done: then a folder may be read-only. */
static bool is_complete(const struct job *j)
{
	if (!j->had_receipt || j->before.changing || j->before.n != j->plan.n ||
	    strcmp(j->before.build, j->in->build) != 0 ||
	    strcmp(j->before.chain, j->in->chain ? j->in->chain : "") != 0)
		return false;
	for (size_t i = 0; i < j->plan.n; i++) {
		const struct plan_item *x = &j->plan.item[i];

		if ((x->action != PLAN_SAME && x->action != PLAN_NEEDED) ||
		    !receipt_find(&j->before, x->name))
			return false;
	}
	return true;
}

static bool has_nothing_to_remove(const struct job *j)
{
	return j->in->remove && !j->had_receipt;
}

static int install_apply(struct job *j, struct err *e)
{
	if (is_complete(j) || has_nothing_to_remove(j))
		return 0;
	if (write_receipt(j, true, e))
		return err_hint(e, "no program was changed");
	if (stage_all(j, e) || install_look_again(j, e) || switch_all(j, e) || install_drop(j, e))
		return -1;
	return write_receipt(j, false, e);
}

/* ---- telling ---- */

static void install_tell(const struct job *j)
{
	static const struct {
		enum out_style style;
		const char *done, *would, *why;
	} words[] = {
		[PLAN_SAME] = { OUT_FAINT, "unchanged", "unchanged", "" },
		[PLAN_ADD] = { OUT_GOOD, "installed", "would install", "" },
		[PLAN_REPLACE] = { OUT_GOOD, "replaced", "would replace", "" },
		[PLAN_REPAIR] = { OUT_WARN, "repaired", "would repair",
				  ": its owner, mode or capabilities were not those of root, 0755 "
				  "and none" },
		[PLAN_DROP] = { OUT_GOOD, "removed", "would remove", "" },
		[PLAN_NEEDED] = { OUT_WARN, "kept", "would keep",
				  ": an attachment may need it for its DEL" },
		[PLAN_FORGET] = { OUT_WARN, "left alone", "would leave alone",
				  ": it is gone, or not of this install any more" },
	};

	for (size_t i = 0; i < j->plan.n; i++) {
		const struct plan_item *x = &j->plan.item[i];

		out_line(j->in->out, words[x->action].style, "%s %s%s",
			 j->in->dry_run ? words[x->action].would : words[x->action].done, x->name,
			 words[x->action].why);
	}
}

/* What a person has to judge: a missing mount looks like a node without libcni. */
static void tell_why(const struct job *j)
{
	if (has_action(&j->plan, PLAN_NEEDED) && *j->needed.all_for)
		out_line(j->in->out, OUT_WARN,
			 "no program is removed as long as this attachment does not say which one "
			 "it needs: %s",
			 j->needed.all_for);
	if (j->needed.no_cache && (j->in->remove || has_action(&j->plan, PLAN_DROP)))
		out_line(j->in->out, OUT_WARN,
			 "there is no folder %s/results of libcni: attachments without a record of "
			 "railhead were not seen",
			 j->in->ctx->cni_dir);
}

static void sum_up(const struct job *j, char summary[SUMMARY_LEN])
{
	const struct install *in = j->in;
	size_t written = 0, removed = 0, others = 0;
	char counts[96] = "";

	for (size_t i = 0; i < j->plan.n; i++) {
		const struct plan_item *x = &j->plan.item[i];

		if (is_new(x))
			written++;
		else if (x->action == PLAN_DROP)
			removed++;
		else
			others++;
	}
	if (has_nothing_to_remove(j)) {
		(void)snprintf(summary, SUMMARY_LEN,
			       "nothing to remove: there is no " RECEIPT_FILE " in %.200s",
			       in->target);
		return;
	}
	if (in->remove)
		(void)snprintf(counts, sizeof(counts), "%zu removed, %zu left alone", removed,
			       others);
	else
		(void)snprintf(counts, sizeof(counts),
			       "%zu written, %zu removed, %zu unchanged or kept", written, removed,
			       others);
	(void)snprintf(summary, SUMMARY_LEN, "railhead %s in %.160s: %s%s",
		       in->remove ? j->before.version : RAILHEAD_VERSION, in->target, counts,
		       in->dry_run ? " (dry run)" : "");
}

int install_run(const struct install *in, char summary[SUMMARY_LEN], struct err *e)
{
	auto_clean(job_clear) struct job *j = calloc(1, sizeof(*j));
	auto_fd int dir = j ? folder_open(in->target, e) : err_nomem(e);
	auto_fd int run = dir < 0 ? -1 : open_run_dir(in->ctx->run_dir, e);

	if (run < 0)
		return -1;
	auto_fd int lock = in->dry_run ? -1 : take_lock(run, in->ctx->run_dir, e);
	if (lock < 0 && !in->dry_run)
		return -1;
	j->in = in;
	j->dir = dir;
	j->run_of_root = is_of_root(run);
	if (in->remove && j->run_of_root)
		return refuse_folder_of_root(in->ctx->run_dir, e);
	if (install_prepare(j, e) || (!in->dry_run && install_apply(j, e)))
		return -1;
	install_tell(j);
	if (in->chain && !in->remove)
		chain(j);
	tell_why(j);
	sum_up(j, summary);
	return 0;
}
