/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nl_vf.h"
#include "lib/testing_fuzz_nl.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data + !!size, size - !!size);
	const struct vf_ref vf = { 5, size ? *data : 0 };
	FUZZ_OUT(struct vf_state, s);
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(nl_vf_get(k.nl, vf, &s, &e), &e, &s, sizeof(s)))
		return 0;
	MUST((s.has & ~(unsigned)VF_ALL) == 0 && (unsigned)s.link_state <= VF_LINK_DISABLE);
	MUST((s.has & VF_VLAN) || (!s.vlan && !s.qos && !s.vlan_proto));
	MUST((s.has & VF_RATE) || (!s.min_rate && !s.max_rate));
	return 0;
}
