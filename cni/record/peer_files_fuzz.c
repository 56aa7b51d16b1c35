/* SPDX-License-Identifier: Apache-2.0 */
/* peer_files_fuzz.c: feeds names of files to peer_file_split, which must keep to the name. */
#include "cni/record/peer_files.h"
#include "lib/testing/fuzz.h"

static void split(const char *file, bool has_network)
{
	FUZZ_OUT(struct peer_file, f);
	const char *end = file + strlen(file);

	peer_file_split(file, has_network, &f);
	MUST(f.network.p == file);
	MUST(f.container.p >= file && f.container.p + f.container.len <= end);
	MUST(f.ifname.p >= file && f.ifname.p + f.ifname.len <= end);
	MUST(!f.ifname.len || f.container.p + f.container.len + 1 == f.ifname.p);
	MUST(!f.network.len || f.network.len + 1 == (size_t)(f.container.p - file));
}

FUZZ(const uint8_t *data, size_t size)
{
	char file[512];
	size_t len = size < sizeof(file) - 1 ? size : sizeof(file) - 1;

	memcpy(file, data, len);
	file[len] = '\0';
	split(file, true);
	split(file, false);
	return 0;
}
