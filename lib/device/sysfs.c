/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs.c: reads and writes one value of sysfs or of a sysctl. */
#include "lib/device/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/base/retry.h"

static int join_path(const char *root, const char *path, char out[PATH_MAX], struct err *e)
{
	int n = snprintf(out, PATH_MAX, "%s/%s", root, path);

	if (n < 0 || n >= PATH_MAX)
		return err_set(e, ERR_IO, ENAMETOOLONG, "%.64s...", path);
	return 0;
}

/* Some attributes come in pieces; most in one read. */
static ssize_t sysfs_read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	unsigned tries = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && retry_interrupted(&tries))
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

int sysfs_read_fd(int fd, char *buf, size_t size)
{
	char more;
	ssize_t n = sysfs_read_all(fd, buf, size);

	if (n < 0)
		return -1;

	ssize_t rest = (size_t)n < size ? 0 : sysfs_read_all(fd, &more, 1);

	if (rest < 0)
		return -1;
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	errno = rest || (size_t)n == size ? EFBIG : memchr(buf, '\0', (size_t)n) ? EILSEQ : 0;
	if (errno)
		return -1;
	buf[n] = '\0';
	return 0;
}

int sysfs_read(const char *root, const char *path, char *buf, size_t size, struct err *e)
{
	char full[PATH_MAX];
	auto_free char *value = malloc(size);

	if (!value)
		return err_nomem(e);
	if (join_path(root, path, full, e))
		return -1;

	auto_fd int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", full);
	if (sysfs_read_fd(fd, value, size))
		return errno == EILSEQ
			       ? err_set(e, ERR_IO, EILSEQ, "read %s: a NUL in the value", full)
			       : err_set(e, ERR_IO, errno, "read %s", full);
	memcpy(buf, value, strlen(value) + 1);
	return 0;
}

int sysfs_read_u64(const char *root, const char *path, uint64_t *out, struct err *e)
{
	char text[32];

	if (sysfs_read(root, path, text, sizeof(text), e))
		return -1;
	if (parse_u64(text, 0, UINT64_MAX, out))
		return err_set(e, ERR_IO, 0, "%s/%s holds \"%s\", not a number", root, path, text);
	return 0;
}

/* One write: every write to such a file is a value of its own. O_TRUNC means nothing to the kernel;
 * in a tree of ordinary files it makes the value the whole content. */
static int write_value(const char *path, const char *value, struct err *e)
{
	size_t len = strlen(value);
	auto_fd int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", path);

	unsigned tries = 0;
	ssize_t n;

	do
		n = write(fd, value, len);
	while (n < 0 && retry_interrupted(&tries));
	if (n < 0)
		return err_set(e, ERR_IO, errno, "write \"%s\" to %s", value, path);
	if ((size_t)n != len)
		return err_set(e, ERR_IO, EIO, "write \"%s\" to %s: only %zd bytes were taken",
			       value, path, n);
	return 0;
}

int sysfs_write(const char *root, const char *path, const char *value, struct err *e)
{
	char full[PATH_MAX];

	if (join_path(root, path, full, e))
		return -1;
	return write_value(full, value, e);
}

static bool is_component(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

/* By path and not by the dotted name of sysctl(8): an interface name may hold dots. */
int sysctl_net_path(const char *proc, const char *ifname, const char *key, const char *value,
		    struct err *e)
{
	char path[PATH_MAX], now[64];
	size_t family = strcspn(key, "/");
	struct err ignored;

	if (!is_component(ifname) || family == 0 || !is_component(key + family + !!key[family]) ||
	    key[0] == '.')
		return err_set(e, ERR_FIELD, EINVAL, "sysctl %s of interface \"%s\"", key, ifname);

	int n = snprintf(path, sizeof(path), "sys/net/%.*s/conf/%s%s", (int)family, key, ifname,
			 key + family);

	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "sysctl of interface \"%.64s\"", ifname);
	if (sysfs_read(proc, path, now, sizeof(now), &ignored) == 0 && !strcmp(now, value))
		return 0;
	return sysfs_write(proc, path, value, e);
}
