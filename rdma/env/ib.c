/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ib.c: the variables of InfiniBand: partition and adaptive routing.
 *
 * NCCL wants the index of the partition key in the port's table (pkey_index of the queue pair), and
 * takes 0 if it has none. UCX wants the partition itself, 15 bits, and takes the first entry with
 * full membership if it has none.
 */
#include "rdma/env/priv.h"

struct partition {
	const struct env_rail *rail; /* the first rail of InfiniBand; NULL: there is none */
	const struct inv_pkey *key;  /* its entry */
	bool asked;                  /* by an option */
	bool one_index, one_partition;
};

static bool env_is_ib(const struct env_rail *r)
{
	return r->rail->port->layer == IB_LAYER_INFINIBAND;
}

/* The key that a rail should use; 0: nobody says. An IPoIB interface has one. */
static uint16_t asked_pkey(const struct env_plan *p, const struct env_rail *r)
{
	if (p->options->pkey)
		return p->options->pkey;
	return r->rail->netdev ? r->rail->netdev->pkey : 0;
}

/* Rails without an interface follow those that have one. */
static uint16_t first_asked(const struct env_plan *p)
{
	uint16_t pkey = 0;

	for (size_t i = 0; !pkey && i < p->n; i++)
		pkey = env_is_ib(&p->rail[i]) ? asked_pkey(p, &p->rail[i]) : 0;
	return pkey;
}

/* Returns 1 with the entry in *out, 0 after a warning that there is none. */
static int ib_find_key(const struct env_rail *r, uint16_t pkey, const struct inv_pkey **out,
		       struct env *x, struct err *e)
{
	char port[RAIL_PORT_LEN], text[PKEY_STR_LEN];

	*out = inv_pkey_find(r->rail->port, pkey);
	if (*out)
		return 1;
	return env_warn(x, e,
			r->rail->port->has_pkeys
				? "%s is not a member of partition %s: the subnet manager must add "
				  "its GUID to it"
				: "the partition table of %s is not visible, and so neither the "
				  "index of partition %s",
			rail_port(r->rail, port), pkey_format(pkey, text));
}

static int ib_add_rail(struct partition *all, const struct env_rail *r, const struct inv_pkey *key,
		       struct env *x, struct err *e)
{
	char first[RAIL_PORT_LEN], port[RAIL_PORT_LEN];

	if (!all->rail) {
		all->rail = r;
		all->key = key;
		all->one_index = all->one_partition = true;
		return 0;
	}
	all->one_partition &= pkey_partition(key->pkey) == pkey_partition(all->key->pkey);
	if (key->index == all->key->index || !all->one_index)
		return 0;
	all->one_index = false;
	return env_warn(x, e,
			"NCCL has one index of the partition key for all devices. It is %u on %s "
			"and %u on %s: give each process one rail (--interface)",
			all->key->index, rail_port(all->rail->rail, first), key->index,
			rail_port(r->rail, port));
}

static int find_partition(const struct env_plan *p, struct partition *all, struct env *x,
			  struct err *e)
{
	uint16_t first = first_asked(p);

	*all = (struct partition){ .asked = p->options->pkey != 0 };
	for (size_t i = 0; first && i < p->n; i++) {
		const struct env_rail *r = &p->rail[i];
		const struct inv_pkey *key;
		uint16_t own = asked_pkey(p, r);
		int rc;

		if (!env_is_ib(r))
			continue;
		rc = ib_find_key(r, own ? own : first, &key, x, e);
		if (rc < 0 || (rc && ib_add_rail(all, r, key, x, e)))
			return -1;
	}
	return 0;
}

/* Index 0 is the value without the variable. */
static int set_nccl(const struct partition *all, struct env *out, struct err *e)
{
	char text[PKEY_STR_LEN];

	if (!all->one_index || (!all->asked && all->key->index == 0))
		return 0;
	return env_add(out, e, (struct env_new){ "NCCL_IB_PKEY", env_text("%u", all->key->index) },
		       "the index of partition key %s in the table of every port; NCCL wants the "
		       "index, not the key",
		       pkey_format(all->key->pkey, text));
}

static const struct inv_pkey *first_full(const struct inv_port *p)
{
	for (size_t i = 0; i < p->n_pkeys; i++)
		if (p->pkey[i].pkey & PKEY_FULL_MEMBER)
			return &p->pkey[i];
	return NULL;
}

static int set_ucx(const struct partition *all, struct env *out, struct err *e)
{
	const struct inv_pkey *first = first_full(all->rail->rail->port);

	if (!all->one_partition)
		return env_warn(out, e,
				"UCX has one partition for all devices, and the rails are "
				"in several");
	if (!all->asked && first && first->pkey == all->key->pkey)
		return 0;
	return env_add(
		out, e,
		(struct env_new){ "UCX_IB_PKEY", env_text("0x%x", pkey_partition(all->key->pkey)) },
		"the partition itself, for UCX, without the bit of the membership");
}

int env_set_ib(const struct env_plan *p, struct env *out, struct err *e)
{
	int ar = p->options->adaptive_routing;
	struct partition all;

	if (find_partition(p, &all, out, e))
		return -1;
	if (all.rail && (set_nccl(&all, out, e) || set_ucx(&all, out, e)))
		return -1;
	if (ar < 0)
		return 0;
	return env_add(out, e, (struct env_new){ "NCCL_IB_ADAPTIVE_ROUTING", env_text("%d", ar) },
		       "as asked for: whether NCCL sends data so that they may arrive out of order "
		       "(its default: 1 on InfiniBand, 0 on RoCE). The switches decide whether "
		       "they do") ||
			       env_add(out, e,
				       (struct env_new){ "UCX_IB_AR_ENABLE",
							 env_text("%s", ar ? "try" : "no") },
				       "the same, for UCX; if a service level allows it")
		       ? -1
		       : 0;
}
