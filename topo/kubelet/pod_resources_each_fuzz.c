/* SPDX-License-Identifier: Apache-2.0 */
/* pod_resources_each_fuzz.c: an answer of any bytes; its devices are not longer than it. */
#include "lib/testing/fuzz.h"
#include "topo/kubelet/pod_resources.h"

static int take(void *arg, const char *resource, const char *id, struct err *e)
{
	size_t *left = arg;

	/* The name of a resource is there once for all of its ids. */
	MUST(strlen(id) + 2 <= *left);
	*left -= strlen(id) + 2;
	return strcmp(resource, "stop") == 0 ? err_set(e, ERR_CONFIG, 0, "stop") : 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	size_t left = size;
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(pod_resources_each(data, size, take, &left, &e), &e, NULL, 0))
		MUST(e.code == ERR_IO || e.code == ERR_CONFIG || e.code == ERR_NOMEM);
	return 0;
}
