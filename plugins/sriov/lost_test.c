/* SPDX-License-Identifier: Apache-2.0 */
/* lost_test.c: the state of a VF is lost while its pod lives. Nothing of that tenant stays. */
#include "plugins/sriov/attach.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "sriov/choose/inventory.h"
#include "plugins/testing/rdma.h"

/* Not number 0: whoever restores another VF than that of the pod is seen. */
#define N 1
#define TENANT                                                                                     \
	",\"vlan\":7,\"trust\":\"on\",\"spoofchk\":\"off\",\"mac\":\"02:00:00:00:00:77\""          \
	",\"link_state\":\"enable\",\"max_tx_rate\":100,\"mtu\":1400"

static const uint8_t tenants_mac[MAC_LEN] = { 2, 0, 0, 0, 0, 0x77 };

static const char *keys_of(const char *more)
{
	static char keys[512];

	(void)snprintf(keys, sizeof(keys), "\"deviceID\":\"%s\"%s%s", testhost_vf(N), TENANT, more);
	return keys;
}

/* ---- ways to lose it ---- */

static void lose_file(void)
{
	char path[64];

	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(N));
	ck_assert_int_eq(unlink(path), 0);
}

static void damage_file(void)
{
	char path[64];

	(void)snprintf(path, sizeof(path), TESTHOST_RUN "/vf/%s", testhost_vf(N));
	testing_file(path, 0600, "{");
}

static void lose_all(void)
{
	ck_assert_int_eq(rename(TESTHOST_RUN, "/mnt/lost-run"), 0);
}

/* ---- a tenant ---- */

struct tenant {
	struct testrdma t;
	struct pod p;
};

static void tenant_clear(struct tenant *x)
{
	pod_clear(&x->p);
	testrdma_clear(&x->t);
}
#define auto_tenant auto_clean(tenant_clear)

/* A pod with a VF, which it makes promiscuous, and which then nothing on the host remembers. */
static struct tenant tenant(const char *more, void (*lose)(void))
{
	struct tenant x = { .t = testrdma(3, RDMA_EXCLUSIVE), .p = pod() };
	struct link_settings is, want;
	struct err e = { .msg = "" };
	int ifindex;

	good(testrdma_call(&x.t, CNI_ADD, &x.p, keys_of(more), &e), &e);
	ifindex = net_ifindex(x.p.nl, "net1");
	ck_assert_int_gt(ifindex, 0);
	good(nl_settings_get(x.p.nl, ifindex, &is, &e), &e);
	want = is;
	want.flags |= IFF_PROMISC;
	nl_settings_set(x.p.nl, ifindex, &(struct settings_change){ &is, &want, NULL, NULL });
	lose();
	return x;
}

static void has_values_of_a_new_vf(const struct tenant *x, const char *name)
{
	const struct vf_info *s = &x->t.w.kernel->vf[N].is;
	const struct vf_info fresh = { .spoofchk = true };
	struct link_info link;
	struct err e = { .msg = "" };

	ck_assert_msg(s->vlan == 0 && !s->trust && s->spoofchk && s->max_rate == 0 &&
			      s->link_state == VF_LINK_AUTO,
		      "vlan %u, trust %d, spoofchk %d", s->vlan, s->trust, s->spoofchk);
	ck_assert_mem_eq(s->mac, fresh.mac, MAC_LEN);
	good(nl_link_by_name(x->t.w.nl, name, &link, &e), &e);
	ck_assert(!hw_addr_equal(link.addr, hw_addr_of_mac(tenants_mac)));
	ck_assert_uint_eq(link.addr.byte[0] & 1u, 0);
	ck_assert_uint_eq(link.mtu, 1500);
	ck_assert_uint_eq(link.flags & (IFF_UP | IFF_PROMISC), 0);
	auto_vf_entry struct vf_entry entry = testhost_entry(&x->t.w, N);
	ck_assert(entry.base_lost);
	ck_assert(entry.owned || !entry.to_restore);
}

static void is_free(const struct tenant *x, const char *name)
{
	auto_vf_entry struct vf_entry entry = testhost_entry(&x->t.w, N);

	ck_assert(!entry.owned);
	has_values_of_a_new_vf(x, name);
}

/* The next pod asks for nothing special, and gets nothing special. */
static void next_tenant(const struct tenant *x, const char *name)
{
	auto_pod struct pod q = pod();
	const struct claimant who = claimant_of(&x->t.w, "c2", &q);
	struct vf_place place;
	struct err e = { .msg = "" };

	good(claim_vf(&who, testhost_vf(N), &place, &e), &e);
	has_values_of_a_new_vf(x, name);
	good(claim_release(&x->t.w.ctx, testhost_vf(N), &who.key, q.ns.id, &e), &e);
	is_free(x, name);
}

static void del_restores(void (*lose)(void), const char *name)
{
	auto_tenant struct tenant x = tenant("", lose);
	struct err e = { .msg = "" };

	x.t.w.kernel->vf[0].is.vlan = x.t.w.kernel->vf[2].is.vlan = 9;
	good(testrdma_call(&x.t, CNI_DEL, &x.p, keys_of(""), &e), &e);
	is_free(&x, name);
	ck_assert(testhost_log_has("its state is lost"));
	ck_assert(testhost_log_has("the settings of ethtool stay"));
	ck_assert_uint_eq(testing_records(&x.t.w.ctx, NULL), 0);
	ck_assert_uint_eq(x.t.w.kernel->vf[0].is.vlan, 9);
	ck_assert_uint_eq(x.t.w.kernel->vf[2].is.vlan, 9);
	next_tenant(&x, name);
	good(testrdma_call(&x.t, CNI_DEL, &x.p, keys_of(""), &e), &e);
}

static void del_brings_the_rdma_device(void (*lose)(void))
{
	auto_tenant struct tenant x = tenant(",\"rdma\":\"exclusive\"", lose);
	auto_netns struct netns here = net_self();
	struct err e = { .msg = "" };

	ck_assert(netns_same(testrdma_dev(&x.t, N)->in, x.p.ns.id));
	good(testrdma_call(&x.t, CNI_DEL, &x.p, keys_of(",\"rdma\":\"exclusive\""), &e), &e);
	ck_assert(netns_same(testrdma_dev(&x.t, N)->in, here.id));
	ck_assert_str_eq(testrdma_dev(&x.t, N)->link.name, "mlx5_1");
}

static void a_living_pod_keeps_it(void (*lose)(void))
{
	auto_tenant struct tenant x = tenant("", lose);
	auto_pod struct pod q = pod();
	const struct claimant who = claimant_of(&x.t.w, "c2", &q);
	struct vf_place place;
	struct err e = { .msg = "" };

	fails(claim_vf(&who, testhost_vf(N), &place, &e), &e, ERR_BUSY, "container c1");
	ck_assert_uint_eq(x.t.w.kernel->vf[N].is.vlan, 7);
	good(testrdma_call(&x.t, CNI_DEL, &x.p, keys_of(""), &e), &e);
	next_tenant(&x, "v1");
}

static void the_list_shows_it(void (*lose)(void))
{
	auto_tenant struct tenant x = tenant("", lose);
	auto_pf_view struct pf_view pf = { 0 };
	auto_vf_view struct vf_view one = { 0 };
	struct err e = { .msg = "" };

	good(inventory_pf(&x.t.w.ctx, x.t.w.nl, TESTHOST_PF, &pf, &e), &e);
	ck_assert_int_eq(pf.vf[N].use, VF_IN_USE);
	ck_assert_str_eq(pf.vf[N].entry.owner.key.container, "c1");
	ck_assert_ptr_nonnull(strstr(pf.vf[N].why, "state is lost"));
	ck_assert_int_eq(pf.vf[0].use, VF_FREE);
	testrdma_end(&x.t, &x.p);
	good(inventory_vf(&x.t.w.ctx, x.t.w.nl, testhost_vf(N), &one, &e), &e);
	ck_assert_int_eq(one.use, VF_OWNER_GONE);
}

START_TEST(DEL_without_the_state_file)
{
	del_restores(lose_file, "v1");
}
END_TEST

START_TEST(DEL_with_a_damaged_state_file)
{
	del_restores(damage_file, "v1");
}
END_TEST

/* Nothing says which name it had on the host. */
START_TEST(DEL_without_any_state_or_record)
{
	del_restores(lose_all, "vf3b022");
}
END_TEST

START_TEST(DEL_brings_the_RDMA_device_without_the_state_file)
{
	del_brings_the_rdma_device(lose_file);
}
END_TEST

START_TEST(DEL_brings_the_RDMA_device_without_any_record)
{
	del_brings_the_rdma_device(lose_all);
}
END_TEST

START_TEST(a_VF_without_its_state_file_stays_with_its_pod)
{
	a_living_pod_keeps_it(lose_file);
}
END_TEST

START_TEST(a_VF_with_a_damaged_state_file_stays_with_its_pod)
{
	a_living_pod_keeps_it(damage_file);
}
END_TEST

/* Its record is still there, but another pod has the VF since. */
START_TEST(a_late_DEL_of_a_dead_pod_leaves_the_VF_of_a_living_one)
{
	static void (*const lose[])(void) = { lose_file, damage_file };

	for (size_t i = 0; i < ARRAY_SIZE(lose); i++) {
		auto_testrdma struct testrdma t = testrdma(3, RDMA_EXCLUSIVE);
		auto_pod struct pod dead = pod(), q = pod();
		struct err e = { .msg = "" };

		good(testrdma_call(&t, CNI_ADD, &dead, keys_of(""), &e), &e);
		testrdma_end(&t, &dead);
		t.container = "c2";
		good(testrdma_call(&t, CNI_ADD, &q, keys_of(""), &e), &e);
		lose[i]();
		t.container = "c1";
		good(testrdma_call(&t, CNI_DEL, &dead, keys_of(""), &e), &e);
		ck_assert_uint_eq(t.w.kernel->vf[N].is.vlan, 7);
		ck_assert_int_gt(net_ifindex(q.nl, "net1"), 0);
		ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 1);
		t.container = "c2";
		good(testrdma_call(&t, CNI_DEL, &q, keys_of(""), &e), &e);
		ck_assert_uint_eq(t.w.kernel->vf[N].is.vlan, 0);
	}
}
END_TEST

START_TEST(a_claim_restores_what_a_dead_pod_left)
{
	auto_tenant struct tenant x = tenant("", lose_file);

	testrdma_end(&x.t, &x.p);
	next_tenant(&x, "v1");
}
END_TEST

START_TEST(a_claim_restores_a_VF_with_a_damaged_state_file)
{
	auto_tenant struct tenant x = tenant("", damage_file);

	testrdma_end(&x.t, &x.p);
	next_tenant(&x, "v1");
}
END_TEST

START_TEST(the_list_shows_a_VF_without_its_state_file)
{
	the_list_shows_it(lose_file);
}
END_TEST

START_TEST(the_list_shows_a_VF_with_a_damaged_state_file)
{
	the_list_shows_it(damage_file);
}
END_TEST

TEST_PROGRAM("plugins/sriov/lost", DEL_without_the_state_file, DEL_with_a_damaged_state_file,
	     DEL_without_any_state_or_record, DEL_brings_the_RDMA_device_without_the_state_file,
	     DEL_brings_the_RDMA_device_without_any_record,
	     a_VF_without_its_state_file_stays_with_its_pod,
	     a_VF_with_a_damaged_state_file_stays_with_its_pod,
	     a_late_DEL_of_a_dead_pod_leaves_the_VF_of_a_living_one,
	     a_claim_restores_what_a_dead_pod_left, a_claim_restores_a_VF_with_a_damaged_state_file,
	     the_list_shows_a_VF_without_its_state_file,
	     the_list_shows_a_VF_with_a_damaged_state_file)
