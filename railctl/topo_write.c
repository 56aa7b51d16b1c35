/* SPDX-License-Identifier: Apache-2.0 */
/* topo_write.c: files that others read: all of it or nothing, as the umask says. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/fs.h"
#include "railctl/topo.h"

static mode_t wanted_mode(void)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return 0666 & ~mask;
}

static int fill(int fd, const char *text, struct err *e)
{
	if (fs_write_fd(fd, text, strlen(text), e))
		return -1;
	if (fchmod(fd, wanted_mode()))
		return err_set(e, ERR_IO, errno, "fchmod");
	return 0;
}

/* Something that is no plain file, such as /dev/stdout, is written to as it is. */
static int write_in_place(const char *path, const char *text, struct err *e)
{
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "%s", path);
	return fs_write_fd(fd, text, strlen(text), e) ? err_wrap(e, "%s", path) : 0;
}

static int write_file(const char *path, const char *text, struct err *e)
{
	auto_free char *temp = NULL;

	if (asprintf(&temp, "%s.XXXXXX", path) < 0) {
		temp = NULL;
		return err_nomem(e);
	}
	auto_fd int fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "%s", path);
	if (fill(fd, text, e)) {
		(void)unlink(temp);
		return err_wrap(e, "%s", path);
	}
	if (rename(temp, path)) {
		err_set(e, ERR_IO, errno, "%s", path);
		(void)unlink(temp);
		return -1;
	}
	return 0;
}

int topo_write(const struct rail *r, const char *path, const char *text, struct err *e)
{
	struct stat st;

	if (strcmp(path, "-") == 0) {
		(void)fputs(text, r->out.to);
		return 0;
	}
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, EISDIR, "%s", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_in_place(path, text, e);
	return write_file(path, text, e);
}
