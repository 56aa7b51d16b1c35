/* SPDX-License-Identifier: Apache-2.0 */
/* exclusive.c: mode exclusive: moves the RDMA device of a VF into the pod, and checks it there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugins/rdma/pod.h"

/* ---- which device ---- */

static int not_its_own(const struct rdma_pod *p, const struct link_info *link, struct err *e)
{
	err_set(e, ERR_STATE, 0,
		"interface %s is a %s: it shares the RDMA device of its parent, but this node is "
		"in RDMA mode exclusive",
		link->name, link->kind);
	return err_hint(e, "%s",
			p->conf.mode == RDMA_WANT_EXCLUSIVE
				? "mode \"exclusive\" is for VFs, each of which has an RDMA device "
				  "of its own"
				: "one node cannot serve both: mode exclusive is for VFs, whose "
				  "RDMA devices move into pods; macvlan, ipvlan and ipoib need a "
				  "node in mode shared (`railctl rdma mode shared`)");
}

/* The hardware of the interface counts. If it has none (yet), the configuration names the device.
 */
static int choose_bus(const struct rdma_pod *p, const char **bus, struct link_info *link,
		      struct err *e)
{
	const char *ifname = p->a->call->env.ifname, *given = rdma_conf_bus(&p->conf);
	struct err why;

	*link = (struct link_info){ 0 };
	if (nl_link_by_name(p->a->pod_nl, ifname, link, &why) && (why.errnum != ENODEV || !given)) {
		*e = why;
		return err_wrap(e, "look at interface %s of the pod", ifname);
	}
	/* An IPoIB interface has a kind too. A child of one has a device below it. */
	if (*link->kind && (strcmp(link->kind, "ipoib") != 0 || link->lower_ifindex))
		return not_its_own(p, link, e);
	*bus = *link->parent && bus_addr_valid(link->parent) ? link->parent : given;
	if (!*bus)
		return err_set(e, ERR_CONFIG, 0,
			       "deviceID: missing: interface %s does not say which PCI device it "
			       "is",
			       ifname);
	if (given && strcasecmp(given, *bus) != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "deviceID: \"%.64s\" is not the device of interface %s, which is %s",
			       given, ifname, *bus);
	return 0;
}

static int explain_absence(const struct rdma_pod *p, const char *bus, struct err *e)
{
	if (e->code != ERR_NOTFOUND)
		return err_wrap(e, "RDMA device of %s", bus);
	(void)err_hint(e, "the function may have no RDMA, its RDMA driver may not be loaded, or "
			  "another pod may have it. `railctl rdma list` shows the devices here, "
			  "and `railctl attachments list --json` those in pods");
	return err_wrap(e, "RDMA device for interface %s", p->a->call->env.ifname);
}

int rdma_exclusive_find(struct rdma_pod *p, struct err *e)
{
	struct rdma_serving *s = &p->serving;
	struct link_info link;
	const char *bus = NULL;

	if (choose_bus(p, &bus, &link, e))
		return -1;
	if (rdma_of_bus(p->a->call->ctx.sysfs, p->host_rdma, bus, &s->link, e))
		return explain_absence(p, bus, e);
	(void)snprintf(s->pci, sizeof(s->pci), "%s", bus);
	s->port = 1;
	s->own = true;
	memcpy(p->pod_name, s->link.name, sizeof(p->pod_name));
	return rdma_chardevs_read(p->host_rdma, &s->link, &p->chardevs, e);
}

/* ---- the move ---- */

int rdma_exclusive_move(struct rdma_pod *p, struct err *e)
{
	char uid[CNI_POD_UID_LEN];
	const struct rdma_numbers numbers = {
		.ctx = &p->a->call->ctx,
		.log = &p->a->records.ctx.log,
		.bus = p->serving.pci,
		.pod = cni_env_pod(&p->a->call->env, uid),
		.renumbered = (enum rdma_renumbered)p->conf.renumbered,
	};
	struct rdma_move m = {
		.numbers = &numbers,
		.host = &p->a->host,
		.pod = &p->a->pod,
		.host_rdma = p->host_rdma,
		.pod_rdma = p->pod_rdma,
		.name = p->conf.name,
		.link = p->serving.link,
		.chardevs = p->chardevs,
	};

	if (rdma_numbers_check(&numbers, &m.chardevs, e) || rdma_move(&m, e)) {
		if (e->errnum == EEXIST)
			(void)err_hint(e, "%s",
				       p->conf.name
					       ? "deviceName must be a name that no other RDMA "
						 "device has"
					       : "deviceName gives it another name in the pod");
		return err_wrap(e, "RDMA device %s (%s)", p->serving.link.name, p->serving.pci);
	}
	p->chardevs = m.chardevs;
	memcpy(p->pod_name, m.pod_name, sizeof(p->pod_name));
	return 0;
}

/* ---- CHECK ---- */

int rdma_exclusive_check(struct rdma_pod *p, const struct rdma_taken *t, struct err *e)
{
	const struct rdma_away away = { t->bus, t->index, t->pod_name, t->uverbs };
	struct rdma_moved is;

	if (rdma_check_moved(p->pod_rdma, &away, &is, e))
		return -1;
	if (strcmp(is.link.name, t->pod_name) != 0)
		return err_set(e, ERR_STATE, 0, "RDMA device %s of the pod is called %s now",
			       t->pod_name, is.link.name);
	p->serving.link = is.link;
	p->chardevs = is.chardevs;
	return 0;
}
