// SPDX-License-Identifier: Apache-2.0
/* Of the free VFs the nearest, and never two of one port for one pod. */
#include "sriov/choose/near.h"

#include <stdio.h>
#include <sys/wait.h>

#include "cni/record/part.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "sriov/testing/tree.h"
#include "sriov/testing/vf.h"

#define GPU0   "0000:0f:00.0"
#define GPU1   "0000:47:00.0"
#define SECOND "0000:5e:00.0"
#define THIRD  "0000:af:00.0"
#define LEFT   "0000:01:00.0/0000:02:00.0/0000:03:00.0" /* root port, switch, its port */
#define RIGHT  "0000:41:00.0/0000:42:00.0/0000:43:00.0"

static const char *const all[] = { "pf0", "pf1", "pf2" };
static const struct pf_list three = { all, 3 }, two = { all, 2 };
static const struct near_gpus left = { { GPU0 }, 1, "near" }, right = { { GPU1 }, 1, "near" };
static const struct near_gpus both = { { GPU0, GPU1 }, 2, "near" };

/* ---- two switches, a GPU and a PF on each, one PF on none ---- */

static struct testhost two_switches(uint32_t vfs)
{
	struct testhost w = testhost(vfs);

	testhost_pf(&(struct testhost_pf){ SECOND, "pf1", vfs, 8 });
	testhost_pf(&(struct testhost_pf){ THIRD, "pf2", vfs, 16 });
	testhost_switch("0000:01:00.0", "0000:02:00.0", "0000:03:00.0");
	testhost_switch("0000:41:00.0", "0000:42:00.0", "0000:43:00.0");
	fakepci_function(TESTHOST_SYS, GPU0);
	fakepci_function(TESTHOST_SYS, GPU1);
	testhost_below(GPU0, LEFT);
	testhost_below(GPU1, RIGHT);
	testhost_below(TESTHOST_PF, LEFT);
	testhost_below(SECOND, RIGHT);
	return w;
}

/* ---- */

static struct claimant net(const struct testhost *w, const struct pod *p, const char *ifname)
{
	struct claimant who = claimant_of(w, "c1", p);

	who.key.ifname = ifname;
	return who;
}

/* With that, PFs which are farther than another one are skipped. */
static bool nearest_only;

static struct affinity_request request(const struct near_gpus *g, struct pf_list pfs)
{
	return (struct affinity_request){ g, pfs, nearest_only };
}

static struct affinity_result take(const struct claimant *who, const struct near_gpus *g,
				   struct pf_list pfs, const char *pf)
{
	struct vf_place place;
	struct affinity_result f;
	struct err e = { .msg = "" };

	ck_assert_msg(affinity_claim(who, request(g, pfs), &place, &f, &e) == 0, "%s (%s)", e.msg,
		      e.detail);
	ck_assert_str_eq(place.pf, pf);
	return f;
}

static struct err refused(const struct claimant *who, const struct near_gpus *g, struct pf_list pfs)
{
	struct vf_place place;
	struct affinity_result f;
	struct err e = { .msg = "" };

	ck_assert_int_eq(affinity_claim(who, request(g, pfs), &place, &f, &e), -1);
	return e;
}

START_TEST(the_nearest_pf_is_chosen)
{
	auto_testhost struct testhost w = two_switches(2);
	auto_pod struct pod p = pod();
	const struct claimant a = net(&w, &p, "net1"), b = claimant_of(&w, "c2", &p);
	char text[AFFINITY_TEXT_LEN];

	struct affinity_result f = take(&a, &right, three, SECOND);
	ck_assert_str_eq(f.gpu, GPU1);
	ck_assert_str_eq(f.source, "near");
	ck_assert_int_eq(f.class, TOPO_PIX);
	ck_assert(f.switches <= 1 && !f.farther);
	f = take(&b, &left, three, TESTHOST_PF);
	ck_assert_str_eq(f.gpu, GPU0);
	ck_assert_ptr_nonnull(strstr(affinity_text(&f, text), "PIX over "));
	ck_assert_ptr_null(strstr(text, "nearer"));
}
END_TEST

START_TEST(the_nearest_vf_of_InfiniBand_is_chosen)
{
	auto_testhost struct testhost w = two_switches(2);
	auto_pod struct pod p = pod();
	const struct claimant a = net(&w, &p, "net1");

	for (uint32_t n = 0; n < w.kernel->n; n++)
		w.kernel->vf[n].is.has = VF_LINK_STATE | VF_GUIDS;
	w.kernel->ipoib = w.kernel->guids = true;
	struct affinity_result f = take(&a, &left, three, TESTHOST_PF);
	ck_assert_str_eq(f.gpu, GPU0);
	ck_assert_int_eq(f.class, TOPO_PIX);
}
END_TEST

START_TEST(the_nearest_free_vf_is_chosen)
{
	auto_testhost struct testhost w = two_switches(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p),
			      c = claimant_of(&w, "c3", &p);
	char text[AFFINITY_TEXT_LEN];

	(void)take(&a, &right, three, SECOND);
	struct affinity_result f = take(&b, &right, three, THIRD);
	ck_assert(f.class == TOPO_PHB && f.farther);
	ck_assert_ptr_nonnull(strstr(affinity_text(&f, text), "nearer PFs have none for this pod"));
	/* as far as pf2 but for one more switch */
	(void)take(&c, &right, three, TESTHOST_PF);
	struct err e = refused(&c, &right, (struct pf_list){ all + 1, 1 });
	ck_assert_int_eq((int)e.code, ERR_EXHAUSTED);
}
END_TEST

/* The record of an attachment has its pod. ifname: of the record, which may have several. */
static void write_record(const struct testhost *w, const struct claimant *who, const char *ifname,
			 const char *args)
{
	struct record r = { .key = who->key,
			    .plugin = "sriov",
			    .kind = "",
			    .netns = who->netns,
			    .master = "",
			    .cni_path = "",
			    .args = args };
	auto_json struct json *parts = json_new_array();
	struct err e = { .msg = "" };

	ck_assert_int_eq(record_add_part(parts, &r), 0);
	if (strcmp(ifname, who->key.ifname) != 0)
		r.parts = parts;
	r.key.ifname = ifname;
	ck_assert_msg(record_write(&w->ctx, &r, &e) == 0, "%s", e.msg);
}

START_TEST(with_nearest_only_the_error_names_who_has_the_vfs)
{
	auto_testhost struct testhost w = two_switches(2);
	auto_pod struct pod p = pod();
	const struct claimant a = net(&w, &p, "net1"), b = claimant_of(&w, "c2", &p),
			      c = claimant_of(&w, "c3", &p);

	nearest_only = true;
	(void)take(&a, &left, three, TESTHOST_PF);
	(void)take(&b, &left, three, TESTHOST_PF);
	write_record(&w, &b, b.key.ifname, "K8S_POD_NAMESPACE=default;K8S_POD_NAME=train-1");
	struct err e = refused(&c, &left, three);
	ck_assert_int_eq((int)e.code, ERR_EXHAUSTED);
	ck_assert_str_eq(e.msg, "nearOnly: no free VF of the nearest PFs (pf0): 0000:3b:02.0 has "
				"container c1 (net1), 0000:3b:02.2 has pod default/train-1 (net1)");
	ck_assert_ptr_nonnull(strstr(e.detail, "without nearOnly, the next PF is used"));
	/* The other GPU has its own rail, and without the key the next PF is used. */
	(void)take(&c, &right, three, SECOND);
	nearest_only = false;
	const struct claimant d = claimant_of(&w, "c4", &p);
	ck_assert(take(&d, &left, three, THIRD).farther);
}
END_TEST

START_TEST(with_nearest_only_a_gpu_gets_no_vf_of_another_one)
{
	auto_testhost struct testhost w = two_switches(2);
	auto_pod struct pod p = pod();
	const struct claimant one = net(&w, &p, "net1"), other = net(&w, &p, "net2"),
			      third = net(&w, &p, "net3");

	nearest_only = true;
	(void)take(&one, &both, three, TESTHOST_PF);
	(void)take(&other, &both, three, SECOND);
	struct err e = refused(&third, &both, three);
	ck_assert_ptr_nonnull(strstr(e.msg, "(pf0, pf1): 0000:3b:02.0 has container c1 (net1)"));
	ck_assert_ptr_nonnull(strstr(e.detail, "no free VF: of 0, 0 belong to attachments"));
	ck_assert_ptr_nonnull(strstr(e.detail, "2 of the PFs were not asked"));
	ck_assert_ptr_nonnull(strstr(e.detail, "without nearOnly"));
	const struct near_gpus gone = { { "0000:77:00.0" }, 1, "near" };
	e = refused(&third, &gone, three);
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
}
END_TEST

START_TEST(many_holders_are_counted)
{
	auto_testhost struct testhost w = two_switches(8);
	auto_pod struct pod p = pod();
	char name[8][8];

	nearest_only = true;
	for (unsigned i = 0; i < 8; i++) {
		(void)snprintf(name[i], sizeof(name[i]), "c%u", i);
		const struct claimant a = claimant_of(&w, name[i], &p);
		(void)take(&a, &left, three, TESTHOST_PF);
		write_record(&w, &a, a.key.ifname,
			     "K8S_POD_NAMESPACE=a-namespace-of-forty-characters-in-name;"
			     "K8S_POD_NAME=a-pod-of-forty-characters-in-its-name-ab");
	}
	const struct claimant last = claimant_of(&w, "c9", &p);
	struct err e = refused(&last, &left, three);
	ck_assert_msg(strstr(e.msg, ", and 4 more") != NULL, "%s", e.msg);
}
END_TEST

/* Of a VF that is named, with PFs that could have been chosen. */
START_TEST(how_far_a_named_vf_is)
{
	auto_testhost struct testhost w = two_switches(1);
	auto_pod struct pod p = pod();
	const struct claimant a = net(&w, &p, "net1");
	struct affinity_result f;
	char text[AFFINITY_TEXT_LEN];
	struct err e = { .msg = "" };

	ck_assert_int_eq(affinity_of(&a, request(&left, two), THIRD, &f, &e), 0);
	ck_assert(f.given && f.farther && f.class == TOPO_PHB);
	ck_assert_ptr_nonnull(strstr(affinity_text(&f, text), "; the resource has nearer PFs"));
	ck_assert_int_eq(affinity_of(&a, request(&left, two), TESTHOST_PF, &f, &e), 0);
	ck_assert(f.given && !f.farther);
	ck_assert_str_eq(f.gpu, GPU0);
	ck_assert_int_eq(
		affinity_of(&a, request(&left, (struct pf_list){ NULL, 0 }), THIRD, &f, &e), 0);
	ck_assert(!f.farther);
	const struct near_gpus gone = { { "0000:77:00.0" }, 1, "near" };
	ck_assert_int_eq(affinity_of(&a, request(&gone, two), THIRD, &f, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
}
END_TEST

/* A PF of the resource counts once, also if it is that of the named VF. */
START_TEST(a_second_named_vf_of_one_pf_is_for_the_other_gpu)
{
	auto_testhost struct testhost w = two_switches(2);
	auto_pod struct pod p = pod();
	const struct claimant one = net(&w, &p, "net1"), other = net(&w, &p, "net2");
	struct affinity_result f;
	struct err e = { .msg = "" };

	(void)take(&one, &both, three, TESTHOST_PF);
	ck_assert_int_eq(affinity_of(&other, request(&both, two), TESTHOST_PF, &f, &e), 0);
	ck_assert_str_eq(f.gpu, GPU1);
	ck_assert(f.farther);
}
END_TEST

START_TEST(two_vfs_of_one_port_are_never_taken)
{
	auto_testhost struct testhost w = two_switches(4);
	auto_pod struct pod p = pod();
	const struct claimant one = net(&w, &p, "net1"), other = net(&w, &p, "net2"),
			      third = net(&w, &p, "net3");

	(void)take(&one, &left, two, TESTHOST_PF);
	struct affinity_result f = take(&other, &left, two, SECOND);
	ck_assert(f.farther);
	struct err e = refused(&third, &left, two);
	ck_assert_int_eq((int)e.code, ERR_EXHAUSTED);
	ck_assert_ptr_nonnull(strstr(e.detail, "2 of the PFs were not asked"));
	/* what another pod has is no matter */
	const struct claimant neighbour = claimant_of(&w, "c2", &p);
	(void)take(&neighbour, &left, two, TESTHOST_PF);
	/* nor what the container has given back */
	ck_assert_int_eq(claim_release_all(&w.ctx, &one.key, p.ns.id, &e), 0);
	(void)take(&third, &left, two, TESTHOST_PF);
}
END_TEST

/* Asked again for the same interface, what it has itself is not in its way. */
START_TEST(a_port_in_use_is_that_of_another_interface)
{
	auto_testhost struct testhost w = two_switches(2);
	auto_pod struct pod p = pod();
	const struct claimant a = net(&w, &p, "net1");

	(void)take(&a, &left, two, TESTHOST_PF);
	ck_assert(!claim_has_vf_of(&a, TESTHOST_PF));
	(void)take(&a, &left, two, TESTHOST_PF);
	const struct claimant b = net(&w, &p, "net2");
	ck_assert(claim_has_vf_of(&b, TESTHOST_PF) && !claim_has_vf_of(&b, SECOND));
	/* a container whose name is part of the other's */
	const struct claimant c = claimant_of(&w, "c", &p);
	ck_assert(!claim_has_vf_of(&c, TESTHOST_PF));
}
END_TEST

START_TEST(a_pod_of_two_gpus_has_one_for_each)
{
	auto_testhost struct testhost w = two_switches(4);
	auto_pod struct pod p = pod();
	const struct claimant one = net(&w, &p, "net1"), other = net(&w, &p, "net2"),
			      third = net(&w, &p, "net3");

	struct affinity_result f = take(&one, &both, three, TESTHOST_PF);
	ck_assert_str_eq(f.gpu, GPU0);
	f = take(&other, &both, three, SECOND);
	ck_assert_str_eq(f.gpu, GPU1);
	f = take(&third, &both, three, THIRD);
	ck_assert_str_eq(f.gpu, GPU0);
}
END_TEST

/* Of two as near, one that is not another port of what the pod has. */
START_TEST(at_equal_distance_another_card_comes_first)
{
	static const char *const names[] = { TESTHOST_PF, "0000:3b:00.1", SECOND };
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct claimant one = net(&w, &p, "net1"), other = net(&w, &p, "net2"),
			      third = net(&w, &p, "net3");

	testhost_pf(&(struct testhost_pf){ "0000:3b:00.1", "pf1", 1, 8 });
	testhost_pf(&(struct testhost_pf){ SECOND, "pf2", 1, 16 });
	fakepci_function(TESTHOST_SYS, GPU0);
	(void)take(&one, &left, (struct pf_list){ names, 3 }, TESTHOST_PF);
	(void)take(&other, &left, (struct pf_list){ names, 3 }, SECOND);
	(void)take(&third, &left, (struct pf_list){ names, 3 }, "0000:3b:00.1");
}
END_TEST

/* An ADD of rails has one record, and a VF for each of its interfaces. */
START_TEST(the_pod_of_a_rail_is_named_too)
{
	auto_testhost struct testhost w = two_switches(1);
	auto_pod struct pod p = pod();
	const struct claimant rail = net(&w, &p, "net1r3"), c = claimant_of(&w, "c3", &p);

	nearest_only = true;
	(void)take(&rail, &left, three, TESTHOST_PF);
	write_record(&w, &rail, "net1", "K8S_POD_NAMESPACE=default;K8S_POD_NAME=train-1");
	struct err e = refused(&c, &left, three);
	nearest_only = false;
	ck_assert_str_eq(e.msg, "nearOnly: no free VF of the nearest PFs (pf0): 0000:3b:02.0 has "
				"pod default/train-1 (net1r3)");
}
END_TEST

START_TEST(a_gpu_that_is_not_there_is_named)
{
	static const struct near_gpus gone = { { GPU0, "0000:77:00.0" }, 2, "args.cni.gpus" };
	static const char *const names[] = { "pf0", "nowhere" }, *const addrs[] = {
		"0000:78:00.0"
	};
	auto_testhost struct testhost w = two_switches(1);
	auto_pod struct pod p = pod();
	const struct claimant a = net(&w, &p, "net1");

	struct err e = refused(&a, &gone, two);
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
	ck_assert_str_eq(e.msg, "args.cni.gpus: \"0000:77:00.0\": this machine has no such PCI "
				"device");
	ck_assert_ptr_nonnull(strstr(e.detail, "railctl topo"));
	e = refused(&a, &left, (struct pf_list){ names, 2 });
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "resource.pf: \"nowhere\""));
	e = refused(&a, &left, (struct pf_list){ addrs, 1 });
	ck_assert_ptr_nonnull(strstr(e.msg, "resource.pf: \"0000:78:00.0\""));
}
END_TEST

/* ---- several of one pod at once ---- */

static pid_t take_in_child(const struct testhost *w, const struct pod *p, unsigned n)
{
	struct vf_place place;
	struct affinity_result f;
	struct err e;
	char ifname[16];
	pid_t child = fork();

	if (child)
		return child;
	(void)snprintf(ifname, sizeof(ifname), "net%u", n);
	struct claimant who = net(w, p, ifname);
	who.nl = net_socket();
	if (affinity_claim(&who, request(&both, three), &place, &f, &e) == 0)
		_exit(strcmp(place.pf, TESTHOST_PF) == 0 ? 1
		      : strcmp(place.pf, SECOND) == 0    ? 2
							 : 3);
	_exit(e.code == ERR_EXHAUSTED ? 4 : 99);
}

START_TEST(concurrent_claims_get_distinct_ports)
{
	enum { CHILDREN = 12 };
	auto_testhost struct testhost w = two_switches(6);
	auto_pod struct pod p = pod();
	unsigned by_status[256] = { 0 };
	pid_t child[CHILDREN];

	(void)snprintf(p.path, sizeof(p.path), "/proc/%d/fd/%d", (int)getpid(), p.ns.fd);
	for (unsigned i = 0; i < CHILDREN; i++)
		child[i] = take_in_child(&w, &p, i);
	for (unsigned i = 0; i < CHILDREN; i++) {
		int status;
		ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
		ck_assert(WIFEXITED(status));
		by_status[WEXITSTATUS(status)]++;
	}
	ck_assert_uint_eq(by_status[1], 1);
	ck_assert_uint_eq(by_status[2], 1);
	ck_assert_uint_eq(by_status[3], 1);
	ck_assert_uint_eq(by_status[4], CHILDREN - 3);
}
END_TEST

START_TEST(survives_each_failing_allocation)
{
	auto_testhost struct testhost w = two_switches(1);
	auto_pod struct pod p = pod();
	const struct claimant a = net(&w, &p, "net1");
	struct vf_place place;
	struct affinity_result f;
	bool failed = true;

	for (unsigned n = 1; failed; n++) {
		struct err e = { .msg = "" };
		alloc_fail_begin(n);
		int rc = affinity_claim(&a, request(&both, three), &place, &f, &e);
		struct alloc_count c = alloc_fail_end();
		failed = c.failed;
		ck_assert_uint_eq(c.live, 0);
		ck_assert_msg(rc == 0 || (failed && e.code == ERR_NOMEM), "%u: %s", n, e.msg);
		ck_assert_int_eq(claim_release_all(&w.ctx, &a.key, p.ns.id, &e), 0);
	}
	(void)take(&a, &left, three, TESTHOST_PF);
}
END_TEST

START_TEST(the_result_is_kept_in_the_record)
{
	const struct affinity_result f = { GPU0, "near", TOPO_PXB, 2, 1920, false, false };
	auto_json struct json *o = affinity_to_json(&f);
	auto_free char *text = json_print(o, false);

	ck_assert_str_eq(text, "{\"gpu\":\"" GPU0 "\",\"from\":\"near\",\"class\":\"PXB\","
			       "\"switches\":2,\"why\":\"PXB over 2 switches, 192.0 Gbit/s\"}");
	const struct affinity_result one = { GPU0, "near", TOPO_PIX, 1, 0, true, false };
	char words[AFFINITY_TEXT_LEN];
	ck_assert_str_eq(affinity_text(&one, words),
			 "PIX over 1 switch; nearer PFs have none for this pod");
}
END_TEST

TEST_PROGRAM("sriov/choose/near", the_nearest_pf_is_chosen, the_nearest_vf_of_InfiniBand_is_chosen,
	     the_nearest_free_vf_is_chosen, with_nearest_only_the_error_names_who_has_the_vfs,
	     the_pod_of_a_rail_is_named_too, with_nearest_only_a_gpu_gets_no_vf_of_another_one,
	     many_holders_are_counted, how_far_a_named_vf_is,
	     a_second_named_vf_of_one_pf_is_for_the_other_gpu, two_vfs_of_one_port_are_never_taken,
	     a_port_in_use_is_that_of_another_interface, a_pod_of_two_gpus_has_one_for_each,
	     at_equal_distance_another_card_comes_first, a_gpu_that_is_not_there_is_named,
	     concurrent_claims_get_distinct_ports, survives_each_failing_allocation,
	     the_result_is_kept_in_the_record)
