/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of the tree, and explains those that cannot be read. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/retry.h"
#include "lib/sys/fs.h"
#include "topo/gdr/priv.h"

/*
 * Open a file without leaving the folder: a capture may have malicious links. Before Linux 5.6, or
 * if a seccomp filter forbids openat2(), only the live /sys is opened.
 */
static int open_in(const struct gdr *r, enum gdr_dir dir, const char *path, uint64_t flags)
{
	/* O_PATH takes no other flags. */
	flags |= O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY);
	if (r->dir[dir] < 0)
		return -ENOENT;

	int fd = fs_openat2(r->dir[dir], path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && r->m->source == TOPO_LIVE)
		fd = openat(r->dir[dir], path, (int)flags);
	return fd < 0 ? -errno : fd;
}

ssize_t gdr_read(const struct gdr *r, enum gdr_dir dir, const char *path, void *buf, size_t size)
{
	auto_fd int fd = open_in(r, dir, path, O_RDONLY);
	size_t len = 0;
	unsigned tries = 0;

	if (fd < 0)
		return fd;
	while (len < size) {
		ssize_t n = read(fd, (char *)buf + len, size - len);

		if (n < 0 && retry_interrupted(&tries))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

int gdr_text(const struct gdr *r, enum gdr_dir dir, const char *path, char *buf, size_t size)
{
	ssize_t n = gdr_read(r, dir, path, buf, size - 1);

	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

bool gdr_there(const struct gdr *r, enum gdr_dir dir, const char *path)
{
	auto_fd int fd = open_in(r, dir, path, O_PATH);

	return fd >= 0;
}

int gdr_link(const struct gdr *r, enum gdr_dir dir, const char *path, char *buf, size_t size)
{
	auto_fd int fd = open_in(r, dir, path, O_PATH | O_NOFOLLOW);
	char target[PATH_MAX];

	if (fd < 0)
		return fd;

	ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';

	const char *slash = strrchr(target, '/');

	(void)snprintf(buf, size, "%s", slash ? slash + 1 : target);
	return 0;
}

char *gdr_bdf(const struct gdr *r, uint32_t pci, char out[PCI_STR_LEN])
{
	return pci_format(r->m->pci[pci].addr, out);
}

char *gdr_pci_path(const struct gdr *r, uint32_t pci, const char *name, char out[GDR_PATH_LEN])
{
	char bdf[PCI_STR_LEN];

	(void)snprintf(out, GDR_PATH_LEN, "bus/pci/devices/%s/%s", gdr_bdf(r, pci, bdf), name);
	return out;
}

struct pci_config gdr_config(const struct gdr *r, uint32_t pci, struct gdr_config *out)
{
	char path[GDR_PATH_LEN];
	ssize_t n = gdr_read(r, GDR_SYS, gdr_pci_path(r, pci, "config", path), out->byte,
			     sizeof(out->byte));

	out->len = n < 0 ? 0 : (size_t)n;
	out->error = n < 0 ? (int)n : 0;
	return (struct pci_config){ out->byte, out->len };
}

#define AS_ROOT                                                                                    \
	"run it on the node as root, or give it a capture that root took: railctl topo capture "   \
	"FILE.tar"

void gdr_unread(struct finding *f, int why)
{
	f->state = FINDING_UNKNOWN;
	/* the same text for a machine and its capture */
	if (why == -ENOENT || why == -ENOTDIR || why == -ELOOP)
		finding_set_reason(f, "there is no such file here");
	else
		finding_set_reason(f, "it cannot be read: %s", strerror(-why));
	finding_set_remedy(f, AS_ROOT);
}

void gdr_config_unknown(struct gdr *r, struct finding *f, uint32_t pci, const struct gdr_config *c)
{
	char path[GDR_PATH_LEN];

	gdr_path(r, f, GDR_SYS, gdr_pci_path(r, pci, "config", path));
	if (c->error) {
		gdr_unread(f, c->error);
		return;
	}
	f->state = FINDING_UNKNOWN;
	finding_set_value(f, "%zu bytes", c->len);
	if (c->len > 64) {
		finding_set_reason(f, "the function does not answer: it sleeps, or was removed");
		finding_set_remedy(f, "wake it, and run the check again");
		return;
	}
	finding_set_reason(f, "only root can read more than 64 bytes of configuration space");
	finding_set_remedy(f, AS_ROOT);
}
