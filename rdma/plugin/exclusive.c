/* SPDX-License-Identifier: Apache-2.0 */
/* exclusive.c: mode exclusive: moves the RDMA device of a VF into the pod, and checks it there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rdma/plugin/pod.h"

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
	(void)err_hint(e, "another pod may have it, the function may have no RDMA, or its RDMA "
			  "driver is not loaded; `railctl rdma list` shows the devices here");
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

static int rename_in_pod(struct rdma_pod *p, struct err *e)
{
	const char *want = p->conf.name;
	struct err back;
	int rc;

	if (!want || strcmp(want, p->pod_name) == 0)
		return 0;
	if (netns_enter(&p->a->pod, e))
		return -1;
	rc = nl_rdma_rename(p->pod_rdma, p->serving.link.index, want, e);
	if (netns_enter(&p->a->host, &back)) {
		*e = back;
		return err_wrap(e, "return to the network namespace of this process");
	}
	if (rc)
		return err_wrap(e, "deviceName");
	(void)snprintf(p->pod_name, sizeof(p->pod_name), "%s", want);
	return 0;
}

static int move_to_pod(struct rdma_pod *p, struct err *e)
{
	const struct rdma_link *d = &p->serving.link;
	struct err why;

	if (nl_rdma_move(p->host_rdma, d->index, &p->a->pod, NULL, &why) == 0)
		return 0;
	/* Linux 7.3: the pod has a device with this name, so rename ours before the move. */
	if (why.errnum == EEXIST && p->conf.name) {
		if (nl_rdma_move(p->host_rdma, d->index, &p->a->pod, p->conf.name, e))
			return -1;
		(void)snprintf(p->pod_name, sizeof(p->pod_name), "%s", p->conf.name);
		return 0;
	}
	*e = why;
	if (why.errnum == EEXIST)
		(void)err_hint(e, "deviceName gives it another name in the pod");
	return -1;
}

static int judge_numbers(struct rdma_pod *p, const struct rdma_chardevs *now, struct err *e)
{
	char what[160];

	if (!rdma_chardevs_differ(&p->chardevs, now, what, sizeof(what)))
		return 0;
	if (p->conf.renumbered == RDMA_RENUMBERED_REPORT) {
		log_warn(&p->a->records.ctx.log, "RDMA device %s got new character devices: %s",
			 p->pod_name, what);
		p->chardevs = *now;
		return 0;
	}
	err_set(e, ERR_STATE, 0, "RDMA device %s got new character devices when it moved: %s",
		p->pod_name, what);
	return err_hint(e, "the pod has the old ones, which may now belong to another pod. "
			   "Restart the device plugin, so that it reads the new numbers. If the "
			   "pod gets its devices after ADD, set renumbered to \"report\"");
}

int rdma_exclusive_move(struct rdma_pod *p, struct err *e)
{
	struct rdma_chardevs now;
	struct rdma_link there;

	if (move_to_pod(p, e) || nl_rdma_get(p->pod_rdma, p->serving.link.index, &there, e) ||
	    rdma_chardevs_read(p->pod_rdma, &there, &now, e))
		return err_wrap(e, "RDMA device %s (%s)", p->serving.link.name, p->serving.pci);
	(void)snprintf(p->pod_name, sizeof(p->pod_name), "%s", there.name);
	return judge_numbers(p, &now, e) || rename_in_pod(p, e) ? -1 : 0;
}

/* ---- CHECK ---- */

int rdma_exclusive_check(struct rdma_pod *p, const struct rdma_taken *t, struct err *e)
{
	struct rdma_link *d = &p->serving.link;
	char now[64];

	if (nl_rdma_get(p->pod_rdma, t->index, d, e)) {
		if (e->code != ERR_NOTFOUND)
			return -1;
		return err_set(e, ERR_STATE, 0, "RDMA device %s is not in the pod any more",
			       t->pod_name);
	}
	if (strcmp(d->name, t->pod_name) != 0)
		return err_set(e, ERR_STATE, 0, "RDMA device %s of the pod is called %s now",
			       t->pod_name, d->name);
	if (rdma_chardevs_read(p->pod_rdma, d, &p->chardevs, e))
		return -1;
	if (strcmp(rdma_chardev_text(&p->chardevs.uverbs, now, sizeof(now)), t->uverbs) != 0)
		return err_set(e, ERR_STATE, 0,
			       "RDMA device %s has the character device %s, ADD left it with %s",
			       d->name, now, t->uverbs);
	return 0;
}
