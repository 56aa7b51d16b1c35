/* SPDX-License-Identifier: Apache-2.0 */
/* dcb_fuzz.c: feeds any answer of a kernel to nl_dcb_get() and nl_dcb_add_dscp(). */
#include "lib/device/dcb.h"
#include "lib/testing/fuzz_nl.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct dcb_info, d);
	FUZZ_OUT(struct err, e);

	if (fuzz_ok(nl_dcb_get(k.nl, "ens1", &d, &e), &e, &d, sizeof(d)))
		MUST(d.dscp_rules <= DCB_DSCP && (d.has_app || !d.dscp_rules));
	if (size % 2) {
		static const uint8_t rules[DCB_DSCP] = { [26] = 8 };
		auto_fuzz_kernel struct fuzz_kernel again = fuzz_kernel(data, size);
		FUZZ_OUT(struct err, why);

		(void)fuzz_ok(nl_dcb_add_dscp(again.nl, "ens1", rules, &why), &why, NULL, 0);
	}
	return 0;
}
