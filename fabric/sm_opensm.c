/* SPDX-License-Identifier: Apache-2.0 */
/* sm_opensm.c: sm-opensm, a hook of railhead-sm.d(5) for opensm on this host. */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "fabric/opensm_signal.h"
#include "fabric/partitions.h"
#include "fabric/hook_conf.h"
#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

#define FILE_MAX (16 << 20)

/* ---- sm-opensm.json, railhead-sm.d(5) ---- */

#define OPENSM_CONF_FILE  "/etc/railhead/sm-opensm.json"
#define OPENSM_PARTITIONS "/etc/opensm/partitions.conf"

struct opensm_conf {
	const char *partitions; /* the path of the file */
	const char *pid_file;   /* NULL: every process opensm of root */
	bool ipoib;             /* lines have the flag ipoib */
	struct json *tree;      /* owns the texts */
};

static const struct json_field keys[] = {
	{ "partitions", J_STRING, J_AT(struct opensm_conf, partitions) },
	{ "pidFile", J_STRING, J_AT(struct opensm_conf, pid_file) },
	{ "ipoib", J_BOOL, J_AT(struct opensm_conf, ipoib) },
	{ 0 },
};

/* A file that only root can have written; with optional it may be absent: the defaults. */
static int opensm_conf_load(const char *path, bool optional, struct opensm_conf *out, struct err *e)
{
	struct opensm_conf c = { .partitions = OPENSM_PARTITIONS, .ipoib = true };
	const struct hook_conf conf = { keys, &c, &c.tree };

	if (hook_conf_load(path, optional, &conf, e)) {
		json_free(c.tree);
		return -1;
	}
	*out = c;
	return 0;
}

static void opensm_conf_clear(struct opensm_conf *c)
{
	json_free(c->tree);
	c->tree = NULL;
}
#define auto_opensm_conf auto_clean(opensm_conf_clear)

/* ---- the file of partitions ---- */

/* Without a rule for the default partition, opensm makes all ports limited members of it once the
 * file exists. */
static int sm_opensm_check_rules(const char *text, const char *path, struct err *e)
{
	if (partitions_are_ruled(text))
		return 0;
	err_set(e, ERR_CONFIG, 0, "%s has no rule for the default partition", path);
	return err_hint(e,
			"write one first, such as \"Default=0x7fff,ipoib : ALL=full ;\": without "
			"it opensm makes every port a limited member");
}

/* The file before the change. */
struct partitions_file {
	const char *path, *name;
	char *text;
	mode_t mode;
};

static void file_clear(struct partitions_file *f)
{
	free(f->text);
}

static int read_partitions(int dir, struct partitions_file *f, struct err *e)
{
	struct stat st;

	if (fstatat(dir, f->name, &st, 0)) {
		const int errnum = errno;

		err_set(e, ERR_IO, errnum, "%s", f->path);
		return errnum == ENOENT
			       ? err_hint(e,
					  "make it first, with \"Default=0x7fff,ipoib : ALL=full "
					  ";\"")
			       : -1;
	}
	f->mode = st.st_mode & 0777;

	ssize_t len = fs_read_trusted_at(dir, f->name, FILE_MAX, &f->text, e);

	if (len < 0)
		return err_wrap(e, "%s", f->path);
	/* The text behind a NUL would be lost. */
	if ((size_t)len != strlen(f->text))
		return err_set(e, ERR_CONFIG, 0, "%s is not text: it has a NUL", f->path);
	return 0;
}

static int write_partitions(const struct partitions_file *f, const char *text, struct err *e)
{
	const struct fs_content content = { text, strlen(text), f->mode, true };

	return strcmp(f->text, text) == 0 ? 0 : fs_put(f->path, &content, e);
}

static int change_file(const struct opensm_conf *c, const struct sm_message *m, size_t *kept,
		       struct err *e)
{
	auto_clean(file_clear) struct partitions_file f = { .path = c->partitions };
	auto_fd int dir = safe_open_parent(f.path, SAFE_OWNED, &f.name, e);
	struct partitions_edited out = { .text = NULL };

	if (dir < 0)
		return err_wrap(e, "%s", f.path);
	/* The lock is on the folder, because the file is replaced. The end of this program frees
	 * it. */
	if (flock(dir, LOCK_EX))
		return err_set(e, ERR_IO, errno, "lock the folder of %s", f.path);
	if (read_partitions(dir, &f, e) ||
	    (m->action == SM_ADD && sm_opensm_check_rules(f.text, f.path, e)))
		return -1;
	if (partitions_edit(f.text, m, c->ipoib, &out, e))
		return err_wrap(e, "%s", f.path);

	int rc = write_partitions(&f, out.text, e);

	free(out.text);
	*kept = out.kept;
	return rc;
}

static int sm_opensm_run(struct cmd_run *r, struct err *e)
{
	auto_opensm_conf struct opensm_conf conf = { .tree = NULL };
	auto_sm_message struct sm_message m = { .n = 0 };
	const char *path = opt_get(&r->opts, "config");
	size_t kept = 0, n = 0;

	(void)umask(0);
	if (opensm_conf_load(path ? path : OPENSM_CONF_FILE, !path, &conf, e) ||
	    hook_message_read(&m, e) || change_file(&conf, &m, &kept, e))
		return -1;
	if (kept == m.n)
		return 0; /* all belong to other pods by now */
	/* Also when the file was right: an earlier call may have ended before the signal. */
	if (opensm_reload(&r->ctx, conf.pid_file, &n, e))
		return -1;
	/* Without opensm a removal is done: it reads the file when it starts. */
	if (n || m.action == SM_REMOVE)
		return 0;
	err_set(e, ERR_UNAVAILABLE, 0, "opensm does not run on this host");
	return err_hint(e, "start it, or run this hook where it runs: see railhead-sm.d(5)");
}

static const struct opt options[] = {
	{ .name = "config", .value = "FILE", .help = "instead of " OPENSM_CONF_FILE },
	{ 0 },
};

static const struct cmd root = {
	.name = "sm-opensm",
	.summary = "give pods their partitions through opensm",
	.about = "A hook for /etc/railhead/sm.d. It reads a message of railhead from standard "
		 "input, changes railhead's section of opensm's partitions.conf and sends SIGHUP "
		 "to opensm. See railhead-sm.d(5).",
	.opts = { options },
	.run = sm_opensm_run,
};

int main(int argc, char **argv)
{
	(void)argc;
	return hook_main(&root, argv);
}
