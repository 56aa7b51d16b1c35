/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish.c: files that tell other programs about devices.
 *
 * Multus copies a device-information file (Network Plumbing Working Group, device-info 1.1.0) to
 * the attachment. A container runtime reads CDI files (Container Device Interface 0.5.0), and gives
 * a container the files of /dev that they list.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"
#include "railheadd/devices/allocate.h"
#include "railheadd/devices/edits.h"
#include "railheadd/devices/files_priv.h"

#define OURS         "railhead-"
#define DEVINFO_END  "-device.json"
#define FILES_MAX    65536
#define TEXT_MAX_LEN (256 * 1024)

/* ---- names ---- */

static void flat(const char *resource, char instead, char out[RESOURCE_NAME_LEN])
{
	(void)snprintf(out, RESOURCE_NAME_LEN, "%s", resource);
	for (char *p = out; *p; p++) {
		if (*p == '/')
			*p = instead;
	}
}

static void devinfo_name(const char *resource, const char *id, char out[NAME_MAX + 1])
{
	char name[RESOURCE_NAME_LEN];

	flat(resource, '-', name);
	(void)snprintf(out, NAME_MAX + 1, "%s-%.64s" DEVINFO_END, name, id);
}

static void cdi_name(const char *resource, const char *device, char out[NAME_MAX + 1])
{
	char name[RESOURCE_NAME_LEN];

	flat(resource, '_', name);
	(void)snprintf(out, NAME_MAX + 1, OURS "%s_%.64s.json", name, device);
}

void cdi_kind(const char *resource, char out[RESOURCE_NAME_LEN + 8])
{
	const char *slash = strchr(resource, '/');
	int prefix = slash ? (int)(slash - resource) : 0;

	(void)snprintf(out, RESOURCE_NAME_LEN + 8, "%.*s/net-%s", prefix, resource,
		       slash ? slash + 1 : resource);
}

/* ---- the folders ---- */

/*
 * Each file has an empty one of the same name, its mark, in a folder of our own. So files of a
 * resource that is configured no more are known as ours, and files of others are left alone.
 */
struct kind {
	const char *folder, *marks;
};
static const struct kind devinfo_files = { DEVINFO_DIR, "devinfo" }, cdi_files = { CDI_DIR, "cdi" };

static int open_marks(const struct ctx *ctx, const struct kind *kind, bool create, struct err *e)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.4000s/%s", ctx->run_dir, kind->marks);
	return safe_open_dir(path, SAFE_OWNED | (create ? SAFE_CREATE : 0), e);
}

/* The time of a mark is that of the last put(). */
static int put_mark(const struct ctx *ctx, const struct kind *kind, const char *name, struct err *e)
{
	auto_fd int dir = open_marks(ctx, kind, true, e);

	if (dir < 0)
		return -1;
	if (utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return fs_replace_at(dir, name, "", false, e);
}

static bool says_already(int dir, const char *name, const char *text)
{
	auto_free char *old = NULL;
	struct err ignored;

	return fs_read_at(dir, name, TEXT_MAX_LEN, &old, &ignored) >= 0 && strcmp(old, text) == 0;
}

/* A program that reads the folder meanwhile sees the old file or the new one. */
static int put(const struct ctx *ctx, const struct kind *kind, const char *name,
	       const struct json *tree, struct err *e)
{
	auto_free char *text = tree ? json_print(tree, false) : NULL;
	auto_fd int dir = text ? files_open_beside(ctx, kind->folder, true, e) : err_nomem(e);

	if (dir < 0)
		return text ? err_wrap(e, "%s", kind->folder) : -1;
	if (put_mark(ctx, kind, name, e))
		return err_wrap(e, "the mark of %s/%s", kind->folder, name);
	if (says_already(dir, name, text))
		return 0;
	return files_put_noticed(dir, name, text, e) ? err_wrap(e, "%s/%s", kind->folder, name) : 0;
}

/* ---- device information ---- */

static struct json *devinfo_tree(const struct resource_device *d, const struct device_files *f)
{
	auto_json struct json *o = json_new_object();
	struct json *pci;
	bool is_vf = *d->pf && strcmp(d->pf, d->id) != 0;

	if (!o || json_add_str(o, "type", "pci") || json_add_str(o, "version", "1.1.0") ||
	    !(pci = json_add_object(o, "pci")) || json_add_str(pci, "pci-address", d->id) ||
	    json_add_str(pci, "pf-pci-address", is_vf ? d->pf : NULL) ||
	    json_add_str(pci, "vhost-net", f->vhost ? VHOST_PATH : NULL) ||
	    json_add_known(pci, "rdma-device", f->rdma))
		return NULL;
	return TAKE_PTR(o);
}

int devinfo_put(const struct ctx *ctx, const char *resource, const struct resource_device *d,
		const struct device_files *f, struct err *e)
{
	auto_json struct json *tree = devinfo_tree(d, f);
	char name[NAME_MAX + 1];

	devinfo_name(resource, d->id, name);
	return put(ctx, &devinfo_files, name, tree, e);
}

/* ---- CDI ---- */

/* The first version in which a name may begin with a digit, as PCI addresses do
 * (specs-go/version.go of tags.cncf.io/container-device-interface). */
#define CDI_VERSION "0.5.0"

static int publish_add_node(const char *path, void *arg)
{
	struct json *list = arg;

	json_each (node, list) {
		if (strcmp(json_text(node, "path"), path) == 0)
			return 0;
	}
	struct json *node = json_push_object(list);
	return !node || json_add_str(node, "path", path) || json_add_str(node, "permissions", "rw")
		       ? -1
		       : 0;
}

/* A file with one device; *edits is what a container gets by it. */
static struct json *cdi_tree(const char *resource, const char *id, struct json **edits)
{
	auto_json struct json *o = json_new_object();
	char kind[RESOURCE_NAME_LEN + 8];
	struct json *list, *device;

	cdi_kind(resource, kind);
	if (!o || json_add_str(o, "cdiVersion", CDI_VERSION) || json_add_str(o, "kind", kind) ||
	    !(list = json_add_array(o, "devices")) || !(device = json_push_object(list)) ||
	    json_add_str(device, "name", id) ||
	    !(*edits = json_add_object(device, "containerEdits")))
		return NULL;
	return TAKE_PTR(o);
}

static struct json *cdi_tree_of_files(const struct cdi_device *c)
{
	struct json *edits = NULL, *nodes;
	auto_json struct json *o = cdi_tree(c->resource, c->device, &edits);

	if (!o || !(nodes = json_add_array(edits, "deviceNodes")))
		return NULL;
	for (size_t i = 0; i < c->n; i++) {
		if (files_each(&c->f[i], publish_add_node, nodes))
			return NULL;
	}
	return TAKE_PTR(o);
}

static int is_file(const char *path, void *arg)
{
	(void)path;
	(void)arg;
	return 1;
}

bool cdi_has_files(const struct cdi_device *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (files_each(&c->f[i], is_file, NULL))
			return true;
	}
	return false;
}

int cdi_put(const struct ctx *ctx, const struct cdi_device *c, struct err *e)
{
	auto_json struct json *tree = cdi_tree_of_files(c);
	char name[NAME_MAX + 1];

	cdi_name(c->resource, c->device, name);
	return put(ctx, &cdi_files, name, tree, e);
}

/* ---- files of devices that are gone ---- */

struct tidying {
	const struct resource_set *s;
	const struct resource_look *l;
	struct timespec began;
};

static bool devinfo_is_known(const struct tidying *t, size_t i, const char *name)
{
	const struct resource_devices *d = &t->l->of[i];
	char expected[NAME_MAX + 1];

	for (size_t k = 0; !t->s->conf[i].shared && k < d->n + d->n_maybe; k++) {
		devinfo_name(t->s->conf[i].name, d->device[k].id, expected);
		if (strcmp(expected, name) == 0)
			return true;
	}
	return false;
}

static bool cdi_is_known(const struct tidying *t, size_t i, const char *name)
{
	const struct resource_conf *r = &t->s->conf[i];
	char expected[NAME_MAX + 1];

	if (r->nodes == NODES_LIST && !r->networks)
		return false;
	cdi_name(r->name, CDI_ALL, expected);
	if (r->shared && r->nodes != NODES_LIST && strcmp(expected, name) == 0)
		return true;
	if (r->shared && !r->networks)
		return false;
	for (size_t k = 0; k < t->l->of[i].n + t->l->of[i].n_maybe; k++) {
		cdi_name(r->name, t->l->of[i].device[k].id, expected);
		if (strcmp(expected, name) == 0)
			return true;
	}
	return false;
}

/* A file that Allocate has written meanwhile may be of a device that a later look found. */
static bool is_stale(const struct tidying *t, const struct kind *kind, int marks, const char *name)
{
	struct stat st;

	for (size_t i = 0; i < t->s->n; i++) {
		if ((kind == &devinfo_files ? devinfo_is_known : cdi_is_known)(t, i, name))
			return false;
	}
	return fstatat(marks, name, &st, AT_SYMLINK_NOFOLLOW) ||
	       st.st_mtim.tv_sec < t->began.tv_sec ||
	       (st.st_mtim.tv_sec == t->began.tv_sec && st.st_mtim.tv_nsec < t->began.tv_nsec);
}

/* Without the folder the file is gone, and its mark may go, too. */
static int publish_remove_file(const struct ctx *ctx, const struct kind *kind, int marks,
			       const char *name, struct err *e)
{
	struct err why;
	auto_fd int dir = files_open_beside(ctx, kind->folder, false, &why);

	if (dir < 0 && why.errnum != ENOENT)
		return err_pass(e, &why);
	return (dir >= 0 && fs_unlink_at(dir, name, e)) || fs_unlink_at(marks, name, e) ? -1 : 0;
}

/* The first error is kept, the other files are removed all the same. */
static int tidy(const struct ctx *ctx, const struct kind *kind, const struct tidying *t,
		struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	struct err why;
	int rc = 0;
	auto_fd int marks = open_marks(ctx, kind, false, &why);

	if (marks < 0 && why.errnum == ENOENT)
		return 0;
	if (marks < 0 || fs_names_at(marks, ".", FILES_MAX, &names, &why)) {
		*e = why;
		return err_wrap(e, "%s", kind->folder);
	}
	for (size_t i = 0; i < names.n; i++) {
		if (!is_stale(t, kind, marks, names.name[i]) ||
		    publish_remove_file(ctx, kind, marks, names.name[i], &why) == 0)
			continue;
		if (rc == 0)
			*e = why;
		rc = -1;
	}
	return rc ? err_wrap(e, "%s", kind->folder) : 0;
}

bool resources_published(const struct ctx *ctx)
{
	struct err ignored;
	auto_fd int devinfo = open_marks(ctx, &devinfo_files, false, &ignored);
	auto_fd int cdi = open_marks(ctx, &cdi_files, false, &ignored);

	return devinfo >= 0 || cdi >= 0;
}

/* ---- files of all devices ---- */

/* A device that cannot be read now, such as one in a pod, keeps the files that it has. */
static bool is_passing(const struct err *why)
{
	return why->code == ERR_STATE || why->code == ERR_NOTFOUND;
}

static int publish_function(const struct ctx *ctx, struct nl *rdma, const struct resource_conf *r,
			    const struct resource_device *d, struct err *e)
{
	struct device_files f;
	const struct cdi_device c = { r->name, d->id, &f, 1 };
	struct err why;

	if (files_of_function(ctx, rdma, d, &f, &why))
		return is_passing(&why) ? 0 : err_pass(e, &why);
	return devinfo_put(ctx, r->name, d, &f, e) ||
			       (r->nodes != NODES_LIST && cdi_has_files(&c) && cdi_put(ctx, &c, e))
		       ? -1
		       : 0;
}

static int publish_shared(const struct ctx *ctx, struct nl *rdma, const struct resource_conf *r,
			  const struct resource_devices *d, struct err *e)
{
	auto_free struct device_files *f = calloc(d->n_hcas + 1, sizeof(*f));
	const struct cdi_device c = { r->name, CDI_ALL, f, d->n_hcas };
	struct err why;

	if (!f)
		return err_nomem(e);
	for (size_t i = 0; r->nodes != NODES_LIST && i < d->n_hcas; i++) {
		if (files_of_hca(ctx, rdma, &d->hca[i], &f[i], &why) == 0)
			continue;
		if (is_passing(&why))
			return 0;
		return err_pass(e, &why);
	}
	return r->nodes != NODES_LIST && d->n_hcas ? cdi_put(ctx, &c, e) : 0;
}

static int publish_slot(const struct ctx *ctx, const struct resource_conf *r, const char *id,
			const char *bin, struct err *e)
{
	auto_free char *config = prepared_slot_print(r->networks, r->memlock);
	char slot[PREPARED_SLOT_LEN], folder[PATH_MAX], name[NAME_MAX + 1];
	const char *const words[] = { EDITS_HOOK, "--slot", slot, "--config", config, NULL };
	const struct edits x = { ctx, bin, folder, words, r->networks, r->variables };
	struct json *edits = NULL;
	auto_json struct json *tree = cdi_tree(r->name, id, &edits);

	conf_slot(r, id, slot);
	prepared_slot_folder(ctx, slot, folder);
	if (!config || !tree)
		return err_nomem(e);
	cdi_name(r->name, id, name);
	return edits_add(edits, &x, e) || prepared_slot_make(ctx, slot, e) ||
			       edits_put_programs(folder, e) || put(ctx, &cdi_files, name, tree, e)
		       ? -1
		       : 0;
}

static int publish_slots(const struct ctx *ctx, const struct resource_conf *r,
			 const struct resource_devices *d, const char *bin, struct err *e)
{
	struct err why;

	for (size_t i = 0; i < d->n; i++) {
		if (publish_slot(ctx, r, d->device[i].id, bin, &why) == 0)
			continue;
		/* The other resources go on. */
		if (!is_passing(&why) && why.code != ERR_CONFIG)
			return err_pass(e, &why);
		log_warn(&ctx->log, "device plugin %s: %s", r->name, why.msg);
		return 0;
	}
	return 0;
}

static int devices_publish(const struct ctx *ctx, struct nl *rdma, const struct resource_conf *r,
			   const struct resource_devices *d, struct err *e)
{
	if (r->shared)
		return publish_shared(ctx, rdma, r, d, e);
	for (size_t i = 0; i < d->n; i++) {
		if (publish_function(ctx, rdma, r, &d->device[i], e))
			return -1;
	}
	return 0;
}

int resources_publish(const struct ctx *ctx, const struct resource_set *s,
		      const struct resource_look *l, const char *bin, struct err *e)
{
	struct tidying t = { .s = s, .l = l };
	auto_nl struct nl *rdma = NULL;

	/* That of marks, which the kernel sets. */
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &t.began);
	if (files_open_rdma(&rdma, e))
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		const struct resource_conf *r = &s->conf[i];

		if (devices_publish(ctx, rdma, r, &l->of[i], e) ||
		    (r->networks && publish_slots(ctx, r, &l->of[i], bin, e)))
			return err_wrap(e, "resource %s", s->conf[i].name);
	}
	return tidy(ctx, &devinfo_files, &t, e) || tidy(ctx, &cdi_files, &t, e) ? -1 : 0;
}
