/* SPDX-License-Identifier: Apache-2.0 */
/* peer_files_fuzz.c: feeds names of files to peer_file_split, which must keep to the name. */
#include "cni/record/peer_files.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct peer_file, f);
	char file[512];
	size_t len = size < sizeof(file) - 1 ? size : sizeof(file) - 1;

	memcpy(file, data, len);
	file[len] = '\0';
	peer_file_split(file, &f);
	const char *end = file + strlen(file);

	MUST(f.container.p == file && f.container.p + f.container.len <= end);
	MUST(f.ifname.p >= file && f.ifname.p + f.ifname.len <= end);
	MUST(!f.ifname.len || f.container.p + f.container.len + 1 == f.ifname.p);
	return 0;
}
