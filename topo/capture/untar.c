// SPDX-License-Identifier: Apache-2.0
/* Reads a tar entry by entry: checks the header, takes long names, and writes below one folder. */
#include "topo/capture/untar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"
#include "lib/base/parse.h"
#include "lib/base/retry.h"
#include "topo/capture/tar.h"

#define NAME_MAX_LEN 4096 /* with NUL */
#define PATH_LEN     1024 /* longest path, with NUL; TREE_PATH of the readers is the same */
#define READ_AHEAD   ((size_t)64 * 1024)

/*
 * Most entries are small, and in the folder of the entry before. So a tar is read in large
 * pieces, and that folder stays open: each entry then costs what making its file costs.
 */
struct reader {
	int fd, dir;
	struct err *e;
	size_t bytes, entries;
	size_t folders;                              /* made without an entry of their own */
	char name[NAME_MAX_LEN], link[NAME_MAX_LEN]; /* of the next entry, told before it; "" */
	int above;                                   /* the open folder, -1: none */
	char above_path[PATH_LEN]; /* as its entry named it, with the last slash */
	size_t at, end;            /* in ahead: what is not yet taken */
	char ahead[READ_AHEAD];
};

static int refuse_archive(struct reader *r, const char *what)
{
	return err_set(r->e, ERR_FIELD, 0, "entry %zu of the tar: %s", r->entries, what);
}

/* 1: end of file */
static int read_ahead(struct reader *r)
{
	unsigned tries = 0;
	ssize_t n;

	do
		n = read(r->fd, r->ahead, sizeof(r->ahead));
	while (n < 0 && retry_interrupted(&tries));
	if (n < 0)
		return err_set(r->e, ERR_IO, errno, "read the tar");
	r->at = 0;
	r->end = (size_t)n;
	return n == 0;
}

/* 1: end of file */
static int read_exact(struct reader *r, void *buf, size_t n)
{
	size_t len = 0;

	while (len < n) {
		int rc = r->at < r->end ? 0 : read_ahead(r);
		size_t more = r->end - r->at < n - len ? r->end - r->at : n - len;
		if (rc < 0)
			return -1;
		if (rc)
			return len ? refuse_archive(r, "the tar ends in the middle of it") : 1;
		memcpy((char *)buf + len, r->ahead + r->at, more);
		r->at += more;
		len += more;
	}
	r->bytes += n;
	return r->bytes > UNTAR_BYTES ? refuse_archive(r, "the tar is larger than 256 MiB") : 0;
}

/* Octal digits between blanks. */
static int parse_octal(const char *field, size_t size, size_t *out)
{
	size_t n = 0, i = 0;

	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++) {
		if (n > UNTAR_BYTES)
			return -1;
		n = n * 8 + (size_t)(field[i] - '0');
	}
	*out = n;
	return i == size || field[i] == ' ' || field[i] == '\0' ? 0 : -1;
}

static bool checksum_matches(const struct tar_header *h)
{
	size_t want;

	return !parse_octal(h->chksum, sizeof(h->chksum), &want) && want == tar_sum(h);
}

static bool is_zero(const struct tar_header *h)
{
	const char *b = (const char *)h;

	return !*b && !memcmp(b, b + 1, TAR_BLOCK - 1);
}

/* ---- the data behind a header ---- */

static int skip_bytes(struct reader *r, size_t size)
{
	char block[TAR_BLOCK];

	for (size_t left = (size + TAR_BLOCK - 1) / TAR_BLOCK; left; left--) {
		int rc = read_exact(r, block, TAR_BLOCK);
		if (rc)
			return rc < 0 ? -1 : refuse_archive(r, "the tar ends in it");
	}
	return 0;
}

/* Read the data as a string of at most NAME_MAX_LEN - 1 bytes. */
static int untar_take_text(struct reader *r, size_t size, char out[NAME_MAX_LEN])
{
	size_t whole = (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;

	if (size >= NAME_MAX_LEN || whole > NAME_MAX_LEN)
		return refuse_archive(r, "a name is too long");
	int rc = whole ? read_exact(r, out, whole) : 0;
	if (rc)
		return rc < 0 ? -1 : refuse_archive(r, "the tar ends in it");
	out[size] = '\0';
	return 0;
}

/* Records of pax: "23 path=some/where/long\n". */
static int take_pax(struct reader *r, size_t size)
{
	char text[NAME_MAX_LEN], *at = text, *end;

	if (size >= NAME_MAX_LEN) /* other attributes, which are not needed */
		return skip_bytes(r, size);
	if (untar_take_text(r, size, text))
		return -1;
	while (*at) {
		size_t len = strtoul(at, &end, 10);
		if (*end != ' ' || len < 3 || len > (size_t)(text + size - at) ||
		    at[len - 1] != '\n' || end >= at + len)
			return refuse_archive(r, "an extended header is malformed");
		at[len - 1] = '\0';
		if (!strncmp(end, " path=", 6))
			(void)snprintf(r->name, sizeof(r->name), "%s", end + 6);
		else if (!strncmp(end, " linkpath=", 10))
			(void)snprintf(r->link, sizeof(r->link), "%s", end + 10);
		at += len;
	}
	return 0;
}

/* ---- writing ---- */

/* Make a parent folder, and count it: one entry could need hundreds. */
static int make_above(struct reader *r, int above, const char *name)
{
	if (mkdirat(above, name, 0700))
		return errno == EEXIST ? 0
				       : err_set(r->e, ERR_IO, errno, "make the folder %s", name);
	return ++r->folders > UNTAR_FOLDERS ? refuse_archive(r, "it needs more than 50000 folders")
					    : 0;
}

/* The last component of a path that is in the open folder. NULL: it may be in another. */
static const char *in_above(const struct reader *r, const char *path)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	size_t len = (size_t)(last - path);

	return *last && strcmp(last, ".") != 0 && strcmp(last, "..") != 0 && len < PATH_LEN &&
			       r->above_path[len] == '\0' && !memcmp(path, r->above_path, len)
		       ? last
		       : NULL;
}

/* Open the parent folder of a path; missing folders are made. `last` is the last component, "" if
 * the path names the folder itself. */
static int walk_above(struct reader *r, const char *path, char last[256])
{
	struct slice rest = { path, strlen(path) }, part;
	char name[256] = "";
	size_t len = 0;

	auto_fd int fd = fcntl(r->dir, F_DUPFD_CLOEXEC, 0);
	while (fd >= 0 && slice_next(&rest, '/', &part)) {
		if (part.len == 0 || (part.len == 1 && *part.p == '.'))
			continue;
		auto_fd int above = TAKE_FD(fd);
		if (slice_copy(part, last, 256) || !strcmp(last, ".."))
			return refuse_archive(r,
					      "its name leads out of the folder, or is too long");
		if (*name && make_above(r, above, name))
			return -1;
		fd = openat(above, *name ? name : ".",
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		memcpy(name, last, sizeof(name));
		len = (size_t)(part.p - path);
	}
	if (fd < 0)
		return err_set(r->e, ERR_FIELD, errno, "entry %zu of the tar: %.200s", r->entries,
			       path);
	(void)close(r->above);
	r->above = TAKE_FD(fd);
	memcpy(r->above_path, path, len);
	r->above_path[len] = '\0';
	if (!*name)
		*last = '\0';
	return 0;
}

/* No entry removes a folder, or puts a link in its place: the one that is open stays the right one.
 */
static int open_above(struct reader *r, const char *path, char last[256])
{
	const char *name;

	if (strlen(path) >= PATH_LEN)
		return refuse_archive(r, "its name is too long");
	name = in_above(r, path);
	if (!name || strlen(name) >= 256)
		return walk_above(r, path, last);
	memcpy(last, name, strlen(name) + 1);
	return 0;
}

/* A new file; one that is there goes first. */
static int new_file(int above, const char *name)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(above, name, flags, 0600);

	if (fd >= 0 || errno != EEXIST || unlinkat(above, name, 0))
		return fd;
	return openat(above, name, flags, 0600);
}

static int untar_make_file(struct reader *r, const char *name, size_t size)
{
	char piece[8 * TAR_BLOCK];
	auto_fd int fd = new_file(r->above, name);

	if (fd < 0)
		return err_set(r->e, ERR_IO, errno, "make the file %s", name);
	while (size) {
		size_t n = size < sizeof(piece) ? size : sizeof(piece);
		int rc = read_exact(r, piece, (n + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK);
		if (rc)
			return rc < 0 ? -1 : refuse_archive(r, "the tar ends in it");
		if (fs_write_fd(fd, piece, n, r->e))
			return -1;
		size -= n;
	}
	return 0;
}

static int make_link(struct reader *r, const char *name)
{
	if (!symlinkat(r->link, r->above, name) ||
	    (errno == EEXIST && !unlinkat(r->above, name, 0) &&
	     !symlinkat(r->link, r->above, name)))
		return 0;
	return err_set(r->e, ERR_IO, errno, "make the link %s", name);
}

static int make_entry(struct reader *r, char type, size_t size)
{
	char last[256] = "";

	if (open_above(r, r->name, last))
		return -1;
	if (*last == '\0')
		return skip_bytes(r, size);
	switch (type) {
	case '2':
		return make_link(r, last) ? -1 : skip_bytes(r, size);
	case '5':
		if (mkdirat(r->above, last, 0700) && errno != EEXIST)
			return err_set(r->e, ERR_IO, errno, "make the folder %s", last);
		return skip_bytes(r, size);
	case '3':
	case '4':
	case '6':
		return refuse_archive(r, "it is a device: a capture holds none");
	case '0':
	case '\0':
	case '7':
		return untar_make_file(r, last, size);
	default:
		return skip_bytes(r, size);
	}
}

/* A name that fills its field in the header has no NUL. */
static void name_entry(struct reader *r, const struct tar_header *h)
{
	bool ustar = !strncmp(h->magic, "ustar", 5) && h->magic[5] == '\0';

	if (!*r->name && ustar && *h->prefix)
		(void)snprintf(r->name, sizeof(r->name), "%.155s/%.100s", h->prefix, h->name);
	else if (!*r->name)
		(void)snprintf(r->name, sizeof(r->name), "%.100s", h->name);
	if (!*r->link)
		(void)snprintf(r->link, sizeof(r->link), "%.100s", h->linkname);
	for (size_t n = strlen(r->name); n && r->name[n - 1] == '/'; n--)
		r->name[n - 1] = '\0';
}

/* The reason why this entry is refused; NULL: it is not. */
static const char *why_refused(const struct reader *r, const struct tar_header *h, size_t *size)
{
	if (r->entries > UNTAR_ENTRIES)
		return "the tar has more than 200000";
	if (!checksum_matches(h) || parse_octal(h->size, sizeof(h->size), size))
		return "it is not a tar, or a damaged one";
	return r->bytes > UNTAR_BYTES || *size > UNTAR_BYTES - r->bytes
		       ? "the tar is larger than 256 MiB"
		       : NULL;
}

static int untar_read_entry(struct reader *r, const struct tar_header *h)
{
	size_t size;
	const char *why;

	r->entries++;
	if ((why = why_refused(r, h, &size)))
		return refuse_archive(r, why);
	if (h->type == 'L')
		return untar_take_text(r, size, r->name);
	if (h->type == 'K')
		return untar_take_text(r, size, r->link);
	if (h->type == 'x')
		return take_pax(r, size);
	if (h->type == 'g')
		return skip_bytes(r, size);
	name_entry(r, h);
	if (make_entry(r, h->type, size))
		return -1;
	*r->name = *r->link = '\0';
	return 0;
}

static void reader_clear(struct reader *r)
{
	if (r->above >= 0)
		(void)close(r->above);
}

static int read_entries(struct reader *r)
{
	struct tar_header h;

	for (;;) {
		int rc = read_exact(r, &h, sizeof(h));
		if (rc < 0)
			return -1;
		if (rc || is_zero(&h))
			return r->entries ? 0 : refuse_archive(r, "there is none");
		if (untar_read_entry(r, &h))
			return -1;
	}
}

/*
 * Look at the headers of a file alone, before anything is made: to make 200,000 files and to remove
 * them takes seconds. A pipe cannot be read twice, and where the headers end early, the entries say
 * it better.
 */
static int look_ahead(int fd, struct err *e)
{
	struct reader r = { .e = e };
	off_t at = lseek(fd, 0, SEEK_CUR);
	struct tar_header h;

	while (at >= 0 && pread(fd, &h, sizeof(h), at) == (ssize_t)sizeof(h) && !is_zero(&h)) {
		size_t size = 0;
		r.entries++;
		r.bytes += TAR_BLOCK;
		const char *why = why_refused(&r, &h, &size);
		if (why)
			return refuse_archive(&r, why);
		size = (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		r.bytes += size;
		at += (off_t)(TAR_BLOCK + size);
	}
	return 0;
}

int untar(int fd, int dir, struct err *e)
{
	auto_clean(reader_clear) struct reader r = { .fd = fd, .dir = dir, .e = e, .above = -1 };

	if (look_ahead(fd, e))
		return -1;
	r.above = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	return r.above < 0 ? err_set(e, ERR_IO, errno, "open the folder") : read_entries(&r);
}
