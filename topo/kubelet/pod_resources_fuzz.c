/* SPDX-License-Identifier: Apache-2.0 */
/* pod_resources_fuzz.c: an answer of any bytes; each device that it names has a meaning. */
#include "lib/testing/fuzz.h"
#include "topo/kubelet/gpu_id.h"

static bool any_device(const char *owner, const char *id, bool claimed)
{
	(void)gpu_id_is_gpu(owner, id, claimed);
	return true;
}

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(struct pod_devices, d);
	const struct pod_query query = { .pod = { "a", "b" }, .wanted = any_device };
	int rc = pod_resources_decode(data, size, &query, &d, &e);

	if (!fuzz_ok(rc, &e, &d, sizeof(d)))
		return 0;
	for (size_t i = 0; i < d.n; i++) {
		struct gpu_id id = gpu_id_of(&d.device[i]);
		MUST(strlen(id.text) <= strlen(d.device[i].id));
		MUST((unsigned)id.kind <= GPU_ID_UNKNOWN);
		MUST(id.kind != GPU_ID_NVIDIA || strlen(id.text) == 40);
	}
	pod_devices_clear(&d);
	return 0;
}
