/* SPDX-License-Identifier: Apache-2.0 */
/* demand_state_fuzz.c: any text as the file of a master; what is read is written and read the same.
 */
#include "cni/uplink/demand_priv.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_demand_state struct demand_state s = { .users = NULL }, r = { .users = NULL };
	auto_free char *text = NULL, *again = NULL;
	struct err e;

	if (demand_state_decode((const char *)data, size, &s, &e))
		return 0;
	MUST(s.link.n >= 1 && s.link.n <= DEMAND_LOWER_MAX && s.link.ifindex > 0);
	text = demand_state_print(&s);
	MUST(text && demand_state_decode(text, strlen(text), &r, &e) == 0);
	again = demand_state_print(&r);
	MUST(again && strcmp(text, again) == 0);
	return 0;
}
