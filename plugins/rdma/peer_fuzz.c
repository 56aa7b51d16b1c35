/* SPDX-License-Identifier: Apache-2.0 */
/* peer_fuzz.c: feeds texts of rdma-cni's files to the decoder. */
#include "lib/testing/fuzz.h"
#include "plugins/rdma/peer.h"

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
	return 0;
}
