/* SPDX-License-Identifier: Apache-2.0 */
/* A VF put back: from pods that live, died or hid it, and whatever they did to it. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "lib/testing/time.h"
#include "sriov/testing/vf.h"

#define N 1 /* number of the VF: a test with 0 would not see another one restored */

static const uint8_t other_mac[MAC_LEN] = { 0x02, 1, 2, 3, 4, 5 };

/* A VF other than the first one, taken by container c1, and moved into its pod. */
struct claimed_vf {
	struct testhost w;
	struct pod pod;
	struct claimant who;
	struct link_info was; /* on the host, before */
};

static void ok(int rc, const struct err *e)
{
	ck_assert_msg(rc == 0, "%s (%s)", e->msg, e->detail);
}

static struct claimed_vf claimed_vf(void)
{
	struct claimed_vf l = { .w = testhost(2), .pod = pod() };
	struct err e = { .msg = "" };

	ok(nl_link_by_name(l.w.nl, "v1", &l.was, &e), &e);
	return l;
}

static void take(struct claimed_vf *l)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	l->who = claimant_of(&l->w, "c1", &l->pod);
	ok(claim_vf(&l->who, testhost_vf(N), &place, &e), &e);
}

static void move(struct claimed_vf *l)
{
	struct vf_place place;
	struct err e = { .msg = "" };
	int ifindex;

	ok(vf_locate(&l->w.ctx, l->w.nl, testhost_vf(N), &place, &e), &e);
	ok(vf_move_to_pod(&place, &(struct vf_target){ l->w.nl, l->pod.nl, &l->pod.ns, "net1" },
			  &ifindex, &e),
	   &e);
	ok(claim_set_ifindex(&l->w.ctx, testhost_vf(N), &l->who.key, ifindex, &e), &e);
}

static void give_back(const struct claimed_vf *l)
{
	struct err e = { .msg = "" };

	ok(claim_release(&l->w.ctx, testhost_vf(N), &l->who.key, l->pod.ns.id, &e), &e);
	ck_assert_str_eq(e.msg, "");
}

static void end(struct claimed_vf *l)
{
	pod_clear(&l->pod);
	testhost_clear(&l->w);
}

static int keep_name(const char *name, void *arg)
{
	testing_append(arg, 256, name);
	testing_append(arg, 256, " ");
	return 0;
}

static const char *altnames(struct nl *nl, int ifindex)
{
	static char all[256];
	struct err e = { .msg = "" };

	all[0] = '\0';
	ok(nl_link_altnames(nl, ifindex, keep_name, all, &e), &e);
	return all;
}

/* On the host, as it was before. */
static void is_as_it_was(const struct claimed_vf *l)
{
	const struct vf_info *s = &l->w.kernel->vf[N].is;
	const struct vf_info fresh = { .spoofchk = true };
	struct link_info now;
	struct err e = { .msg = "" };

	ok(nl_link_by_name(l->w.nl, "v1", &now, &e), &e);
	ck_assert_mem_eq(now.addr.byte, l->was.addr.byte, MAC_LEN);
	ck_assert_uint_eq(now.mtu, l->was.mtu);
	ck_assert_uint_eq(now.flags & IFF_UP, l->was.flags & IFF_UP);
	ck_assert_mem_eq(s->mac, fresh.mac, MAC_LEN);
	ck_assert(s->vlan == 0 && s->qos == 0 && s->vlan_proto == VLAN_PROTO_8021Q);
	ck_assert(s->min_rate == 0 && s->max_rate == 0 && s->spoofchk && !s->trust);
	ck_assert_int_eq((int)s->link_state, VF_LINK_AUTO);
	auto_vf_entry struct vf_entry x = testhost_entry(&l->w, N);
	ck_assert(!x.owned);
	ck_assert_uint_eq(x.to_restore, 0);
}

/* ---- what was done to it ---- */

START_TEST(all_configured_attributes_are_restored)
{
	struct claimed_vf l = claimed_vf();
	const struct vf_request all = {
		.pf_side = { .has = VF_ETHERNET,
			     .mac = { 0x02, 1, 2, 3, 4, 5 },
			     .vlan = 100,
			     .qos = 3,
			     .vlan_proto = VLAN_PROTO_8021AD,
			     .min_rate = 10,
			     .max_rate = 100,
			     .trust = true,
			     .link_state = VF_LINK_DISABLE },
		.mtu = 1300,
	};
	struct vf_place place;
	struct err e = { .msg = "" };

	take(&l);
	ok(vf_locate(&l.w.ctx, l.w.nl, testhost_vf(N), &place, &e), &e);
	ok(vf_configure(l.w.nl, &place, &all, NULL, &e), &e);
	move(&l);
	ck_assert_uint_eq(l.w.kernel->vf[N].is.vlan, 100);
	give_back(&l);
	is_as_it_was(&l);
	end(&l);
}
END_TEST

/* What an administrator set before stays: the baseline, not zero, is where it goes back to. */
START_TEST(the_attributes_of_an_administrator_are_restored)
{
	struct claimed_vf l = claimed_vf();
	struct vf_info *s = &l.w.kernel->vf[N].is;
	const struct vf_info was = { .has = VF_ETHERNET,
				     .mac = { 0x02, 9, 9, 9, 9, 9 },
				     .vlan = 7,
				     .vlan_proto = VLAN_PROTO_8021Q,
				     .max_rate = 50,
				     .trust = true,
				     .link_state = VF_LINK_ENABLE };

	*s = was;
	take(&l);
	*s = (struct vf_info){ .has = VF_ETHERNET, .vlan = 100, .spoofchk = true };
	move(&l);
	give_back(&l);
	ck_assert_mem_eq(s->mac, was.mac, MAC_LEN);
	ck_assert(s->vlan == 7 && s->max_rate == 50 && s->trust && !s->spoofchk);
	ck_assert_int_eq((int)s->link_state, VF_LINK_ENABLE);
	end(&l);
}
END_TEST

START_TEST(changes_of_the_pod_are_restored)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	int there = net_ifindex(l.pod.nl, "net1");
	ok(nl_link_set_hw_addr(l.pod.nl, there, hw_addr_of_mac(other_mac), &e), &e);
	ok(nl_link_set_mtu(l.pod.nl, there, 1280, &e), &e);
	ok(nl_link_move(l.pod.nl, there, &l.pod.ns, "mine", &e), &e);
	give_back(&l);
	is_as_it_was(&l);
	end(&l);
}
END_TEST

/* Its PF's side of the MAC is left alone: it would become an administrator's. */
START_TEST(a_mac_changed_by_the_pod_is_restored)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	ok(nl_link_set_hw_addr(l.pod.nl, net_ifindex(l.pod.nl, "net1"), hw_addr_of_mac(other_mac),
			       &e),
	   &e);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	x.to_restore = 0;
	ok(vf_state_write(&l.w.ctx, &x, &e), &e);
	l.w.kernel->refuses[VF_MAC] = EPERM;
	give_back(&l);
	is_as_it_was(&l);
	end(&l);
}
END_TEST

/* No PF has a part in it: whatever it would say to a MAC, it is not asked. */
START_TEST(an_ipoib_address_that_the_pod_changed)
{
	struct claimed_vf l = claimed_vf();
	struct link_info now;
	struct err e = { .msg = "" };

	l.w.kernel->ipoib = true;
	take(&l);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	ck_assert_uint_eq(x.base.addr.len, HW_ADDR_MAX);
	ck_assert_mem_eq(x.base.addr.byte + HW_ADDR_MAX - MAC_LEN, l.was.addr.byte, MAC_LEN);
	move(&l);
	ok(nl_link_set_hw_addr(l.pod.nl, net_ifindex(l.pod.nl, "net1"), hw_addr_of_mac(other_mac),
			       &e),
	   &e);
	l.w.kernel->refuses[VF_MAC] = EPERM;
	give_back(&l);
	ok(nl_link_by_name(l.w.nl, "v1", &now, &e), &e);
	ck_assert(hw_addr_equal(now.addr, x.base.addr));
	end(&l);
}
END_TEST

/* What cannot be put back is not handed on; once it can be, it is. */
START_TEST(a_mac_that_cannot_be_restored_blocks_the_next_claim)
{
	struct claimed_vf l = claimed_vf();
	struct vf_place place;
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	ok(nl_link_set_hw_addr(l.pod.nl, net_ifindex(l.pod.nl, "net1"), hw_addr_of_mac(other_mac),
			       &e),
	   &e);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	x.to_restore = 0;
	ok(vf_state_write(&l.w.ctx, &x, &e), &e);
	l.w.kernel->link_refuses_mac = l.w.kernel->refuses[VF_MAC] = EINVAL;
	give_back(&l);
	ck_assert(testhost_log_has("cannot restore mac"));
	ck_assert_int_eq(claim_vf(&l.who, testhost_vf(N), &place, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_STATE);
	ck_assert_ptr_nonnull(strstr(e.msg, testhost_vf(N)));
	l.w.kernel->link_refuses_mac = l.w.kernel->refuses[VF_MAC] = 0;
	e = (struct err){ .msg = "" };
	ok(claim_vf(&l.who, testhost_vf(N), &place, &e), &e);
	give_back(&l);
	is_as_it_was(&l);
	end(&l);
}
END_TEST

/* igb refuses any rate while its PF has no link, also the one that is set. */
START_TEST(a_refusal_of_an_unchanged_attribute_is_ignored)
{
	struct claimed_vf l = claimed_vf();
	struct vf_place place;
	struct err e = { .msg = "" };

	take(&l);
	l.w.kernel->refuses[VF_RATE] = EINVAL;
	l.w.kernel->refuses[VF_LINK_STATE] = EOPNOTSUPP; /* the driver has none */
	l.w.kernel->vf[N].is.has &= ~(unsigned)VF_LINK_STATE;
	give_back(&l);
	is_as_it_was(&l);
	take(&l);
	l.w.kernel->vf[N].is.max_rate = 50;
	give_back(&l);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	ck_assert_uint_eq(x.to_restore, VF_RATE);
	ck_assert_int_eq(claim_vf(&l.who, testhost_vf(N), &place, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_STATE);
	end(&l);
}
END_TEST

START_TEST(alternative_names_are_restored)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	ok(nl_link_altname_add(l.w.nl, l.was.ifindex, "enp59s0v0", &e), &e);
	take(&l);
	move(&l);
	int there = net_ifindex(l.pod.nl, "net1");
	ok(nl_link_altname_del(l.pod.nl, there, "enp59s0v0", &e), &e);
	ok(nl_link_altname_add(l.pod.nl, there, "of-the-pod", &e), &e);
	give_back(&l);
	is_as_it_was(&l);
	ck_assert_str_eq(altnames(l.w.nl, net_ifindex(l.w.nl, "v1")), "enp59s0v0 ");
	end(&l);
}
END_TEST

/* A pod may give its interface a name that is taken on the host: the kernel refuses to move it. */
START_TEST(an_alternative_name_taken_on_the_host_is_dropped)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	ok(nl_link_altname_add(l.pod.nl, net_ifindex(l.pod.nl, "net1"), "pf0", &e), &e);
	give_back(&l);
	is_as_it_was(&l);
	ck_assert_str_eq(altnames(l.w.nl, net_ifindex(l.w.nl, "v1")), "");
	end(&l);
}
END_TEST

/* ---- where it is ---- */

/* Another link of the pod has the number that the VF has on the host. */
static int same_number(const struct pod *p, int ifindex)
{
	char a[IFNAME_LEN], b[IFNAME_LEN];
	auto_netns struct netns host = net_self();
	struct link_info li;
	struct err e = { .msg = "" };

	ok(netns_enter(&p->ns, &e), &e);
	for (int i = 0; nl_link_by_index(p->nl, ifindex, &li, &e); i++) {
		ck_assert_int_lt(i, 64);
		(void)snprintf(a, sizeof(a), "a%d", i);
		(void)snprintf(b, sizeof(b), "b%d", i);
		net_veth(a, b, NULL);
	}
	e.msg[0] = '\0';
	ok(netns_enter(&host, &e), &e);
	return li.ifindex;
}

START_TEST(a_VF_that_never_moved_is_restored)
{
	for (int old = 0; old < 2; old++) {
		struct claimed_vf l = claimed_vf();
		struct link_info li, now;
		struct err e = { .msg = "" };

		l.w.kernel->old_kernel = old;
		take(&l);
		int number = same_number(&l.pod, l.was.ifindex);
		ok(nl_link_by_index(l.pod.nl, number, &li, &e), &e);
		give_back(&l);
		is_as_it_was(&l);
		ok(nl_link_by_index(l.pod.nl, number, &now, &e), &e);
		ck_assert_str_eq(now.name, li.name);
		ck_assert(now.flags & IFF_UP);
		end(&l);
	}
}
END_TEST

/* Killed after the move and before its number in the pod was noted. */
START_TEST(a_VF_with_an_unknown_ifindex_is_found)
{
	for (int old = 0; old < 2; old++) {
		struct claimed_vf l = claimed_vf();
		struct vf_place place;
		struct err e = { .msg = "" };
		int ifindex;

		l.w.kernel->old_kernel = old;
		take(&l);
		(void)same_number(&l.pod, l.was.ifindex);
		ok(vf_locate(&l.w.ctx, l.w.nl, testhost_vf(N), &place, &e), &e);
		ok(vf_move_to_pod(&place,
				  &(struct vf_target){ l.w.nl, l.pod.nl, &l.pod.ns, "net1" },
				  &ifindex, &e),
		   &e);
		ck_assert_int_ne(ifindex, l.was.ifindex);
		give_back(&l);
		is_as_it_was(&l);
		end(&l);
	}
}
END_TEST

START_TEST(the_VF_of_a_dead_pod_is_restored)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	int there = net_ifindex(l.pod.nl, "net1");
	auto_netns struct netns host = net_self();
	/* as the kernel does it, which brings hardware home but deletes a veth */
	ok(nl_link_set_mtu(l.pod.nl, there, 1280, &e), &e);
	ok(nl_link_move(l.pod.nl, there, &host, "dev5", &e), &e);
	struct netns_id id = l.pod.ns.id;
	pod_clear(&l.pod);
	ok(claim_release(&l.w.ctx, testhost_vf(N), &l.who.key, id, &e), &e);
	is_as_it_was(&l);
	testhost_clear(&l.w);
}
END_TEST

static void comes_back(int64_t ms)
{
	if (ms >= 120)
		testhost_shows(N, "v1");
}

START_TEST(a_VF_of_a_dying_pod_is_waited_for)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	take(&l);
	testhost_shows(N, NULL);
	l.pod.ns.id.ino = l.who.netns_id.ino;
	struct netns_id id = l.pod.ns.id;
	pod_clear(&l.pod);
	faketime_begin(comes_back);
	ok(claim_release(&l.w.ctx, testhost_vf(N), &l.who.key, id, &e), &e);
	ck_assert_int_ge(faketime_gone(), 120);
	ck_assert_int_lt(faketime_gone(), 200);
	is_as_it_was(&l);
	testhost_clear(&l.w);
}
END_TEST

/* A process keeps the namespace alive that has no name any more. */
START_TEST(a_VF_in_an_unreachable_namespace_stays_owned)
{
	struct claimed_vf l = claimed_vf();
	auto_pod struct pod next = pod();
	struct vf_place place;
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	(void)close(l.pod.ns.fd);
	l.pod.ns.fd = -1;
	faketime_begin(NULL);
	ok(claim_release(&l.w.ctx, testhost_vf(N), &l.who.key, l.pod.ns.id, &e), &e);
	ck_assert_int_ge(faketime_gone(), 2000);
	ck_assert_int_lt(faketime_gone(), 2100);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	ck_assert(x.owned);
	ck_assert_uint_eq(x.to_restore, VF_UNREACHABLE);

	const struct claimant b = claimant_of(&l.w, "c2", &next);
	ck_assert_int_eq(claim_vf(&b, testhost_vf(N), &place, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_BUSY);

	/* Its process ends: what the pod had done to it is restored before it is used. */
	auto_netns struct netns host = net_self();
	int there = net_ifindex(l.pod.nl, "net1");
	ok(nl_link_set_mtu(l.pod.nl, there, 1280, &e), &e);
	ok(nl_link_move(l.pod.nl, there, &host, "dev5", &e), &e);
	ok(claim_vf(&b, testhost_vf(N), &place, &e), &e);
	struct link_info now;
	ok(nl_link_by_name(l.w.nl, "v1", &now, &e), &e);
	ck_assert_uint_eq(now.mtu, l.was.mtu);
	end(&l);
}
END_TEST

/* Its namespace was taken for gone; whoever asks for that attachment again finds it. */
START_TEST(a_repeated_release_finds_an_unreachable_VF)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	int kept = dup(l.pod.ns.fd), other = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(dup2(other, l.pod.ns.fd), 0);
	faketime_begin(NULL);
	ok(claim_release(&l.w.ctx, testhost_vf(N), &l.who.key, l.pod.ns.id, &e), &e);
	ck_assert_int_ge(dup2(kept, l.pod.ns.fd), 0);
	(void)close(kept);
	(void)close(other);

	ok(claim_release_all(&l.w.ctx, &l.who.key, (struct netns_id){ 0 }, &e), &e);
	is_as_it_was(&l);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	ck_assert(!x.owned);
	ck_assert_uint_eq(x.to_restore, 0);
	end(&l);
}
END_TEST

/* Its owner lives, but has handed it on into a namespace of its own. */
START_TEST(a_VF_hidden_by_its_pod_becomes_unreachable)
{
	struct claimed_vf l = claimed_vf();
	struct netns deeper = net_another();
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	ok(nl_link_move(l.pod.nl, net_ifindex(l.pod.nl, "net1"), &deeper, "net1", &e), &e);
	faketime_begin(NULL);
	ok(claim_release(&l.w.ctx, testhost_vf(N), &l.who.key, l.pod.ns.id, &e), &e);
	ck_assert_int_eq(faketime_gone(), 0);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	ck_assert(x.owned); /* so that the list can say who has it */
	ck_assert_uint_eq(x.to_restore, VF_UNREACHABLE);
	/* The namespaces end, and the kernel moves the interface to the host. */
	auto_nl struct nl *below = net_socket_in(&deeper);
	auto_netns struct netns here = net_self();
	ok(nl_link_move(below, net_ifindex(below, "net1"), &here, "dev5", &e), &e);
	ok(claim_release(&l.w.ctx, testhost_vf(N), &l.who.key, l.pod.ns.id, &e), &e);
	is_as_it_was(&l);
	netns_close(&deeper);
	end(&l);
}
END_TEST

/* Its interface is back on the host, so the pod has nothing more of it. */
START_TEST(a_setting_that_is_refused_leaves_no_owner)
{
	struct claimed_vf l = claimed_vf();
	auto_pod struct pod next = pod();
	struct vf_place place;
	struct err e = { .msg = "" };

	ok(nl_link_altname_add(l.w.nl, l.was.ifindex, "enp59s0v0", &e), &e);
	take(&l);
	move(&l);
	ok(nl_link_altname_del(l.pod.nl, net_ifindex(l.pod.nl, "net1"), "enp59s0v0", &e), &e);
	net_link("bridge", "enp59s0v0");
	give_back(&l);
	ck_assert(testhost_log_has("cannot restore an alternative name"));
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	ck_assert(!x.owned);
	ck_assert_uint_eq(x.to_restore, VF_UNREACHABLE); /* the next attachment tries again */
	const struct claimant b = claimant_of(&l.w, "c2", &next);
	ok(claim_vf(&b, testhost_vf(N), &place, &e), &e);
	auto_vf_entry struct vf_entry of_b = testhost_entry(&l.w, N);
	ck_assert(of_b.owned && !(of_b.to_restore & VF_UNREACHABLE));
	end(&l);
}
END_TEST

/* ---- names ---- */

START_TEST(a_taken_name_is_replaced_by_a_fallback)
{
	struct claimed_vf l = claimed_vf();
	struct link_info now;
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	net_link("bridge", "v1");
	give_back(&l);
	ok(nl_link_by_name(l.w.nl, "vf3b022", &now, &e), &e);
	ck_assert_str_eq(now.parent, testhost_vf(N));
	ck_assert_mem_eq(now.addr.byte, l.was.addr.byte, MAC_LEN);
	ck_assert(testhost_log_has("the name v1 is taken"));
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	ck_assert(!x.owned);
	end(&l);
}
END_TEST

/* Even the name that is made for it. */
START_TEST(release_fails_while_all_names_are_taken)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	take(&l);
	move(&l);
	net_link("bridge", "v1");
	net_link("bridge", "vf3b022");
	ck_assert_int_eq(claim_release(&l.w.ctx, testhost_vf(N), &l.who.key, l.pod.ns.id, &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, testhost_vf(N)));
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	ck_assert(x.owned); /* DEL is called again */
	e = (struct err){ .msg = "" };
	ok(nl_link_delete(l.w.nl, net_ifindex(l.w.nl, "v1"), &e), &e);
	give_back(&l);
	is_as_it_was(&l);
	end(&l);
}
END_TEST

/* Another namespace by now, or none of a network: its pod is dead, and nothing there is touched. */
START_TEST(a_path_that_is_no_namespace_is_survived)
{
	struct claimed_vf l = claimed_vf();
	struct err e = { .msg = "" };

	take(&l);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, N);
	x.owner.netns = "/proc/self/ns/uts";
	ok(vf_state_write(&l.w.ctx, &x, &e), &e);
	give_back(&l);
	is_as_it_was(&l);
	end(&l);
}
END_TEST

TEST_PROGRAM("sriov/vf/restore", all_configured_attributes_are_restored,
	     the_attributes_of_an_administrator_are_restored, changes_of_the_pod_are_restored,
	     a_mac_changed_by_the_pod_is_restored, an_ipoib_address_that_the_pod_changed,
	     a_mac_that_cannot_be_restored_blocks_the_next_claim,
	     a_refusal_of_an_unchanged_attribute_is_ignored, alternative_names_are_restored,
	     an_alternative_name_taken_on_the_host_is_dropped, a_VF_that_never_moved_is_restored,
	     a_VF_with_an_unknown_ifindex_is_found, the_VF_of_a_dead_pod_is_restored,
	     a_VF_of_a_dying_pod_is_waited_for, a_VF_in_an_unreachable_namespace_stays_owned,
	     a_repeated_release_finds_an_unreachable_VF, a_VF_hidden_by_its_pod_becomes_unreachable,
	     a_setting_that_is_refused_leaves_no_owner, a_taken_name_is_replaced_by_a_fallback,
	     release_fails_while_all_names_are_taken, a_path_that_is_no_namespace_is_survived)
