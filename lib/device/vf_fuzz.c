/* SPDX-License-Identifier: Apache-2.0 */
/* vf_fuzz.c: feeds any answer of a kernel to nl_vf_get() and nl_vf_list(). */
#include "lib/device/vf.h"
#include "lib/testing/fuzz_nl.h"

static void must_be_good(const struct vf_info *s)
{
	MUST(s->has <= VF_ALL && (unsigned)s->link_state <= VF_LINK_DISABLE);
	MUST((s->has & VF_VLAN) || (!s->vlan && !s->qos && !s->vlan_proto));
	MUST((s->has & VF_RATE) || (!s->min_rate && !s->max_rate));
}

/* The first byte is the number of the VF; from 128 on all up to that number are asked for. */
FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data + !!size, size - !!size);
	const struct vf_ref vf = { 5, size ? *data : 0 };
	const uint32_t n = vf.vf < 128 ? 0 : vf.vf - 127;
	FUZZ_OUT(
		union { struct vf_info vf[128]; }, all);
	FUZZ_OUT(struct vf_info, s);
	FUZZ_OUT(struct err, e);

	if (vf.vf < 128 && fuzz_ok(nl_vf_get(k.nl, vf, &s, &e), &e, &s, sizeof(s)))
		must_be_good(&s);
	if (n && fuzz_ok(nl_vf_list(k.nl, 5, n, all.vf, &e), &e, &all, sizeof(all)))
		for (uint32_t i = 0; i < n; i++)
			must_be_good(&all.vf[i]);
	return 0;
}
