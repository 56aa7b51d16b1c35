// SPDX-License-Identifier: Apache-2.0
/* Writes a tar in the format of POSIX.1-1988, with GNU's long names if a path needs them. */
#include "topo/capture/tar.h"

#include <errno.h>
#include <string.h>

#include "lib/sys/fs.h"

#define TAR_BLOCK 512

/* Numbers are octal digits; a text that fills its field has no NUL. */
struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], chksum[8];
	char type, linkname[100], magic[8], uname[32], gname[32], major[8], minor[8];
	char prefix[155], pad[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is one block");

/* The checksum: the sum of all bytes of the header, with chksum counted as blanks. */
static size_t tar_sum(const struct tar_header *h)
{
	const uint8_t *b = (const uint8_t *)h;
	size_t sum = 0;

	for (size_t i = 0; i < sizeof(*h); i++) {
		bool own = i >= offsetof(struct tar_header, chksum) &&
			   i < offsetof(struct tar_header, type);
		sum += own ? ' ' : b[i];
	}
	return sum;
}

static void write_bytes(struct tar *t, const void *data, size_t len)
{
	static const char zero[TAR_BLOCK];
	size_t rest = len % TAR_BLOCK;

	(void)fwrite(data, 1, len, t->to);
	if (rest)
		(void)fwrite(zero, 1, TAR_BLOCK - rest, t->to);
	t->bytes += len + (rest ? TAR_BLOCK - rest : 0);
}

/* strncpy() fits here: a full field has no NUL. */
static void fill_field(char *field, size_t size, const char *text)
{
	size_t len = strlen(text);

	memcpy(field, text, len < size ? len : size);
}

static void put_header(struct tar *t, char type, const char *name, const char *link, size_t size)
{
	struct tar_header h = { 0 };

	fill_field(h.name, sizeof(h.name), name);
	fill_field(h.linkname, sizeof(h.linkname), link);
	fill_field(h.mode, sizeof(h.mode), type == '5' ? "0000755" : "0000644");
	fill_field(h.uid, sizeof(h.uid), "0000000");
	fill_field(h.gid, sizeof(h.gid), "0000000");
	fill_field(h.mtime, sizeof(h.mtime), "00000000000");
	fill_field(h.magic, sizeof(h.magic),
		   "ustar  "); /* GNU's magic, because of its long names */
	(void)snprintf(h.size, sizeof(h.size), "%011zo", size & 077777777777);
	h.type = type;
	h.chksum[sizeof(h.chksum) - 1] = ' ';
	(void)snprintf(h.chksum, sizeof(h.chksum) - 1, "%06zo", tar_sum(&h) & 0777777);
	write_bytes(t, &h, sizeof(h));
}

static void tar_write_entry(struct tar *t, char type, const char *name, const char *link,
			    size_t size)
{
	if (strlen(name) >= sizeof(((struct tar_header *)0)->name)) {
		put_header(t, 'L', "././@LongLink", "", strlen(name) + 1);
		write_bytes(t, name, strlen(name) + 1);
	}
	if (strlen(link) >= sizeof(((struct tar_header *)0)->linkname)) {
		put_header(t, 'K', "././@LongLink", "", strlen(link) + 1);
		write_bytes(t, link, strlen(link) + 1);
	}
	put_header(t, type, name, link, size);
}

void tar_dir(struct tar *t, const char *path)
{
	tar_write_entry(t, '5', path, "", 0);
}

void tar_file(struct tar *t, const char *path, const void *data, size_t len)
{
	tar_write_entry(t, '0', path, "", len);
	write_bytes(t, data, len);
	t->files++;
}

void tar_link(struct tar *t, const char *path, const char *target)
{
	tar_write_entry(t, '2', path, target, 0);
	t->links++;
}

void tar_end(struct tar *t)
{
	static const char zero[2 * TAR_BLOCK];

	write_bytes(t, zero, sizeof(zero));
}

struct put {
	struct tar *t;
	tar_fill_fn fill;
	void *arg;
};

/* A fs_stream_fn. */
static int tar_write_to(FILE *to, void *arg, struct err *e)
{
	const struct put *p = arg;
	int rc;

	p->t->to = to;
	rc = p->fill(p->arg, e);
	if (rc == 0) {
		tar_end(p->t);
		if (fflush(to) || ferror(to))
			rc = err_set(e, ERR_IO, errno, "write the tar");
	}
	p->t->to = NULL;
	return rc;
}

int tar_put(struct tar *t, const char *path, tar_fill_fn fill, void *arg, struct err *e)
{
	struct put p = { t, fill, arg };

	return strcmp(path, "-") == 0 ? tar_write_to(stdout, &p, e)
				      : fs_put_stream(path, 0600, tar_write_to, &p, e);
}
