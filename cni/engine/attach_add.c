/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_add.c: ADD: runs the steps in the order that attach.h promises, and undoes them when one
 * fails.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cni/engine/attach_add.h"
#include "cni/engine/attach_steps.h"
#include "cni/protocol/result_rdma.h"
#include "lib/base/undo.h"
#include "lib/net/addr.h"
#include "lib/sys/lock.h"

/* ---- several interfaces ---- */

static const struct cni_result *ips_of(const struct add *s)
{
	return s->whole == s ? attach_ips(&s->a, &s->from_ipam) : &s->from_ipam;
}

static int find_part(struct add *s, size_t i, struct err *e)
{
	struct add *part = &s->part[i];

	*part = (struct add){ .ipam = { .child = { .out_fd = -1 } }, .whole = s };
	attach_init_part(&part->a, s->parts.call[i], &s->a);
	s->n_parts++;
	return attach_read_conf(&part->a, e) || attach_find(&part->a, e)
		       ? err_wrap(e, "%s", s->parts.what[i])
		       : 0;
}

static int find_all(struct add *s, struct err *e)
{
	if (!s->a.type->several) {
		s->part = s;
		s->n_parts = 1;
		return attach_find(&s->a, e);
	}
	if (s->a.type->several->parts(&s->a, &s->parts, e))
		return -1;
	s->part = calloc(s->parts.n + 1, sizeof(*s->part));
	if (!s->part)
		return err_nomem(e);
	for (size_t i = 0; i < s->parts.n; i++)
		if (find_part(s, i, e))
			return -1;
	return 0;
}

/* The number of the device below the interface; a device of the host stands on none. */
static int lower_of(const struct attach *a)
{
	if (a->link.ifindex)
		return a->link.lower_ifindex;
	return a->type->role == ATTACH_MAKES && !a->type->several ? attach_lower_of_master(a) : 0;
}

/* Each interface for the record, as far as it is known by now. */
static int note_parts(struct add *s, struct err *e)
{
	json_free(s->on_record);
	s->record.parts = s->on_record = json_new_array();
	for (size_t i = 0; s->on_record && i < s->n_parts; i++) {
		struct record *r = &s->part[i].record;

		r->master = s->part[i].a.master.name;
		r->ifindex = s->part[i].a.link.ifindex;
		r->lower_ifindex = lower_of(&s->part[i].a);
		r->routing = s->part[i].routing;
		if (record_add_part(s->on_record, r))
			return err_nomem(e);
	}
	return s->on_record ? 0 : err_nomem(e);
}

/* ---- steps ---- */

static int refuse_taken_names(const struct add *s, struct err *e)
{
	const struct record_key key = attach_key(s->a.call);

	if (s->a.type->several && attach_refuse_second(&s->a, &key, e))
		return -1;
	for (size_t i = 0; i < s->n_parts; i++)
		if (attach_refuse_taken(&s->part[i].a, e))
			return -1;
	return 0;
}

static int fill_record(struct add *s, struct err *e)
{
	const struct attach *a = &s->a;
	const struct cni_call *call = a->call;

	s->record = (struct record){
		.adding = true,
		.key = attach_key(call),
		.plugin = a->type->name,
		.kind = s->n_parts ? s->part[0].a.type->kind : a->type->kind,
		.netns = call->env.netns,
		.netns_id = a->pod.id,
		.from = a->view,
		.created = call->ctx.now(call->ctx.clock),
		.master = a->below ? a->below : a->master.name,
		.lower_ifindex = lower_of(a),
		.cni_path = call->env.path,
		.args = call->env.args,
		/* for the IPAM's DEL by repair */
		.config = a->type->role == ATTACH_FOLLOWS ? NULL : call->conf.tree,
		.device = a->device,
	};
	if (ctx_boot_id(&call->ctx, s->record.boot, e))
		return -1;
	for (size_t i = 0; a->type->several && i < s->n_parts; i++) {
		struct add *part = &s->part[i];

		part->record = s->record;
		part->record.key = attach_key(part->a.call);
		part->record.plugin = part->a.type->name;
		part->record.device = NULL;
	}
	return 0;
}

static int attach_add_write_record(struct add *s, struct err *e)
{
	if (s->a.type->several && note_parts(s, e))
		return -1;
	return record_write(&s->a.records.ctx, &s->record, e);
}

/* Says which one of several it is about. */
static int wrap_part(const struct add *s, size_t i, struct err *e)
{
	return s->a.type->several ? err_wrap(e, "%s", s->parts.what[i]) : -1;
}

static int claim_one(struct add *s, struct undo *u, struct err *e)
{
	undo_push(u, add_undo_change, s, "claim of the device");
	if (s->a.type->claim(&s->a, e))
		return -1;
	s->record.device = s->a.device;
	return 0;
}

/* The record names the devices before they are changed: a claim without a record has no owner. */
static int claim_devices(struct add *s, struct undo *u, struct err *e)
{
	for (size_t i = 0; i < s->n_parts; i++)
		if (s->part[i].a.type->claim && claim_one(&s->part[i], u, e))
			return wrap_part(s, i, e);
	return s->part->a.type->claim ? attach_add_write_record(s, e) : 0;
}

/* An interface that has none in the pod, as with vfio-pci, cannot ask for its address. */
static bool can_probe(const struct add *s)
{
	bool can = true;

	for (size_t i = 0; i < s->n_parts; i++)
		can = can && attach_can_probe(&s->part[i].a);
	return can;
}

static int take_ipam_result(struct add *s, struct slice text, struct err *e)
{
	const struct cni_conf *c = &s->a.call->conf;
	const bool can = can_probe(s);

	if (attach_parse_ipam_result(&s->a, text, &s->from_ipam, e))
		return -1;
	for (size_t i = 0; can && i < s->from_ipam.n_ips; i++) {
		struct cni_ip *x = &s->from_ipam.ips[i];

		x->probe = json_true(json_get(x->src, "probe"));
	}
	log_debug(&s->a.call->ctx.log, "ipam.type \"%s\": %zu addresses, %zu routes", c->ipam_type,
		  s->from_ipam.n_ips, s->from_ipam.n_routes);
	if (s->from_ipam.n_ips == 0 && !cni_conf_guid_pool(c->ipam))
		return err_set(e, ERR_DELEGATE, 0,
			       "ipam.type: \"%.64s\" succeeded, but returned no address",
			       c->ipam_type);
	return 0;
}

/* The IPAM that does not know of groups would leave all but the first without an address. */
static int share_ips(struct add *s, struct err *e)
{
	for (size_t i = 0; s->a.type->several && i < s->n_parts; i++) {
		struct cni_result *own = &s->part[i].from_ipam;

		if (attach_share_ips(&s->from_ipam, (unsigned)i + 1, own, e))
			return -1;
		if (!own->n_ips)
			return err_set(e, ERR_DELEGATE, 0,
				       "ipam.type: \"%.64s\" returned no address for %s",
				       s->a.call->conf.ipam_type, s->parts.what[i]);
	}
	return 0;
}

static int finish_ipam(struct add *s, struct err *e)
{
	auto_free char *text = NULL;
	size_t len;

	if (!s->ipam.child.pid)
		return 0;
	if (delegate_finish(&s->ipam, &text, &len, e))
		return -1;
	return take_ipam_result(s, (struct slice){ text, len }, e) || share_ips(s, e) ? -1 : 0;
}

static int start_ipam(struct add *s, struct undo *u, struct err *e)
{
	const struct delegate_call add = {
		.cmd = CNI_ADD,
		.probe = can_probe(s) ? DELEGATE_PROBE_MARK : "",
		.master = s->a.conf.in_container ? "" : s->a.master.name,
	};

	if (!*attach_ipam_type(s->a.call))
		return 0;
	const struct cni_call *call = s->parts.ipam ? s->parts.ipam : s->a.call;

	if (delegate_start(call, &add, attach_ipam_add_ms(&s->a), &s->ipam, e))
		return -1;
	undo_push(u, add_undo_ipam, s, "IPAM ADD");
	return 0;
}

static int explain_create(const struct attach *a, struct err *e)
{
	char mtu[32] = "";

	switch (a->type->role) {
	case ATTACH_FOLLOWS:
		return -1;
	case ATTACH_MOVES:
		return err_wrap(e, "move %s into the pod as %s", a->pci_id ? a->pci_id : "device",
				a->call->env.ifname);
	case ATTACH_MAKES:
		break;
	}
	if (a->conf.mtu)
		(void)snprintf(mtu, sizeof(mtu), " with mtu %u", a->conf.mtu);
	attach_explain_master(a, e);
	return err_wrap(e, "create %s %s on %s%s", a->type->kind, a->call->env.ifname,
			a->master.name, mtu);
}

static int create_one(struct add *s, struct undo *u, struct err *e)
{
	struct attach *a = &s->a;
	int rc = a->type->create(a, e);

	s->record.device = a->device;
	/* After EEXIST nothing was made. After another error the interface may exist. */
	if (rc == 0 || e->errnum != EEXIST || a->type->restore)
		undo_push(u, add_undo_change, s,
			  a->type->role == ATTACH_FOLLOWS ? "device" : "creation of the interface");
	if (rc)
		return explain_create(a, e);
	if (a->no_link)
		return 0;
	if (nl_link_by_name(a->pod_nl, a->call->env.ifname, &a->link, e))
		return err_wrap(e, "look at the new interface");
	log_debug(&a->call->ctx.log, "%s is in the pod, number %d, mtu %u", a->link.name,
		  a->link.ifindex, a->link.mtu);
	return 0;
}

/* Before anything but the claim: a device without an interface has none to tune. */
static int refuse_tuning(const struct add *s, struct err *e)
{
	for (size_t i = 0; i < s->n_parts; i++)
		if (s->part[i].a.no_link && tuning_is_given(&s->part[i].a.conf.tuning))
			return err_set(e, ERR_CONFIG, 0,
				       "sysctl, txQueueLen, gso, gro, rings: the device has no "
				       "interface in the pod");
	return 0;
}

/* Before the interface goes up, be it for the probe or for its addresses. */
static int tune(const struct attach *a, struct err *e)
{
	const struct tuning_place at = attach_tuning_place(a);

	return tuning_is_given(&a->conf.tuning) ? tuning_apply(&a->conf.tuning, &at, e) : 0;
}

/* macPrefix needs the address before the interface is made. */
static bool needs_address(const struct add *s)
{
	bool needs = false;

	for (size_t i = 0; i < s->n_parts; i++)
		needs |= s->part[i].a.conf.tuning.has_mac_prefix;
	return needs;
}

static int make_macs(struct add *s, struct err *e)
{
	for (size_t i = 0; i < s->n_parts; i++) {
		struct attach *a = &s->part[i].a;

		if (a->conf.tuning.has_mac_prefix &&
		    tuning_mac(&a->conf.tuning, ips_of(&s->part[i]), -1, &a->made_mac, e))
			return -1;
	}
	return 0;
}

static int attach_add_create(struct add *s, struct undo *u, struct err *e)
{
	for (size_t i = 0; i < s->n_parts; i++)
		if (create_one(&s->part[i], u, e) || tune(&s->part[i].a, e))
			return wrap_part(s, i, e);
	return 0;
}

static void list_parts(struct add *s, struct attach_part out[ATTACH_PARTS_MAX])
{
	for (size_t i = 0; i < s->n_parts; i++)
		out[i] = (struct attach_part){ &s->part[i].a, ips_of(&s->part[i]) };
}

/*
 * railhead-ipam assigns no address of the node, but others do, as static does for the author of a
 * pod. A device that moves is in the pod by now, with the addresses that it had on the node.
 */
static int refuse_own(const struct add *s, struct err *e)
{
	char text[IP_STR_LEN];

	for (size_t i = 0; i < s->from_ipam.n_ips; i++) {
		const struct ip ip = s->from_ipam.ips[i].address.addr;
		int own = nl_addr_is_own(ip, e);

		if (own < 0)
			return -1;
		if (own)
			return err_set(e, ERR_BUSY, 0, "address %s is in use by the node itself",
				       ip_format(ip, text));
	}
	return 0;
}

/*
 * No host has the addresses: the IPAM need not have them probed again. If it does not learn that,
 * the next pod with this address waits for a probe.
 */
static int probe(struct add *s, struct err *e)
{
	const struct delegate_call tell = { .cmd = CNI_ADD, .probe = DELEGATE_PROBE_FREE };
	struct attach_part parts[ATTACH_PARTS_MAX];
	struct err why;

	list_parts(s, parts);
	if (attach_probe(parts, s->n_parts, &s->probe, e))
		return -1;
	if (s->probe.asked && attach_has_marks(&s->from_ipam) &&
	    delegate_run(s->a.call, &tell, attach_ipam_add_ms(&s->a), &why))
		log_warn(&s->a.call->ctx.log, "probe: %s", why.msg);
	return 0;
}

/* 1: there are rules, which belong on record before the first one is made. */
static int note_rules(struct add *s, uint32_t after, struct undo *u, struct err *e)
{
	const struct cni_result *ips = ips_of(s);
	struct attach *a = &s->a;

	if (!a->conf.routing.rail || (!a->no_link && !ips->n_ips))
		return 0;
	if (a->no_link)
		return err_set(e, ERR_CONFIG, 0,
			       "routing: the device has no interface in the pod to route by");
	a->conf.routing.after = after;
	/* Until this ADD ends: the next one must see the rules. */
	if (lock_descriptor(a->pod.fd, "the pod's tables", attach_lock_ms(a), e) ||
	    routing_choose_table(a->pod_nl, &a->conf.routing, ips, &a->table, e))
		return -1;
	s->record.routing = s->routing = routing_note(&a->conf.routing, ips, a->table);
	if (!s->routing)
		return err_nomem(e);
	undo_push(u, add_undo_rules, s, "rules of the rail");
	return 1;
}

static int configure(struct add *s, struct undo *u, struct err *e)
{
	struct attach_part parts[ATTACH_PARTS_MAX];
	uint32_t after = 0;
	bool noted = false;

	for (size_t i = 0; i < s->n_parts; i++) {
		int rc = note_rules(&s->part[i], after, u, e);

		if (rc < 0)
			return -1;
		noted |= rc > 0;
		after = s->part[i].a.table;
	}
	if (noted && attach_add_write_record(s, e))
		return -1;
	list_parts(s, parts);
	return attach_configure(parts, s->n_parts, e);
}

/* Checks of interfaces that have their addresses. */
static int attach_add_verify(struct add *s, struct err *e)
{
	const struct attach_several *several = s->a.type->several;
	struct attach_part parts[ATTACH_PARTS_MAX];

	list_parts(s, parts);
	if (attach_probe_gateways(parts, s->n_parts, e))
		return -1;
	for (size_t i = 0; several && several->verify && i < s->n_parts; i++) {
		if (several->verify(&s->a, &s->part[i].a, ips_of(&s->part[i]), e))
			return err_wrap(e, "%s", s->parts.what[i]);
		s->part[i].record.device = s->part[i].a.device;
	}
	return 0;
}

/* Before another step uses the addresses. runtimeConfig may be of the author of the pod. */
static int judge_host(struct add *s, struct err *e)
{
	const struct cni_conf *c = &s->a.call->conf;
	const bool pool = strcmp(c->ipam_type, "railhead-ipam") == 0 &&
			  !json_len(json_get(c->runtime, "ipRanges"));

	s->host = attach_host_of(&s->a);
	for (size_t i = 0; i < s->n_parts; i++)
		if (attach_host_join(&s->host, &s->part[i].a, ips_of(&s->part[i]), e))
			return -1;
	return attach_host_refuse(&s->host, pool, e);
}

/* One pair for all interfaces. The record has it before it is made. */
static int join_host(struct add *s, struct undo *u, struct err *e)
{
	if (!s->host.ips.n_ips)
		return 0;
	/* Until this ADD ends: the next one must see the routes before it changes the filter. */
	if (lock_descriptor(s->a.pod.fd, "the pod's veth", attach_lock_ms(&s->a), e) ||
	    attach_host_note(&s->host, e))
		return -1;
	s->record.host = s->host.note;
	undo_push(u, add_undo_host, s, "veth to the node");
	return attach_add_write_record(s, e) || attach_host_apply(&s->host, e) ? -1 : 0;
}

static int name_parts(const struct add *s, struct cni_result *r, struct err *e)
{
	auto_json struct json *rdma = json_new_array();

	for (size_t i = 0; rdma && i < s->n_parts; i++)
		if (attach_push_rdma(&s->part[i].a, rdma, e))
			return -1;
	if (!rdma)
		return err_nomem(e);
	if (json_len(rdma) && attach_name_in_result(r, RESULT_RDMA_KEY, rdma, e))
		return -1;
	return s->parts.key ? attach_name_in_result(r, s->parts.key, s->parts.note, e) : 0;
}

static int build_result(struct add *s, struct cni_result *r, struct err *e)
{
	if (attach_build_result(&s->part->a, ips_of(s->part), s->part->mac, r, e))
		return -1;
	for (size_t i = 1; i < s->n_parts; i++) {
		struct add *part = &s->part[i];

		if (attach_add_to_result(&part->a, ips_of(part), part->mac, r, e))
			return -1;
	}
	return s->a.type->several ? name_parts(s, r, e) : 0;
}

/* Behind the first record: a master without a user that is on record would be removed. */
static int take_masters(struct add *s, struct undo *u, struct err *e)
{
	bool changed = false;

	if (s->n_parts && s->part->a.conf.master.on_demand)
		undo_push(u, attach_give_masters, &s->a, "masters on demand");
	for (size_t i = 0; i < s->n_parts; i++)
		if (attach_take_master(&s->part[i].a, &changed, e))
			return -1;
	return changed && (fill_record(s, e) || attach_add_write_record(s, e)) ? -1 : 0;
}

static int run_steps(struct add *s, struct undo *u, struct err *e)
{
	const struct cni_call *call = s->a.call;

	if (fill_record(s, e) || (!s->a.nothing_to_restore && attach_add_write_record(s, e)))
		return -1;
	log_debug(&call->ctx.log, "the attachment is on record");
	undo_push(u, add_undo_record, s, "attachment record");
	if (take_masters(s, u, e) || claim_devices(s, u, e) || refuse_tuning(s, e) ||
	    start_ipam(s, u, e) || (needs_address(s) && (finish_ipam(s, e) || make_macs(s, e))) ||
	    attach_add_create(s, u, e) || finish_ipam(s, e) || judge_host(s, e) ||
	    refuse_own(s, e) || probe(s, e) || configure(s, u, e) || join_host(s, u, e) ||
	    attach_add_verify(s, e))
		return -1;
	auto_result struct cni_result r = { 0 };
	if (build_result(s, &r, e))
		return -1;
	/* With this record the attachment is whole, and repair must let it live. */
	s->record.adding = false;
	s->record.ifindex = s->a.link.ifindex;
	s->record.lower_ifindex = s->a.link.lower_ifindex;
	return attach_add_write_record(s, e) || cni_emit_result(call, &r, e) ? -1 : 0;
}

/*
 * An earlier ADD of the attachment, which was killed, may have an address. Until the IPAM has
 * released it, a failure must not take the record away: it is all that repair knows. The address of
 * another IPAM is released already.
 */
static bool may_have_lease(const struct add *s)
{
	const struct record_key key = attach_key(s->a.call);
	auto_record struct record old = { 0 };
	struct err why;

	if (!*attach_ipam_type(s->a.call))
		return false;
	return record_read(&s->a.records.ctx, &key, &old, &why) ? why.code != ERR_NOTFOUND
								: attach_same_ipam(s->a.call, &old);
}

/* Inverses begin there, also if the way back from the pod was what failed. */
static int enter_host(void *arg, struct err *e)
{
	return netns_enter(arg, e);
}

int attach_add(const struct cni_call *call, struct err *e)
{
	auto_clean(add_clear) struct add s = { .ipam = { .child = { .out_fd = -1 } } };

	s.whole = &s;
	attach_init(&s.a, call);
	const bool follows = s.a.type->role == ATTACH_FOLLOWS;
	if (!follows)
		attach_warn_of_version(call);
	if (attach_read_conf(&s.a, e) || attach_open(&s.a, e) || find_all(&s, e))
		return -1;
	const struct record_key key = attach_key(call);
	auto_fd int lock = record_lock(&s.a.records.ctx, &key, true, attach_lock_ms(&s.a), e);
	if (lock < 0)
		return -1;
	if (follows ? attach_settle(&s.a, e) || s.a.type->prepare(&s.a, e)
		    : refuse_taken_names(&s, e))
		return -1;
	s.lease_stays = may_have_lease(&s);
	auto_undo struct undo u = { .log = &call->ctx.log,
				    .before = enter_host,
				    .before_arg = &s.a.host };
	if (run_steps(&s, &u, e))
		return -1;
	undo_commit(&u);
	return 0;
}
