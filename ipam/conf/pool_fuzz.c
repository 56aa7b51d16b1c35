/* SPDX-License-Identifier: Apache-2.0 */
/* pool_fuzz.c: feeds the definition of a pool to pool_decode and policy_allows. */
#include "ipam/conf/labels.h"
#include "ipam/conf/pool.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL;
	FUZZ_OUT(struct source, s);
	FUZZ_OUT(struct err, e);
	struct err why;

	if (json_parse((const char *)data, size, "pool", &tree, &e) ||
	    !fuzz_ok(pool_decode("p", tree, &s, &e), &e, &s, sizeof(s)))
		return 0;
	MUST(s.usable.n && s.usable.n <= RANGES_MAX && !ranges_contain(&s.usable, s.gateway));
	for (size_t i = 0; i < s.usable.n; i++)
		MUST(ip_in_prefix(s.subnet, s.usable.items[i].first) &&
		     ip_in_prefix(s.subnet, s.usable.items[i].last));
	MUST(s.policy.cooldown >= 0 && !strcmp(key_pool_of(s.scope), "p"));
	auto_text struct text want = { 0 };
	selector_print(s.nodes, &want);
	MUST(!s.nodes == !want.len);
	memset(&why, FUZZ_FILL, sizeof(why));
	(void)fuzz_ok(policy_allows(&s.policy, s.label, "team-a", 2, &why), &why, NULL, 0);
	source_clear(&s);
	return 0;
}
