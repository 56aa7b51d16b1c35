/* SPDX-License-Identifier: Apache-2.0 */
/* devinfo.c: writes, changes and restores the device-info file of a device. */
#include "cni/protocol/devinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

#define KEY "runtimeConfig.CNIDeviceInfoFile"

/*
 * Where the specification has these files. Whoever writes a network's configuration gives the path
 * too, and is not to make files elsewhere as root: a /run/nologin would be enough to do harm.
 */
#define FOLDER "/run/k8s.cni.cncf.io/devinfo"

static bool is_device_info(const char *path)
{
	static const char *const roots[] = { FOLDER, NULL };

	return safe_path_below(path, roots) && !strstr(path, "//") &&
	       path[strlen(path) - 1] != '/' && strcmp(path, FOLDER) != 0 &&
	       strcmp(path, "/var" FOLDER) != 0;
}

int devinfo_path(const struct cni_conf *conf, const char **out, struct err *e)
{
	const struct json *n = json_get(conf->runtime, "CNIDeviceInfoFile");
	const char *path = json_str(n);
	char shown[JSON_SHOW_LEN];

	if (!n || (path && !*path)) {
		*out = NULL;
		return 0;
	}
	if (!path || strlen(path) >= PATH_MAX || !is_device_info(path))
		return err_set(e, ERR_CONFIG, 0, KEY ": %s is not the path of a file below " FOLDER,
			       json_show(n, shown));
	*out = path;
	return 0;
}

/* The folder of path, open, and in *name the rest. */
static int open_parent(const char *path, bool create, const char **name, struct err *e)
{
	return safe_open_parent(path, SAFE_OWNED | (create ? SAFE_CREATE : 0), name, e);
}

static char *devinfo_json(const struct devinfo_pci *what)
{
	auto_json struct json *o = json_new_object();
	struct json *pci;

	if (!o || json_add_str(o, "type", "pci") || json_add_str(o, "version", "1.1.0") ||
	    !(pci = json_add_object(o, "pci")) || json_add_str(pci, "pci-address", what->address) ||
	    json_add_str(pci, "pf-pci-address", what->pf_address) ||
	    json_add_str(pci, "rdma-device", what->rdma_device))
		return NULL;
	return json_print(o, false);
}

int devinfo_write(const char *path, const struct devinfo_pci *what, bool *made, struct err *e)
{
	const char *name;
	struct stat st;
	auto_fd int dir = open_parent(path, true, &name, e);

	if (dir < 0)
		return err_wrap(e, KEY ": %s", path);
	*made = false;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	auto_free char *text = devinfo_json(what);
	if (!text)
		return err_nomem(e);
	if (fs_replace_at(dir, name, text, false, e))
		return err_wrap(e, KEY ": %s", path);
	*made = true;
	return 0;
}

/* The text with what->rdma_device in it; NULL when it stays: it says so, or is of another kind. */
static int add_rdma_device(const char *text, const struct devinfo_pci *what, char **out,
			   struct err *e)
{
	struct err why;
	auto_json struct json *tree = NULL;

	*out = NULL;
	/* Another program wrote a damaged file: a pod must not fail because of it. */
	if (json_parse(text, strlen(text), "device information", &tree, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	struct json *pci = json_get_mut(tree, "pci");
	const char *type = json_str(json_get(tree, "type"));
	const char *now = json_str(json_get(pci, "rdma-device"));

	if (!type || strcmp(type, "pci") != 0 || !pci || json_type(pci) != JSON_OBJECT ||
	    (now && strcmp(now, what->rdma_device) == 0))
		return 0;
	json_del(pci, "rdma-device");
	if (json_add_str(pci, "rdma-device", what->rdma_device))
		return err_nomem(e);
	*out = json_print(tree, false);
	return *out ? 0 : err_nomem(e);
}

/* 1: there is one, in *text; 0: there is none. */
static int read_if_any(int dir, const char *name, char **text, struct err *e)
{
	struct err why;
	size_t len;
	auto_fd int fd = safe_open_file(dir, name, O_RDONLY, &why);

	if (fd >= 0)
		return fs_read_fd(fd, JSON_MAX_SIZE, text, &len, e) ? -1 : 1;
	if (why.errnum == ENOENT)
		return 0;
	return err_pass(e, &why);
}

int devinfo_text(const char *path, char **out, struct err *e)
{
	const char *name;
	struct err why;
	auto_fd int dir = open_parent(path, false, &name, &why);

	if (dir < 0 && why.errnum != ENOENT && why.errnum != ENOTDIR) {
		*e = why;
		return err_wrap(e, KEY ": %s", path);
	}
	*out = NULL;
	if (dir >= 0 && read_if_any(dir, name, out, e) < 0)
		return err_wrap(e, KEY ": %s", path);
	return 0;
}

int devinfo_set_rdma(const char *path, const struct devinfo_pci *what, struct err *e)
{
	auto_free char *was = NULL, *text = NULL;
	const char *name;
	auto_fd int dir = open_parent(path, true, &name, e);
	int there = dir < 0 ? -1 : read_if_any(dir, name, &was, e);

	if (there < 0 || (there && add_rdma_device(was, what, &text, e)))
		return err_wrap(e, KEY ": %s", path);
	if (!there && !(text = devinfo_json(what)))
		return err_nomem(e);
	if (text && fs_replace_at(dir, name, text, false, e))
		return err_wrap(e, KEY ": %s", path);
	return 0;
}

int devinfo_restore(const char *path, const char *before, struct err *e)
{
	const char *name;
	struct stat st;

	if (!before || lstat(path, &st))
		return devinfo_remove(path, e);
	auto_fd int dir = open_parent(path, false, &name, e);
	return dir < 0 || fs_replace_at(dir, name, before, false, e) ? -1 : 0;
}

int devinfo_remove(const char *path, struct err *e)
{
	const char *name;
	struct err why;
	auto_fd int dir = open_parent(path, false, &name, &why);

	if (dir >= 0)
		return fs_unlink_at(dir, name, e);
	if (fs_is_gone(AT_FDCWD, path, &why))
		return 0;
	return err_pass(e, &why);
}
