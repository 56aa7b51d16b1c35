/* SPDX-License-Identifier: Apache-2.0 */
/* state_fuzz.c: feeds text to vf_state_decode; what it accepts must survive a round trip. */
/* state_fuzz.c: feeds text to vf_state_decode; what it accepts must survive a round trip. */
#include "lib/testing/fuzz.h"
#include "sriov/vf/state.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct vf_entry, x);
	FUZZ_OUT(struct err, e);
	struct vf_entry y = { 0 };
	struct pci_addr a;

	if (!fuzz_ok(vf_state_decode((const char *)data, size, &x, &e), &e, &x, sizeof(x)))
		return 0;
	MUST(!pci_parse(x.vf, &a) && !pci_parse(x.pf, &a) && x.index <= UINT16_MAX);
	MUST(strlen(x.boot) <= CTX_BOOT_ID_LEN && x.to_restore <= (VF_ALL | VF_UNREACHABLE));
	MUST(!x.base.has_netdev || !ifname_problem(x.base.name));
	MUST(x.base.pf_side.vlan < 4096 && x.base.pf_side.link_state <= VF_LINK_DISABLE);
	MUST(!x.owned || (x.owner.key.network && x.owner.key.container && x.owner.key.ifname));
	MUST(!x.owned || (x.owner.netns && x.owner.ifindex >= 0));
	auto_free char *text = vf_state_print(&x);

	MUST(text && !vf_state_decode(text, strlen(text), &y, &e));
	auto_free char *text2 = vf_state_print(&y);

	MUST(text2 && !strcmp(text, text2) && x.life == y.life && x.to_restore == y.to_restore);
	vf_entry_clear(&x);
	vf_entry_clear(&y);
	return 0;
}
