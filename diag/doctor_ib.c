/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_ib.c: the checks of InfiniBand ports: state, subnet manager, LID, GUIDs, partitions.
 *
 * In mode shared a port without an interface here may be in use by another pod, or by none. Its
 * errors are warnings.
 */
#include "diag/doctor_priv.h"

#include <stdio.h>

struct ib_port {
	struct doctor *doc;
	const struct inv_device *device;
	const struct inv_port *port;
	const char *name; /* "mlx5_0:1" */
	bool ours;
};

static struct finding *doctor_ib_add(const struct ib_port *p, const char *check, bool good)
{
	enum finding_state bad = p->ours ? FINDING_FAIL : FINDING_WARN;

	return doctor_add(p->doc, check, p->name, good ? FINDING_OK : bad);
}

/* ---- the state ---- */

enum { PHYS_SLEEP = 1, PHYS_POLLING = 2, PHYS_DISABLED = 3 };

static void explain_down(const struct ib_port *p, struct finding *f)
{
	if (p->device->vf)
		finding_set_remedy(f, "check on the host that the port of the PF is ACTIVE. "
				      "\"railctl vf list\" shows the link state of the VF: set "
				      "\"link_state\" in the network's configuration");
	else if (p->port->phys_state == PHYS_DISABLED)
		finding_set_remedy(f, "the port is disabled, here or on the switch: enable it "
				      "(ibportstate LID PORT enable)");
	else
		finding_set_remedy(f, "no link to the other end: check cable, transceiver and the "
				      "port of the switch");
}

static void check_state(const struct ib_port *p)
{
	enum rdma_port_state state = p->port->state;
	bool up = state == RDMA_PORT_ACTIVE;
	struct finding *f = doctor_ib_add(p, "port", up);

	finding_set_value(f, "the port is %s%s%s%s", rdma_port_state_name(state),
			  !up && p->port->phys_state ? " (physical state " : "",
			  !up && p->port->phys_state ? ib_phys_state_name(p->port->phys_state) : "",
			  !up && p->port->phys_state ? ")" : "");
	if (up)
		return;
	finding_set_reason(f, "NCCL and UCX do not use this port%s",
			   p->ours ? "" : ", if it is the pod's");
	if (state == RDMA_PORT_INIT)
		finding_set_remedy(f, "the link is up, and no subnet manager has configured the "
				      "port: start one on this fabric (opensm, UFM, or that of a "
				      "managed switch)");
	else if (state == RDMA_PORT_ARMED)
		finding_set_remedy(f, "the subnet manager has configured the port, and has not "
				      "activated it: if it stays so, look at the manager's log");
	else
		explain_down(p, f);
}

/* ---- the subnet manager ---- */

static void check_sm(const struct ib_port *p)
{
	const struct ib_subnet *s = &p->port->subnet;
	struct finding *f;

	if (!s->known) {
		f = doctor_add(p->doc, "sm", p->name, FINDING_UNKNOWN);
		finding_set_value(f, "the kernel does not report the LIDs of this port");
		finding_set_remedy(f, "run sminfo or ibv_devinfo on the host");
		return;
	}
	/* Without a link there is no subnet manager either. */
	if (p->port->state == RDMA_PORT_DOWN)
		return;
	f = doctor_ib_add(p, "sm", s->sm_lid != 0);
	if (s->sm_lid) {
		finding_set_value(f, "the subnet manager has LID %u", s->sm_lid);
		return;
	}
	finding_set_value(f, "no subnet manager: its LID is 0");
	finding_set_reason(f, "the port gets no LID, no paths and no partitions");
	finding_set_remedy(f, "start a subnet manager on this fabric (opensm, UFM, or that of a "
			      "managed switch); \"railctl rdma list --ib\" then shows its LID");
}

static void check_lid(const struct ib_port *p)
{
	const struct ib_subnet *s = &p->port->subnet;
	struct finding *f;

	if (!s->known || p->port->state == RDMA_PORT_DOWN)
		return;
	f = doctor_ib_add(p, "lid", s->lid != 0);
	if (s->lid) {
		finding_set_value(f, "LID %u%s", s->lid,
				  s->lmc ? ", and the ones after it by the LMC" : "");
		return;
	}
	finding_set_value(f, "the port has no LID");
	finding_set_reason(f, "no packet reaches the port");
	finding_set_remedy(f, p->device->vf
				      ? "look at the subnet manager's log. The manager must "
					"support virtual ports (virt_enabled 2 in the opensm of "
					"the vendor)"
				      : "look at the subnet manager's log");
}

/* ---- GUIDs ---- */

static const char *const set_guid = "give it a GUID of its own: args.cni.guid or \"guidFrom\": "
				    "\"pod\" for the plugin ib-sriov, "
				    "or \"guids\" in /etc/railhead/vf.d. By hand: ip link set PF "
				    "vf N node_guid GUID port_guid GUID, then bind "
				    "the VF to its driver again";

struct guid_use {
	struct guid guid;
	char where[RAIL_PORT_LEN + 8]; /* the first other user; "": none */
};

/* Node GUIDs are compared with node GUIDs, port GUIDs with port GUIDs: one value may be both. */
static void find_other_device(const struct ib_port *p, struct guid_use *u)
{
	const struct rdma_inventory *v = p->doc->data->inventory;

	for (size_t i = 0; i < v->n_devices && !*u->where; i++) {
		const struct inv_device *d = &v->device[i];

		if (d != p->device && d->link.node_guid == guid_number(u->guid))
			(void)snprintf(u->where, sizeof(u->where), "%s", d->link.name);
	}
}

static void find_other_port(const struct ib_port *p, struct guid_use *u)
{
	const struct rdma_inventory *v = p->doc->data->inventory;

	for (size_t i = 0; i < v->n_devices; i++) {
		const struct inv_device *d = &v->device[i];

		for (size_t k = 0; k < d->n_ports && !*u->where; k++) {
			struct guid guid;

			if (&d->port[k] != p->port && inv_port_guid(&d->port[k], &guid) &&
			    guid_equal(guid, u->guid))
				(void)snprintf(u->where, sizeof(u->where), "%s:%u", d->link.name,
					       d->port[k].port);
		}
	}
}

static void judge_guid(const struct ib_port *p, const char *what, const struct guid_use *u)
{
	bool usable = guid_is_usable(u->guid);
	struct finding *f = doctor_ib_add(p, "guid", usable && !*u->where);
	char text[GUID_STR_LEN];

	guid_format(u->guid, text);
	if (usable && !*u->where) {
		finding_set_value(f, "the GUID of the %s is %s", what, text);
		return;
	}
	if (!usable) {
		finding_set_value(f, "the GUID of the %s is %s, which is none", what, text);
		finding_set_reason(f, "a subnet manager ignores a port without a GUID: it never "
				      "becomes ACTIVE");
	} else {
		finding_set_value(f, "the GUID of the %s is %s, and that of %s is the same", what,
				  text, u->where);
		finding_set_reason(f, "a subnet manager knows ports by their GUIDs: it configures "
				      "only one of them, or reports duplicate GUIDs and stops");
	}
	finding_set_remedy(f, "%s", set_guid);
}

static void check_guids(const struct ib_port *p)
{
	struct guid_use node = { .guid = guid_of_number(p->device->link.node_guid) };
	struct guid_use port = { .where = "" };

	if (guid_is_usable(node.guid))
		find_other_device(p, &node);
	judge_guid(p, "device", &node);
	if (inv_port_guid(p->port, &port.guid)) {
		if (guid_is_usable(port.guid))
			find_other_port(p, &port);
		judge_guid(p, "port", &port);
		return;
	}

	struct finding *f = doctor_add(p->doc, "guid", p->name, FINDING_UNKNOWN);

	finding_set_value(f, "sysfs does not show the GUID of the port");
	finding_set_remedy(f, "mount sysfs in this network namespace, or run it on the host, with "
			      "--netns");
}

/* ---- partitions ---- */

static void refuse_pkey(const struct pkey_request *q, const struct inv_pkey *found,
			struct finding *f)
{
	char want[PKEY_STR_LEN], is[PKEY_STR_LEN];

	pkey_format(q->pkey, want);
	if (found) {
		finding_set_value(f, "%s asks for %s, and the port has %s: limited membership",
				  q->from, want, pkey_format(found->pkey, is));
		finding_set_reason(f, "limited members of a partition do not reach each other");
		finding_set_remedy(f, "make the port's GUID a full member of the partition in the "
				      "subnet manager (opensm: GUID=full in partitions.conf)");
		return;
	}
	finding_set_value(f, "%s asks for %s, which is not in the port's table", q->from, want);
	finding_set_reason(f, "the port is not a member of that partition: connections and IPoIB "
			      "interfaces of that key do not work");
	finding_set_remedy(f, "add the port's GUID to the partition in the subnet manager (opensm: "
			      "partitions.conf; UFM: PKeys), or let a program in "
			      "/etc/railhead/sm.d do that");
}

/* A full member may talk to all. A request for limited membership is met by full membership. */
static void check_pkey(const struct ib_port *p, const struct pkey_request *q)
{
	const struct inv_pkey *found = inv_pkey_find(p->port, q->pkey);
	bool limited = found && (q->pkey & PKEY_FULL_MEMBER) && !(found->pkey & PKEY_FULL_MEMBER);
	char is[PKEY_STR_LEN];
	struct finding *f;

	if (!p->port->has_pkeys) {
		f = doctor_add(p->doc, "pkey", p->name, FINDING_UNKNOWN);
		finding_set_value(f, "sysfs does not show the port's partition table");
		finding_set_remedy(f, "run it on the host, with --netns");
		return;
	}
	f = limited ? doctor_add(p->doc, "pkey", p->name, FINDING_WARN)
		    : doctor_ib_add(p, "pkey", found);
	if (found && !limited)
		finding_set_value(f, "%s asks for partition 0x%04x: %s at index %u", q->from,
				  pkey_partition(q->pkey), pkey_format(found->pkey, is),
				  found->index);
	else
		refuse_pkey(q, found, f);
}

static void check_pkeys(const struct ib_port *p)
{
	const struct probe_data *data = p->doc->data;

	for (size_t i = 0; i < data->n_pkeys; i++) {
		const struct pkey_request *q = &data->pkey[i];

		if (q->port ? q->port == p->port : p->ours)
			check_pkey(p, q);
	}
}

/* ---- all of them ---- */

static void doctor_ib_check_port(const struct ib_port *p)
{
	check_state(p);
	check_sm(p);
	check_lid(p);
	check_guids(p);
	check_pkeys(p);
}

void doctor_check_ib(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	const struct ib_port p = { doc, r->device, r->port, name, true };

	doctor_ib_check_port(&p);
}

static bool doctor_ib_is_rail(const struct rails *rails, const struct inv_port *p)
{
	for (size_t i = 0; i < rails->n; i++)
		if (rails->rail[i].port == p)
			return true;
	return false;
}

void doctor_check_ib_others(struct doctor *doc)
{
	const struct rdma_inventory *v = doc->data->inventory;
	char name[RAIL_PORT_LEN];

	for (size_t i = 0; i < v->n_devices; i++) {
		for (size_t k = 0; k < v->device[i].n_ports; k++) {
			const struct rdma_rail r = { .device = &v->device[i],
						     .port = &v->device[i].port[k] };
			const struct ib_port p = { doc, r.device, r.port, name, false };

			if (r.port->layer != IB_LAYER_INFINIBAND ||
			    doctor_ib_is_rail(doc->data->rails, r.port))
				continue;
			(void)rail_port(&r, name);
			doctor_ib_check_port(&p);
		}
	}
}
