/* SPDX-License-Identifier: Apache-2.0 */
/* boot.c: the mode in files of modprobe: their lines, their order, and our own file. */
#include "rdma/device/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "lib/base/parse.h"

#define FILE_MAX 65536

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cut the next word from *rest; false at the end. */
static bool boot_next_word(struct slice *rest, struct slice *word)
{
	while (rest->len && is_blank(*rest->p)) {
		rest->p++;
		rest->len--;
	}
	word->p = rest->p;
	word->len = 0;
	while (rest->len && !is_blank(*rest->p)) {
		rest->p++;
		rest->len--;
		word->len++;
	}
	return word->len > 0;
}

/* The kernel reads only the first letter of a boolean parameter. */
static int mode_of(struct slice value, enum rdma_mode *out)
{
	if (!value.len || !strchr("01nNyY", *value.p))
		return 0;
	*out = strchr("0nN", *value.p) ? RDMA_EXCLUSIVE : RDMA_SHARED;
	return 1;
}

int rdma_boot_line(const char *line, size_t len, enum rdma_mode *out)
{
	static const char key[] = "netns_mode=";
	const size_t key_len = sizeof(key) - 1;
	struct slice rest = { line, len }, w;
	int found = 0;

	if (!boot_next_word(&rest, &w) || !slice_is(w, "options") || !boot_next_word(&rest, &w) ||
	    (!slice_is(w, "ib_core") && !slice_is(w, "ib-core")))
		return 0;
	while (boot_next_word(&rest, &w)) {
		if (w.len > key_len && memcmp(w.p, key, key_len) == 0)
			found |= mode_of((struct slice){ w.p + key_len, w.len - key_len }, out);
	}
	return found;
}

static void boot_take_text(const char *text, size_t len, const char *file, struct rdma_boot *out)
{
	struct slice rest = { text, len }, line;

	while (slice_next(&rest, '\n', &line)) {
		if (rdma_boot_line(line.p, line.len, &out->mode)) {
			out->given = true;
			(void)snprintf(out->file, sizeof(out->file), "%s", file);
		}
	}
}

static bool is_conf(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && strcmp(name + len - 5, ".conf") == 0;
}

static int boot_read_one(const char *dir, const char *name, struct rdma_boot *out, struct err *e)
{
	char path[PATH_MAX];
	auto_free char *text = NULL;
	struct err why;
	ssize_t len;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "%.64s...", dir);
	len = fs_read_at(AT_FDCWD, path, FILE_MAX, &text, &why);
	if (len < 0 && why.errnum == ENOENT)
		return 0;
	if (len < 0) {
		*e = why;
		return err_wrap(e, "%s", path);
	}
	boot_take_text(text, (size_t)len, name, out);
	return 0;
}

int rdma_boot_read(const char *dir, struct rdma_boot *out, struct err *e)
{
	auto_fs_names struct fs_names files = { .n = 0 };
	struct rdma_boot b = { .mode = RDMA_SHARED };
	struct err why;

	if (fs_names_at(AT_FDCWD, dir, FS_NAMES_MAX, &files, &why) && why.errnum != ENOENT)
		return err_pass(e, &why);
	for (size_t i = 0; i < files.n; i++) {
		if (is_conf(files.name[i]) && boot_read_one(dir, files.name[i], &b, e))
			return -1;
	}
	*out = b;
	return 0;
}

int rdma_boot_write(const char *dir, enum rdma_mode mode, struct err *e)
{
	char text[160];
	struct rdma_boot now;

	if (rdma_boot_read(dir, &now, e))
		return -1;
	if (now.given && now.mode != mode && strcmp(now.file, RDMA_BOOT_FILE) > 0)
		return err_set(e, ERR_BUSY, 0,
			       "%s/%s says netns_mode of ib_core otherwise, and comes behind %s: "
			       "change it there",
			       dir, now.file, RDMA_BOOT_FILE);
	(void)snprintf(text, sizeof(text),
		       "# Written by railctl rdma mode: RDMA mode %s.\noptions ib_core "
		       "netns_mode=%d\n",
		       rdma_mode_name(mode), mode == RDMA_SHARED);
	auto_fd int fd = fs_open_dir(dir, true, e);
	return fd < 0 || fs_replace_at(fd, RDMA_BOOT_FILE, text, true, e) ? -1 : 0;
}
