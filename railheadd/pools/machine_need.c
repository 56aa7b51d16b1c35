/* SPDX-License-Identifier: Apache-2.0 */
/* machine_need.c: one read of a Pod, and then a need of the driver. */
#include "railheadd/pools/machine_need.h"

#include <stdio.h>
#include <string.h>

#include "cluster/store/cluster_store.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/machine.h"

struct machine_need {
	struct machine_need_at at;
	struct machine_need_end end;
	struct cluster_call *call; /* the read of the Pod */
	struct driver_need *need;
	struct timer *timer; /* of the read */
	int64_t until;       /* ctx_mono_ms() */
	struct driver_need_ask ask;
	char pool[GRID_POOL_MAX + 1];
	char pod[IDENTITY_LEN], machine[IDENTITY_LEN]; /* identities; machine "": it runs none */
};

void machine_need_cancel(struct machine_need *n)
{
	cluster_cancel(n->at.store, &n->call);
	if (n->need)
		driver_need_cancel(n->need);
	timer_free(n->timer);
	free(n);
}

static void machine_need_finish(struct machine_need *n, const struct err *why)
{
	const struct machine_need_end end = n->end;
	char machine[IDENTITY_LEN];

	memcpy(machine, n->machine, sizeof(machine));
	machine_need_cancel(n);
	end.fn(end.arg, *machine ? machine : NULL, why);
}

static void need_ended(void *arg, const struct err *why)
{
	struct machine_need *n = arg;

	n->need = NULL;
	machine_need_finish(n, why);
}

static int begin_need(struct machine_need *n)
{
	int64_t left = n->until - ctx_mono_ms();

	n->ask.wait_ms = left > 0 ? left : 0;
	n->ask.identity = *n->machine ? n->machine : n->pod;
	n->need = driver_need(n->at.driver, &n->ask, need_ended, n);
	return n->need ? 0 : -1;
}

/* ---- the Pod ---- */

static void machine_need_unreadable(struct machine_need *n, const struct cluster_result *r)
{
	struct err e;

	err_set(&e, ERR_AGAIN, 0, "pool %s: which virtual machine pod %s runs is not known: %s",
		n->pool, n->pod,
		r->outcome == CLUSTER_NOT_FOUND ? "Kubernetes has no such pod" : r->err.msg);
	if (r->outcome == CLUSTER_REFUSED)
		(void)err_hint(&e, "sticky addresses of virtual machines need the right to get "
				   "pods: packaging/kubernetes/machines.yaml");
	else
		(void)err_hint(&e, "see `railctl cluster status`");
	machine_need_finish(n, &e);
}

static void pod_was_read(void *arg, const struct cluster_result *r)
{
	struct machine_need *n = arg;
	struct err e;

	n->call = NULL;
	timer_stop(n->timer);
	if (r->outcome != CLUSTER_OK) {
		machine_need_unreadable(n, r);
		return;
	}
	if (!machine_identity(r->object->value, n->pod, n->machine, &n->ask.migrates))
		*n->machine = '\0';
	if (begin_need(n)) {
		(void)err_nomem(&e);
		machine_need_finish(n, &e);
	}
}

static void machine_need_too_late(void *arg)
{
	struct machine_need *n = arg;
	struct err e;

	err_set(&e, ERR_AGAIN, 0,
		"pool %s: which virtual machine pod %s runs is not known: the cluster store gives "
		"no answer",
		n->pool, n->pod);
	(void)err_hint(&e, "see `railctl cluster status`");
	machine_need_finish(n, &e);
}

static int machine_need_read_pod(struct machine_need *n, const char *name)
{
	n->timer = timer_new(n->at.base, machine_need_too_late, n);
	if (!n->timer || timer_arm(n->timer, n->ask.wait_ms))
		return -1;
	n->call = n->at.store->ops->get(n->at.store, CLUSTER_KUBE_POD, name, pod_was_read, n);
	return n->call ? 0 : -1;
}

struct machine_need *machine_need(const struct machine_need_at *at,
				  const struct driver_need_ask *ask,
				  const struct machine_need_end *end)
{
	struct machine_need *n = calloc(1, sizeof(*n));
	char name[CLUSTER_NAME_LEN];
	bool may_run;

	if (!n)
		return NULL;
	n->at = *at;
	n->end = *end;
	n->ask = *ask;
	n->until = ctx_mono_ms() + ask->wait_ms;
	(void)snprintf(n->pool, sizeof(n->pool), "%s", ask->pool);
	(void)snprintf(n->pod, sizeof(n->pod), "%s", ask->identity);
	n->ask.pool = n->pool;
	may_run = at->store && at->store->ops->has_nodes && machine_pod(n->pod, name);
	if (may_run ? machine_need_read_pod(n, name) : begin_need(n)) {
		machine_need_cancel(n);
		return NULL;
	}
	return n;
}
