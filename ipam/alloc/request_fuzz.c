/* SPDX-License-Identifier: Apache-2.0 */
/* request_fuzz.c: feeds CNI_ARGS, a line break and a configuration to request_load. */
#include "ipam/alloc/request.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *args = fuzz_cut(&data, &size);
	const struct cni_env env = { .container = "c", .ifname = "net1", .args = args };
	struct request r;
	struct cni_conf c;
	FUZZ_OUT(struct err, e);

	if (!cni_conf_parse(fuzz_text(data, size), size, CNI_ADD, &c, &e) &&
	    fuzz_ok(request_load(&env, &c, &r, &e), &e, NULL, 0)) {
		MUST(r.n_want <= SOURCE_SETS_MAX && r.owner.ns == r.ns && r.owner.pod == r.pod);
		MUST(utf8_valid(r.ns, strlen(r.ns)) && utf8_valid(r.pod, strlen(r.pod)));
		for (size_t i = 0; i < r.n_want; i++)
			for (size_t j = 0; j < i; j++)
				MUST(!ip_equal(r.want[i], r.want[j]) && r.want[i].family);
	}
	cni_conf_clear(&c);
	return 0;
}
