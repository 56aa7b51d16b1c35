/* SPDX-License-Identifier: Apache-2.0 */
/* slots.c: pods with slots of rails that have ended. */
#include "railheadd/devices/slots.h"

#include "plugins/prepared/prepared.h"
#include "railheadd/devices/slow.h"

static int slots_found(const char *pod_uid, const char *claim_uid, void *arg, struct err *e)
{
	(void)pod_uid;
	(void)claim_uid;
	(void)arg;
	return err_set(e, ERR_BUSY, 0, "one is enough");
}

bool slots_are_there(const struct ctx *ctx)
{
	struct err ignored;

	/* If the folder cannot be read, slots_end() says why. */
	return prepared_slot_each(ctx, slots_found, NULL, &ignored) != 0;
}

struct slots_ending {
	struct prepared_job job;
	struct err why; /* the first error; code 0: none */
};

/* One that cannot be ended does not keep the others. */
static int slots_end_one(const char *pod_uid, const char *claim_uid, void *arg, struct err *e)
{
	struct slots_ending *x = arg;
	struct err why;

	(void)e;
	x->job.pod_uid = pod_uid;
	x->job.claim_uid = claim_uid;
	if (prepared_slot_end(&x->job, &why) < 0 && !x->why.code)
		x->why = why;
	return 0;
}

int slots_end(const char *bin, const struct delegate_builtin *rails)
{
	struct ctx ctx;
	struct slots_ending x = { .job = { .ctx = &ctx, .cni_path = bin, .rails = rails } };
	struct err e;

	ctx_init(&ctx, "railhead-devices");
	if (prepared_slot_each(&ctx, slots_end_one, &x, &e))
		return slow_say(&e, NULL, 0);
	return slow_say(x.why.code ? &x.why : NULL, NULL, 0);
}
