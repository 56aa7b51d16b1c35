// SPDX-License-Identifier: Apache-2.0
/* Runs the parts of a capture and writes the tar to a file or to standard output. */
#include "topo/capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/sys/fs.h"
#include "topo/capture/priv.h"

#define PATH 2048

static char *capture_join_path(char out[PATH], const char *prefix, const char *name)
{
	return snprintf(out, PATH, "%s/%s", prefix, name) < PATH ? out : NULL;
}

/* A driver may refuse a value: root does not read that either. */
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

/* The n-th GUID of the machine becomes the number n, in its form; zeros stay. False: there are too
 * many. */
static bool number_guid(struct capture *c, char *text)
{
	uint64_t guid = 0;
	size_t n = 0;

	for (const char *at = text; *at; at++)
		guid = hex_digit(*at) < 0 ? guid : guid << 4 | (uint64_t)hex_digit(*at);
	while (n < c->n_guids && c->guid[n] != guid)
		n++;
	if (n == CAPTURE_GUIDS)
		return false;
	if (n == c->n_guids)
		c->guid[c->n_guids++] = guid;
	n = guid ? n + 1 : 0;
	for (size_t i = strlen(text); i-- > 0;) {
		if (hex_digit(text[i]) < 0)
			continue;
		text[i] = HEX_DIGITS[n & 0xf];
		n >>= 4;
	}
	return true;
}

static void keep_file(struct capture *c, int dir, const char *prefix, const char *name)
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
		return;
	}
	c->value[len] = '\0';
	if (strstr(name, "_guid") && !number_guid(c, c->value))
		return;
	if (capture_join_path(path, prefix, name))
		tar_file(&c->tar, path, c->value, len);
}

void keep_files(struct capture *c, int dir, const char *prefix, const char *const *names)
{
	for (; *names; names++)
		keep_file(c, dir, prefix, *names);
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
	return 0;
}

int topo_capture(const struct topo_tree_dirs *from, const char *to, struct topo_capture_sum *sum,
		 struct err *e)
{
	auto_free struct capture *c = calloc(1, sizeof(*c));

	if (!c)
		return err_nomem(e);
	c->t = (struct tree){ .fd = -1, .m = &c->m };
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
