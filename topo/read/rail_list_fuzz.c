/* SPDX-License-Identifier: Apache-2.0 */
/* rail_list_fuzz.c: any text as rails.json; the rails are in order, and each number is there once.
 */
#include "lib/testing/fuzz.h"
#include "topo/read/rail_list.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct rail_list, l);
	FUZZ_OUT(struct err, e);
	int rc = rail_list_parse((const char *)data, size, NULL, &l, &e);

	if (!fuzz_ok(rc, &e, &l, sizeof(l)))
		return 0;
	MUST(l.n + l.n_dead <= RAIL_LIST_MAX);
	for (size_t i = 0; i < l.n_dead; i++)
		MUST(!rail_list_find(&l, l.dead[i].number));
	for (size_t i = 0; i < l.n; i++) {
		MUST(l.rail[i].number <= RAIL_NUMBER_MAX && !ifname_problem(l.rail[i].ifname));
		MUST(!i || l.rail[i - 1].number < l.rail[i].number);
	}
	return 0;
}
