/* SPDX-License-Identifier: Apache-2.0 */
/* hostlocal_fuzz.c: feeds text to hostlocal_parse; names that it accepts are valid. */
#include "ipam/peers/hostlocal.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	FUZZ_OUT(struct hostlocal_lease, l);
	int rc = hostlocal_parse(text, size, &l);

	MUST(rc == 0 || rc == -1);
	MUST(rc ? !*l.container && !*l.ifname : id_valid(l.container));
	MUST(!*l.ifname || !ifname_problem(l.ifname));
	return 0;
}
