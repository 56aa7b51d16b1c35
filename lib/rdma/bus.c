/* SPDX-License-Identifier: Apache-2.0 */
/* bus.c: RDMA devices by bus address, and their character devices. */
#include "lib/rdma/bus.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"

#define RENAME_TRIES 3

/* ---- by bus address ---- */

/* The kernel names them module.kind.number. */
static bool is_auxiliary(const char *s)
{
	const char *dot = strrchr(s, '.');
	size_t len = strlen(s);

	if (!dot || dot == s || !dot[1] || len >= BUS_ADDR_LEN || strstr(s, "..") || *s == '.')
		return false;
	for (const char *p = dot + 1; *p; p++) {
		if (!isdigit((unsigned char)*p))
			return false;
	}
	for (const char *p = s; p < dot; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("_-.", *p))
			return false;
	}
	return true;
}

bool bus_addr_valid(const char *s)
{
	struct pci_addr ignored;

	return pci_parse(s, &ignored) == 0 || is_auxiliary(s);
}

/* The path of the folder with its devices of one kind: "infiniband", "infiniband_verbs". */
static int folder_of(const char *sysfs, const char *addr, const char *kind, char out[PATH_MAX],
		     struct err *e)
{
	struct pci_addr pci;
	char text[PCI_STR_LEN];
	bool is_pci = pci_parse(addr, &pci) == 0;
	int n;

	if (!is_pci && !is_auxiliary(addr))
		return err_set(e, ERR_FIELD, 0,
			       "\"%.80s\" is neither a PCI address nor an auxiliary device", addr);
	n = snprintf(out, PATH_MAX, "%s/bus/%s/devices/%s/%s", sysfs, is_pci ? "pci" : "auxiliary",
		     is_pci ? pci_format(pci, text) : addr, kind);
	return n < PATH_MAX ? 0 : err_set(e, ERR_IO, ENAMETOOLONG, "%.64s...", out);
}

/* The only name in a folder. */
static int only_name(const char *folder, const char *addr, char out[RDMA_NAME_LEN], struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	struct err why;

	if (fs_names_at(AT_FDCWD, folder, FS_NAMES_MAX, &names, &why) && why.errnum != ENOENT &&
	    why.errnum != ENOTDIR)
		return err_pass(e, &why);
	if (names.n > 1) {
		err_set(e, ERR_NOTFOUND, 0, "%s has more than one RDMA device: %s and %s", addr,
			names.name[0], names.name[1]);
		e->errnum = EEXIST;
		return -1;
	}
	if (names.n == 0) {
		err_set(e, ERR_NOTFOUND, 0, "%s has no RDMA device", addr);
		e->errnum = ENOENT;
		return -1;
	}
	(void)snprintf(out, RDMA_NAME_LEN, "%s", names.name[0]);
	return 0;
}

/* A rename between the two look-ups is seen: the name is read again after the index. */
int rdma_of_bus(const char *sysfs, struct nl *nl, const char *addr, struct rdma_link *out,
		struct err *e)
{
	char folder[PATH_MAX], before[RDMA_NAME_LEN], after[RDMA_NAME_LEN];
	struct rdma_link d;
	struct err why;

	if (folder_of(sysfs, addr, "infiniband", folder, e) || only_name(folder, addr, before, e))
		return -1;
	for (int i = 0; i < RENAME_TRIES; i++) {
		int rc = nl_rdma_by_name(nl, before, &d, &why);

		if (rc && why.code != ERR_NOTFOUND)
			return err_pass(e, &why);
		if (only_name(folder, addr, after, e))
			return -1;
		if (rc == 0 && strcmp(before, after) == 0) {
			*out = d;
			return 0;
		}
		memcpy(before, after, sizeof(before));
	}
	err_set(e, ERR_NOTFOUND, 0, "%s has the RDMA device %s, but netlink does not show it", addr,
		after);
	e->errnum = ENOENT;
	return -1;
}

bool rdma_bus_verbs(const char *sysfs, const char *addr, char *out)
{
	char folder[PATH_MAX];
	auto_fs_names struct fs_names names = { .n = 0 };
	struct err why;

	if (out)
		*out = '\0';
	if (folder_of(sysfs, addr, "infiniband_verbs", folder, &why))
		return false;
	if (fs_names_at(AT_FDCWD, folder, FS_NAMES_MAX, &names, &why))
		return why.errnum != ENOENT && why.errnum != ENOTDIR;
	for (size_t i = 0; i < names.n; i++) {
		if (strncmp(names.name[i], "uverbs", 6) != 0)
			continue;
		if (out)
			(void)snprintf(out, RDMA_CHARDEV_LEN, "%.31s", names.name[i]);
		return true;
	}
	return false;
}

/* ---- character devices ---- */

int rdma_chardev_find(struct nl *nl, struct rdma_chardev_of of, struct rdma_chardev *out,
		      struct err *e)
{
	struct err why;

	if (nl_rdma_chardev(nl, of, out, &why) == 0)
		return 0;
	if (why.code != ERR_NOTFOUND || why.errnum != ENOENT)
		return err_pass(e, &why);
	*out = (struct rdma_chardev){ .name = "" };
	return 0;
}

int rdma_chardevs_read(struct nl *nl, const struct rdma_link *d, struct rdma_chardevs *out,
		       struct err *e)
{
	struct rdma_chardevs all = { 0 };

	if (rdma_chardev_find(nl, (struct rdma_chardev_of){ .type = "uverbs", .index = d->index },
			      &all.uverbs, e))
		return -1;
	for (uint32_t port = 1; port <= d->ports && port <= RDMA_PORTS_MAX; port++) {
		const struct rdma_chardev_of of = { "umad", false, d->index, port };

		if (rdma_chardev_find(nl, of, &all.umad[port - 1], e))
			return -1;
	}
	*out = all;
	return 0;
}

char *rdma_chardev_text(const struct rdma_chardev *c, char *out, size_t size)
{
	*out = '\0';
	if (*c->name)
		(void)snprintf(out, size, "%s %u:%u", c->name, c->major, c->minor);
	return out;
}

static bool chardev_differs(const struct rdma_chardev *a, const struct rdma_chardev *b, char *out,
			    size_t size)
{
	if (a->major == b->major && a->minor == b->minor && strcmp(a->name, b->name) == 0)
		return false;
	if (!*a->name || !*b->name)
		(void)snprintf(out, size, "%s %s", *a->name ? a->name : b->name,
			       *a->name ? "has gone" : "is new");
	else
		(void)snprintf(out, size, "%s was %u:%u, is %s %u:%u", a->name, a->major, a->minor,
			       b->name, b->major, b->minor);
	return true;
}

bool rdma_chardevs_differ(const struct rdma_chardevs *a, const struct rdma_chardevs *b, char *out,
			  size_t size)
{
	bool found = chardev_differs(&a->uverbs, &b->uverbs, out, size);

	for (size_t i = 0; i < RDMA_PORTS_MAX && !found; i++)
		found = chardev_differs(&a->umad[i], &b->umad[i], out, size);
	return found;
}
