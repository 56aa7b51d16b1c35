// SPDX-License-Identifier: Apache-2.0
/* Files, folders and links of a tree that stands for /sys. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/device/sysfs.h"
#include "lib/sys/fs.h"
#include "topo/read/tree.h"

/* O_NONBLOCK: opening a FIFO must not block. */
#define OPEN_FILE (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
#define OPEN_DIR  (O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)

/* Component by component, each without following: what the kernel does by itself since 5.6. */
static int open_path(int dir, const char *path, int flags)
{
	struct slice rest = { path, strlen(path) }, part;
	char name[TREE_VALUE];
	int fd = -1;

	while (slice_next(&rest, '/', &part)) {
		auto_fd int above = TAKE_FD(fd);
		if (slice_copy(part, name, sizeof(name))) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = openat(above < 0 ? dir : above, name, rest.p ? OPEN_DIR | O_PATH : flags);
		if (fd < 0)
			return -1;
	}
	return fd;
}

static int tree_open_below(int dir, const char *path, int flags)
{
	int fd = fs_openat2(dir, path, (unsigned)flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	/* EPERM: a filter of system calls that does not know it */
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_path(dir, path, flags) : fd;
}

int tree_open(int dir, const char *path)
{
	return tree_open_below(dir, path, OPEN_DIR);
}

int tree_file(int dir, const char *path)
{
	return tree_open_below(dir, path, OPEN_FILE);
}

int tree_text(int dir, const char *path, bool live)
{
	return live ? openat(dir, path, OPEN_FILE & ~O_NOFOLLOW) : tree_file(dir, path);
}

const char *tree_at(struct tree_path *p, const char *name)
{
	size_t len = strlen(name);

	if (p->len + len + 2 > sizeof(p->text))
		return "";
	p->text[p->len] = '/';
	memcpy(p->text + p->len + 1, name, len + 1);
	return p->text;
}

int tree_value(int dir, const char *name, char out[TREE_VALUE])
{
	auto_fd int fd = tree_file(dir, name);

	if (fd < 0)
		return -1;
	return sysfs_read_fd(fd, out, TREE_VALUE) || *out == '\0' ? -1 : 0;
}

static int read_tree_number(int dir, const char *name, int base, long long *out)
{
	char text[TREE_VALUE], *end;

	if (tree_value(dir, name, text))
		return -1;
	errno = 0;
	*out = strtoll(text, &end, base);
	return errno || end == text || *end ? -1 : 0;
}

int tree_hex(int dir, const char *name, uint32_t max, uint32_t *out)
{
	long long n;

	if (read_tree_number(dir, name, 16, &n) || n < 0 || n > max)
		return -1;
	*out = (uint32_t)n;
	return 0;
}

int tree_number(int dir, const char *name, int *out)
{
	long long n;

	if (read_tree_number(dir, name, 10, &n) || n < INT32_MIN || n > INT32_MAX)
		return -1;
	*out = (int)n;
	return 0;
}

/* Append a component to a path, or remove the last one for "..". -1: it leads out, or is too long.
 */
static int append_part(char out[TREE_PATH], size_t *len, struct slice part)
{
	if (part.len == 0 || (part.len == 1 && *part.p == '.'))
		return 0;
	if (part.len == 2 && !strncmp(part.p, "..", 2)) {
		if (*len == 0)
			return -1;
		char *slash = memrchr(out, '/', *len);
		*len = slash ? (size_t)(slash - out) : 0;
		return 0;
	}
	if (*len + part.len + 2 > TREE_PATH)
		return -1;
	if (*len)
		out[(*len)++] = '/';
	memcpy(out + *len, part.p, part.len);
	*len += part.len;
	return 0;
}

enum tree_link tree_link(int dir, const char *at, const char *name, char out[TREE_PATH])
{
	char text[TREE_PATH];
	struct slice part;
	ssize_t n = readlinkat(dir, name, text, sizeof(text));

	if (n < 0)
		return TREE_NO_LINK;
	struct slice rest = { text, (size_t)n };
	size_t len = strlen(at);
	if (n == 0 || (size_t)n == sizeof(text) || *text == '/' || len >= TREE_PATH)
		return TREE_BAD_LINK;
	memcpy(out, at, len);
	while (slice_next(&rest, '/', &part)) {
		if (append_part(out, &len, part))
			return TREE_BAD_LINK;
	}
	out[len] = '\0';
	return TREE_LINK;
}

/* ---- names ---- */

int tree_push(struct fs_names *n, size_t max, const char *text, struct err *e)
{
	auto_free char *copy = strdup(text);

	if (!copy)
		return err_nomem(e);
	if (n->n == max)
		return err_set(e, ERR_FIELD, 0, "a folder with more than %zu entries", max);
	if (ARRAY_GROW(n->name, n->n, max, "entries", e))
		return -1;
	n->name[n->n++] = TAKE_PTR(copy);
	return 0;
}

int tree_names(int dir, size_t max, struct fs_names *out, struct err *e)
{
	struct err why = { .errnum = 0 };

	if (fs_names_at(dir, ".", max, out, &why) && why.code == ERR_NOMEM)
		return err_nomem(e);
	if (why.errnum == EFBIG)
		return err_set(e, ERR_FIELD, 0, "a folder with more than %zu entries", max);
	return 0;
}
