/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nl_dcb.h"
#include "lib/testing_fuzz_nl.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct dcb_info, d);
	FUZZ_OUT(struct err, e);

	if (fuzz_ok(nl_dcb_get(k.nl, "ens1", &d, &e), &e, &d, sizeof(d)))
		MUST(d.dscp_rules <= 64 && (d.dscp_rules == 0) == (d.has_dscp == 0));
	return 0;
}
