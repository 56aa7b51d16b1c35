/* SPDX-License-Identifier: Apache-2.0 */
/* attach_undo.c: the inverses of the steps of an ADD. */
#include <errno.h>
#include <stdlib.h>

#include "cni/engine/attach_add.h"

void add_clear(struct add *s)
{
	for (size_t i = 0; s->a.type->several && i < s->n_parts; i++)
		add_clear(&s->part[i]);
	if (s->a.type->several)
		free(s->part);
	json_free(s->on_record);
	exec_kill(&s->ipam.child);
	cni_result_clear(&s->from_ipam);
	json_free(s->routing);
	attach_host_clear(&s->host);
	attach_clear(&s->a);
}

/* ---- inverses ---- */

int add_undo_record(void *arg, struct err *e)
{
	struct add *s = arg;
	const struct cni_call *call = s->a.call;
	const struct record_key key = attach_key(call);

	if (s->change_stays)
		return 0;
	if (!s->lease_stays)
		return record_remove(&s->a.records.ctx, &key, e);
	/* There may be an address, and whoever comes next is to release it. */
	s->record.adding = false;
	s->record.deleting = true;
	return record_write(&s->a.records.ctx, &s->record, e);
}

/* Wait until the IPAM's ADD ends. If it is killed, it may leave an address that DEL cannot find. */
int add_undo_ipam(void *arg, struct err *e)
{
	struct add *s = arg;
	const struct delegate_call del = { .cmd = CNI_DEL,
					   .conflict =
						   *s->probe.conflict ? s->probe.conflict : NULL };
	struct err ignored;

	if (s->ipam.child.pid && delegate_finish(&s->ipam, NULL, NULL, &ignored))
		log_debug(&s->a.call->ctx.log, "%s", ignored.msg);
	if (s->change_stays)
		return 0;
	s->lease_stays = delegate_run(s->a.call, &del, attach_ipam_undo_ms(&s->a), e) != 0;
	return s->lease_stays ? -1 : 0;
}

static int delete_link(struct add *s, struct err *e)
{
	struct err why;

	/* Made, but never looked at: by its name, which was free before. */
	if (!s->a.link.ifindex &&
	    nl_link_by_name(s->a.pod_nl, s->a.call->env.ifname, &s->a.link, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
	return nl_link_delete(s->a.pod_nl, s->a.link.ifindex, e);
}

/*
 * A device is restored twice: after its move and after its claim. If the first time fails, the
 * lease stays, and the record must, too, even if the second time succeeds: the next DEL, GC or
 * repair looks again, and releases the lease.
 */
int add_undo_change(void *arg, struct err *e)
{
	struct add *s = arg;
	const struct attach_type *type = s->a.type;
	int rc;

	if (type->undo)
		rc = type->undo(&s->a, &s->record, e);
	else if (type->restore)
		rc = type->restore(&s->a.call->ctx, &s->record, e);
	else
		rc = delete_link(s, e);
	s->whole->change_stays |= rc != 0;
	return rc;
}

int add_undo_rules(void *arg, struct err *e)
{
	struct add *s = arg;
	int rc = routing_remove(s->a.pod_nl, s->routing, e);

	s->whole->change_stays |= rc != 0;
	return rc;
}

int add_undo_host(void *arg, struct err *e)
{
	struct add *s = arg;
	int rc = attach_host_undo(&s->host, e);

	s->change_stays |= rc != 0;
	return rc;
}
