/* SPDX-License-Identifier: Apache-2.0 */
/* vf_attach.c: the hooks of the attach engine for every plugin that moves a VF. */
#include "plugins/sriov/vf_attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cni/protocol/devinfo.h"
#include "lib/net/monitor.h"
#include "sriov/claim/claim.h"
#include "sriov/claim/peer.h"
#include "sriov/claim/taken.h"

/* ---- which VF ---- */

/* The pod may be from the time when sriov-cni was on this node. */
static int explain_peer(const struct attach *a, struct err *e)
{
	const struct cni_env *env = &a->call->env;
	auto_peer struct peer p = { .file = "" };
	struct err ignored;

	if (peer_find(&a->call->ctx, env->container, env->ifname, &p, &ignored))
		return -1;
	err_set(e, ERR_STATE, 0,
		"attachment %s of container %s was made by sriov-cni (VF %s), and railhead has no "
		"record of it",
		env->ifname, env->container, p.vf);
	return err_hint(e, "its DEL restores the VF");
}

int vf_attach_recall(const struct attach *a, struct vf_attach *v, struct record *r, struct err *e)
{
	if (attach_read_record(a, r, e))
		return e->code == ERR_STATE && e->errnum == ENOENT ? explain_peer(a, e) : -1;
	const char *vf = sriov_device_vf(r);
	if (!vf || strlen(vf) >= PCI_STR_LEN)
		return err_set(e, ERR_STATE, 0, "the record of this attachment names no VF");
	(void)snprintf(v->vf, PCI_STR_LEN, "%s", vf);
	return 0;
}

int vf_attach_find(struct attach *a, struct vf_attach *v, struct err *e)
{
	struct vf_resource r;

	/* STATUS has no pod, and so no VF. A resource must have VFs to choose from. */
	if (a->call->env.cmd == CNI_STATUS) {
		if (v->resource &&
		    (vf_resource_decode(v->resource, &r, e) ||
		     claim_possible(&a->call->ctx, (struct pf_list){ r.pf, r.n }, e)))
			return -1;
		return 0;
	}
	if (!*v->vf && !v->resource)
		return err_set(e, ERR_CONFIG, 0,
			       "deviceID: missing: give the PCI address of a VF, as Multus and "
			       "device plugins do, or a resource to choose a free VF from");
	if (*v->vf && vf_locate(&a->call->ctx, a->host_nl, v->vf, &v->place, e))
		return -1;
	a->no_link = *v->vf && vf_has_userspace_driver(&v->place);
	return 0;
}

/* ---- ADD ---- */

/*
 * How long ADD waits for the kubelet. To choose a VF it is at most half the time for which another
 * call of the attachment waits for this one (attach_lock_ms). A word about a VF that is given is
 * not worth as much.
 */
#define CHOOSE_MS 5000
#define JUDGE_MS  1000

static int choose_ms(const struct attach *a)
{
	int64_t quarter = (int64_t)a->conf.ipam_timeout * 1000 / 4;

	return quarter < CHOOSE_MS ? (int)quarter : CHOOSE_MS;
}

static int find_gpus(const struct cni_call *call, const struct vf_attach *v, int ms,
		     struct near_gpus *out, struct err *e)
{
	if (near_gpus(call, v->near, out, e))
		return -1;
	return out->n ? 0 : near_pod_gpus(call, "near", ctx_mono_ms() + ms, out, e);
}

static int take_near(const struct claimant *who, const struct attach *a, struct vf_attach *v,
		     struct pf_list pfs, struct err *e)
{
	const struct cni_call *call = a->call;
	struct near_gpus gpus;
	char text[AFFINITY_TEXT_LEN];

	if (find_gpus(call, v, choose_ms(a), &gpus, e))
		return -1;
	if (!gpus.n)
		return near_no_gpu(call, "near", e);
	if (affinity_claim(who, (struct affinity_request){ &gpus, pfs, v->near_only }, &v->place,
			   &v->found, e))
		return -1;
	log_info(&call->ctx.log, "VF %s is for GPU %s from %s: %s", v->place.vf, v->found.gpu,
		 v->found.source, affinity_text(&v->found, text));
	return 0;
}

/* The kubelet or its user chose the VF. railhead does not choose another one, but says that it is
 * far.
 */
static void judge_given(const struct claimant *who, const struct cni_call *call,
			struct vf_attach *v, struct pf_list pfs)
{
	const struct log *log = &call->ctx.log;
	struct near_gpus gpus;
	char text[AFFINITY_TEXT_LEN];
	struct err why;

	int rc = find_gpus(call, v, JUDGE_MS, &gpus, &why);
	if (rc == 0 && !gpus.n)
		log_info(log, "VF %s: the pod has no GPU that it could be near to", v->vf);
	else if (rc || affinity_of(who, (struct affinity_request){ &gpus, pfs, false }, v->place.pf,
				   &v->found, &why))
		log_warn(log, "VF %s: unknown whether it is near to a GPU of the pod: %s", v->vf,
			 why.msg);
	else if (v->found.farther)
		log_warn(log, "VF %s, which the configuration names, is far from GPU %s: %s", v->vf,
			 v->found.gpu, affinity_text(&v->found, text));
}

static int take_vf(const struct attach *a, struct vf_attach *v, unsigned will_change, struct err *e)
{
	struct claimant who = {
		.ctx = &a->call->ctx,
		.nl = a->host_nl,
		.key = attach_key(a->call),
		.netns = a->call->env.netns,
		.netns_id = a->pod.id,
		.will_change = will_change,
		.needs_rdma = v->needs_rdma,
	};
	struct vf_resource r = { 0 };

	if (v->resource && vf_resource_decode(v->resource, &r, e))
		return -1;
	const struct pf_list pfs = { r.pf, r.n };
	if (*v->vf) {
		if (claim_vf(&who, v->vf, &v->place, e))
			return -1;
		if (v->near)
			judge_given(&who, a->call, v, pfs);
		return 0;
	}
	who.vf_not_named = true;
	return v->near ? take_near(&who, a, v, pfs, e) : claim_any(&who, pfs, &v->place, e);
}

/* The record names a file only if this ADD will create it, because DEL removes the file on record.
 */
static int find_devinfo(const struct attach *a, const char **path, struct err *e)
{
	struct stat st;

	if (devinfo_path(&a->call->conf, path, e))
		return -1;
	if (*path && lstat(*path, &st) == 0)
		*path = NULL;
	return 0;
}

int vf_attach_claim(struct attach *a, struct vf_attach *v, unsigned will_change,
		    const struct tier *tier, struct err *e)
{
	const char *devinfo;

	if (take_vf(a, v, will_change, e) || find_devinfo(a, &devinfo, e))
		return -1;
	log_debug(&a->call->ctx.log, "VF %s (number %u of %s, driver %s, interface %s) is claimed",
		  v->place.vf, v->place.index, v->place.pf_name,
		  *v->place.driver ? v->place.driver : "none",
		  *v->place.name ? v->place.name : "none");
	memcpy(v->vf, v->place.vf, sizeof(v->vf));
	memcpy(a->master.name, v->place.pf_name, sizeof(a->master.name));
	a->master.ifindex = v->place.pf_ifindex;
	a->pci_id = v->vf;
	a->no_link = vf_has_userspace_driver(&v->place);
	/* The record also keeps why near chose this VF. */
	auto_json struct json *device = sriov_device(&v->place, devinfo, tier);
	if (!device || (*v->found.gpu && json_put(device, "near", affinity_to_json(&v->found))))
		return err_nomem(e);
	a->device = TAKE_PTR(device);
	return 0;
}

static int write_devinfo(const struct attach *a, const struct vf_attach *v, struct err *e)
{
	char rdma[PCI_RDMA_LEN];
	struct err none;
	bool has_rdma = pci_rdma_device(a->call->ctx.sysfs, v->vf, rdma, &none) == 0;
	const struct devinfo_pci what = { v->vf, v->place.pf,
					  *v->rdma   ? v->rdma
					  : has_rdma ? rdma
						     : NULL };
	const char *path = sriov_device_info(a->device);
	bool made;

	return path ? devinfo_write(path, &what, &made, e) : 0;
}

/* Without an interface the result has the MAC that the PF gave the VF, and the PF's MTU. */
static int describe_without_link(struct attach *a, const struct vf_attach *v, struct err *e)
{
	static const uint8_t zero[MAC_LEN];
	struct vf_info s;

	if (nl_vf_get(a->host_nl, (struct vf_ref){ v->place.pf_ifindex, v->place.index }, &s, e))
		return -1;
	if ((s.has & VF_MAC) && memcmp(s.mac, zero, MAC_LEN) != 0)
		a->link.addr = hw_addr_of_mac(s.mac);
	a->link.mtu = v->place.pf_mtu;
	return 0;
}

static int move_in(const struct attach *a, const struct vf_attach *v, struct err *e)
{
	const struct record_key key = attach_key(a->call);
	const struct vf_target to = { a->host_nl, a->pod_nl, &a->pod, key.ifname };
	int ifindex;

	if (vf_move_to_pod(&v->place, &to, &ifindex, e))
		return -1;
	log_debug(&a->call->ctx.log, "VF %s: %s is in the pod as %s", v->vf, v->place.name,
		  key.ifname);
	if (!v->held)
		return claim_set_ifindex(&a->call->ctx, v->vf, &key, ifindex, e);
	v->held->owner.ifindex = ifindex;
	return vf_state_write(&a->call->ctx, v->held, e);
}

int vf_attach_move(struct attach *a, const struct vf_attach *v, struct err *e)
{
	if (write_devinfo(a, v, e))
		return -1;
	return a->no_link ? describe_without_link(a, v, e) : move_in(a, v, e);
}

/* ---- carrier ---- */

/* igbvf needs some ms; iavf waits for a message of its PF; a busy machine needs longer. */
#define CARRIER_MS 1000

/* The VF's link is up, down, or that of its PF. A PF that does not report it means the last. */
static enum vf_link_state link_policy(const struct attach *a, const struct vf_attach *v,
				      const struct vf_info *want)
{
	const struct vf_ref vf = { v->place.pf_ifindex, v->place.index };
	struct vf_info is;
	struct err ignored;

	if (want->has & VF_LINK_STATE)
		return want->link_state;
	if (nl_vf_get(a->host_nl, vf, &is, &ignored) || !(is.has & VF_LINK_STATE))
		return VF_LINK_AUTO;
	return is.link_state;
}

/* ADD does not wait for a carrier that cannot come: the link is disabled, or the PF has none. */
int vf_attach_carrier_ms(const struct attach *a, const struct vf_attach *v,
			 const struct vf_info *want)
{
	enum vf_link_state policy = link_policy(a, v, want);
	struct err ignored;

	if (policy == VF_LINK_DISABLE ||
	    (policy == VF_LINK_AUTO &&
	     nl_link_carrier(a->host_nl, v->place.pf_ifindex, &ignored) != 1))
		return 0;
	return CARRIER_MS;
}

/* ---- CHECK and DEL ---- */

int vf_attach_check_pf_side(const struct attach *a, const struct vf_attach *v,
			    const struct vf_info *want, struct err *e)
{
	const struct vf_ref vf = { v->place.pf_ifindex, v->place.index };
	struct vf_info is;

	if (!want->has)
		return 0;
	if (nl_vf_get(a->host_nl, vf, &is, e))
		return -1;
	enum vf_attr one = vf_differing(&is, want);
	return one ? err_set(e, ERR_STATE, 0, "VF %s: its PF %s has another %s than configured",
			     v->vf, v->place.pf_name, vf_attr_name(one))
		   : 0;
}

int vf_attach_check(const struct attach *a, const struct vf_attach *v, struct err *e)
{
	if (!a->no_link && *a->link.parent && strcmp(a->link.parent, v->vf) != 0)
		return err_set(e, ERR_STATE, 0, "interface %s is the device %s, not the VF %s",
			       a->link.name, a->link.parent, v->vf);
	if (!a->no_link && a->conf.mtu && a->link.mtu != a->conf.mtu)
		return err_set(e, ERR_STATE, 0, "interface %s has mtu %u, configured is %u",
			       a->link.name, a->link.mtu, a->conf.mtu);
	return 0;
}

int vf_attach_release(const struct cni_call *call, const struct record *r, struct err *e)
{
	const struct record unrecorded = {
		.key = attach_key(call),
		.kind = "",
		.netns = call->env.netns,
	};

	if (r)
		return 0;
	return sriov_restore(&call->ctx, &unrecorded, e) ||
			       claim_release_named(&call->ctx, &call->conf, &unrecorded.key,
						   unrecorded.netns, e)
		       ? -1
		       : 0;
}
