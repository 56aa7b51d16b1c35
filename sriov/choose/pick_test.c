/* SPDX-License-Identifier: Apache-2.0 */
/* A free VF of some PFs, also when many ask at once. */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/time.h"
#include "sriov/testing/vf.h"

#define SECOND "0000:5e:00.0"

static const char *const both[] = { "pf0", "pf1" };
static const struct pf_list one = { both, 1 }, two = { both, 2 };

static struct testhost two_pfs(uint32_t a, uint32_t b)
{
	struct testhost w = testhost(a);

	testhost_pf(&(struct testhost_pf){ SECOND, "pf1", b, 8 });
	return w;
}

static struct vf_place pick(const struct claimant *who, struct pf_list pfs)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	ck_assert_msg(claim_any(who, pfs, &place, &e) == 0, "%s (%s)", e.msg, e.detail);
	ck_assert_str_eq(e.msg, "");
	return place;
}

static struct err none(const struct claimant *who, struct pf_list pfs)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	memset(&place, 0x5a, sizeof(place));
	ck_assert_int_eq(claim_any(who, pfs, &place, &e), -1);
	ck_assert_int_eq(place.vf[0], 0x5a);
	return e;
}

/* ---- which one ---- */

START_TEST(the_first_free_one_of_the_first_PF)
{
	auto_testhost struct testhost w = two_pfs(2, 1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p),
			      c = claimant_of(&w, "c3", &p);

	ck_assert_str_eq(pick(&a, two).vf, testhost_vf(0));
	ck_assert_str_eq(pick(&b, two).vf, testhost_vf(1));
	ck_assert_str_eq(pick(&c, two).name, "v8");
	struct err e = { .msg = "" };
	ck_assert_int_eq(claim_release(&w.ctx, testhost_vf(0), &a.key, p.ns.id, &e), 0);
	ck_assert_str_eq(pick(&a, two).vf, testhost_vf(0));
}
END_TEST

START_TEST(a_PF_is_found_by_its_address)
{
	static const char *const names[] = { "0000:5E:00.0" };
	auto_testhost struct testhost w = two_pfs(1, 1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);

	ck_assert_str_eq(pick(&a, (struct pf_list){ names, 1 }).pf, SECOND);
}
END_TEST

START_TEST(without_a_free_VF_it_is_exhausted)
{
	auto_testhost struct testhost w = two_pfs(1, 1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p),
			      c = claimant_of(&w, "c3", &p);

	(void)pick(&a, two);
	(void)pick(&b, two);
	struct err e = none(&c, two);
	ck_assert_int_eq((int)e.code, ERR_EXHAUSTED);
	ck_assert_ptr_nonnull(strstr(e.msg, "resource"));
	ck_assert_ptr_nonnull(strstr(e.msg, "of 2, 2 belong to attachments"));
	ck_assert_ptr_nonnull(strstr(e.detail, "railctl vf"));
}
END_TEST

/* Not taken, and not to be had: without a driver, or in a namespace that nobody has on record. */
START_TEST(those_that_cannot_be_used_are_passed_over)
{
	auto_testhost struct testhost w = testhost(3);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p);

	testhost_shows(0, NULL);
	fakepci_driver(TESTHOST_SYS, testhost_vf(1), NULL);
	testhost_shows(1, NULL);
	ck_assert_str_eq(pick(&a, one).vf, testhost_vf(2));
	struct err e = none(&b, one);
	ck_assert_int_eq((int)e.code, ERR_EXHAUSTED);
	ck_assert_ptr_nonnull(strstr(e.msg, "of 3, 1 belong"));
	ck_assert(testhost_log_has(testhost_vf(1)));
}
END_TEST

/* Moved by somebody between the look into sysfs and ours. */
START_TEST(a_VF_that_vanishes_is_passed_over)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	struct err e;

	ck_assert_int_eq(nl_link_delete(w.nl, net_ifindex(w.nl, "v0"), &e), 0);
	ck_assert_str_eq(pick(&a, one).vf, testhost_vf(1));
}
END_TEST

START_TEST(a_dead_owners_VF_is_taken_when_none_is_free)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod(), q = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &q),
			      c = claimant_of(&w, "c3", &q);

	(void)pick(&a, one);
	pod_clear(&p);
	ck_assert_str_eq(pick(&b, one).vf, testhost_vf(1));
	ck_assert_str_eq(pick(&c, one).vf, testhost_vf(0));
}
END_TEST

/* ---- PFs that are none ---- */

START_TEST(names_of_no_PF_are_refused)
{
	static const struct {
		const char *name, *said;
	} c[] = { { "ens9", "\"ens9\"" },
		  { "lo", "\"lo\"" },
		  { "0000:ff:00.0", "\"0000:ff:00.0\"" },
		  { "v0", "\"v0\"" } };
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		const struct pf_list pfs = { &c[i].name, 1 };
		struct err e = none(&a, pfs);

		ck_assert_msg(e.code == ERR_CONFIG, "%s: %d %s", c[i].name, (int)e.code, e.msg);
		ck_assert_ptr_nonnull(strstr(e.msg, "resource.pf: "));
		ck_assert_ptr_nonnull(strstr(e.msg, c[i].said));
		e = (struct err){ .msg = "" };
		ck_assert_int_eq(claim_possible(&w.ctx, pfs, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_CONFIG);
		ck_assert_ptr_nonnull(strstr(e.msg, "resource.pf: "));
		ck_assert_ptr_nonnull(strstr(e.msg, c[i].said));
	}
}
END_TEST

START_TEST(status_fails_without_a_PF_with_VFs)
{
	auto_testhost struct testhost w = two_pfs(0, 1);
	struct err e = { .msg = "" };

	ck_assert_int_eq(claim_possible(&w.ctx, two, &e), 0);
	ck_assert_int_eq(claim_possible(&w.ctx, one, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(e.msg, "resource.pf"));
}
END_TEST

/* ---- at once ---- */

/* A child's exit status: the number in its VF's name, 100 when there was none left. */
static pid_t pick_in_child(const struct testhost *w, unsigned n, const struct pod *p)
{
	char container[16];
	struct vf_place place;
	struct err e;
	pid_t child = fork();

	if (child)
		return child;
	(void)snprintf(container, sizeof(container), "c%u", n);
	struct claimant who = claimant_of(w, container, p);
	who.nl = net_socket();
	if (claim_any(&who, two, &place, &e) == 0)
		_exit((int)strtol(place.name + 1, NULL, 10));
	_exit(e.code == ERR_EXHAUSTED ? 100 : 99);
}

START_TEST(concurrent_claims_get_distinct_VFs)
{
	enum { CHILDREN = 24, VFS = 14 };
	auto_testhost struct testhost w = two_pfs(7, 7);
	auto_pod struct pod p = pod();
	unsigned by_status[256] = { 0 };
	pid_t child[CHILDREN];

	(void)snprintf(p.path, sizeof(p.path), "/proc/%d/fd/%d", (int)getpid(), p.ns.fd);
	for (unsigned i = 0; i < CHILDREN; i++)
		child[i] = pick_in_child(&w, i, &p);
	for (unsigned i = 0; i < CHILDREN; i++) {
		int status;
		ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
		ck_assert(WIFEXITED(status));
		by_status[WEXITSTATUS(status)]++;
	}
	for (unsigned i = 0; i < 7; i++) {
		ck_assert_uint_eq(by_status[i], 1);
		ck_assert_uint_eq(by_status[8 + i], 1);
	}
	ck_assert_uint_eq(by_status[100], CHILDREN - VFS);
}
END_TEST

START_TEST(the_lock_of_the_PF_is_respected)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p);
	struct err e;
	auto_fd int lock = vf_state_lock(&w.ctx, TESTHOST_PF, 0, &e);

	ck_assert_int_ge(lock, 0);
	faketime_begin(NULL);
	e = none(&a, one);
	ck_assert_int_eq((int)e.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(e.msg, "pf0"));
	ck_assert_int_ge(faketime_gone(), VF_STATE_LOCK_MS);
}
END_TEST

/* An ADD that waits for something else holds it. */
START_TEST(a_VF_that_is_locked_is_passed_over)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p);
	struct err e;
	auto_fd int lock = vf_state_lock(&w.ctx, testhost_vf(0), 0, &e);

	ck_assert_int_ge(lock, 0);
	faketime_begin(NULL);
	ck_assert_str_eq(pick(&a, one).vf, testhost_vf(1));
	e = none(&b, one);
	ck_assert_int_eq((int)e.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(e.msg, testhost_vf(0)));
}
END_TEST

START_TEST(VFs_without_an_RDMA_device_are_passed_over)
{
	auto_testhost struct testhost w = testhost(3);
	auto_pod struct pod p = pod();
	struct claimant a = claimant_of(&w, "c1", &p);
	struct err e;

	fakepci_file(TESTHOST_SYS, testhost_vf(1), "infiniband/mlx5_1/node_type", "1: CA\n");
	a.needs_rdma = true;
	ck_assert_str_eq(pick(&a, one).vf, testhost_vf(1));
	a.key.container = "c2";
	e = none(&a, one);
	ck_assert_int_eq((int)e.code, ERR_EXHAUSTED);
	ck_assert_msg(strstr(e.msg, "of 3, 1 belong to attachments") &&
			      strstr(e.detail, "has no RDMA device"),
		      "%s (%s)", e.msg, e.detail);
	a.needs_rdma = false;
	ck_assert_str_eq(pick(&a, one).vf, testhost_vf(0));
}
END_TEST

/* ---- memory ---- */

static int pick_and_drop(void *arg, struct err *e)
{
	const struct claimant *who = arg;
	struct vf_place place;

	return claim_any(who, one, &place, e) ||
			       claim_release(who->ctx, place.vf, &who->key, who->netns_id, e)
		       ? -1
		       : 0;
}

START_TEST(survives_each_failing_allocation)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	struct claimant a = claimant_of(&w, "c1", &p);
	bool failed = true;

	for (unsigned n = 1; failed; n++) {
		struct err e = { .msg = "" };

		alloc_fail_begin(n);
		int rc = pick_and_drop(&a, &e);
		struct alloc_count c = alloc_fail_end();
		failed = c.failed;
		ck_assert_uint_eq(c.live, 0);
		ck_assert(rc == 0 || (failed && e.code == ERR_NOMEM));
		ck_assert_int_eq(claim_release_all(&w.ctx, &a.key, p.ns.id, &e), 0);
	}
	ck_assert_str_eq(pick(&a, one).vf, testhost_vf(0));
}
END_TEST

TEST_PROGRAM("sriov/choose/pick", the_first_free_one_of_the_first_PF, a_PF_is_found_by_its_address,
	     without_a_free_VF_it_is_exhausted, those_that_cannot_be_used_are_passed_over,
	     a_VF_that_vanishes_is_passed_over, a_dead_owners_VF_is_taken_when_none_is_free,
	     names_of_no_PF_are_refused, status_fails_without_a_PF_with_VFs,
	     concurrent_claims_get_distinct_VFs, the_lock_of_the_PF_is_respected,
	     a_VF_that_is_locked_is_passed_over, VFs_without_an_RDMA_device_are_passed_over,
	     survives_each_failing_allocation)
