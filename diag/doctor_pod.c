/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_pod.c: the checks of the mode, of character devices, of memory, of quality of service. */
#include <string.h>

#include "diag/doctor_priv.h"

/* ---- the mode ---- */

static bool is_above(const struct rdma_rail *r)
{
	return r->netdev && !r->own;
}

void doctor_check_mode(struct doctor *doc)
{
	const struct rdma_inventory *v = doc->data->inventory;
	const struct rails *rails = doc->data->rails;
	bool above = false, vf = false;
	struct finding *f;

	if (!v->n_devices)
		return;
	for (size_t i = 0; i < rails->n; i++) {
		above |= is_above(&rails->rail[i]);
		vf |= rails->rail[i].device->vf && !is_above(&rails->rail[i]);
	}
	f = doctor_add(doc, "mode", "", v->mode == RDMA_SHARED && vf ? FINDING_WARN : FINDING_OK);
	if (v->mode == RDMA_EXCLUSIVE) {
		finding_set_value(f, "exclusive: only one namespace sees a device and can open it");
		return;
	}
	if (!vf) {
		finding_set_value(f, "shared: every namespace sees all devices%s",
				  above ? ", as macvlan, ipvlan and ipoib need it" : "");
		return;
	}
	finding_set_value(f, "shared, and the pod has VFs");
	finding_set_reason(f, "a pod that has the character device of a VF can use it, even if "
			      "another pod owns the VF: VFs are not isolated");
	finding_set_remedy(f, above ? "one node cannot serve both. macvlan, ipvlan and ipoib need "
				      "mode shared. VFs are isolated only in mode "
				      "exclusive. Use separate nodes for them"
				    : "run \"railctl rdma mode exclusive\" on the host. Then chain "
				      "the plugin \"rdma\" after the one that attaches VFs, or "
				      "give the plugin \"sriov\" the key \"rdma\": \"exclusive\"");
}

/* ---- character devices ---- */

static enum finding_state doctor_pod_state_of(enum file_access a)
{
	if (a == ACCESS_OK)
		return FINDING_OK;
	return a == ACCESS_UNKNOWN || a == ACCESS_THERE ? FINDING_UNKNOWN : FINDING_FAIL;
}

static void finding_denied(const struct doctor *doc, const struct device_file *file,
			   struct finding *f)
{
	finding_set_value(f, "%s exists, but cannot be opened: %s", file->path,
			  strerrordesc_np(file->errnum));
	if (doc->data->inventory->mode == RDMA_EXCLUSIVE)
		finding_set_remedy(f,
				   "let a device plugin allow it in the container's device rules; "
				   "the device must also be in this network namespace");
	else
		finding_set_remedy(f,
				   "let a device plugin allow it in the container's device rules; "
				   "a plain mount of /dev/infiniband does not do that");
}

static void finding_file(const struct doctor *doc, const struct device_file *file,
			 const struct rdma_chardev *c, struct finding *f)
{
	switch (file->access) {
	case ACCESS_OK:
		finding_set_value(f, "%s can be opened", file->path);
		break;
	case ACCESS_THERE:
		finding_set_value(
			f, "%s exists; from outside it is not visible whether the pod may open it",
			file->path);
		break;
	case ACCESS_MISSING:
		finding_set_value(f, "there is no %s", file->path);
		finding_set_remedy(f, "give it to the pod: a device plugin's resource in the pod's "
				      "limits, or \"devices\" in the container's configuration");
		break;
	case ACCESS_DENIED:
		finding_denied(doc, file, f);
		break;
	case ACCESS_WRONG:
		finding_set_value(f, "%s is device %u:%u, and the kernel's %s is %u:%u", file->path,
				  file->major, file->minor, c->name, c->major, c->minor);
		finding_set_remedy(f, "start the pod again: the numbers changed after its devices "
				      "were chosen, because other devices moved at the same time");
		break;
	case ACCESS_UNKNOWN:
		finding_set_value(f, "%s",
				  *file->path ? doctor_from_outside
					      : "the kernel did not report its device number");
		break;
	}
}

static void check_uverbs(struct doctor *doc, size_t device)
{
	const struct inv_device *d = &doc->data->inventory->device[device];
	const struct device_file *file = &doc->data->device[device].uverbs;
	struct finding *f =
		doctor_add(doc, "uverbs", d->link.name, doctor_pod_state_of(file->access));

	finding_file(doc, file, &d->uverbs, f);
	if (f->state == FINDING_FAIL)
		finding_set_reason(
			f,
			file->access == ACCESS_WRONG
				? "the pod opens the device of another pod"
				: "libibverbs cannot open the device: NCCL and UCX do not use it");
}

static void check_rdma_cm(struct doctor *doc)
{
	const struct device_file *file = &doc->data->rdma_cm;
	const struct rdma_chardev none = { .name = "rdma_cm" };
	enum finding_state state = doctor_pod_state_of(file->access);
	struct finding *f =
		doctor_add(doc, "rdma-cm", "", state == FINDING_FAIL ? FINDING_WARN : state);

	finding_file(doc, file, &none, f);
	if (f->state == FINDING_WARN)
		finding_set_reason(f, "programs that use RDMA CM fail (rping, ib_send_bw -R, NVMe "
				      "over RDMA); NCCL and libibverbs do not need it");
}

/* ---- memory ---- */

#define MEMLOCK_LEAST (UINT64_C(64) << 20)

static void check_memlock(struct doctor *doc)
{
	const struct probe_data *data = doc->data;
	bool enough = data->ipc_lock || data->memlock == MEMLOCK_UNLIMITED;
	struct finding *f = doctor_add(doc, "memlock", "",
				       !data->has_memlock              ? FINDING_UNKNOWN
				       : enough                        ? FINDING_OK
				       : data->memlock < MEMLOCK_LEAST ? FINDING_FAIL
								       : FINDING_WARN);

	if (!data->has_memlock) {
		finding_set_value(f, "%s", doctor_from_outside);
		return;
	}
	if (enough) {
		finding_set_value(f, data->ipc_lock ? "CAP_IPC_LOCK: no limit applies"
						    : "memory may be locked without limit");
		return;
	}
	finding_set_value(f, "%llu KiB of memory may be locked",
			  (unsigned long long)(data->memlock >> 10));
	finding_set_reason(
		f, "registering a larger buffer fails with ENOMEM (\"Cannot allocate memory\")");
	finding_set_remedy(
		f, "add the capability IPC_LOCK to the container, or raise the limit of the "
		   "container runtime (LimitMEMLOCK=infinity in its unit)");
}

/* ---- whether it is used ---- */

static void check_transport(struct doctor *doc)
{
	const struct probe_data *data = doc->data;
	struct finding *f =
		doctor_add(doc, "transport", "", data->has_qps ? FINDING_OK : FINDING_UNKNOWN);

	if (!data->has_qps)
		finding_set_value(f, "the kernel does not list queue pairs");
	else if (data->qp_pid)
		finding_set_value(f, "RDMA is in use: process %u has a connected queue pair",
				  data->qp_pid);
	else
		finding_set_value(f, "no process that is visible here has a connected queue pair: "
				     "no job runs, or it does not use RDMA");
}

/* ---- for the rails ---- */

static bool has_rail(const struct probe_data *f, const struct inv_device *d)
{
	for (size_t i = 0; i < f->rails->n; i++)
		if (f->rails->rail[i].device == d)
			return true;
	return false;
}

void doctor_check_access(struct doctor *doc)
{
	bool any = false;

	for (size_t i = 0; i < doc->data->inventory->n_devices; i++) {
		if (!has_rail(doc->data, &doc->data->inventory->device[i]))
			continue;
		check_uverbs(doc, i);
		any = true;
	}
	if (!any)
		return;
	check_rdma_cm(doc);
	check_memlock(doc);
	check_transport(doc);
}

/* ---- quality of service ---- */

const struct port_data *doctor_port(const struct doctor *doc, const struct rdma_rail *r)
{
	size_t d = (size_t)(r->device - doc->data->inventory->device);

	return &doc->data->device[d].port[r->port - r->device->port];
}

bool doctor_is_lossy(const struct doctor *doc, const struct rdma_rail *r)
{
	return doc->data->lossy ||
	       doc->data->device[r->device - doc->data->inventory->device].lossy;
}

const char *doctor_list(unsigned bits, const char *separator, char out[DOCTOR_LIST_LEN])
{
	char *end = out;

	for (unsigned i = 0; i < 8; i++) {
		if (!(bits >> i & 1))
			continue;
		if (end != out)
			end = stpcpy(end, separator);
		*end++ = (char)('0' + i);
	}
	*end = '\0';
	return end == out ? "none" : out;
}

static void check_pfc(struct doctor *doc, const struct port_data *p, const struct rdma_rail *r,
		      const char *name)
{
	char list[DOCTOR_LIST_LEN];
	bool lossy = doctor_is_lossy(doc, r) && !p->dcb.pfc;
	struct finding *f =
		doctor_add(doc, "pfc", name, p->dcb.pfc || lossy ? FINDING_OK : FINDING_WARN);

	if (lossy) {
		finding_set_value(f, "priority flow control is off on %s, as the fabric has none",
				  r->port->netdev);
		return;
	}
	if (p->dcb.pfc) {
		finding_set_value(f, "%s pauses priority %s instead of dropping its packets",
				  r->port->netdev, doctor_list(p->dcb.pfc, ", ", list));
		return;
	}
	finding_set_value(f, "priority flow control is off on %s for all priorities",
			  r->port->netdev);
	finding_set_reason(f, "under load packets are dropped, and RDMA slows down far more than "
			      "TCP would");
	finding_set_remedy(f,
			   "switch it on for one priority on NIC and switch alike: "
			   "railctl rdma qos set --pf %s --pfc 3 --save",
			   r->port->netdev);
}

static void check_trust(struct doctor *doc, const struct port_data *p, const struct rdma_rail *r,
			const char *name)
{
	bool trusted = p->dcb.dscp_rules > 0;
	struct finding *f = doctor_add(doc, "trust", name, trusted ? FINDING_OK : FINDING_WARN);

	if (trusted) {
		finding_set_value(
			f, "%s: priorities follow DSCP (%u values have a priority of their own)",
			r->port->netdev, p->dcb.dscp_rules);
		return;
	}
	finding_set_value(f, "%s: no DSCP value has a priority of its own", r->port->netdev);
	finding_set_reason(f, "priorities follow the VLAN tag: packets without a tag have priority "
			      "0, whatever their traffic class");
	finding_set_remedy(f, "railctl rdma qos set --pf %s --trust dscp --save", r->port->netdev);
}

void doctor_check_qos(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	const struct port_data *p = doctor_port(doc, r);
	struct finding *f;

	/* A software device has neither. */
	if (r->port->layer != IB_LAYER_ETHERNET || !*r->device->bus)
		return;
	if (p->has_dcb && p->dcb.has_pfc)
		check_pfc(doc, p, r, name);
	if (p->has_dcb && p->dcb.has_app)
		check_trust(doc, p, r, name);
	if (p->has_dcb)
		return;
	f = doctor_add(doc, "pfc", name, FINDING_UNKNOWN);
	finding_set_value(f,
			  r->port->ifindex && !r->device->vf
				  ? "the driver does not report flow control and DSCP"
				  : "flow control and DSCP are set on the PF, which is not in this "
				    "namespace: run it on the host");
}
