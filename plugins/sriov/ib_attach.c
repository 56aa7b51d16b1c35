/* SPDX-License-Identifier: Apache-2.0 */
/* ib_attach.c: the hooks of the ib-sriov plugin. The order in which they are called is the
 * engine's.
 */
#include "plugins/sriov/ib_attach.h"

#include "cni/engine/guid_lease.h"
#include "cni/protocol/devinfo.h"
#include "plugins/sriov/apply.h"
#include "plugins/sriov/member.h"
#include "sriov/vf/guid.h"

_Static_assert(sizeof(struct ib_conf) <= ATTACH_STATE_MAX, "the state is too large");

static struct ib_conf *ib_attach_conf_of(const struct attach *a)
{
	return (void *)(uintptr_t)a->state;
}

static int ib_validate(struct attach *a, struct err *e)
{
	const char *ignored;

	return ib_conf_check(a, ib_attach_conf_of(a), e) ||
			       devinfo_path(&a->call->conf, &ignored, e)
		       ? -1
		       : 0;
}

/* ---- which VF ---- */

static int check_vfio(const struct attach *a, const struct ib_conf *c, struct err *e)
{
	if (!c->vfio || a->no_link || !*c->which.vf || a->call->env.cmd == CNI_STATUS)
		return 0;
	err_set(e, ERR_CONFIG, 0, "vfioPciMode: is true, but VF %s has the driver %s", c->which.vf,
		*c->which.place.driver ? c->which.place.driver : "(none)");
	return err_hint(e,
			"`railctl vf bind %s vfio-pci` binds it; without vfioPciMode the driver "
			"decides",
			c->which.vf);
}

static int ib_find(struct attach *a, struct err *e)
{
	struct ib_conf *c = ib_attach_conf_of(a);
	auto_record struct record r = { 0 };

	if (a->call->env.cmd == CNI_CHECK && vf_attach_recall(a, &c->which, &r, e))
		return -1;
	return vf_attach_find(a, &c->which, e) || check_vfio(a, c, e) || ib_check_mode(c, e) ? -1
											     : 0;
}

/* ---- ADD ---- */

static int ib_claim(struct attach *a, struct err *e)
{
	const struct ib_conf *c = ib_attach_conf_of(a);
	char guid[GUID_STR_LEN], pkey[PKEY_STR_LEN];

	if (vf_attach_claim(a, &ib_attach_conf_of(a)->which, c->want.has, NULL, e) ||
	    check_vfio(a, c, e))
		return -1;
	if ((!c->leases_guid && (c->want.has & VF_GUIDS) &&
	     json_add_str(a->device, "guid", guid_format(c->want.port_guid, guid))) ||
	    (c->pkey && json_add_str(a->device, "pkey", pkey_format(c->pkey, pkey))))
		return err_nomem(e);
	return 0;
}

/* The claim is on record, so that the lease is released after whatever follows. */
static int lease_guid(struct attach *a, struct ib_conf *c, struct err *e)
{
	struct vf_info *want = &c->want;
	char guid[GUID_STR_LEN];

	if (!c->leases_guid)
		return 0;
	if (guid_lease_add(a, guid_is_usable(want->port_guid) ? &want->port_guid : NULL,
			   &want->port_guid, e))
		return -1;
	want->node_guid = want->port_guid;
	return json_add_str(a->device, "guid", guid_format(want->port_guid, guid)) ||
			       json_add_str(a->device, "guidPool",
					    cni_conf_guid_pool(a->call->conf.ipam))
		       ? err_nomem(e)
		       : 0;
}

static int set_mtu(const struct attach *a, struct err *e)
{
	struct link_info link;

	if (!a->conf.mtu || a->no_link)
		return 0;
	return nl_link_by_name(a->pod_nl, a->call->env.ifname, &link, e) ||
			       nl_link_set_mtu(a->pod_nl, link.ifindex, a->conf.mtu, e)
		       ? err_wrap(e, "mtu: VF %s", ib_attach_conf_of(a)->which.vf)
		       : 0;
}

static int ib_create(struct attach *a, struct err *e)
{
	struct ib_conf *c = ib_attach_conf_of(a);

	return lease_guid(a, c, e) || ib_member_add(a, c, e) || ib_apply(a, c, e) ||
			       vf_attach_move(a, &c->which, e) || set_mtu(a, e)
		       ? -1
		       : 0;
}

static int ib_carrier_ms(const struct attach *a)
{
	const struct ib_conf *c = ib_attach_conf_of(a);

	return vf_attach_carrier_ms(a, &c->which, &c->want);
}

/* ---- CHECK ---- */

/* The record has the GUID of ADD. A VF that had it before has it also if its PF knows none. */
static int check_guid(const struct attach *a, const struct ib_conf *c, struct err *e)
{
	auto_record struct record r = { 0 };
	char is[GUID_STR_LEN], want[GUID_STR_LEN];
	struct vf_guids own;
	struct guid guid;

	if (attach_read_record(a, &r, e) ||
	    (json_get(r.device, "guidPool") && guid_lease_check(a, e)))
		return -1;
	const char *text = json_str(json_get(r.device, "guid"));
	if (!text || a->no_link || guid_parse(text, &guid))
		return 0;
	own = vf_own_guids(&a->call->ctx, c->which.vf, a->link.addr);
	return guid_equal(own.port, guid)
		       ? 0
		       : err_set(e, ERR_STATE, 0, "interface %s has the GUID %s, ADD gave it %s",
				 a->link.name, guid_format(own.port, is), guid_format(guid, want));
}

static int ib_check(struct attach *a, struct err *e)
{
	const struct ib_conf *c = ib_attach_conf_of(a);

	return vf_attach_check(a, &c->which, e) ||
			       vf_attach_check_pf_side(a, &c->which, &c->want, e) ||
			       check_guid(a, c, e) || ib_check_rdma(a, c, e)
		       ? -1
		       : 0;
}

const struct attach_type ib_sriov_type = {
	.name = "ib-sriov",
	.role = ATTACH_MOVES,
	.kind = "ipoib",
	.leases_guid = true,
	.no_dhcp = true,
	.fields = ib_fields,
	.defaults = ib_conf_defaults,
	.validate = ib_validate,
	.find = ib_find,
	.claim = ib_claim,
	.create = ib_create,
	.check = ib_check,
	.restore = ib_restore,
	.release = ib_release,
	.carrier_ms = ib_carrier_ms,
};
