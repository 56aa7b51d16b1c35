/* SPDX-License-Identifier: Apache-2.0 */
/* tier_fuzz.c: feeds the name of a tier and a file of tiers to tier_decode. */
/* tier_fuzz.c: feeds the name of a tier and a file of tiers to tier_decode. */
#include "lib/testing/fuzz.h"
#include "sriov/claim/tier.h"

/* A name, a line break, the file. */
FUZZ(const uint8_t *data, size_t size)
{
	char *name = fuzz_cut(&data, &size);
	FUZZ_OUT(struct tier, t);
	FUZZ_OUT(struct err, e);

	if (fuzz_ok(tier_decode((const char *)data, size, name, &t, &e), &e, &t, sizeof(t))) {
		struct json *n = tier_to_json(&t);
		FUZZ_OUT(struct tier, again);

		MUST(!strcmp(t.name, name) && id_valid(name));
		MUST(t.qos >= -1 && t.qos < 8 && t.traffic_class >= -1 && t.traffic_class < 256);
		MUST(t.max_rate <= 0 || t.min_rate <= t.max_rate);
		MUST(n && !tier_from_json(n, &again, &e) && again.max_rate == t.max_rate);
		MUST(again.qos == t.qos && again.traffic_class == t.traffic_class);
		json_free(n);
	}
	free(name);
	return 0;
}
