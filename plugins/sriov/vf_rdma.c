/* SPDX-License-Identifier: Apache-2.0 */
/* vf_rdma.c: moves the RDMA device of a VF into the pod, on record in the state of the VF. */
#include "plugins/sriov/vf_rdma.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cni/protocol/result_rdma.h"
#include "lib/rdma/lock.h"
#include "sriov/claim/claim.h"

#define OWN_PORT 1 /* a VF has one port */

int vf_rdma_check_mode(const char *key, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys sys;

	if (nl_rdma_open(&nl, e) || nl_rdma_sys_get(nl, &sys, e))
		return err_wrap(e, "%s", key);
	if (sys.mode == RDMA_EXCLUSIVE)
		return 0;
	err_set(e, ERR_STATE, 0,
		"%s: this node is in RDMA mode shared, in which no device can move into a pod",
		key);
	return err_hint(e, "`railctl rdma mode exclusive` sets it for the next boot");
}

int vf_rdma_open(struct vf_rdma_move *m, struct err *e)
{
	const struct ctx *ctx = &m->a->call->ctx;
	const struct record_key key = attach_key(m->a->call);

	m->vf_lock = claim_open(ctx, m->v->vf, &key, &m->state, e);
	if (m->vf_lock < 0)
		return -1;
	m->node_lock = rdma_lock(ctx, m->keys.lock_ms ? m->keys.lock_ms : RDMA_LOCK_MS, e);
	if (m->node_lock < 0 || nl_rdma_open(&m->host_rdma, e))
		return err_wrap(e, "%s", m->keys.key);
	m->v->held = &m->state;
	return 0;
}

void vf_rdma_close(struct vf_rdma_move *m)
{
	m->v->held = NULL;
	nl_release(m->host_rdma);
	if (m->node_lock >= 0)
		(void)close(m->node_lock);
	if (m->vf_lock >= 0)
		(void)close(m->vf_lock);
	vf_entry_clear(&m->state);
}

int vf_rdma_find(struct vf_rdma_move *m, struct rdma_chardevs *out, struct err *e)
{
	const char *vf = m->v->vf;

	if (rdma_of_bus(m->a->call->ctx.sysfs, m->host_rdma, vf, &m->link, e) == 0 &&
	    rdma_chardevs_read(m->host_rdma, &m->link, out, e) == 0)
		return 0;
	if (e->code == ERR_NOTFOUND)
		(void)err_hint(e, VF_NO_RDMA_HINT);
	return err_wrap(e, "%s: RDMA device of VF %s", m->keys.key, vf);
}

/* ---- the move ---- */

struct rdma_numbers vf_rdma_numbers(struct vf_rdma_move *m)
{
	const struct cni_call *call = m->a->call;

	return (struct rdma_numbers){ .ctx = &call->ctx,
				      .log = &call->ctx.log,
				      .bus = m->v->vf,
				      .pod = cni_env_pod(&call->env, m->uid),
				      .renumbered = m->keys.renumbered };
}

int vf_rdma_expect(struct vf_rdma_move *m, struct err *e)
{
	const struct rdma_numbers numbers = vf_rdma_numbers(m);

	if (vf_rdma_find(m, &m->chardevs, e))
		return -1;
	return rdma_numbers_check(&numbers, &m->chardevs, e)
		       ? err_wrap(e, "%s: RDMA device %s of VF %s", m->keys.key, m->link.name,
				  m->v->vf)
		       : 0;
}

static int note_device(struct vf_rdma_move *m, const struct rdma_chardev *uverbs, struct err *e)
{
	struct vf_rdma *d = &m->state.owner.rdma;

	*d = (struct vf_rdma){ .index = m->link.index };
	memcpy(d->name, m->link.name, sizeof(d->name));
	(void)rdma_chardev_text(uverbs, d->uverbs, sizeof(d->uverbs));
	return vf_state_write(&m->a->call->ctx, &m->state, e);
}

static int vf_rdma_describe(struct vf_rdma_move *m, const struct rdma_move *moved, struct err *e)
{
	const struct result_rdma r = {
		.mode = RDMA_EXCLUSIVE,
		.device = moved->pod_name,
		.port = OWN_PORT,
		.bus = m->v->vf,
		.chardevs = &moved->chardevs,
	};

	memcpy(m->v->rdma, moved->pod_name, sizeof(m->v->rdma));
	m->a->rdma = result_rdma_json(&r);
	return !m->a->rdma || json_add_str(m->a->device, RECORD_RDMA, moved->pod_name)
		       ? err_nomem(e)
		       : 0;
}

static int move_device(struct vf_rdma_move *m, struct err *e)
{
	auto_nl struct nl *pod_rdma = NULL;
	const struct rdma_numbers numbers = vf_rdma_numbers(m);
	const struct log *log = numbers.log;
	char change[RDMA_CHANGE_LEN];
	struct rdma_move move = {
		.numbers = &numbers,
		.host = &m->a->host,
		.pod = &m->a->pod,
		.host_rdma = m->host_rdma,
		.link = m->link,
		.chardevs = m->chardevs,
	};

	if (nl_rdma_open_in(&m->a->pod, &m->a->host, &pod_rdma, e) ||
	    note_device(m, &m->chardevs.uverbs, e))
		return -1;
	move.pod_rdma = pod_rdma;
	if (rdma_move(&move, e))
		return -1;
	log_debug(log, "VF %s: its RDMA device %s is in the pod", m->v->vf, move.pod_name);
	/* CHECK compares with the numbers that it has now. */
	if (rdma_chardevs_differ(&m->chardevs, &move.chardevs, change, sizeof(change)) &&
	    note_device(m, &move.chardevs.uverbs, e))
		return -1;
	return vf_rdma_describe(m, &move, e);
}

int vf_rdma_move(struct vf_rdma_move *m, struct err *e)
{
	if (move_device(m, e) == 0)
		return 0;
	if (e->errnum == EEXIST)
		(void)err_hint(
			e, "give the other RDMA device of the pod another name, or move this one "
			   "with the plugin rdma, whose deviceName gives it one");
	return err_wrap(e, "%s: RDMA device %s of VF %s", m->keys.key, m->link.name, m->v->vf);
}

/* ---- CHECK ---- */

static int read_moved(const struct attach *a, const struct vf_attach *v, struct vf_entry *x,
		      struct err *e)
{
	const struct record_key key = attach_key(a->call);
	const struct netns_id any = { 0 };

	if (vf_state_read(&a->call->ctx, v->vf, x, e)) {
		if (e->code != ERR_NOTFOUND && e->code != ERR_DECODE)
			return -1;
		e->code = ERR_STATE;
		return err_hint(e, "nothing else says which RDMA device moved: delete the pod, "
				   "whose DEL gives "
				   "the VF the values of a new one");
	}
	if (!vf_owner_is(x, &key, any))
		return err_set(e, ERR_STATE, 0, "it belongs to another attachment");
	return *x->owner.rdma.name ? 0
				   : err_set(e, ERR_STATE, 0, "ADD did not move its RDMA device");
}

int vf_rdma_check(const struct attach *a, const struct vf_attach *v, const char *key, struct err *e)
{
	auto_vf_entry struct vf_entry x = { 0 };
	auto_nl struct nl *pod_rdma = NULL;
	struct rdma_moved ignored;

	if (read_moved(a, v, &x, e))
		return err_wrap(e, "%s: VF %s", key, v->vf);
	if (nl_rdma_open_in(&a->pod, &a->host, &pod_rdma, e))
		return -1;
	const struct rdma_away d = { v->vf, x.owner.rdma.index, x.owner.rdma.name,
				     x.owner.rdma.uverbs };
	return rdma_check_moved(pod_rdma, &d, &ignored, e) ? err_wrap(e, "%s", key) : 0;
}
