/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a tar: no file appears outside the folder. A checksum that begins with '#' is corrected. */
#include <ftw.h>
#include <sys/mman.h>

#include "lib/sys/fs.h"
#include "lib/testing/fuzz.h"
#include "topo/capture/tar.h"
#include "topo/capture/untar.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return (void)st, (void)type, (void)at, remove(path);
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *tar = fuzz_text(data, size);
	const char *tmp = getenv("TMPDIR");
	char top[1024], in[sizeof(top) + 3];
	FUZZ_OUT(struct err, e);

	for (char *at = tar; at + TAR_BLOCK <= tar + size; at += TAR_BLOCK)
		if (((struct tar_header *)at)->chksum[0] == '#')
			sprintf(((struct tar_header *)at)->chksum, "%06zo", tar_sum((void *)at));
	auto_fd int fd = memfd_create("tar", 0);
	snprintf(top, sizeof(top), "%.999s/untar-XXXXXX", tmp ? tmp : "/tmp");
	MUST(mkdtemp(top) && sprintf(in, "%s/in", top) > 0);
	auto_fd int dir = fs_open_dir(in, true, &e);
	MUST(!fs_write_fd(fd, tar, size, &e) && !lseek(fd, 0, SEEK_SET));
	(void)fuzz_ok(untar(fd, dir, &e), &e, NULL, 0);
	MUST(!nftw(in, remove_one, 16, FTW_DEPTH | FTW_PHYS) && !rmdir(top));
	return 0;
}
