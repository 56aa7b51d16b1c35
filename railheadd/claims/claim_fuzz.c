/* SPDX-License-Identifier: Apache-2.0 */
/* claim_fuzz.c: any object as a claim; what is taken is a prepared claim of the one that was asked
 * for. */
#include "railheadd/claims/claim.h"

#include "lib/testing/fuzz.h"
#include "railheadd/devices/rail_network.h"

FUZZ(const uint8_t *data, size_t size)
{
	static const struct agent_conf_groups groups = { .of = { { "a", 15 } }, .n = 1 };
	const struct claim_asked asked = { "ns", "c", "cu", "n1", &groups };
	auto_json struct json *tree = NULL;
	struct err e;

	FUZZ_OUT(struct claim, c);
	if (json_parse((const char *)data, size, "claim", &tree, &e))
		return 0;
	memset(&e, FUZZ_FILL, sizeof(e));
	if (!fuzz_ok(claim_decode(tree, &asked, &c, &e), &e, &c, sizeof(c)))
		return 0;
	MUST(c.n > 0 && c.n <= CLAIM_DEVICES_MAX && rails_of_networks(c.prepared.networks));
	MUST(json_len(c.prepared.networks) <= c.n && !strcmp(c.prepared.claim.uid, "cu"));
	json_each (network, c.prepared.networks)
		MUST(!strcmp(json_text(network, "type"), "rails"));
	prepared_clear(&c.prepared);
	return 0;
}
