/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_fuzz.c: a checkpoint of any bytes; a pod of two devices gets two accelerators. */
#include "lib/testing/fuzz.h"
#include "topo/kubelet/checkpoint.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct pod_device held[] = { { .owner = "r", .id = "a" }, { .owner = "r", .id = "b" } };
	const struct pod_devices pod = { .device = held, .n = 2 };
	const struct slice text = { (const char *)data, size };
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(struct checkpoint_accels, a);
	int rc = checkpoint_accels(text, &pod, "r", &a, &e);

	if (!fuzz_ok(rc, &e, &a, sizeof(a)))
		return 0;
	MUST(a.n == 2);
	MUST(a.number[0] != a.number[1]);
	return 0;
}
