/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_use.c: looks for devices above an interface, for its addresses, and for processes that have
 * a VF open through VFIO.
 */
#include "sriov/vf/host_use.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/device/pci.h"
#include "lib/sys/fs.h"

/* ---- devices above an interface ---- */

static void name_above(struct nl *nl, const char *name, char why[HOST_USE_LEN])
{
	struct link_info link;
	struct err ignored;
	bool known = nl_link_by_name(nl, name, &link, &ignored) == 0 && *link.kind;

	if (known && (!strcmp(link.kind, "bridge") || !strcmp(link.kind, "bond")))
		(void)snprintf(why, HOST_USE_LEN, "is a port of the %s %.16s", link.kind, name);
	else
		(void)snprintf(why, HOST_USE_LEN, "has the %s %.16s above it",
			       known ? link.kind : "device", name);
}

/* sysfs has a link "upper_NAME" for each device above it in this namespace. */
static int look_above(const struct ctx *ctx, struct nl *nl, const char *ifname,
		      char why[HOST_USE_LEN], struct err *e)
{
	static const char upper[] = "upper_";
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct err failed;

	(void)snprintf(path, sizeof(path), "%.1024s/class/net/%.16s", ctx->sysfs, ifname);
	if (fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, &failed) && failed.errnum != ENOENT)
		return err_pass(e, &failed);
	for (size_t i = 0; i < names.n; i++) {
		if (strncmp(names.name[i], upper, sizeof(upper) - 1) != 0)
			continue;
		name_above(nl, names.name[i] + sizeof(upper) - 1, why);
		return 1;
	}
	return 0;
}

struct listening {
	const uint8_t *own;
	uint8_t another[MAC_LEN];
	bool found;
};

static int host_use_is_anothers(const uint8_t mac[MAC_LEN], void *arg)
{
	struct listening *l = arg;

	if ((mac[0] & 1) || memcmp(mac, l->own, MAC_LEN) == 0)
		return 0;
	memcpy(l->another, mac, MAC_LEN);
	l->found = true;
	return 1;
}

static int look_into_pods(struct nl *nl, const struct link_info *link, char why[HOST_USE_LEN],
			  struct err *e)
{
	struct listening l = { .own = link->addr.byte };
	char text[MAC_STR_LEN];
	struct err why_not;

	if (!link_is_ethernet(link) ||
	    nl_link_listens(nl, link->ifindex, host_use_is_anothers, &l, &why_not) == 0) {
		if (l.found)
			(void)snprintf(why, HOST_USE_LEN,
				       "listens to %s for a device above it in another network "
				       "namespace",
				       mac_format(l.another, text));
		return l.found;
	}
	/* A driver that keeps its own list of addresses can refuse the request. */
	if (why_not.code == ERR_KERNEL)
		return 0;
	return err_pass(e, &why_not);
}

/* ---- its addresses ---- */

struct owned {
	char *why;
	bool found;
};

/* Link-local addresses and those of router advertisements come from the kernel: they do not count.
 */
static int host_use_is_given(const struct addr_info *a, void *arg)
{
	struct owned *o = arg;
	char text[PREFIX_STR_LEN];

	if (a->given)
		return 0;
	(void)snprintf(o->why, HOST_USE_LEN, "has the address %s", ip_format_prefix(a->addr, text));
	o->found = true;
	return 1;
}

int host_use(const struct ctx *ctx, struct nl *nl, const char *ifname, char why[HOST_USE_LEN],
	     struct err *e)
{
	struct link_info link;
	struct owned o = { .why = why };
	struct err gone;

	if (nl_link_by_name(nl, ifname, &link, &gone)) {
		if (gone.errnum == ENODEV)
			return HOST_USES_NOT;
		return err_pass(e, &gone);
	}
	int rc = look_above(ctx, nl, ifname, why, e);
	if (rc == 0)
		rc = look_into_pods(nl, &link, why, e);
	if (rc)
		return rc < 0 ? -1 : (int)HOST_HAS_ABOVE;
	if (nl_addr_list(nl, link.ifindex, host_use_is_given, &o, e))
		return -1;
	return o.found ? HOST_HAS_ADDRESS : HOST_USES_NOT;
}

/* ---- a VF of a user-space driver ---- */

/* The files through which a process has the VF: its IOMMU group and, since Linux 6.6, its own. */
struct files {
	char group[64], own[64];
};

static void find_files(const struct ctx *ctx, const char *vf, struct files *f)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX], group[PCI_GROUP_LEN];
	struct err ignored;

	*f = (struct files){ .group = "" };
	if (pci_iommu_group(ctx->sysfs, vf, group, &ignored) == 0)
		(void)snprintf(f->group, sizeof(f->group), "/dev/vfio/%s", group);
	(void)snprintf(path, sizeof(path), "%.1024s/bus/pci/devices/%.32s/vfio-dev", ctx->sysfs,
		       vf);
	(void)!fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, &ignored);
	for (size_t i = 0; i < names.n; i++) {
		if (strncmp(names.name[i], "vfio", 4) == 0)
			(void)snprintf(f->own, sizeof(f->own), "/dev/vfio/devices/%.32s",
				       names.name[i]);
	}
}

/* A process that ends meanwhile has no files any more. */
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
		found = (*f->group && strcmp(target, f->group) == 0) ||
			(*f->own && strcmp(target, f->own) == 0);
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
	(void)snprintf(why, HOST_USE_LEN, "is open in process %.16s (%.32s)", pid,
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
