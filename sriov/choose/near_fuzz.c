/* SPDX-License-Identifier: Apache-2.0 */
/* near_fuzz.c: feeds CNI_ARGS, a line break and the value of the key to near_gpus. */
#include "lib/testing/fuzz.h"
#include "sriov/choose/near.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct cni_call call = { .env.args = fuzz_cut(&data, &size) };
	struct near_gpus g = { .n = 0 };
	struct json *near = NULL;
	struct pci_addr addr;
	FUZZ_OUT(struct err, e);

	auto_free char *text = fuzz_text(data, size);
	int rc = json_parse(text, size, "near", &near, &e);
	if (rc == 0)
		rc = near_decode(near, &g, &e) || near_gpus(&call, near, &g, &e);
	if (fuzz_ok(-(rc != 0), &e, NULL, 0))
		MUST(!g.n || (g.n <= NEAR_GPUS_MAX && !pci_parse(g.gpu[0], &addr)));
	json_free(near);
	free((char *)call.env.args);
	return 0;
}
