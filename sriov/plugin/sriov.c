/* SPDX-License-Identifier: Apache-2.0 */
/* sriov.c: the sriov plugin: a VF of an Ethernet NIC moves into the pod. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cni/protocol/devinfo.h"
#include "lib/net/monitor.h"
#include "sriov/take/claim.h"
#include "sriov/plugin/conf.h"
#include "sriov/take/peer.h"
#include "sriov/take/restore.h"

_Static_assert(sizeof(struct sriov_conf) <= ATTACH_STATE_MAX, "the state is too large");

static struct sriov_conf *conf_of(struct attach *a)
{
	return (void *)a->state;
}

static struct record_key key_of(const struct attach *a)
{
	return (struct record_key){ a->call->conf.name, a->call->env.container,
				    a->call->env.ifname };
}

static int sriov_validate(struct attach *a, struct err *e)
{
	const char *ignored;

	return sriov_conf_check(a, conf_of(a), e) || devinfo_path(&a->call->conf, &ignored, e) ? -1
											       : 0;
}

/* ---- which VF ---- */

/* The file may have changed since the ADD: what the tier stood for then is on record. */
static int recall_tier(struct sriov_conf *c, const struct json *device, struct err *e)
{
	struct tier t;

	if (!c->tier)
		return 0;
	if (sriov_device_tier(device, &t, e)) {
		e->code = ERR_STATE;
		return err_wrap(e, "tier: \"%.64s\"", c->tier);
	}
	if (strcmp(t.name, c->tier) != 0)
		return err_set(e, ERR_STATE, 0, "tier: is \"%s\", configured is \"%.64s\"", t.name,
			       c->tier);
	return sriov_conf_take_tier(c, &t, e);
}

static int look_up_tier(struct sriov_conf *c, struct err *e)
{
	struct tier t;

	if (!c->tier)
		return 0;
	return tier_load(TIER_FILE, c->tier, &t, e) ? err_wrap(e, "tier: \"%.64s\"", c->tier)
						    : sriov_conf_take_tier(c, &t, e);
}

/* The pod may be older than this program on this node. */
static int explain_peer(const struct attach *a, struct err *e)
{
	const struct cni_env *env = &a->call->env;
	auto_peer struct peer p = { .file = "" };
	struct err ignored;

	if (peer_find(&a->call->ctx, env->container, env->ifname, &p, &ignored))
		return -1;
	err_set(e, ERR_STATE, 0,
		"attachment %s of container %s was made by sriov-cni (VF %s), and is not known to "
		"railhead",
		env->ifname, env->container, p.vf);
	return err_hint(e, "railctl attachments import takes it over; DEL puts its VF back in any "
			   "case");
}

/* CHECK: the configuration may leave it to us, the record knows which one it became. */
static int recall(struct attach *a, struct err *e)
{
	const struct record_key key = key_of(a);
	auto_record struct record r = { 0 };

	if (record_read(&a->call->ctx, &key, &r, e)) {
		if (e->code != ERR_NOTFOUND)
			return -1;
		e->code = ERR_STATE;
		return explain_peer(a, e);
	}
	const char *vf = sriov_device_vf(&r);
	if (!vf || strlen(vf) >= PCI_STR_LEN)
		return err_set(e, ERR_STATE, 0, "the record of this attachment names no VF");
	(void)snprintf(conf_of(a)->vf, PCI_STR_LEN, "%s", vf);
	return recall_tier(conf_of(a), r.device, e);
}

/* STATUS knows no pod, and so no VF; but where we are to choose there must be something to choose.
 */
static int some_pf_has_vfs(const struct attach *a, const struct sriov_conf *c, struct err *e)
{
	struct sriov_resource r;

	if (!c->resource)
		return 0;
	return sriov_resource_decode(c->resource, &r, e) ||
			       claim_possible(&a->call->ctx, (struct pf_list){ r.pf, r.n }, e)
		       ? -1
		       : 0;
}

static int sriov_find(struct attach *a, struct err *e)
{
	struct sriov_conf *c = conf_of(a);
	enum cni_command cmd = a->call->env.cmd;

	if (cmd == CNI_CHECK ? recall(a, e) : look_up_tier(c, e))
		return -1;
	if (cmd == CNI_STATUS)
		return some_pf_has_vfs(a, c, e);
	if (!*c->vf && !c->resource)
		return err_set(e, ERR_CONFIG, 0,
			       "deviceID: missing: give the PCI address of a VF, as Multus and "
			       "device plugins do, or a resource to take a free one of");
	if (*c->vf && vf_locate(&a->call->ctx, a->host_nl, c->vf, &c->place, e))
		return -1;
	a->no_link = *c->vf && vf_has_userspace_driver(&c->place);
	return 0;
}

/* ---- ADD ---- */

static int take_near(struct attach *a, const struct claimant *who, struct pf_list pfs,
		     struct err *e)
{
	struct sriov_conf *c = conf_of(a);
	struct near_gpus gpus;
	char text[AFFINITY_TEXT_LEN];

	if (near_gpus(a->call, c->near, &gpus, e) ||
	    affinity_claim(who, (struct affinity_request){ &gpus, pfs }, &c->place, &c->found, e))
		return -1;
	log_info(&a->call->ctx.log, "VF %s is for GPU %s of %s: %s", c->place.vf, c->found.gpu,
		 c->found.source, affinity_text(&c->found, text));
	return 0;
}

static int take_vf(struct attach *a, struct err *e)
{
	struct sriov_conf *c = conf_of(a);
	struct claimant who = {
		.ctx = &a->call->ctx,
		.nl = a->host_nl,
		.key = key_of(a),
		.netns = a->call->env.netns,
		.netns_id = a->pod.id,
		.will_change = c->request.pf_side.has,
	};
	struct sriov_resource r;

	if (*c->vf)
		return claim_vf(&who, c->vf, &c->place, e);
	if (sriov_resource_decode(c->resource, &r, e))
		return -1;
	const struct pf_list pfs = { r.pf, r.n };
	who.any_will_do = true;
	return c->near ? take_near(a, &who, pfs, e) : claim_any(&who, pfs, &c->place, e);
}

/* What it keeps of the VF, for DEL, CHECK, and whoever asks why it is this one. */
static struct json *device_of(const struct sriov_conf *c, const char *devinfo)
{
	struct tier tier;
	auto_json struct json *o =
		sriov_device(&c->place, devinfo, sriov_conf_tier(c, &tier) ? &tier : NULL);

	if (!o || (*c->found.gpu && json_put(o, "near", affinity_to_json(&c->found))))
		return NULL;
	return TAKE_PTR(o);
}

/* Only a file that we are going to make is on record, and so DEL's to remove. */
static int find_devinfo(const struct attach *a, const char **path, struct err *e)
{
	struct stat st;

	if (devinfo_path(&a->call->conf, path, e))
		return -1;
	if (*path && lstat(*path, &st) == 0)
		*path = NULL;
	return 0;
}

static int sriov_claim(struct attach *a, struct err *e)
{
	struct sriov_conf *c = conf_of(a);
	const char *devinfo;

	if (take_vf(a, e) || find_devinfo(a, &devinfo, e))
		return -1;
	log_debug(&a->call->ctx.log, "VF %s (number %u of %s, driver %s, interface %s) is ours",
		  c->place.vf, c->place.index, c->place.pf_name,
		  *c->place.driver ? c->place.driver : "none",
		  *c->place.name ? c->place.name : "none");
	memcpy(c->vf, c->place.vf, sizeof(c->vf));
	memcpy(a->master.name, c->place.pf_name, sizeof(a->master.name));
	a->master.ifindex = c->place.pf_ifindex;
	a->pci_id = c->vf;
	a->no_link = vf_has_userspace_driver(&c->place);
	a->device = device_of(c, devinfo);
	return a->device ? 0 : err_nomem(e);
}

static int write_devinfo(struct attach *a, struct err *e)
{
	const struct sriov_conf *c = conf_of(a);
	char rdma[PCI_RDMA_LEN];
	struct err none;
	bool has_rdma = pci_rdma_device(a->call->ctx.sysfs, c->vf, rdma, &none) == 0;
	const struct devinfo_pci what = { c->vf, c->place.pf, has_rdma ? rdma : NULL };
	const char *path = sriov_device_info(a->device);
	bool made;

	return path ? devinfo_write(path, &what, &made, e) : 0;
}

/* A VF without interface has no address but the one its PF gave it, and no MTU but the PF's. */
static int describe_without_link(struct attach *a, struct err *e)
{
	static const uint8_t zero[MAC_LEN];
	const struct sriov_conf *c = conf_of(a);
	struct vf_info s;

	if (nl_vf_get(a->host_nl, (struct vf_ref){ c->place.pf_ifindex, c->place.index }, &s, e))
		return -1;
	memcpy(a->link.mac, s.mac, MAC_LEN);
	a->link.has_mac = (s.has & VF_MAC) && memcmp(s.mac, zero, MAC_LEN) != 0;
	a->link.mtu = c->place.pf_mtu;
	return 0;
}

static int move_in(struct attach *a, struct err *e)
{
	const struct sriov_conf *c = conf_of(a);
	const struct record_key key = key_of(a);
	const struct vf_target to = { a->host_nl, a->pod_nl, &a->pod, key.ifname };
	int ifindex;

	if (vf_move_to_pod(&c->place, &to, &ifindex, e))
		return -1;
	log_debug(&a->call->ctx.log, "VF %s: %s is in the pod as %s", c->vf, c->place.name,
		  key.ifname);
	return claim_set_ifindex(&a->call->ctx, c->vf, &key, ifindex, e);
}

static int sriov_create(struct attach *a, struct err *e)
{
	const struct sriov_conf *c = conf_of(a);
	const struct record_key key = key_of(a);
	bool own_mac = false;
	struct err why;

	for (unsigned one = 1; one <= VF_ALL; one <<= 1) {
		if (c->request.pf_side.has & one)
			log_debug(&a->call->ctx.log, "VF %s: setting its %s", c->vf,
				  vf_attr_name((enum vf_attr)one));
	}
	int rc = vf_configure(a->host_nl, &c->place, &c->request, &own_mac, e);
	/* Also when it failed: the VF is put back by what is known of it. */
	if (own_mac && claim_set_own_mac(&a->call->ctx, c->vf, &key, rc ? &why : e))
		return -1;
	if (rc || write_devinfo(a, e))
		return -1;
	return a->no_link ? describe_without_link(a, e) : move_in(a, e);
}

/* ---- carrier ---- */

/* igbvf needs some ms, iavf the PF's answer to a message, a busy machine more. */
#define CARRIER_MS 1000

/* Whether the VF has a link of its own, or none, or follows the PF's (what a PF does that does not
 * tell). */
static enum vf_link_state link_policy(const struct attach *a)
{
	const struct sriov_conf *c = (const void *)a->state;
	const struct vf_ref vf = { c->place.pf_ifindex, c->place.index };
	struct vf_info is;
	struct err ignored;

	if (c->request.pf_side.has & VF_LINK_STATE)
		return c->request.pf_side.link_state;
	if (nl_vf_get(a->host_nl, vf, &is, &ignored) || !(is.has & VF_LINK_STATE))
		return VF_LINK_AUTO;
	return is.link_state;
}

/* Only for a carrier that will come: not where it is switched off, nor with the PF's cable out. */
static int sriov_carrier_ms(const struct attach *a)
{
	const struct sriov_conf *c = (const void *)a->state;
	enum vf_link_state policy = link_policy(a);
	struct err ignored;

	if (policy == VF_LINK_DISABLE ||
	    (policy == VF_LINK_AUTO &&
	     nl_link_carrier(a->host_nl, c->place.pf_ifindex, &ignored) != 1))
		return 0;
	return CARRIER_MS;
}

/* ---- CHECK ---- */

static int check_pf_side(const struct attach *a, const struct sriov_conf *c, struct err *e)
{
	const struct vf_ref vf = { c->place.pf_ifindex, c->place.index };
	struct vf_info is;

	if (!c->request.pf_side.has)
		return 0;
	if (nl_vf_get(a->host_nl, vf, &is, e))
		return -1;
	enum vf_attr one = vf_differing(&is, &c->request.pf_side);
	return one ? err_set(e, ERR_STATE, 0, "VF %s: its PF %s has another %s than configured",
			     c->vf, c->place.pf_name, vf_attr_name(one))
		   : 0;
}

static int sriov_check(struct attach *a, struct err *e)
{
	const struct sriov_conf *c = (const void *)a->state;

	if (!a->no_link && *a->link.parent && strcmp(a->link.parent, c->vf) != 0)
		return err_set(e, ERR_STATE, 0, "interface %s is the device %s, not the VF %s",
			       a->link.name, a->link.parent, c->vf);
	if (!a->no_link && c->request.mtu && a->link.mtu != c->request.mtu)
		return err_set(e, ERR_STATE, 0, "interface %s has mtu %u, configured is %u",
			       a->link.name, a->link.mtu, c->request.mtu);
	return check_pf_side(a, c, e);
}

/* ---- DEL ---- */

/* Without a record: what the VFs' own files and those of sriov-cni know of the attachment. */
static int sriov_release(const struct cni_call *call, const struct record *r, struct err *e)
{
	const struct record unrecorded = {
		.key = { call->conf.name, call->env.container, call->env.ifname },
		.kind = "",
		.netns = call->env.netns,
	};

	return r ? 0 : sriov_restore(&call->ctx, &unrecorded, e);
}

static const struct attach_type sriov = {
	.name = "sriov",
	.role = ATTACH_MOVES,
	.kind = "",
	.fields = sriov_fields,
	.defaults = sriov_conf_defaults,
	.validate = sriov_validate,
	.find = sriov_find,
	.claim = sriov_claim,
	.create = sriov_create,
	.check = sriov_check,
	.restore = sriov_restore,
	.release = sriov_release,
	.carrier_ms = sriov_carrier_ms,
};

int main(void)
{
	return attach_main(&sriov);
}
