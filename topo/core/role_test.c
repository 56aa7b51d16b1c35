// SPDX-License-Identifier: Apache-2.0
/* Each rule of topo_roles() decides, and in the documented order. */
#include <stdio.h>

#include "lib/testing/testing.h"
#include "topo/core/choose.h"
#include "topo/testing/topo.h"
#include "topo/testing/fixture.h"

/* Two sockets. On the first a GPU and an HCA on a switch, another HCA on its own root port, one on
 * another root complex; on the second one HCA; each with one port. */
struct two_sockets {
	struct topo_machine m;
	uint32_t near, port, node, far;
};

static void two_sockets_build(struct two_sockets *t, enum topo_layer layer)
{
	struct fixture fx = { .m = &t->m };

	*t = (struct two_sockets){ 0 };
	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	t->near = fixture_hca(&fx, fixture_down(&fx, up), "near");
	t->port = fixture_hca(&fx, fixture_port(&fx), "port");
	fixture_root(&fx, 0);
	t->node = fixture_hca(&fx, fixture_port(&fx), "node");
	fixture_root(&fx, 1);
	t->far = fixture_hca(&fx, fixture_port(&fx), "far");
	fixture_done(&fx);
	for (size_t i = 0; i < t->m.n_hcas; i++)
		t->m.hca[i].port[0].layer = layer;
}

static void role_is(const struct two_sockets *t, uint32_t hca, enum topo_role role,
		    const char *rule)
{
	const struct topo_hca *h = &t->m.hca[hca];

	ck_assert_msg(h->role == role && !strcmp(h->rule, rule), "%s: role %d by \"%s\"", h->name,
		      (int)h->role, h->rule);
}

START_TEST(ethernet_hcas_have_roles_by_distance)
{
	struct two_sockets t;

	two_sockets_build(&t, TOPO_ETHERNET);
	topo_roles(&t.m, NULL);
	role_is(&t, t.near, TOPO_COMPUTE, "pix");
	role_is(&t, t.port, TOPO_STORAGE, "phb");
	role_is(&t, t.node, TOPO_STORAGE, "node");
	role_is(&t, t.far, TOPO_MANAGEMENT, "numa");
	topo_machine_clear(&t.m);
}
END_TEST

START_TEST(infiniband_hcas_are_for_compute)
{
	struct two_sockets t;

	two_sockets_build(&t, TOPO_INFINIBAND);
	t.m.hca[t.near].kind = TOPO_HCA_NVSWITCH;
	topo_roles(&t.m, NULL);
	role_is(&t, t.near, TOPO_MANAGEMENT, "nvswitch");
	role_is(&t, t.port, TOPO_COMPUTE, "infiniband");
	role_is(&t, t.node, TOPO_COMPUTE, "infiniband");
	role_is(&t, t.far, TOPO_MANAGEMENT, "numa");
	topo_machine_clear(&t.m);
}
END_TEST

START_TEST(unknown_data_give_no_role)
{
	struct two_sockets t;

	two_sockets_build(&t, TOPO_LAYER_UNKNOWN);
	topo_roles(&t.m, "");
	role_is(&t, t.near, TOPO_COMPUTE, "pix");
	role_is(&t, t.port, TOPO_ROLE_UNKNOWN, "");
	role_is(&t, t.far, TOPO_ROLE_UNKNOWN, "");
	topo_machine_clear(&t.m);

	two_sockets_build(&t, TOPO_ETHERNET);
	for (size_t i = 0; i < t.m.n_pci; i++)
		t.m.pci[i].numa = -1;
	for (size_t i = 0; i < t.m.n_cpus; i++)
		t.m.cpu[i].numa = i ? -1 : 0;
	topo_roles(&t.m, NULL);
	role_is(&t, t.far, TOPO_STORAGE, "node");
	topo_machine_clear(&t.m);

	/* without a GPU nothing is far from one */
	two_sockets_build(&t, TOPO_ETHERNET);
	t.m.n_gpus = 0;
	topo_roles(&t.m, NULL);
	role_is(&t, t.near, TOPO_ROLE_UNKNOWN, "");
	role_is(&t, t.far, TOPO_ROLE_UNKNOWN, "");
	t.m.n_gpus = 1;
	topo_machine_clear(&t.m);
}
END_TEST

START_TEST(the_default_route_counts_before_distance)
{
	struct two_sockets t;

	two_sockets_build(&t, TOPO_ETHERNET);
	(void)snprintf(t.m.hca[t.near].port[0].netdev, IFNAME_LEN, "eth0");
	(void)snprintf(t.m.hca[t.port].port[0].netdev, IFNAME_LEN, "eth00");
	topo_roles(&t.m, "eth0");
	role_is(&t, t.near, TOPO_MANAGEMENT, "default-route");
	role_is(&t, t.port, TOPO_STORAGE, "phb");
	/* an interface without a name is not the one without a name */
	topo_roles(&t.m, "");
	role_is(&t, t.near, TOPO_COMPUTE, "pix");
	topo_machine_clear(&t.m);
}
END_TEST

START_TEST(known_devices_have_their_role)
{
	struct two_sockets t;

	two_sockets_build(&t, TOPO_LAYER_UNKNOWN);
	struct topo_pci *far = &t.m.pci[t.m.hca[t.far].pci];
	far->vendor = 0x1d0f;
	far->device = 0xefa2;
	topo_roles(&t.m, NULL);
	role_is(&t, t.far, TOPO_COMPUTE, "efa");
	far->device = 0xec20;
	topo_roles(&t.m, NULL);
	role_is(&t, t.far, TOPO_ROLE_UNKNOWN, "");
	far->vendor = 0x15b3;
	static const uint16_t bluefield[] = { 0xa2d2, 0xa2d6, 0xa2dc };
	for (size_t i = 0; i < ARRAY_SIZE(bluefield); i++) {
		far->device = bluefield[i];
		topo_roles(&t.m, NULL);
		role_is(&t, t.far, TOPO_MANAGEMENT, "bluefield");
	}
	far->has_ids = false;
	topo_roles(&t.m, NULL);
	role_is(&t, t.far, TOPO_ROLE_UNKNOWN, "");
	/* beside a GPU it is for the GPU */
	t.m.pci[t.m.hca[t.near].pci].device = 0xa2dc;
	topo_roles(&t.m, NULL);
	role_is(&t, t.near, TOPO_COMPUTE, "pix");
	t.m.hca[t.far].pci = TOPO_NONE;
	topo_roles(&t.m, NULL);
	role_is(&t, t.far, TOPO_ROLE_UNKNOWN, "");
	topo_machine_clear(&t.m);
}
END_TEST

START_TEST(a_topology_file_has_roles)
{
	auto_topo_machine struct topo_machine dgx = { 0 }, p4d = { 0 };

	topo_xml("dgx-a100", &dgx);
	topo_roles(&dgx, NULL);
	for (size_t i = 0; i < dgx.n_hcas; i++)
		ck_assert(dgx.hca[i].role == TOPO_COMPUTE && !strcmp(dgx.hca[i].rule, "pxb"));
	topo_xml("aws-p4d", &p4d);
	topo_roles(&p4d, NULL);
	for (size_t i = 0; i < p4d.n_hcas; i++)
		ck_assert(p4d.hca[i].role == TOPO_COMPUTE && !strcmp(p4d.hca[i].rule, "efa"));
}
END_TEST

/* ---- no HCA shares a switch with a GPU ---- */

/* Two nodes, each with a GPU, an HCA of `rate` and a slower one, each on a root complex. */
static void grace(struct topo_machine *m)
{
	static const char *const names[] = { "fast0", "slow0", "fast1", "slow1" };
	struct fixture fx = { .m = m };

	for (int node = 0; node < 2; node++) {
		fixture_root(&fx, node);
		(void)fixture_gpu(&fx, fixture_port(&fx));
		for (int i = 0; i < 2; i++) {
			fixture_root(&fx, node);
			uint32_t h = fixture_hca(&fx, fixture_port(&fx), names[node * 2 + i]);
			m->hca[h].port[0].rate_mbps = i ? 200000 : 400000;
			m->hca[h].port[0].layer = TOPO_ETHERNET;
		}
	}
	fixture_done(&fx);
}

static const char *rule_now(struct topo_machine *m, const char *name)
{
	topo_roles(m, NULL);
	return m->hca[topo_find_hca(m, name)].rule;
}

START_TEST(far_cards_have_roles_by_rate)
{
	auto_topo_machine struct topo_machine m = { 0 };

	grace(&m);
	struct topo_hca *fast = &m.hca[topo_find_hca(&m, "fast1")];
	ck_assert_str_eq(rule_now(&m, "fast0"), "rate");
	ck_assert_int_eq(fast->role, TOPO_COMPUTE);
	ck_assert_str_eq(rule_now(&m, "slow0"), "node");
	/* not symmetric: distance decides */
	fast->port[0].rate_mbps = 100000;
	ck_assert_str_eq(rule_now(&m, "fast0"), "node");
	fast->port[0].rate_mbps = 400000;
	/* without a layer, as in a topology file */
	for (size_t i = 0; i < m.n_hcas; i++)
		m.hca[i].port[0].layer = TOPO_LAYER_UNKNOWN;
	m.hca[topo_find_hca(&m, "slow0")].kind = TOPO_HCA_BOND;
	m.pci[m.hca[topo_find_hca(&m, "slow1")].pci].device = 0xa2dc;
	ck_assert_str_eq(rule_now(&m, "fast0"), "rate");
	ck_assert_str_eq(rule_now(&m, "slow0"), "bond");
	ck_assert_str_eq(rule_now(&m, "slow1"), "bluefield");
}
END_TEST

/* Answers by distance alone, if the fastest plain cards may not be the compute network. */
START_TEST(rates_alone_decide_nothing)
{
	enum {
		NOT,
		INFINIBAND,
		BLUEFIELD,
		BOND,
		EQUAL_BLUEFIELD,
		UNKNOWN_BLUEFIELD,
		DOWN,
		N_CASES
	};

	for (int i = NOT; i < N_CASES; i++) {
		auto_topo_machine struct topo_machine m = { 0 };

		grace(&m);
		for (uint32_t h = 0; h < m.n_hcas; h++) {
			struct topo_port *p = &m.hca[h].port[0];
			bool fast = p->rate_mbps == 400000;
			uint16_t *device = &m.pci[m.hca[h].pci].device;

			if (i == INFINIBAND && fast)
				p->layer = TOPO_INFINIBAND;
			if (i == BLUEFIELD && fast)
				*device = 0xa2dc;
			if (i == BOND && fast)
				m.hca[h].kind = TOPO_HCA_BOND;
			if ((i == EQUAL_BLUEFIELD || i == UNKNOWN_BLUEFIELD) && !fast) {
				*device = 0xa2dc;
				p->rate_mbps = i == EQUAL_BLUEFIELD ? 400000 : 0;
			}
			if (i == DOWN && fast && m.hca[h].name[4] == '1')
				p->active = TOPO_NO;
		}
		ck_assert_msg(!strcmp(rule_now(&m, "fast0"), i == NOT          ? "rate"
							     : i == INFINIBAND ? "infiniband"
									       : "node"),
			      "%d: %s", i, rule_now(&m, "fast0"));
		ck_assert_msg(!strcmp(rule_now(&m, "slow0"), "node"), "%d", i);
	}
}
END_TEST

/* ---- InfiniBand for storage ---- */

/* Four GPUs, `near` of them with an HCA on the same switch, and an HCA on a root port. */
static void half(struct topo_machine *m, int near)
{
	struct fixture fx = { .m = m };

	fixture_root(&fx, 0);
	for (int i = 0; i < 4; i++) {
		uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
		char name[8];

		(void)fixture_gpu(&fx, fixture_down(&fx, up));
		(void)snprintf(name, sizeof(name), "near%d", i);
		if (i < near)
			(void)fixture_hca(&fx, fixture_down(&fx, up), name);
	}
	(void)fixture_hca(&fx, fixture_port(&fx), "port");
	fixture_done(&fx);
	for (size_t i = 0; i < m->n_hcas; i++)
		m->hca[i].port[0].layer = TOPO_INFINIBAND;
}

START_TEST(infiniband_beside_the_switches_of_most_gpus_is_for_storage)
{
	static const char *const rules[] = { "infiniband", "infiniband", "infiniband", "no-switch",
					     "no-switch" };

	for (int near = 0; near <= 4; near++) {
		auto_topo_machine struct topo_machine m = { 0 };

		half(&m, near);
		ck_assert_msg(!strcmp(rule_now(&m, "port"), rules[near]), "%d: %s", near,
			      rule_now(&m, "port"));
		ck_assert_int_eq(m.hca[topo_find_hca(&m, "port")].role,
				 near > 2 ? TOPO_STORAGE : TOPO_COMPUTE);
		m.hca[topo_find_hca(&m, "port")].port[0].rate_mbps = 800000;
		ck_assert_str_eq(rule_now(&m, "port"), "infiniband");
	}
}
END_TEST

START_TEST(slower_infiniband_is_for_storage)
{
	auto_topo_machine struct topo_machine m = { 0 };

	grace(&m);
	for (size_t i = 0; i < m.n_hcas; i++)
		m.hca[i].port[0].layer = TOPO_INFINIBAND;
	struct topo_hca *slow = &m.hca[topo_find_hca(&m, "slow0")];
	ck_assert_str_eq(rule_now(&m, "fast0"), "infiniband");
	ck_assert_str_eq(rule_now(&m, "slow0"), "slower");
	ck_assert_int_eq(slow->role, TOPO_STORAGE);
	/* its rate is not known */
	slow->port[0].rate_mbps = 0;
	ck_assert_str_eq(rule_now(&m, "slow0"), "infiniband");
	slow->port[0].rate_mbps = 200000;
	m.pci[slow->pci].device = 0xa2dc;
	ck_assert_str_eq(rule_now(&m, "slow0"), "bluefield");
	ck_assert_int_eq(slow->role, TOPO_MANAGEMENT);
	/* as fast, and one for each GPU of the node: it can be a rail */
	slow->port[0].rate_mbps = 400000;
	ck_assert_str_eq(rule_now(&m, "slow0"), "infiniband");
}
END_TEST

/* Beside a GPU, and with a role from the operator, they are no rail all the same. */
START_TEST(what_is_no_network_is_no_rail)
{
	static const struct {
		enum topo_hca_kind kind;
		const char *rule;
	} kinds[] = { { TOPO_HCA_SMI, "smi" }, { TOPO_HCA_NVSWITCH, "nvswitch" } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct two_sockets t;
		struct topo_choice c;
		struct err e;

		two_sockets_build(&t, TOPO_INFINIBAND);
		t.m.hca[t.near].kind = kinds[i].kind;
		topo_roles(&t.m, NULL);
		role_is(&t, t.near, TOPO_MANAGEMENT, kinds[i].rule);
		ck_assert_uint_eq(topo_set_role(&t.m, "near", TOPO_COMPUTE), 1);
		ck_assert_int_eq(topo_choose(&t.m, NULL, &c, &e), 0);
		ck_assert_uint_eq(c.rail[t.near], TOPO_NONE);
		ck_assert_uint_eq(c.rail[t.port], 0);
		topo_choice_clear(&c);
		topo_machine_clear(&t.m);
	}
}
END_TEST

/* A topology file without the function of "slow0": its net is at the cpu. */
START_TEST(a_slow_hca_without_a_function_is_for_storage)
{
	auto_topo_machine struct topo_machine m = { 0 };

	grace(&m);
	struct topo_hca *slow = &m.hca[topo_find_hca(&m, "slow0")];
	struct topo_hca *fast = &m.hca[topo_find_hca(&m, "fast1")];
	slow->pci = TOPO_NONE;
	slow->port[0].layer = TOPO_LAYER_UNKNOWN;
	ck_assert_str_eq(rule_now(&m, "slow0"), "");
	slow->cpu = 0;
	ck_assert_str_eq(rule_now(&m, "slow0"), "slower");
	ck_assert_int_eq(slow->role, TOPO_STORAGE);
	ck_assert_str_eq(rule_now(&m, "fast1"), "rate");
	/* as fast as one of them, or it is not known */
	slow->port[0].rate_mbps = fast->port[0].rate_mbps;
	ck_assert_str_eq(rule_now(&m, "slow0"), "");
	slow->port[0].rate_mbps = 0;
	ck_assert_str_eq(rule_now(&m, "slow0"), "");
	/* nothing is for compute */
	slow->port[0].rate_mbps = 1;
	fast->port[0].rate_mbps = 100000;
	ck_assert_str_eq(rule_now(&m, "slow0"), "");
}
END_TEST

/* One node, two GPUs, three cards of 400G: the third is a BlueField. */
START_TEST(rails_are_as_many_as_gpus)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx = { .m = &m };

	fixture_root(&fx, 0);
	(void)fixture_gpu(&fx, fixture_port(&fx));
	(void)fixture_gpu(&fx, fixture_port(&fx));
	for (int i = 0; i < 3; i++) {
		uint32_t h = fixture_hca(&fx, fixture_port(&fx), i ? i == 1 ? "b" : "c" : "a");
		m.hca[h].port[0].rate_mbps = 400000;
		m.hca[h].port[0].layer = TOPO_ETHERNET;
	}
	fixture_done(&fx);
	m.pci[m.hca[topo_find_hca(&m, "c")].pci].device = 0xa2dc;
	ck_assert_str_eq(rule_now(&m, "a"), "rate");
	ck_assert_str_eq(rule_now(&m, "c"), "phb");
	/* a single fast card is not one for each GPU */
	m.hca[topo_find_hca(&m, "b")].port[0].rate_mbps = 100000;
	ck_assert_str_eq(rule_now(&m, "a"), "phb");
	/* a file has no layer: the BlueField must not lose its place to a slow card */
	for (size_t i = 0; i < m.n_hcas; i++)
		m.hca[i].port[0].layer = TOPO_LAYER_UNKNOWN;
	m.hca[topo_find_hca(&m, "a")].port[0].rate_mbps = 100000;
	ck_assert_str_eq(rule_now(&m, "a"), "");
	ck_assert_str_eq(rule_now(&m, "c"), "");
}
END_TEST

TEST_PROGRAM("role", ethernet_hcas_have_roles_by_distance, infiniband_hcas_are_for_compute,
	     unknown_data_give_no_role, the_default_route_counts_before_distance,
	     known_devices_have_their_role, a_topology_file_has_roles, far_cards_have_roles_by_rate,
	     rates_alone_decide_nothing, infiniband_beside_the_switches_of_most_gpus_is_for_storage,
	     slower_infiniband_is_for_storage, what_is_no_network_is_no_rail,
	     a_slow_hca_without_a_function_is_for_storage, rails_are_as_many_as_gpus)
