/* SPDX-License-Identifier: Apache-2.0 */
/* peer_fuzz.c: feeds texts and names of rdma-cni's files to the decoder. */
#include "lib/testing/fuzz.h"
#include "plugins/rdma/peer.h"

/* The text of a file; its name is that of the first line, for it is others' words as well. */
FUZZ(const uint8_t *data, size_t size)
{
	struct rdma_peer p = { .file = "" };
	FUZZ_OUT(struct err, e);

	if (rdma_peer_decode((const char *)data, size, &p, &e)) {
		MUST(e.code == ERR_NOMEM || e.code == ERR_DECODE);
		MUST(!*p.bus && !*p.name && !*p.pod_name);
	} else {
		MUST(bus_addr_valid(p.bus) && *p.name && *p.pod_name);
	}
	size_t len = size < RDMA_PEER_LEN - 1 ? size : RDMA_PEER_LEN - 1;

	memcpy(p.file, data, len);
	p.file[len] = '\0';
	rdma_peer_split(&p);
	MUST(strlen(p.network) + strlen(p.container) + strlen(p.ifname) <= strlen(p.file));
	return 0;
}
