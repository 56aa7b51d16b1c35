/* SPDX-License-Identifier: Apache-2.0 */
/*
 * railhead.c: the plugin railhead, at the end of the list of the primary network: attaches the
 * prepared claims of the pod. A pod without claims costs it the look at one folder.
 */
#include "plugins/prepared/builtin.h"
#include "plugins/prepared/prepared.h"

/* 1: the pod is known; 0: it is not. */
static int find_pod(const struct cni_call *call, char uid[CNI_POD_UID_LEN],
		    struct prepared_job *out, struct err *e)
{
	*out = (struct prepared_job){ .ctx = &call->ctx,
				      .cni_path = call->env.path,
				      .rails = &prepared_rails };
	int rc = cni_args_get(call->env.args, "K8S_POD_UID", uid, CNI_POD_UID_LEN, e);

	if (rc > 0)
		out->pod_uid = uid;
	return rc;
}

static struct prepared_sandbox sandbox_of(const struct cni_call *call)
{
	return (struct prepared_sandbox){ call->env.netns, call->conf.name, call->env.container,
					  call->env.ifname };
}

static int refuse_alone(const struct cni_call *call, struct err *e)
{
	if (call->conf.prev_result)
		return 0;
	err_set(e, ERR_CONFIG, 0, "prevResult: missing; railhead is not a network of its own");
	return err_hint(e, "it is the last plugin in the list of the primary network: railhead(8)");
}

static int add(const struct cni_call *call, struct err *e)
{
	const struct prepared_sandbox s = sandbox_of(call);
	char uid[CNI_POD_UID_LEN];
	struct prepared_job job;
	struct err why;

	if (refuse_alone(call, e) || cni_check_keys(call, NULL, false, e))
		return -1;
	int rc = find_pod(call, uid, &job, e);
	if (rc < 0 || (rc > 0 && prepared_attach(&job, &s, e)))
		return -1;
	if (cni_emit_prev(call, e) == 0)
		return 0;
	if (rc > 0 && prepared_detach(&job, &s, &why))
		log_warn(&call->ctx.log, "%s", why.msg);
	return -1;
}

static int check(const struct cni_call *call, struct err *e)
{
	const struct prepared_sandbox s = sandbox_of(call);
	char uid[CNI_POD_UID_LEN];
	struct prepared_job job;

	if (refuse_alone(call, e))
		return -1;
	int rc = find_pod(call, uid, &job, e);
	return rc > 0 ? prepared_verify(&job, &s, e) : rc;
}

static int del(const struct cni_call *call, struct err *e)
{
	const struct prepared_sandbox s = sandbox_of(call);
	char uid[CNI_POD_UID_LEN];
	struct prepared_job job;

	return find_pod(call, uid, &job, e) < 0 ? -1 : prepared_detach(&job, &s, e);
}

static int gc(const struct cni_call *call, struct err *e)
{
	const struct prepared_job job = { .ctx = &call->ctx,
					  .cni_path = call->env.path,
					  .rails = &prepared_rails };

	return prepared_gc(&job, &call->conf, e);
}

int main(void)
{
	static const struct cni_plugin plugin = {
		.name = "railhead", .add = add, .del = del, .check = check, .gc = gc
	};

	return cni_main(&plugin);
}
