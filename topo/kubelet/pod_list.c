/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_list.c: the kubelet's pod-resources API, version 1. It calls List and not Get, because Get is
 * behind a feature gate until Kubernetes 1.34. The kubelet allows 10 calls at once and 100 a second
 * for all callers (pkg/kubelet/apis/podresources/constants.go); Multus and monitoring call it, too.
 */
#include "topo/kubelet/pod_list.h"

#include <time.h>

#include "lib/base/ctx.h"
#include "lib/grpc/call.h"

#define LIST       "/v1.PodResourcesLister/List"
#define ANSWER_MAX ((size_t)16 << 20) /* as Multus has it */
#define PAUSE_MS   50                 /* after a refusal by the rate limit */

static uint32_t ms_until(int64_t until)
{
	int64_t left = until - ctx_mono_ms();

	return left < 1 ? 1 : left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
}

int pod_list_ask(const struct kubelet_at *kubelet, struct grpc_answer *out, struct err *e)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

	for (;;) {
		auto_grpc_answer struct grpc_answer a = { .len = 0 };
		const struct grpc_request r = {
			.path = LIST,
			.max_answer = ANSWER_MAX,
			.timeout_ms = ms_until(kubelet->until),
		};
		if (grpc_call(kubelet->socket, &r, kubelet->until, &a, e))
			return -1;
		if (a.status.code == GRPC_OK) {
			*out = a;
			a = (struct grpc_answer){ .len = 0 };
			return 0;
		}
		if (a.status.code != GRPC_RESOURCE_EXHAUSTED ||
		    ctx_mono_ms() + PAUSE_MS >= kubelet->until) {
			(void)grpc_status_error(&a.status, e);
			return err_wrap(e, "%s: List", kubelet->socket);
		}
		(void)nanosleep(&pause, NULL);
	}
}
