/* SPDX-License-Identifier: Apache-2.0 */
/* range_list_fuzz.c: what was read and printed is read again as the same set. */
#include "ipam/conf/range_list.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_ranges struct ranges s = { 0 }, again = { 0 };
	auto_json struct json *value = NULL, *list = NULL, *same = NULL;
	struct err e;

	if (json_parse((const char *)data, size, "fuzz", &value, &e))
		return 0;
	if (cluster_reserved_decode(value, &s, &e)) {
		MUST(!s.n && (e.code == ERR_DECODE || e.code == ERR_CONFIG));
		return 0;
	}
	list = range_list_print(&s);
	MUST(list && !range_list_add(list, "x", &again, &e));
	same = range_list_print(&again);
	MUST(same && json_same(list, same));
	for (size_t i = 1; i < s.n; i++)
		MUST(ip_cmp(s.items[i - 1].last, s.items[i].first) < 0);
	return 0;
}
