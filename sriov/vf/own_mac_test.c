/* SPDX-License-Identifier: Apache-2.0 */
/* igb's VFs: whether a MAC is the VF's own or an administrator's only trying tells; both stay so.
 */
#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "sriov/testing/vf.h"
#include "sriov/vf/vf.h"

static const uint8_t wanted[MAC_LEN] = { 0x02, 1, 2, 3, 4, 5 };

struct attempt {
	struct testhost w;
	struct pod pod;
	struct claimant who;
	struct vf_place place;
	struct link_info was; /* on the host, before */
	struct fakepf_vf *vf;
	bool own_mac;
};

static void ok(int rc, const struct err *e)
{
	ck_assert_msg(rc == 0, "%s (%s)", e->msg, e->detail);
}

/* VF 0 has a MAC, of which its PF knows. */
static struct attempt begin_attempt(void)
{
	struct attempt s = { .w = testhost(1), .pod = pod() };
	struct err e = { .msg = "" };

	s.vf = &s.w.kernel->vf[0];
	s.w.kernel->mac_is_the_pfs = s.w.kernel->tells_own_macs = true;
	ok(nl_link_by_name(s.w.nl, "v0", &s.was, &e), &e);
	memcpy(s.vf->is.mac, s.was.addr.byte, MAC_LEN);
	return s;
}

static void claim(struct attempt *s)
{
	struct err e = { .msg = "" };

	s->who = claimant_of(&s->w, "c1", &s->pod);
	ok(claim_vf(&s->who, testhost_vf(0), &s->place, &e), &e);
}

static void configure(struct attempt *s, const uint8_t mac[MAC_LEN])
{
	struct vf_request want = { .pf_side = { .has = VF_MAC | VF_TRUST } };
	struct err e = { .msg = "" };

	memcpy(want.pf_side.mac, mac, MAC_LEN);
	want.pf_side.trust = true;
	ok(vf_configure(s->w.nl, &s->place, &want, &s->own_mac, &e), &e);
	if (s->own_mac)
		ok(claim_set_own_mac(&s->w.ctx, testhost_vf(0), &s->who.key, &e), &e);
	ck_assert_mem_eq(s->vf->is.mac, mac, MAC_LEN);
	ck_assert(s->vf->admin);
}

static void move(struct attempt *s)
{
	const struct vf_target to = { s->w.nl, s->pod.nl, &s->pod.ns, "net1" };
	struct err e = { .msg = "" };
	int ifindex;

	ok(vf_move_to_pod(&s->place, &to, &ifindex, &e), &e);
	ok(claim_set_ifindex(&s->w.ctx, testhost_vf(0), &s->who.key, ifindex, &e), &e);
}

static void release(struct attempt *s)
{
	struct link_info now;
	struct err e = { .msg = "" };

	ok(claim_release(&s->w.ctx, testhost_vf(0), &s->who.key, s->pod.ns.id, &e), &e);
	ok(nl_link_by_name(s->w.nl, "v0", &now, &e), &e);
	ck_assert_mem_eq(now.addr.byte, s->was.addr.byte, MAC_LEN);
	ck_assert_mem_eq(s->vf->is.mac, s->was.addr.byte, MAC_LEN);
	ck_assert(!s->vf->is.trust);
	auto_vf_entry struct vf_entry x = testhost_entry(&s->w, 0);
	ck_assert(!x.owned && !x.to_restore);
}

static void end(struct attempt *s)
{
	pod_clear(&s->pod);
	testhost_clear(&s->w);
}

/* Each time, not only the first in the VF's life. */
START_TEST(its_own_comes_back_as_its_own)
{
	struct attempt s = begin_attempt();

	for (int i = 0; i < 2; i++) {
		claim(&s);
		configure(&s, wanted);
		ck_assert(s.own_mac);
		move(&s);
		release(&s);
		ck_assert(!s.vf->admin);
	}
	end(&s);
}
END_TEST

START_TEST(the_MAC_of_an_administrator_is_kept)
{
	struct attempt s = begin_attempt();

	s.vf->admin = true;
	claim(&s);
	configure(&s, wanted);
	ck_assert(!s.own_mac);
	move(&s);
	release(&s);
	ck_assert(s.vf->admin);
	end(&s);
}
END_TEST

/* Killed behind the change, or before it. */
START_TEST(a_MAC_that_is_right_is_not_set)
{
	struct attempt s = begin_attempt();
	struct err e = { .msg = "" };

	for (int change = 0; change < 2; change++) {
		claim(&s);
		ok(claim_set_own_mac(&s.w.ctx, testhost_vf(0), &s.who.key, &e), &e);
		if (change)
			ok(nl_link_set_hw_addr(s.w.nl, s.was.ifindex, hw_addr_of_mac(wanted), &e),
			   &e);
		ck_assert(!s.vf->admin);
		release(&s);
		ck_assert(!s.vf->admin);
	}
	end(&s);
}
END_TEST

/* Where nothing can be told, the MAC is an administrator's, as it is with any other plugin. */
static void cannot_tell(struct attempt *s, const uint8_t mac[MAC_LEN])
{
	claim(s);
	configure(s, mac);
	ck_assert(!s->own_mac);
	release(s);
	ck_assert(s->vf->admin);
	end(s);
}

START_TEST(a_trusted_VF_may_change_both)
{
	struct attempt s = begin_attempt();

	s.vf->is.trust = true;
	claim(&s);
	configure(&s, wanted);
	ck_assert(!s.own_mac);
	end(&s);
}
END_TEST

START_TEST(an_equal_MAC_tells_nothing_of_the_driver)
{
	struct attempt s = begin_attempt();

	cannot_tell(&s, s.was.addr.byte);
}
END_TEST

START_TEST(other_drivers_tell_nothing)
{
	struct attempt s = begin_attempt();

	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "iavf");
	cannot_tell(&s, wanted);
}
END_TEST

START_TEST(the_entry_of_another_attachment_is_refused)
{
	struct attempt s = begin_attempt();
	struct err e = { .msg = "" };

	claim(&s);
	s.who.key.container = "c2";
	ck_assert_int_eq(claim_set_own_mac(&s.w.ctx, testhost_vf(0), &s.who.key, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_STATE);
	end(&s);
}
END_TEST

TEST_PROGRAM("sriov/vf_own_mac", its_own_comes_back_as_its_own, the_MAC_of_an_administrator_is_kept,
	     a_MAC_that_is_right_is_not_set, a_trusted_VF_may_change_both,
	     an_equal_MAC_tells_nothing_of_the_driver, other_drivers_tell_nothing,
	     the_entry_of_another_attachment_is_refused)
