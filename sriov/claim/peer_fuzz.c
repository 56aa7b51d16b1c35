/* SPDX-License-Identifier: Apache-2.0 */
/* peer_fuzz.c: feeds text to peer_decode, the decoder of sriov-cni's files. */
/* peer_fuzz.c: feeds text to peer_decode, the decoder of sriov-cni's files. */
#include "lib/testing/fuzz.h"
#include "sriov/claim/peer.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct peer, p);
	FUZZ_OUT(struct err, e);
	struct pci_addr a;

	if (!fuzz_ok(peer_decode((const char *)data, size, &p, &e), &e, &p, sizeof(p)))
		return 0;
	MUST(!pci_parse(p.vf, &a) && p.network && p.conf && p.has_base);
	MUST(p.to_restore <= VF_ALL && p.base.pf_side.has <= VF_ALL);
	MUST(p.base.pf_side.vlan < 4096 && p.base.pf_side.link_state <= VF_LINK_DISABLE);
	MUST(!p.base.has_netdev || !ifname_problem(p.base.name));
	peer_clear(&p);
	return 0;
}
