/* SPDX-License-Identifier: Apache-2.0 */
/* state.c: the files of VF states: read, written, listed and locked; and who owns a VF. */
#include "sriov/vf/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cni/protocol/env.h"
#include "lib/sys/fs.h"
#include "lib/sys/lock.h"

#define FOLDER    "vf"
#define FILE_MAX  65536
#define GLANCE    8192                      /* more than an entry has */
#define LIFE_MASK ((UINT64_C(1) << 53) - 1) /* JSON keeps no larger integers */

/* ---- files ---- */

static int state_open_folder(const struct ctx *ctx, bool create, struct err *e)
{
	auto_fd int run = fs_open_dir(ctx->run_dir, create, e);

	return run < 0 ? -1 : fs_open_dir_at(run, FOLDER, create, e);
}

static bool state_is_gone(const struct err *e)
{
	return e->errnum == ENOENT || e->errnum == ENOTDIR;
}

static int state_read_at(int dir, const char *vf, struct vf_entry *out, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = fs_read_at(dir, vf, FILE_MAX, &text, e);

	if (len < 0 || vf_state_decode(text, (size_t)len, out, e)) {
		if (!state_is_gone(e) &&
		    record_is_damaged(e)) /* a link, a folder, too long: not ours */
			e->code = ERR_DECODE;
		return -1;
	}
	if (strcmp(out->vf, vf) == 0)
		return 0;
	err_set(e, ERR_DECODE, 0, "the file is about the VF %s", out->vf);
	vf_entry_clear(out);
	return -1;
}

static int state_read_once(const struct ctx *ctx, const char *vf, struct vf_entry *out,
			   struct err *e)
{
	auto_fd int dir = state_open_folder(ctx, false, e);

	return dir < 0 ? -1 : state_read_at(dir, vf, out, e);
}

/* The path of a VF's state, or of the folder of all (vf ""). */
static const char *state_path(const struct ctx *ctx, const char *vf, char path[PATH_MAX])
{
	(void)snprintf(path, PATH_MAX, "%.1024s/" FOLDER "/%.64s", ctx->run_dir, vf);
	return path;
}

/* A lost state makes the VF like a new one, so a file that cannot be opened is looked for. */
int vf_state_read(const struct ctx *ctx, const char *vf, struct vf_entry *out, struct err *e)
{
	char path[PATH_MAX];
	int rc = state_read_once(ctx, vf, out, e);

	if (rc && state_is_gone(e)) {
		if (fs_may_exist(state_path(ctx, vf, path)))
			rc = state_read_once(ctx, vf, out, e);
		else
			e->code = ERR_NOTFOUND;
	}
	return rc ? err_wrap(e, "read %s/" FOLDER "/%s", ctx->run_dir, vf) : 0;
}

int vf_state_open_dir(const struct ctx *ctx)
{
	struct err ignored;

	return state_open_folder(ctx, false, &ignored);
}

static bool has_text(int folder, const char *vf, const char *what)
{
	char text[GLANCE];
	auto_fd int fd =
		folder < 0 ? -1
			   : openat(folder, vf, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	return n > 0 && memmem(text, (size_t)n, what, strlen(what));
}

bool vf_state_looks_owned(int folder, const char *vf)
{
	/* Inside a string the quotes would be escaped. */
	return has_text(folder, vf, "\"owner\":");
}

bool vf_state_looks_owned_by(int folder, const char *vf, const char *container)
{
	char quoted[CNI_ID_MAX + 3];

	(void)snprintf(quoted, sizeof(quoted), "\"%.*s\"", CNI_ID_MAX, container);
	return has_text(folder, vf, quoted);
}

int vf_state_write(const struct ctx *ctx, const struct vf_entry *x, struct err *e)
{
	auto_free char *text = vf_state_print(x);

	if (!text)
		return err_nomem(e);
	auto_fd int dir = state_open_folder(ctx, true, e);
	/* No fsync: the file must survive this process, not the machine. */
	if (dir < 0 || fs_replace_at(dir, x->vf, text, false, e))
		return err_wrap(e, "write %s/" FOLDER "/%s", ctx->run_dir, x->vf);
	return 0;
}

int vf_state_remove(const struct ctx *ctx, const char *vf, struct err *e)
{
	char path[PATH_MAX];
	struct err why;
	auto_fd int dir = state_open_folder(ctx, false, &why);

	if (dir >= 0)
		return fs_unlink_at(dir, vf, e);
	if (fs_is_gone(AT_FDCWD, state_path(ctx, vf, path), &why))
		return 0;
	return err_pass(e, &why);
}

struct state_scan {
	int dir;
	vf_state_fn fn;
	void *arg;
	struct err *e; /* the first one */
	bool stopped, failed;
};

static void visit_entry(struct state_scan *w, const char *name)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct err why;

	if (state_read_at(w->dir, name, &x, &why)) {
		if (fs_is_gone(w->dir, name, &why))
			return;
		if (why.code != ERR_DECODE) { /* says nothing about the file */
			if (!w->failed)
				*w->e = why;
			w->failed = true;
			return;
		}
		(void)snprintf(x.vf, sizeof(x.vf), "%.*s", PCI_STR_LEN - 1, name);
	}
	w->stopped = w->fn(&x, w->arg) != 0;
}

int vf_state_each(const struct ctx *ctx, vf_state_fn fn, void *arg, struct err *e)
{
	struct err why;
	auto_fd int dir = state_open_folder(ctx, false, &why);
	struct state_scan w = { .dir = dir, .fn = fn, .arg = arg, .e = e };
	auto_fs_names struct fs_names files = { .n = 0 };
	struct pci_addr addr;
	char path[PATH_MAX];

	if (dir < 0) {
		if (fs_is_gone(AT_FDCWD, state_path(ctx, "", path), &why))
			return 0;
		return err_pass(e, &why);
	}
	if (fs_names_at(dir, ".", FS_NAMES_MAX, &files, e))
		return err_wrap(e, "%s/" FOLDER, ctx->run_dir);
	for (size_t i = 0; i < files.n && !w.stopped; i++) {
		if (pci_parse(files.name[i], &addr) == 0)
			visit_entry(&w, files.name[i]);
	}
	return w.failed ? err_wrap(e, "read %s/" FOLDER, ctx->run_dir) : 0;
}

int vf_state_lock(const struct ctx *ctx, const char *addr, int timeout_ms, struct err *e)
{
	char name[PCI_STR_LEN + 4];
	auto_fd int run = fs_open_dir(ctx->run_dir, true, e);

	if (run < 0)
		return -1;
	(void)snprintf(name, sizeof(name), "vf/%s", addr);
	return lock_name(run, name, true, timeout_ms, e);
}

/* ---- lives ---- */

int vf_not_seen(const struct ctx *ctx, const char *vf, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct err why;

	(void)snprintf(path, sizeof(path), "%.1024s/bus/pci/devices", ctx->sysfs);
	if (fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, &why)) {
		*e = why;
		return err_wrap(e, "VF %.64s", vf);
	}
	for (size_t i = 0; i < names.n; i++) {
		if (strcmp(names.name[i], vf) == 0)
			return err_set(e, ERR_IO, EAGAIN, "VF %s is in %s, but cannot be seen", vf,
				       path);
	}
	return -1;
}

int vf_life(const struct ctx *ctx, const char *vf, uint64_t *out, struct err *e)
{
	char path[PATH_MAX];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%.1024s/bus/pci/devices/%.64s", ctx->sysfs, vf);
	if (stat(path, &st)) {
		int saved = errno;
		err_set(e, saved == ENOENT ? ERR_NOTFOUND : ERR_IO, saved, "VF %.64s", vf);
		return saved == ENOENT ? vf_not_seen(ctx, vf, e) : -1;
	}
	*out = (uint64_t)st.st_ino & LIFE_MASK;
	return 0;
}

int vf_state_current(const struct ctx *ctx, const char *vf, struct vf_entry *out, struct err *e)
{
	char boot[CTX_BOOT_ID_LEN + 1];
	struct vf_entry x = { 0 };
	uint64_t life = 0;

	if (ctx_boot_id(ctx, boot, e) || vf_life(ctx, vf, &life, e) ||
	    vf_state_read(ctx, vf, &x, e))
		return -1;
	if (strcmp(x.boot, boot) == 0 && x.life == life) {
		*out = x;
		return 0;
	}
	vf_entry_clear(&x);
	return err_set(e, ERR_NOTFOUND, 0, "VF %s was created again since its state was recorded",
		       vf);
}

/* ---- owners ---- */

bool vf_owner_is(const struct vf_entry *x, const struct record_key *key, struct netns_id id)
{
	const struct record_key *k = &x->owner.key;

	return x->owned && strcmp(k->network, key->network) == 0 &&
	       strcmp(k->container, key->container) == 0 && strcmp(k->ifname, key->ifname) == 0 &&
	       (id.ino == 0 || netns_same(x->owner.netns_id, id));
}

int vf_owner_netns(const struct ctx *ctx, const struct vf_owner *w, struct netns *out,
		   struct err *e)
{
	const struct netns_on_record what = { w->netns, NULL, w->netns_id, w->from };
	char holder[NETNS_HOLDER_LEN];
	struct err why;

	if (w->netns_id.ino)
		return netns_locate(ctx, &what, out, holder, e);
	/* sriov-cni records only the path. */
	if (netns_open(w->netns, out, &why) == 0)
		return 1;
	if (why.errnum == ENOENT || why.errnum == EINVAL)
		return 0;
	return err_pass(e, &why);
}

bool vf_owner_lives(const struct ctx *ctx, const struct vf_entry *x)
{
	auto_netns struct netns ns = { .fd = -1 };
	struct err ignored;

	return x->owned && vf_owner_netns(ctx, &x->owner, &ns, &ignored) != 0;
}
