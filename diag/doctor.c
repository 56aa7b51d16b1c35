/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c: runs all checks, and has those of devices, rails, ports, GIDs and MTU. */
#include "diag/doctor.h"

#include "diag/doctor_priv.h"

/* ---- for the checks ---- */

const char doctor_from_outside[] =
	"not checked: run it in the pod, or give --netns /proc/PID/ns/net of one of its processes";

struct finding *doctor_add(struct doctor *doc, const char *check, const char *subject,
			   enum finding_state state)
{
	struct finding *f = findings_add(&doc->out, check, state);

	if (*subject)
		finding_set_subject(f, "%s", subject);
	return f;
}

/* ---- devices ---- */

static void check_devices(struct doctor *doc)
{
	const struct rdma_inventory *v = doc->data->inventory;
	struct finding *f;

	if (v->n_devices) {
		f = doctor_add(doc, "devices", "", FINDING_OK);
		finding_set_value(f, "%zu RDMA device%s visible in this network namespace",
				  v->n_devices, v->n_devices == 1 ? "" : "s");
		return;
	}
	f = doctor_add(doc, "devices", "", FINDING_FAIL);
	finding_set_reason(f, "NCCL and UCX fall back to TCP");
	if (!v->has_rdma) {
		finding_set_value(f, "this kernel has no RDMA");
		finding_set_remedy(f,
				   "load the driver of the NIC with its RDMA part (mlx5_ib, irdma, "
				   "bnxt_re), or check that ib_core is loaded, on the host");
		return;
	}
	finding_set_value(f, "no RDMA device is visible in this network namespace (mode %s)",
			  rdma_mode_name(v->mode));
	if (v->mode == RDMA_EXCLUSIVE)
		finding_set_remedy(
			f, "chain the plugin \"rdma\" after the one that attaches the "
			   "VF, which moves the device into the pod. Or give the plugin "
			   "\"sriov\" the key \"rdma\": \"exclusive\", which does the same");
	else
		finding_set_remedy(f, "check on the host with \"railctl rdma list\" that the NIC "
				      "has an RDMA device; its driver's RDMA module may not be "
				      "loaded");
}

static void refuse_ipoib(const struct doctor *doc, const struct inv_netdev *d, struct finding *f)
{
	finding_set_value(f, "no visible port of InfiniBand has the GUID of %s", d->link.name);
	if (doc->data->inventory->mode == RDMA_EXCLUSIVE)
		finding_set_remedy(f,
				   "the RDMA device of %s is in another network namespace: with "
				   "the plugin ib-sriov set \"rdmaIsolation\"; for a child of "
				   "ipoib use mode shared",
				   d->link.name);
	else
		finding_set_remedy(f, "check that sysfs of this network namespace is mounted on "
				      "/sys, and with \"railctl rdma list --ib\" that the device "
				      "is there");
}

/* An interface that should be a rail and has no port. */
static void doctor_check_rail(struct doctor *doc, const struct inv_netdev *d)
{
	const struct rdma_inventory *v = doc->data->inventory;
	bool above = !*d->link.parent;
	struct finding *f;

	for (size_t i = 0; i < doc->data->rails->n; i++)
		if (doc->data->rails->rail[i].netdev == d)
			return;
	if (!rail_expected(v, d) || !v->n_devices)
		return;
	f = doctor_add(doc, "rail", d->link.name, FINDING_WARN);
	finding_set_reason(f, "RDMA cannot use %s", d->link.name);
	if (inv_is_ipoib(d)) {
		refuse_ipoib(doc, d, f);
		return;
	}
	if (!d->n_addrs) {
		finding_set_value(f, "%s has no address, so it has no GID", d->link.name);
		finding_set_remedy(
			f, "give it an address: add \"ipam\" to the network's configuration");
		return;
	}
	finding_set_value(f, "no visible RDMA port belongs to %s or has its addresses",
			  d->link.name);
	if (above && v->mode == RDMA_EXCLUSIVE)
		finding_set_remedy(
			f,
			"%s needs mode shared, because in mode exclusive only one namespace has "
			"the device: run \"railctl rdma mode shared\", or use VFs",
			d->link.kind);
	else
		finding_set_remedy(
			f,
			"if its NIC has RDMA, check that the device is visible and the interface "
			"up; if it has only IPv6 addresses, that IPv6 is on");
}

/* ---- ports ---- */

static void doctor_check_port(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	bool up = r->port->state == RDMA_PORT_ACTIVE;
	struct finding *f = doctor_add(doc, "port", name, up ? FINDING_OK : FINDING_FAIL);

	finding_set_value(f, "the port is %s", rdma_port_state_name(r->port->state));
	if (up)
		return;
	finding_set_reason(f, "NCCL and UCX do not use this port");
	finding_set_remedy(f, "check the cable, and that the interface of the port is up, on the "
			      "host too (ip link set DEV up)");
}

/* An interface above a card cannot have a larger MTU than the card. */
static void check_mtu_above(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	const struct link_info *link = &r->netdev->link;
	bool enough = inv_rdma_mtu(link->mtu) == 4096;
	struct finding *f = doctor_add(doc, "mtu", name, enough ? FINDING_OK : FINDING_UNKNOWN);

	finding_set_value(f, "the MTU of %s is %u%s", link->name, link->mtu,
			  enough ? ", and that of the port's own interface is not smaller: RDMA "
				   "packets carry 4096 bytes"
				 : "; the MTU of the port's own interface counts, and it is not "
				   "visible here: run it on the host, with --netns");
}

static void doctor_check_mtu(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	uint32_t below = r->netdev ? r->netdev->below_mtu : 0;
	bool seen = !r->port->netdev_mtu && below;
	uint32_t netdev = seen ? below : r->port->netdev_mtu;
	uint32_t mtu = inv_rdma_mtu(netdev);
	struct finding *f;

	if (r->port->layer != IB_LAYER_ETHERNET)
		return;
	if (!netdev && r->netdev)
		check_mtu_above(doc, r, name);
	if (!netdev)
		return;
	f = doctor_add(doc, "mtu", name,
		       mtu == 4096 ? FINDING_OK
		       : mtu       ? FINDING_WARN
				   : FINDING_FAIL);
	finding_set_value(f, "the MTU of %s is %u: RDMA packets carry %u bytes",
			  seen ? r->netdev->below : r->port->netdev, netdev, mtu);
	if (mtu == 4096)
		return;
	finding_set_reason(
		f, mtu ? "the same data need more packets: bandwidth is lower, load is higher"
		       : "not even the smallest RDMA packets fit");
	finding_set_remedy(f, "set it to 4200 or more (9000 is usual) on the PF, on the VF "
			      "(\"mtu\" in the network's configuration), and on the switches: the "
			      "smaller MTU of the two ends counts");
}

/* ---- GIDs ---- */

const struct inv_gid *doctor_own_gid(const struct rdma_rail *r)
{
	return r->v4 ? r->v4 : r->v6;
}

/* The GIDs that the port has instead. */
static void finding_gids(const struct rdma_rail *r, struct finding *f)
{
	size_t v1 = 0, v2 = 0;

	for (size_t i = 0; i < r->port->n_gids; i++) {
		v1 += r->port->gid[i].here && r->port->gid[i].entry.type == GID_ROCE_V1;
		v2 += r->port->gid[i].entry.type == GID_ROCE_V2;
	}
	if (v1)
		finding_set_value(f, "the port has the addresses of %s only as RoCE v1 GIDs",
				  r->netdev->link.name);
	else if (!r->netdev->n_addrs)
		finding_set_value(f, "%s has no address", r->netdev->link.name);
	else
		finding_set_value(
			f, "none of the %zu RoCE v2 GIDs of the port is a routable address of %s",
			v2, r->netdev->link.name);
	finding_set_remedy(
		f,
		v1 ? "the NIC, or its firmware, is set to RoCE v1: set it to v2"
		   : "give the interface an IPv4 address, or an IPv6 address that is not "
		     "link-local; for the latter, IPv6 must be on (net.ipv6.conf.*.disable_ipv6)");
}

static void check_bare(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	struct finding *f = doctor_add(doc, "gid", name, FINDING_WARN);

	finding_set_value(f, "%s has no routable address, so it has no GID of one",
			  r->netdev->link.name);
	finding_set_reason(f,
			   "RoCE does not work from %s itself; macvlan and ipvlan above it have "
			   "GIDs of their own",
			   r->netdev->link.name);
	finding_set_remedy(f, "if it only carries macvlan or ipvlan, nothing needs to be done; "
			      "else give it an address");
}

static void check_gid(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	const struct inv_gid *g = doctor_own_gid(r);
	char ip[IP_STR_LEN];
	struct finding *f;

	if (r->port->layer != IB_LAYER_ETHERNET)
		return;
	if (!r->port->has_gids) {
		f = doctor_add(doc, "gid", name, FINDING_UNKNOWN);
		finding_set_value(f, "sysfs does not show the port's GIDs");
		finding_set_remedy(f, "mount sysfs in this network namespace, or run it on the "
				      "host, with --netns");
		return;
	}
	if (!g && rail_is_bare(r)) {
		check_bare(doc, r, name);
		return;
	}
	f = doctor_add(doc, "gid", name, g ? FINDING_OK : FINDING_FAIL);
	if (g) {
		finding_set_value(f, "RoCE v2 GID %s at index %u",
				  ip_format(gid_to_ip(&g->entry.gid), ip), g->entry.index);
		return;
	}
	finding_set_reason(f, "RoCE v2 does not work from this interface");
	finding_gids(r, f);
}

static void check_ambiguous(struct doctor *doc, const struct rdma_rail *r, const char *name)
{
	struct finding *f;

	if (!r->ambiguous)
		return;
	f = doctor_add(doc, "rail", name, FINDING_UNKNOWN);
	finding_set_value(f,
			  "more than one port has the address of %s, and the same interface name",
			  r->netdev->link.name);
	finding_set_reason(f, "from inside the pod it is not visible which port is its own");
	finding_set_remedy(f, "run it on the host, with --netns");
}

/* ---- all of it ---- */

static void check_rails(struct doctor *doc)
{
	const struct rdma_inventory *v = doc->data->inventory;
	const struct rails *rails = doc->data->rails;
	char name[RAIL_PORT_LEN];

	for (size_t i = 0; i < v->n_netdevs; i++)
		doctor_check_rail(doc, &v->netdev[i]);
	for (size_t i = 0; i < rails->n; i++) {
		const struct rdma_rail *r = &rails->rail[i];

		(void)rail_port(r, name);
		check_ambiguous(doc, r, name);
		if (r->port->layer == IB_LAYER_INFINIBAND)
			doctor_check_ib(doc, r, name);
		else
			doctor_check_port(doc, r, name);
		check_gid(doc, r, name);
		doctor_check_nccl_gid(doc, r, name);
		doctor_check_mtu(doc, r, name);
		doctor_check_qos(doc, r, name);
		doctor_check_lossless(doc, r, name);
		doctor_check_counters(doc, r, name);
	}
}

int doctor_check(const struct probe_data *f, struct findings *out, struct err *e)
{
	struct doctor doc = { .data = f };

	check_devices(&doc);
	check_rails(&doc);
	doctor_check_ib_others(&doc);
	doctor_check_mode(&doc);
	doctor_check_access(&doc);
	doctor_check_nccl_version(&doc);
	doctor_check_settings(&doc);
	doctor_check_lists(&doc);
	doctor_check_traffic_class(&doc);
	if (findings_check(&doc.out, e)) {
		findings_clear(&doc.out);
		return -1;
	}
	*out = doc.out;
	return 0;
}
