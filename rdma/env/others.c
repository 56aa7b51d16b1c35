/* SPDX-License-Identifier: Apache-2.0 */
/* others.c: the variables that are not about GIDs: bootstrap, traffic class, rails. */
#include <string.h>

#include "rdma/env/priv.h"

/* ---- bootstrap ---- */

static const char *first_rail_netdev(const struct env_plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct inv_netdev *d = p->rail[i].rail->netdev;

		if (d && d->n_addrs)
			return d->link.name;
	}
	return NULL;
}

static int set_socket(const struct env_plan *p, struct env *out, struct err *e)
{
	const struct inv_netdev *d =
		inv_netdev_by_index(p->inventory, p->inventory->default_ifindex);
	const char *name = p->options->socket, *why = "as asked for";

	if (!name && d && d->n_addrs) {
		name = d->link.name;
		why = "the interface of the default route: NCCL's processes find each other by TCP "
		      "there, and the rails are left to RDMA";
	} else if (!name) {
		name = first_rail_netdev(p);
		why = "there is no default route; the first rail is where NCCL's processes can "
		      "find each other by TCP";
	}
	if (!name)
		return env_warn(out, e,
				"no interface has an address: NCCL needs one over which its "
				"processes find each other");
	if (strpbrk(name, ",=^:"))
		return env_warn(out, e, "the name \"%s\" cannot be written in NCCL_SOCKET_IFNAME",
				name);
	return env_add(out, e, (struct env_new){ "NCCL_SOCKET_IFNAME", env_text("=%s", name) },
		       "%s", why) ||
			       env_add(out, e,
				       (struct env_new){ "GLOO_SOCKET_IFNAME",
							 env_text("%s", name) },
				       "the same, for Gloo of PyTorch, which else takes the "
				       "interface of the host name's address")
		       ? -1
		       : 0;
}

/* ---- quality of service ---- */

int env_number(struct env *out, const char *name, int value, struct err *e, const char *why)
{
	return value < 0 ? 0
			 : env_add(out, e, (struct env_new){ name, env_text("%d", value) }, "%s",
				   why);
}

#define TC_OF_DRIVER                                                                               \
	"the class that the driver sets on every rail; queue pairs made through DevX (NCCL's "     \
	"GIN) bypass that, and have this one"

/* -1: there is no RoCE rail. */
static int others_driver_class(const struct env_plan *p)
{
	int tc = -1;

	for (size_t i = 0; i < p->n; i++)
		if (p->rail[i].gid)
			tc = rail_common_class(p->rail[i].rail, tc);
	return tc;
}

/* A DSCP that the driver replaces is only that of some packets. */
static int warn_replaced(const struct env_plan *p, int tc, struct env *out, struct err *e)
{
	char port[RAIL_PORT_LEN];

	for (size_t i = 0; i < p->n; i++) {
		int driver = p->rail[i].rail->port->traffic_class;

		if (!p->rail[i].gid || !driver || driver / 4 == tc / 4)
			continue;
		return env_warn(out, e,
				"the driver of %s sets traffic class %d, which replaces %d: only "
				"queue pairs made through DevX keep it. \"railctl rdma qos set "
				"--tc %d\" on the node sets both",
				rail_port(p->rail[i].rail, port), driver, tc, tc);
	}
	return 0;
}

static int choose_class(struct env_plan *p, struct env *out, struct err *e)
{
	int driver = others_driver_class(p);

	p->tc = p->n_roce ? p->options->tc : -1;
	p->tc_why = p->options->tc_why ? p->options->tc_why : "as asked for";
	if (p->tc >= 0)
		return warn_replaced(p, p->tc, out, e);
	if (driver > 0) {
		p->tc = driver;
		p->tc_why = TC_OF_DRIVER;
	}
	return 0;
}

static int set_qos(struct env_plan *p, struct env *out, struct err *e)
{
	/* An option without effect is a mistake; a tier is not. */
	if (p->options->tc >= 0 && !p->n_roce && !p->options->tc_why &&
	    env_warn(out, e,
		     "a traffic class has no effect on InfiniBand: the service level "
		     "chooses the queue there (--sl)"))
		return -1;
	if (choose_class(p, out, e))
		return -1;
	if (p->tc >= 0 && env_add(out, e, (struct env_new){ "NCCL_IB_TC", env_text("%d", p->tc) },
				  "%s: DSCP %d in each packet's header, by which switches and NIC "
				  "choose the priority",
				  p->tc_why, p->tc / 4))
		return -1;
	if (env_number(out, "NVSHMEM_IB_TRAFFIC_CLASS", p->tc, e,
		       "the same, for NVSHMEM, which does not read NCCL_IB_TC"))
		return -1;
	return env_number(out, "NCCL_IB_SL", p->options->sl, e, "as asked for: the service level");
}

/* ---- rails ---- */

static bool overlap(struct ip_prefix a, struct ip_prefix b)
{
	return ip_in_prefix(a, ip_network(b)) || ip_in_prefix(b, ip_network(a));
}

/* True if rail a may reach an address of rail b. Unknown routes count as a way. */
static bool reaches(const struct env_rail *a, const struct env_rail *b)
{
	const struct inv_netdev *d = a->rail->netdev;
	struct ip to = gid_to_ip(&b->gid->entry.gid);

	if (!d || !d->has_routes || overlap(env_network(a), env_network(b)))
		return true;
	for (size_t i = 0; i < d->n_routes; i++)
		if (ip_in_prefix(d->route[i], to))
			return true;
	return false;
}

/* True if there are more RoCE rails than one, and none reaches another. */
static bool are_apart(const struct env_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->n; k++)
			if (i != k && p->rail[i].gid && p->rail[k].gid &&
			    reaches(&p->rail[i], &p->rail[k]))
				return false;
	return p->n_roce > 1;
}

#define RAILS_APART                                                                                \
	"the rails have different networks, and no route out of one is for an address of another " \
	"one. A ring stays on the same rail on every node"

static int set_cross_nic(const struct env_plan *p, struct env *out, struct err *e)
{
	int asked = p->options->cross_nic;

	if (asked >= 0)
		return env_number(out, "NCCL_CROSS_NIC", asked, e, "as asked for");
	if (!are_apart(p))
		return 0;
	return env_number(out, "NCCL_CROSS_NIC", 0, e,
			  lib_rule_holds(NCCL_HAS_SUBNETS, p->options->nccl) ? RAILS_APART
				  ". NCCL 2.30.7 has NCCL_IB_SUBNET_AWARE_ROUTING, "
				  "which chooses the rail by the peer's network"
									     : RAILS_APART);
}

int env_set_others(struct env_plan *p, struct env *out, struct err *e)
{
	unsigned want = p->options->libraries;

	return ((!want || (want & ENV_NCCL)) && set_socket(p, out, e)) || set_qos(p, out, e) ||
			       set_cross_nic(p, out, e)
		       ? -1
		       : 0;
}
