/* SPDX-License-Identifier: Apache-2.0 */
/* VFs that sriov-cni attached, when this plugin has taken its place. */
#include "sriov/claim/peer.h"
#include "sriov/claim/taken.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cni/testing/call.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/syscall.h"
#include "sriov/testing/manager.h"

#define FOLDER TESTHOST_CNI "/sriov"

/* As version 2.10 writes it. */
static const char cache[] =
	"{\"cniVersion\":\"1.0.0\",\"name\":\"net-a\",\"type\":\"sriov\",\"ipam\":{},\"dns\":{},"
	"\"OrigVfState\":{\"HostIFName\":\"v0\",\"SpoofChk\":true,\"Trust\":false,"
	"\"AdminMAC\":\"00:00:00:00:00:00\",\"EffectiveMAC\":\"%s\",\"Vlan\":0,\"VlanQoS\":0,"
	"\"VlanProto\":33024,\"MinTxRate\":0,\"MaxTxRate\":0,\"LinkState\":0,\"MTU\":1500},"
	"\"Master\":\"pf0\",\"MAC\":\"\",\"MTU\":1500,\"vlan\":7,\"vlanQoS\":0,\"vlanProto\":"
	"\"802.1q\",\"deviceID\":\"%s\",\"VFID\":0,\"min_tx_rate\":null,\"max_tx_rate\":null,"
	"\"spoofchk\":\"off\",\"trust\":\"on\",\"runtimeConfig\":{}}";

/* As version 2.1.0 writes it, which is the real one of conformance/vm/suites/peers-sriov. */
static const char early[] =
	"{\"cniVersion\":\"0.3.1\",\"name\":\"net-a\",\"type\":\"sriov\",\"ipam\":{\"type\":"
	"\"host-local\"},\"dns\":{},\"DPDKMode\":false,\"Master\":\"pf0\",\"vlan\":%u,"
	"\"deviceID\":\"%s\",\"VFID\":0,\"HostIFNames\":\"v0\",\"ContIFNames\":\"net1\"}";

struct claimed_vf {
	struct testhost w;
	struct pod pod;
	struct link_info was;
	struct record_key key;
};

static void no_refusal(const char *what, const struct err *why, void *arg)
{
	(void)arg;
	ck_abort_msg("%s: %s", what, why->msg);
}

static void write_files(const struct claimed_vf *l, bool pci)
{
	char text[2048], mac[MAC_STR_LEN], path[128];

	ck_assert(mkdir(TESTHOST_CNI, 0700) == 0 || errno == EEXIST);
	ck_assert(mkdir(FOLDER, 0700) == 0 || errno == EEXIST);
	ck_assert(mkdir(FOLDER "/pci", 0700) == 0 || errno == EEXIST);
	(void)snprintf(text, sizeof(text), cache, mac_format(l->was.addr.byte, mac),
		       testhost_vf(0));
	testing_file(FOLDER "/c1-net1", 0600, text);
	(void)snprintf(path, sizeof(path), FOLDER "/pci/%s", testhost_vf(0));
	if (pci)
		testing_file(path, 0600, l->pod.path);
}

static void no_pci(void)
{
	char path[128];

	(void)snprintf(path, sizeof(path), FOLDER "/pci/%s", testhost_vf(0));
	ck_assert_int_eq(unlink(path), 0);
}

/* What sriov-cni's ADD does: VLAN 7, trusted, no spoof check, moved and renamed. */
static struct claimed_vf attached_by_peer(void)
{
	struct claimed_vf l = { .w = testhost(2), .pod = pod(), .key = { "net-a", "c1", "net1" } };
	struct err e = { .msg = "" };

	good(nl_link_by_name(l.w.nl, "v0", &l.was, &e), &e);
	l.w.kernel->vf[0].is.vlan = 7;
	l.w.kernel->vf[0].is.trust = true;
	l.w.kernel->vf[0].is.spoofchk = false;
	good(nl_link_move(l.w.nl, l.was.ifindex, &l.pod.ns, "net1", &e), &e);
	write_files(&l, true);
	return l;
}

static void end(struct claimed_vf *l)
{
	pod_clear(&l->pod);
	testhost_clear(&l->w);
}
#define auto_claimed_vf auto_clean(end)

static void is_as_it_was(const struct claimed_vf *l)
{
	const struct vf_info *is = &l->w.kernel->vf[0].is;
	struct link_info now;
	struct stat st;
	struct err e = { .msg = "" };
	char path[128];

	good(nl_link_by_name(l->w.nl, "v0", &now, &e), &e);
	ck_assert_uint_eq(now.mtu, l->was.mtu);
	ck_assert_mem_eq(now.addr.byte, l->was.addr.byte, MAC_LEN);
	ck_assert_uint_eq(is->vlan, 0);
	ck_assert(!is->trust);
	ck_assert(is->spoofchk);
	ck_assert_int_eq(stat(FOLDER "/c1-net1", &st), -1);
	(void)snprintf(path, sizeof(path), FOLDER "/pci/%s", testhost_vf(0));
	ck_assert_int_eq(stat(path, &st), -1);
}

/* DEL of an attachment of which there is no record of ours. */
static int del(const struct claimed_vf *l, const char *netns, struct err *e)
{
	const struct record r = { .key = l->key, .plugin = "sriov", .kind = "", .netns = netns };

	return sriov_restore(&l->w.ctx, &r, e);
}

/* ---- DEL ---- */

START_TEST(our_DEL_restores_a_VF_of_sriov_cni)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	struct link_settings s;
	struct err e = { .msg = "" };
	int dev = net_ifindex(l.pod.nl, "net1");

	/* And what its tenant did besides. */
	good(nl_link_set_mtu(l.pod.nl, dev, 1300, &e), &e);
	struct link_settings is, want;
	good(nl_settings_get(l.pod.nl, dev, &is, &e), &e);
	want = is;
	want.flags |= IFF_PROMISC;
	nl_settings_set(l.pod.nl, dev, &(struct settings_change){ &is, &want, no_refusal, NULL });
	good(del(&l, l.pod.path, &e), &e);
	is_as_it_was(&l);
	good(nl_settings_get(l.w.nl, net_ifindex(l.w.nl, "v0"), &s, &e), &e);
	ck_assert(!(s.flags & IFF_PROMISC));
	/* Known from now on, and free. */
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, 0);
	ck_assert(!x.owned);
	ck_assert_uint_eq(x.base.mtu, 1500);
	good(del(&l, l.pod.path, &e), &e);
}
END_TEST

/* CNI_NETNS is empty: the peer has written down where it is. */
START_TEST(a_DEL_without_a_namespace_restores)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	struct err e = { .msg = "" };

	good(del(&l, "", &e), &e);
	is_as_it_was(&l);
}
END_TEST

START_TEST(a_VF_whose_pod_is_gone_is_restored)
{
	struct claimed_vf l = attached_by_peer();
	auto_netns struct netns here = net_self();
	struct err e = { .msg = "" };

	good(nl_link_move(l.pod.nl, net_ifindex(l.pod.nl, "net1"), &here, "dev5", &e), &e);
	pod_clear(&l.pod);
	good(del(&l, "/nowhere", &e), &e);
	is_as_it_was(&l);
	testhost_clear(&l.w);
}
END_TEST

/* The same container and name in another network: no attachment of ours. */
START_TEST(an_attachment_of_another_network_is_left_alone)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	struct err e = { .msg = "" };

	l.key.network = "net-z";
	good(del(&l, l.pod.path, &e), &e);
	ck_assert_uint_eq(l.w.kernel->vf[0].is.vlan, 7);
	l.key.network = "net-a";
	good(del(&l, l.pod.path, &e), &e);
	is_as_it_was(&l);
}
END_TEST

START_TEST(a_VF_of_another_attachment_is_left_alone)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	auto_pod struct pod next = pod();
	auto_netns struct netns here = net_self();
	const struct claimant who = claimant_of(&l.w, "c2", &next);
	struct vf_place place;
	struct err e = { .msg = "" };

	good(nl_link_move(l.pod.nl, net_ifindex(l.pod.nl, "net1"), &here, "v0", &e), &e);
	ck_assert_int_eq(unlink(FOLDER "/c1-net1"), 0);
	no_pci();
	good(claim_vf(&who, testhost_vf(0), &place, &e), &e);
	write_files(&l, true);
	l.w.kernel->vf[0].is.vlan = 100;
	good(del(&l, l.pod.path, &e), &e);
	ck_assert_uint_eq(l.w.kernel->vf[0].is.vlan, 100);
}
END_TEST

/* ---- what earlier versions do not tell ---- */

static struct claimed_vf attached_by_early(unsigned vlan)
{
	struct claimed_vf l = { .w = testhost(2), .pod = pod(), .key = { "net-a", "c1", "net1" } };
	char text[2048];
	struct err e = { .msg = "" };

	good(nl_link_by_name(l.w.nl, "v0", &l.was, &e), &e);
	good(nl_link_move(l.w.nl, l.was.ifindex, &l.pod.ns, "net1", &e), &e);
	l.w.kernel->vf[0].is.vlan = vlan ? vlan : 9;
	l.w.kernel->vf[0].is.trust = true;
	(void)!mkdir(TESTHOST_CNI, 0700);
	(void)!mkdir(FOLDER, 0700);
	(void)snprintf(text, sizeof(text), early, vlan, testhost_vf(0));
	testing_file(FOLDER "/c1-net1", 0600, text);
	return l;
}

START_TEST(a_VF_of_an_early_version_is_restored)
{
	auto_claimed_vf struct claimed_vf l = attached_by_early(7);
	auto_vf_view struct vf_view v = { 0 };
	struct link_info now;
	struct stat st;
	struct err e = { .msg = "" };

	good(inventory_vf(&l.w.ctx, l.w.nl, testhost_vf(0), &v, &e), &e);
	ck_assert_str_eq(v.why, "was attached by sriov-cni to container c1 as net1");
	good(del(&l, l.pod.path, &e), &e);
	good(nl_link_by_name(l.w.nl, "v0", &now, &e), &e);
	ck_assert_uint_eq(l.w.kernel->vf[0].is.vlan, 0);
	ck_assert(l.w.kernel->vf[0].is.trust);
	ck_assert_int_eq(stat(FOLDER "/c1-net1", &st), -1);
	/* Nothing is missing in what the next pods are put back to. */
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, 0);
	ck_assert_uint_eq(x.to_restore, 0);
	ck_assert_uint_eq(x.base.mtu, 1500);
	ck_assert(x.base.addr.len);
	ck_assert_mem_eq(x.base.addr.byte, l.was.addr.byte, MAC_LEN);
	ck_assert_uint_eq(x.base.pf_side.has, l.w.kernel->vf[0].is.has);
	ck_assert_uint_eq(x.base.pf_side.vlan, 0);
	ck_assert(x.base.pf_side.trust);
}
END_TEST

/* It writes "vlan":0 when there is none, and then has touched nothing. */
START_TEST(a_file_of_an_early_version_without_a_vlan)
{
	auto_claimed_vf struct claimed_vf l = attached_by_early(0);
	struct err e = { .msg = "" };

	good(del(&l, l.pod.path, &e), &e);
	ck_assert_uint_eq(l.w.kernel->vf[0].is.vlan, 9);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, 0);
	ck_assert_uint_eq(x.base.pf_side.vlan, 9);
}
END_TEST

/* Its file tells no MTU, but the VF state does. */
START_TEST(the_entry_of_an_early_version_is_used)
{
	auto_pod struct pod first = pod();
	struct claimed_vf l;
	struct vf_place place;
	struct err e = { .msg = "" };

	l = attached_by_early(7);
	auto_netns struct netns here = net_self();
	int dev = net_ifindex(l.pod.nl, "net1");
	good(nl_link_move(l.pod.nl, dev, &here, "v0", &e), &e);
	ck_assert_int_eq(unlink(FOLDER "/c1-net1"), 0);
	l.w.kernel->vf[0].is.vlan = 0;
	const struct claimant who = claimant_of(&l.w, "c0", &first);
	good(claim_vf(&who, testhost_vf(0), &place, &e), &e);
	good(claim_release(&l.w.ctx, testhost_vf(0), &who.key, who.netns_id, &e), &e);
	/* And now the peer has it. */
	char text[2048];
	(void)snprintf(text, sizeof(text), early, 7U, testhost_vf(0));
	testing_file(FOLDER "/c1-net1", 0600, text);
	l.w.kernel->vf[0].is.vlan = 7;
	good(nl_link_move(l.w.nl, net_ifindex(l.w.nl, "v0"), &l.pod.ns, "net1", &e), &e);
	good(nl_link_set_mtu(l.pod.nl, net_ifindex(l.pod.nl, "net1"), 1300, &e), &e);
	good(del(&l, l.pod.path, &e), &e);
	struct link_info now;
	good(nl_link_by_name(l.w.nl, "v0", &now, &e), &e);
	ck_assert_uint_eq(now.mtu, 1500);
	ck_assert_uint_eq(l.w.kernel->vf[0].is.vlan, 0);
	end(&l);
}
END_TEST

/* One that tells all but what a later one tells: trust was set, and not kept. */
START_TEST(trust_of_an_older_version_is_restored)
{
	static const char older[] =
		"{\"name\":\"net-a\",\"type\":\"sriov\",\"OrigVfState\":{\"HostIFName\":\"v0\","
		"\"SpoofChk\":true,\"AdminMAC\":\"\",\"EffectiveMAC\":\"\",\"Vlan\":0,"
		"\"MinTxRate\":0,\"MaxTxRate\":0,\"LinkState\":0},\"vlan\":7,\"deviceID\":"
		"\"%s\",\"trust\":\"on\"}";
	auto_claimed_vf struct claimed_vf l = attached_by_early(7);
	char text[1024];
	struct err e = { .msg = "" };

	(void)snprintf(text, sizeof(text), older, testhost_vf(0));
	testing_file(FOLDER "/c1-net1", 0600, text);
	good(del(&l, l.pod.path, &e), &e);
	ck_assert_uint_eq(l.w.kernel->vf[0].is.vlan, 0);
	ck_assert(!l.w.kernel->vf[0].is.trust);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, 0);
	ck_assert(x.base.pf_side.has & VF_TRUST);
	ck_assert(!x.base.pf_side.trust);
	ck_assert_uint_eq(x.base.mtu, 1500);
}
END_TEST

/* ---- free? ---- */

START_TEST(the_VF_of_a_living_pod_is_in_use)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	auto_pod struct pod next = pod();
	auto_vf_view struct vf_view v = { 0 };
	const struct claimant who = claimant_of(&l.w, "c2", &next);
	struct vf_place place;
	struct err e = { .msg = "" };

	good(inventory_vf(&l.w.ctx, l.w.nl, testhost_vf(0), &v, &e), &e);
	ck_assert_str_eq(vf_use_name(v.use), "in-use");
	ck_assert_str_eq(v.why, "was attached by sriov-cni to container c1 as net1");
	ck_assert_int_eq(claim_vf(&who, testhost_vf(0), &place, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "container c1 as net1, attached by sriov-cni"));
}
END_TEST

/* With vfio-pci nothing but the files tells. */
START_TEST(a_VF_without_an_interface_is_in_use_too)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	auto_pod struct pod next = pod();
	auto_netns struct netns here = net_self();
	const struct claimant who = claimant_of(&l.w, "c2", &next);
	struct vf_place place;
	struct err e = { .msg = "" };

	good(nl_link_move(l.pod.nl, net_ifindex(l.pod.nl, "net1"), &here, "v0", &e), &e);
	ck_assert_int_eq(unlink(FOLDER "/c1-net1"), 0);
	ck_assert_int_eq(claim_vf(&who, testhost_vf(0), &place, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
}
END_TEST

/* A container without the host's /run/netns does not see the path of a living pod. */
START_TEST(an_invisible_namespace_path_does_not_free_a_VF)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	auto_pod struct pod next = pod();
	auto_vf_view struct vf_view v = { 0 };
	const struct claimant who = claimant_of(&l.w, "c2", &next);
	struct vf_place place;
	struct err e = { .msg = "" };
	char path[128];

	(void)snprintf(path, sizeof(path), FOLDER "/pci/%s", testhost_vf(0));
	testing_file(path, 0600, "/nowhere");
	good(inventory_vf(&l.w.ctx, l.w.nl, testhost_vf(0), &v, &e), &e);
	ck_assert_str_eq(vf_use_name(v.use), "in-use");
	ck_assert_int_eq(claim_vf(&who, testhost_vf(0), &place, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
}
END_TEST

static struct claimed_vf left_by_peer(void)
{
	struct claimed_vf l = attached_by_peer();
	auto_netns struct netns here = net_self();
	struct err e = { .msg = "" };

	good(nl_link_move(l.pod.nl, net_ifindex(l.pod.nl, "net1"), &here, "dev5", &e), &e);
	good(nl_link_set_mtu(l.w.nl, net_ifindex(l.w.nl, "dev5"), 1300, &e), &e);
	pod_clear(&l.pod);
	l.pod = pod();
	no_pci();
	return l;
}

START_TEST(the_VF_of_a_dead_pod_is_restored_before_a_claim)
{
	auto_claimed_vf struct claimed_vf l = left_by_peer();
	auto_pod struct pod next = pod();
	const struct claimant who = claimant_of(&l.w, "c2", &next);
	struct vf_place place;
	struct err e = { .msg = "" };

	good(claim_vf(&who, testhost_vf(0), &place, &e), &e);
	is_as_it_was(&l);
	auto_vf_entry struct vf_entry x = testhost_entry(&l.w, 0);
	ck_assert(x.owned);
	ck_assert_uint_eq(x.base.pf_side.vlan, 0);
	ck_assert_str_eq(x.base.name, "v0");
	ck_assert_uint_eq(x.base.mtu, 1500);
}
END_TEST

START_TEST(the_VF_of_a_dead_pod_is_repaired)
{
	auto_claimed_vf struct claimed_vf l = left_by_peer();
	const struct manager m = { &l.w.ctx, l.w.nl, NULL, NULL };
	struct vf_report r;
	struct err e = { .msg = "" };

	good(manager_repair(&m, testhost_vf(0), true, &r, &e), &e);
	ck_assert_int_eq(r.outcome, VF_WOULD_REPAIR);
	ck_assert_uint_eq(l.w.kernel->vf[0].is.vlan, 7);
	good(manager_repair(&m, testhost_vf(0), false, &r, &e), &e);
	ck_assert_int_eq(r.outcome, VF_REPAIRED);
	is_as_it_was(&l);
}
END_TEST

/* ---- the files ---- */

START_TEST(files_of_earlier_versions_and_damaged_ones)
{
	static const char *const bad[] = { "",
					   "{}",
					   "[]",
					   "{\"deviceID\":\"x\",\"OrigVfState\":{}}",
					   "{\"deviceID\":\"0000:3b:02.0\"}",
					   "{\"deviceID\":\"0000:3b:02.0\",\"OrigVfState\":3}",
					   "{\"deviceID\":\"0000:3b:02.0\",\"HostIFNames\":3}",
					   "{\"deviceID\":\"x\",\"HostIFNames\":\"v0\"}" };
	static const char old[] = "{\"name\":\"n\",\"deviceID\":\"0000:3b:02.0\",\"vlan\":5,"
				  "\"OrigVfState\":{\"HostIFName\":\"ens1\",\"AdminMAC\":\"\","
				  "\"EffectiveMAC\":\"02:00:00:00:00:07\",\"Vlan\":3}}";
	struct peer p = { .vf = "same" };
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(peer_decode(bad[i], strlen(bad[i]), &p, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_DECODE);
		ck_assert_str_eq(p.vf, "same");
	}
	good(peer_decode(old, strlen(old), &p, &e), &e);
	ck_assert_uint_eq(p.base.pf_side.has, VF_VLAN);
	ck_assert_uint_eq(p.base.pf_side.vlan, 3);
	ck_assert_uint_eq(p.to_restore, VF_VLAN);
	ck_assert_str_eq(p.base.name, "ens1");
	ck_assert(p.base.addr.len);
	peer_clear(&p);
}
END_TEST

static int collect(const struct peer *p, void *arg)
{
	char *text = arg;

	testing_append(text, 512, p->container);
	testing_append(text, 512, "/");
	testing_append(text, 512, p->ifname);
	testing_append(text, 512, *p->vf ? " " : "? ");
	return 0;
}

static struct ctx lied_to;

static int owner_of_vf(struct err *e)
{
	auto_peer struct peer p = { .network = "" };
	int rc = peer_of_vf(&lied_to, testhost_vf(0), &p, e);

	/* A file that is there, and yet no owner, would be the lie believed. */
	return rc == PEER_NONE ? 0 : rc < 0 ? -1 : 1;
}

static int forget_files(struct err *e)
{
	const struct peer p = { .file = "c1-net1", .network = "" };

	return peer_forget(&lied_to, &p, e);
}

/* One ENOENT about a file that is there: its VF has an owner still, and the file stays known. */
START_TEST(not_seen_is_not_gone)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	struct err e;

	lied_to = l.w.ctx;
	ck_assert(!testing_fail_syscall(SYS_openat, ENOENT, owner_of_vf));
	ck_assert(!testing_fail_syscall(SYS_unlinkat, ENOENT, forget_files));
	ck_assert(forget_files(&e) == 0 && forget_files(&e) == 0);
}
END_TEST

START_TEST(file_names_are_split)
{
	auto_claimed_vf struct claimed_vf l = attached_by_peer();
	char text[512] = "";
	struct err e = { .msg = "" };

	testing_file(FOLDER "/a-b-net-2", 0600, "rubbish");
	testing_file(FOLDER "/0123456789abcdef0123456789abcdef0123-net-2", 0600, "rubbish");
	testing_file(FOLDER "/nodash", 0600, "rubbish");
	good(peer_each(&l.w.ctx, collect, text, &e), &e);
	ck_assert_str_eq(text, "0123456789abcdef0123456789abcdef0123/net-2? a-b-net/2? c1/net1 "
			       "nodash/? ");
}
END_TEST

TEST_PROGRAM("sriov/claim/peer", our_DEL_restores_a_VF_of_sriov_cni,
	     a_DEL_without_a_namespace_restores, a_VF_whose_pod_is_gone_is_restored,
	     an_attachment_of_another_network_is_left_alone, a_VF_of_an_early_version_is_restored,
	     a_file_of_an_early_version_without_a_vlan, the_entry_of_an_early_version_is_used,
	     trust_of_an_older_version_is_restored, a_VF_of_another_attachment_is_left_alone,
	     the_VF_of_a_living_pod_is_in_use, a_VF_without_an_interface_is_in_use_too,
	     an_invisible_namespace_path_does_not_free_a_VF,
	     the_VF_of_a_dead_pod_is_restored_before_a_claim, the_VF_of_a_dead_pod_is_repaired,
	     files_of_earlier_versions_and_damaged_ones, not_seen_is_not_gone, file_names_are_split)
