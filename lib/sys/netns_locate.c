/* SPDX-License-Identifier: Apache-2.0 */
/* netns_locate.c: searches paths, processes and mounts for a namespace that was noted earlier. */
#include "lib/sys/netns_locate.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

/* What the kernel calls the first process namespace (PROC_PID_INIT_INO): it has all processes. */
#define FIRST_PID_NS UINT64_C(0xeffffffc)

#define MOUNTS_MAX (1u << 22)

enum verdict { NOT_SEEN, LIVES, GONE };

struct search {
	const struct ctx *ctx;
	const struct netns_on_record *what;
	struct netns found;
	char link[32]; /* what a link to it says: "net:[4026532000]" */
	char holder[NETNS_HOLDER_LEN];
	uint64_t *mnt_seen; /* owned: mount namespaces whose mounts were all read */
	size_t n_mnt;
	bool blind; /* something could not be looked at, for the reason in why */
	struct err why;
};

static void search_clear(struct search *s)
{
	free(s->mnt_seen);
	netns_close(&s->found);
}

static void netns_locate_note_unreadable(struct search *s, int errnum, const char *path)
{
	if (!s->blind)
		(void)err_set(&s->why, ERR_NETNS, errnum, "look at %s", path);
	s->blind = true;
}

/* A process that has gone holds nothing; the kernel says so in several ways. */
static bool has_gone(int errnum)
{
	return errnum == ENOENT || errnum == ESRCH || errnum == EINVAL || errnum == ENOTDIR;
}

/*
 * readlink() below /proc. The kernel answers EACCES also for a process that ends at this moment
 * (fs/proc/namespaces.c, proc_ns_readlink). The next look says that it has gone.
 */
static ssize_t netns_locate_read_link(const char *path, char *text, size_t size)
{
	ssize_t n = readlink(path, text, size);

	return n < 0 && errno == EACCES ? readlink(path, text, size) : n;
}

/* The number in a link as "mnt:[4026531840]"; 0: it cannot be read. */
static uint64_t ns_inode(const char *path)
{
	char text[64];
	unsigned long long ino;
	ssize_t n = netns_locate_read_link(path, text, sizeof(text) - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';

	const char *bracket = strchr(text, '[');

	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
	return bracket && sscanf(bracket, "[%llu]", &ino) == 1 ? ino : 0;
}

static uint64_t ns_of(const struct ctx *ctx, const char *process, const char *type)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s/ns/%s", ctx->proc, process, type);
	return ns_inode(path);
}

struct netns_view netns_view_self(const struct ctx *ctx)
{
	/* A /proc of a namespace below ours has no "self". */
	return (struct netns_view){ .pid_ns = ns_of(ctx, "self", "pid"),
				    .mnt_ns = ns_of(ctx, "self", "mnt") };
}

/* ---- one place where it may be ---- */

static enum verdict try_path(struct search *s, const char *path, struct err *e)
{
	auto_netns struct netns ns = { .fd = -1 };

	if (netns_open(path, &ns, e))
		return NOT_SEEN;
	e->errnum = ENOENT; /* what is there is another one, or none */
	if (netns_reused(ns.id, s->what->id))
		return GONE;
	if (!netns_same(ns.id, s->what->id))
		return NOT_SEEN;
	s->found = ns;
	ns.fd = -1;
	return LIVES;
}

/* Something that has its inode was seen at path. */
static enum verdict try_seen(struct search *s, const char *path)
{
	struct err why;
	enum verdict v = try_path(s, path, &why);

	if (v == NOT_SEEN && why.errnum == EACCES) /* as in read_link() */
		v = try_path(s, path, &why);
	if (v == NOT_SEEN && why.errnum != ENOENT)
		netns_locate_note_unreadable(s, why.errnum, path);
	return v;
}

static bool leads_there(struct search *s, const char *path)
{
	char text[sizeof(s->link) + 1];
	ssize_t n = netns_locate_read_link(path, text, sizeof(text));

	if (n < 0 && !has_gone(errno))
		netns_locate_note_unreadable(s, errno, path);
	return n == (ssize_t)strlen(s->link) && !memcmp(text, s->link, (size_t)n);
}

/* ---- folders of /proc ---- */

typedef enum verdict (*entry_fn)(struct search *s, const char *folder, const char *name);

/* fn for each entry of a folder whose name is a number. */
static enum verdict each_number(struct search *s, const char *folder, entry_fn fn)
{
	enum verdict v = NOT_SEEN;
	DIR *d = opendir(folder);

	if (!d) {
		if (!has_gone(errno))
			netns_locate_note_unreadable(s, errno, folder);
		return NOT_SEEN;
	}
	while (v == NOT_SEEN) {
		errno = 0;

		const struct dirent *x = readdir(d);

		if (!x && errno && !has_gone(errno))
			netns_locate_note_unreadable(s, errno, folder);
		if (!x)
			break;
		if (x->d_name[0] >= '0' && x->d_name[0] <= '9')
			v = fn(s, folder, x->d_name);
	}
	(void)closedir(d);
	return v;
}

static enum verdict look_at_thread(struct search *s, const char *folder, const char *tid)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s/ns/net", folder, tid);
	if (!leads_there(s, path))
		return NOT_SEEN;
	(void)snprintf(s->holder, sizeof(s->holder), "process %.16s", tid);
	return try_seen(s, path);
}

static enum verdict netns_locate_look_at_file(struct search *s, const char *folder, const char *fd)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, fd);
	return leads_there(s, path) ? try_seen(s, path) : NOT_SEEN;
}

/* ---- mounts ---- */

/* As in mountinfo: \040 is a space. In place. */
static void unescape(char *text)
{
	char *to = text;
	unsigned c;

	for (const char *p = text; *p; to++) {
		/* NOLINTNEXTLINE(cert-err34-c): three digits have no overflow */
		if (*p == '\\' && sscanf(p + 1, "%3o", &c) == 1) {
			*to = (char)c;
			p += 4;
		} else {
			*to = *p++;
		}
	}
	*to = '\0';
}

/* One line of mountinfo: ID PARENT DEVICE ROOT MOUNTPOINT ... */
static enum verdict look_at_mount(struct search *s, const char *process, char *line)
{
	char path[PATH_MAX], *save = NULL, *field = strtok_r(line, " ", &save);

	for (int i = 0; field && i < 3; i++)
		field = strtok_r(NULL, " ", &save);
	if (!field || strcmp(field, s->link) != 0)
		return NOT_SEEN;
	field = strtok_r(NULL, " ", &save);
	if (!field)
		return NOT_SEEN;
	unescape(field);
	(void)snprintf(path, sizeof(path), "%.64s/root%.4000s", process, field);
	(void)snprintf(s->holder, sizeof(s->holder), "mount %.100s", field);
	return try_seen(s, path);
}

/* *whole: nothing is left to read. */
static enum verdict read_mounts(struct search *s, const char *process, bool *whole)
{
	char path[PATH_MAX], *line = NULL;
	enum verdict v = NOT_SEEN;
	size_t cap = 0;

	(void)snprintf(path, sizeof(path), "%s/mountinfo", process);
	FILE *f = fopen(path, "re");
	if (!f) {
		if (!has_gone(errno))
			netns_locate_note_unreadable(s, errno, path);
		return NOT_SEEN;
	}
	size_t lines = 0;

	for (; v == NOT_SEEN && getline(&line, &cap, f) > 0; lines++)
		v = look_at_mount(s, process, line);
	*whole = v == NOT_SEEN && feof(f) && lines; /* a process has a root folder at least */
	if (v == NOT_SEEN && !feof(f) && !has_gone(errno))
		netns_locate_note_unreadable(s, errno, path);
	free(line);
	(void)fclose(f);
	return v;
}

static bool netns_locate_was_read(struct search *s, uint64_t mnt)
{
	for (size_t i = 0; i < s->n_mnt; i++) {
		if (s->mnt_seen[i] == mnt)
			return true;
	}
	return false;
}

/*
 * Processes of one mount namespace see the same mounts, except those that a process cannot reach
 * from its own root folder.
 */
static enum verdict look_at_mounts(struct search *s, const char *process)
{
	char path[PATH_MAX], root[4];
	struct err ignored;
	bool whole = false;
	enum verdict v;
	uint64_t mnt;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/root", process);
	n = netns_locate_read_link(path, root, sizeof(root));
	if (n < 0 && has_gone(errno))
		return NOT_SEEN;
	(void)snprintf(path, sizeof(path), "%s/ns/mnt", process);
	mnt = ns_inode(path);
	if (n != 1)
		mnt = 0;
	if (mnt && netns_locate_was_read(s, mnt))
		return NOT_SEEN;
	v = read_mounts(s, process, &whole);
	/* Without memory to note it, the namespace is read once more. */
	if (mnt && whole &&
	    ARRAY_GROW(s->mnt_seen, s->n_mnt, MOUNTS_MAX, "mount namespaces", &ignored) == 0)
		s->mnt_seen[s->n_mnt++] = mnt;
	return v;
}

/* ---- all of it ---- */

static enum verdict look_at_files_and_mounts(struct search *s, const char *folder, const char *id)
{
	char process[PATH_MAX - 32], path[PATH_MAX];
	enum verdict v;

	(void)snprintf(process, sizeof(process), "%.4000s/%.16s", folder, id);
	(void)snprintf(path, sizeof(path), "%s/fd", process);
	(void)snprintf(s->holder, sizeof(s->holder), "a file that process %.16s has open", id);
	v = each_number(s, path, netns_locate_look_at_file);
	return v == NOT_SEEN ? look_at_mounts(s, process) : v;
}

/* A first thread that has ended shows neither files nor mounts; other threads may still run. */
static bool shows_nothing(const char *process)
{
	char path[PATH_MAX], root[4];

	(void)snprintf(path, sizeof(path), "%s/root", process);
	return netns_locate_read_link(path, root, sizeof(root)) < 0 && has_gone(errno);
}

/* Process 1 may be closed to us (hardened hosts); it is not a pod's, or sees_enough() says no. */
static enum verdict look_at_process(struct search *s, const char *proc, const char *pid)
{
	char process[PATH_MAX - 32], path[PATH_MAX];
	bool blind = s->blind;

	(void)snprintf(process, sizeof(process), "%s/%s", proc, pid);
	(void)snprintf(path, sizeof(path), "%s/task", process);

	enum verdict v = each_number(s, path, look_at_thread);

	if (v == NOT_SEEN)
		v = shows_nothing(process) ? each_number(s, path, look_at_files_and_mounts)
					   : look_at_files_and_mounts(s, proc, pid);
	if (strcmp(pid, "1") == 0)
		s->blind = blind;
	return v;
}

/* An empty search is a proof only if this program sees all processes and mounts. */
static int sees_enough(struct search *s, struct err *e)
{
	const struct netns_view own = netns_view_self(s->ctx), *from = &s->what->from;
	const uint64_t host = ns_of(s->ctx, "1", "mnt");

	err_set(e, ERR_NETNS, 0, "network namespace %s (%s) is not to be seen, and may be alive",
		s->what->path, s->link);
	if (s->blind)
		return err_hint(e, "%s", s->why.msg);
	if (!own.pid_ns || (own.pid_ns != FIRST_PID_NS && own.pid_ns != from->pid_ns))
		return err_hint(e, "this program does not see the processes of the host: run it in "
				   "the process namespace of the container runtime");
	if (!own.mnt_ns ||
	    (own.mnt_ns != from->mnt_ns && own.mnt_ns != host && !netns_locate_was_read(s, host)))
		return err_hint(e,
				"this program does not see the mounts of the host: run it in the "
				"mount namespace of process 1 (nsenter -t 1 -m)");
	return 0;
}

/* Both paths that may lead to it. A path that cannot be looked at is an error. */
static int try_paths(struct search *s, enum verdict *v, struct err *e)
{
	const char *paths[] = { s->what->path, s->what->also };
	struct err why;

	*v = NOT_SEEN;
	for (size_t i = 0; i < ARRAY_SIZE(paths) && *v == NOT_SEEN; i++) {
		if (!paths[i] || !*paths[i])
			continue;
		*v = try_path(s, paths[i], &why);
		if (*v == NOT_SEEN && why.errnum != ENOENT && why.errnum != EINVAL)
			return err_pass(e, &why);
		if (*v == LIVES && i > 0)
			(void)snprintf(s->holder, sizeof(s->holder), "%.100s", paths[i]);
	}
	return 0;
}

int netns_locate(const struct ctx *ctx, const struct netns_on_record *what, struct netns *out,
		 char holder[NETNS_HOLDER_LEN], struct err *e)
{
	auto_clean(
		search_clear) struct search s = { .ctx = ctx, .what = what, .found = { .fd = -1 } };
	enum verdict v;
	struct err why;

	(void)snprintf(s.link, sizeof(s.link), "net:[%llu]", (unsigned long long)what->id.ino);
	if (try_paths(&s, &v, e))
		return -1;
	if (v == NOT_SEEN && !what->id.ino)
		return err_set(e, ERR_NETNS, 0,
			       "network namespace %s: it is not known which it was", what->path);
	if (v == NOT_SEEN)
		v = each_number(&s, ctx->proc, look_at_process);
	if (v == NOT_SEEN && sees_enough(&s, &why))
		return err_pass(e, &why);
	if (v != LIVES)
		return 0;
	*out = s.found;
	s.found.fd = -1;
	memcpy(holder, s.holder, NETNS_HOLDER_LEN);
	return 1;
}
