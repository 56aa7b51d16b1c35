/* SPDX-License-Identifier: Apache-2.0 */
/* host_vfio.c: whether a process has a VF that a driver of user space stands in for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "sriov/vf/host_use.h"

/* The files by which it is had: of its IOMMU group, and, since Linux 6.6, its own. */
struct files {
	char group[64], own[64];
};

static void find_files(const struct ctx *ctx, const char *vf, struct files *f)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX], target[PATH_MAX];
	struct err ignored;

	*f = (struct files){ .group = "" };
	(void)snprintf(path, sizeof(path), "%.1024s/bus/pci/devices/%.32s/iommu_group", ctx->sysfs,
		       vf);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	const char *number = strrchr(target, '/');
	if (number)
		(void)snprintf(f->group, sizeof(f->group), "/dev/vfio/%.32s", number + 1);
	(void)snprintf(path, sizeof(path), "%.1024s/bus/pci/devices/%.32s/vfio-dev", ctx->sysfs,
		       vf);
	(void)!fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, &ignored);
	for (size_t i = 0; i < names.n; i++) {
		if (strncmp(names.name[i], "vfio", 4) == 0)
			(void)snprintf(f->own, sizeof(f->own), "/dev/vfio/devices/%.32s",
				       names.name[i]);
	}
}

static bool is_one(const struct files *f, const char *target)
{
	return (*f->group && strcmp(target, f->group) == 0) ||
	       (*f->own && strcmp(target, f->own) == 0);
}

/* A process that ends meanwhile has nothing any more. */
static bool has_open(const struct ctx *ctx, const char *pid, const struct files *f)
{
	char path[PATH_MAX], target[128];
	bool found = false;
	struct dirent *d;

	(void)snprintf(path, sizeof(path), "%.1024s/%.16s/fd", ctx->proc, pid);
	DIR *dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		found = is_one(f, target);
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

static void name_process(const struct ctx *ctx, const char *pid, char why[HOST_USE_LEN])
{
	char path[PATH_MAX];
	auto_free char *comm = NULL;
	struct err ignored;

	(void)snprintf(path, sizeof(path), "%.1024s/%.16s/comm", ctx->proc, pid);
	if (fs_read_at(AT_FDCWD, path, 256, &comm, &ignored) >= 0)
		comm[strcspn(comm, "\n")] = '\0';
	(void)snprintf(why, HOST_USE_LEN, "is had by process %.16s (%.32s)", pid,
		       comm ? comm : "?");
}

int host_use_vfio(const struct ctx *ctx, const char *vf, char why[HOST_USE_LEN], struct err *e)
{
	struct files f;
	struct dirent *d;
	bool found = false;

	find_files(ctx, vf, &f);
	if (!*f.group && !*f.own)
		return HOST_USES_NOT;
	DIR *dir = opendir(ctx->proc);
	if (!dir)
		return err_set(e, ERR_IO, errno, "list %s", ctx->proc);
	while (!found && (d = readdir(dir))) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		found = has_open(ctx, d->d_name, &f);
		if (found)
			name_process(ctx, d->d_name, why);
	}
	(void)closedir(dir);
	return found ? HOST_HAS_ABOVE : HOST_USES_NOT;
}
