// SPDX-License-Identifier: Apache-2.0
/* Runs the parts of a capture and writes the tar to a file or to standard output. */
#include "topo/capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "lib/sys/fs.h"
#include "topo/capture/priv.h"

#define PATH 2048

static char *capture_join_path(char out[PATH], const char *prefix, const char *name)
{
	return snprintf(out, PATH, "%s/%s", prefix, name) < PATH ? out : NULL;
}

/* A driver may refuse a value, such as the speed of a virtual NIC: root does not read that either.
 */
static void note_unread(struct topo_capture_sum *sum, const char *prefix, const char *name,
			int error)
{
	if (error == ENOENT)
		return;
	sum->denied |= error == EACCES || error == EPERM;
	if (!sum->unread++)
		(void)snprintf(sum->first_unread, sizeof(sum->first_unread), "%s/%s: %s", prefix,
			       name, strerror(error));
}

ssize_t keep_file(struct capture *c, int dir, const char *prefix, const char *name, enum keep how)
{
	char path[PATH];
	auto_fd int fd =
		openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	size_t len = 0;
	ssize_t n = 0;

	while (fd >= 0 && len < CAPTURE_VALUE &&
	       (n = read(fd, c->value + len, CAPTURE_VALUE - len)) > 0)
		len += (size_t)n;
	if (fd < 0 || n < 0) {
		note_unread(&c->sum, prefix, name, errno);
		return -1;
	}
	c->value[len] = '\0';
	if (how == KEEP_HIDDEN && !c->raw)
		hide_text(c->key, c->value);
	if (capture_join_path(path, prefix, name))
		tar_file(&c->tar, path, c->value, len);
	return (ssize_t)len;
}

void keep_files(struct capture *c, int dir, const char *prefix, const char *const *names)
{
	for (; *names; names++)
		(void)keep_file(c, dir, prefix, *names, KEEP);
}

void keep_link(struct capture *c, int dir, const char *prefix, const char *name)
{
	char target[PATH], path[PATH];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);

	if (n <= 0 || *target == '/' || !capture_join_path(path, prefix, name))
		return;
	target[n] = '\0';
	tar_link(&c->tar, path, target);
}

/* A tar_fill_fn. */
static int capture_add_all(void *arg, struct err *e)
{
	struct capture *c = arg;

	capture_firmware(c);
	return capture_proc(c, e) || capture_nodes(c, e) || capture_modules(c, e) ||
			       capture_functions(c, e) || capture_hcas(c, e) ||
			       capture_netdevs(c, e)
		       ? -1
		       : 0;
}

static void capture_clear(struct capture *c)
{
	if (c->proc >= 0)
		(void)close(c->proc);
	if (c->boot >= 0)
		(void)close(c->boot);
	tree_clear(&c->t);
	topo_machine_clear(&c->m);
}

static int capture_open_dir(const char *path)
{
	return path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

static int open_from(struct capture *c, const struct topo_tree_dirs *from, struct err *e)
{
	c->m.source = strcmp(from->sysfs, "/sys") != 0 ? TOPO_CAPTURE : TOPO_LIVE;
	c->t.fd = capture_open_dir(from->sysfs);
	if (c->t.fd < 0)
		return err_set(e, ERR_NOTFOUND, errno, "%s", from->sysfs);
	c->proc = capture_open_dir(from->proc);
	c->boot = capture_open_dir(from->boot);
	if (getrandom(c->key, sizeof(c->key), 0) != sizeof(c->key))
		return err_set(e, ERR_IO, errno, "get random numbers");
	return 0;
}

int topo_capture(const struct topo_tree_dirs *from, const struct topo_capture_opts *o,
		 const char *to, struct topo_capture_sum *sum, struct err *e)
{
	auto_free struct capture *c = calloc(1, sizeof(*c));

	if (!c)
		return err_nomem(e);
	c->t = (struct tree){ .fd = -1, .m = &c->m };
	c->raw = o->raw;
	c->proc = c->boot = -1;
	int rc = open_from(c, from, e) || tar_put(&c->tar, to, capture_add_all, c, e) ? -1 : 0;
	c->sum.files = c->tar.files;
	c->sum.links = c->tar.links;
	c->sum.bytes = c->tar.bytes;
	if (!rc && sum)
		*sum = c->sum;
	capture_clear(c);
	return rc;
}
