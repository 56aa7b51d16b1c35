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
	topo_roles(&t.m, NULL);
	role_is(&t, t.near, TOPO_COMPUTE, "pix");
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

TEST_PROGRAM("role", ethernet_hcas_have_roles_by_distance, infiniband_hcas_are_for_compute,
	     unknown_data_give_no_role, the_default_route_counts_before_distance,
	     known_devices_have_their_role, a_topology_file_has_roles)
