/* SPDX-License-Identifier: Apache-2.0 */
/* Each request to the kernel fails once, and is the last one before a kill; each allocation fails.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "lib/testing/time.h"
#include "sriov/testing/vf.h"

#define REQUESTS_MAX 100

static const struct vf_request all = {
	.pf_side = { .has = VF_ETHERNET,
		     .mac = { 0x02, 1, 2, 3, 4, 5 },
		     .vlan = 100,
		     .vlan_proto = VLAN_PROTO_8021Q,
		     .max_rate = 100,
		     .trust = true,
		     .link_state = VF_LINK_DISABLE },
	.mtu = 1300,
};

struct host {
	struct testhost w;
	struct pod pod;
	struct claimant who;
	struct link_info was;
	struct vf_info before;
	char vf[PCI_STR_LEN];
};

static struct host host(void)
{
	struct host h = { .w = testhost(1), .pod = pod() };
	struct err e = { .msg = "" };

	ck_assert_int_eq(nl_link_by_name(h.w.nl, "v0", &h.was, &e), 0);
	ck_assert_int_eq(nl_link_altname_add(h.w.nl, h.was.ifindex, "enp59s0v0", &e), 0);
	memcpy(h.vf, testhost_vf(0), sizeof(h.vf));
	h.before = h.w.kernel->vf[0].is;
	return h;
}

static void host_clear(struct host *h)
{
	pod_clear(&h->pod);
	testhost_clear(&h->w);
}
#define auto_host auto_clean(host_clear)

/* What ADD does, and what DEL does. */
static int add(void *arg, struct err *e)
{
	struct host *h = arg;
	const struct vf_target to = { h->w.nl, h->pod.nl, &h->pod.ns, "net1" };
	struct vf_place place;
	int ifindex;

	h->who = claimant_of(&h->w, "c1", &h->pod);
	return claim_vf(&h->who, h->vf, &place, e) ||
			       vf_configure(h->w.nl, &place, &all, NULL, e) ||
			       vf_move_to_pod(&place, &to, &ifindex, e) ||
			       claim_set_ifindex(&h->w.ctx, place.vf, &h->who.key, ifindex, e)
		       ? -1
		       : 0;
}

static int del(void *arg, struct err *e)
{
	struct host *h = arg;

	h->who = claimant_of(&h->w, "c1", &h->pod);
	return claim_release(&h->w.ctx, h->vf, &h->who.key, h->pod.ns.id, e);
}

static int claim(void *arg, struct err *e)
{
	struct host *h = arg;
	struct vf_place place;

	h->who = claimant_of(&h->w, "c1", &h->pod);
	return claim_vf(&h->who, h->vf, &place, e);
}

static void works(int (*fn)(void *arg, struct err *e), struct host *h)
{
	struct err e = { .msg = "" };

	ck_assert_msg(fn(h, &e) == 0, "%s (%s)", e.msg, e.detail);
	ck_assert_str_eq(e.msg, "");
}

static int count_names(const char *name, void *arg)
{
	ck_assert_str_eq(name, "enp59s0v0");
	++*(int *)arg;
	return 0;
}

static void is_as_before(const struct host *h)
{
	struct link_info now;
	struct err e = { .msg = "" };
	int names = 0;

	ck_assert_msg(nl_link_by_name(h->w.nl, "v0", &now, &e) == 0, "%s", e.msg);
	ck_assert_mem_eq(now.addr.byte, h->was.addr.byte, MAC_LEN);
	ck_assert_uint_eq(now.mtu, h->was.mtu);
	ck_assert(now.flags & IFF_UP);
	ck_assert_int_eq(nl_link_altnames(h->w.nl, now.ifindex, count_names, &names, &e), 0);
	ck_assert_int_eq(names, 1);
	ck_assert_int_eq((int)vf_differing(&h->w.kernel->vf[0].is, &h->before), 0);
}

/* The next one gets it as it was. */
static void is_mended(struct host *h)
{
	works(claim, h);
	is_as_before(h);
	works(del, h);
}

/* And gives it back. */
static void is_usable(struct host *h)
{
	struct err e = { .msg = "" };

	is_mended(h);
	works(add, h);
	ck_assert_int_eq(claim_release_all(&h->w.ctx, &h->who.key, h->pod.ns.id, &e), 0);
	is_as_before(h);
	auto_vf_entry struct vf_entry x = testhost_entry(&h->w, 0);
	ck_assert(!x.owned);
	ck_assert_uint_eq(x.to_restore, 0);
}

/* ---- a request fails ---- */

static bool fails_at(struct host *h, unsigned n, int (*fn)(void *arg, struct err *e), int *rc)
{
	struct err e = { .msg = "" };

	ck_assert_uint_lt(n, REQUESTS_MAX);
	faketime_begin(NULL);
	h->w.kernel->requests = 0;
	h->w.kernel->fail_at = n;
	*rc = fn(h, &e);
	h->w.kernel->fail_at = 0;
	ck_assert(*rc == 0 || *e.msg);
	return h->w.kernel->requests >= n;
}

/* From the first claim on: the baseline is captured anew. */
static void forget(struct host *h)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(vf_state_remove(&h->w.ctx, h->vf, &e), 0);
}

START_TEST(each_failing_request_of_ADD_leaves_nothing)
{
	static const int errnums[] = { EIO, ENODEV };
	auto_host struct host h = host();

	for (size_t i = 0; i < ARRAY_SIZE(errnums); i++) {
		bool failed = true;

		for (unsigned n = 1; failed; n++) {
			int rc;

			forget(&h);
			h.w.kernel->fail_errnum = errnums[i];
			failed = fails_at(&h, n, add, &rc);
			ck_assert(failed || rc == 0);
			works(del, &h);
			is_as_before(&h);
		}
	}
	is_usable(&h);
}
END_TEST

static void each_request_of_del(struct host *h)
{
	static const int errnums[] = { EIO, ENODEV };

	for (size_t i = 0; i < ARRAY_SIZE(errnums); i++) {
		bool failed = true;

		for (unsigned n = 1; failed; n++) {
			int rc;

			works(add, h);
			h->w.kernel->fail_errnum = errnums[i];
			failed = fails_at(h, n, del, &rc);
			if (!failed)
				is_as_before(h);
			works(del, h);
			is_mended(h);
		}
	}
	is_usable(h);
}

START_TEST(each_failing_request_of_DEL_can_be_repeated)
{
	auto_host struct host h = host();

	each_request_of_del(&h);
}
END_TEST

/* igbvf: the way back to an administrator's MAC and another one of the interface has more steps. */
START_TEST(each_failing_request_of_DEL_with_two_MACs_can_be_repeated)
{
	auto_host struct host h = host();

	h.w.kernel->mac_is_the_pfs = true;
	h.w.kernel->vf[0].is.mac[0] = 0x02;
	h.w.kernel->vf[0].is.mac[5] = 0x77;
	h.before = h.w.kernel->vf[0].is;
	each_request_of_del(&h);
}
END_TEST

/* ---- killed ---- */

static void killed_at(struct host *h, unsigned n, int (*fn)(void *arg, struct err *e))
{
	struct err e;
	int status;
	pid_t child;

	ck_assert_uint_lt(n, REQUESTS_MAX);
	h->w.kernel->requests = 0;
	h->w.kernel->fail_at = n;
	h->w.kernel->fail_errnum = 0;
	child = fork();
	if (!child)
		_exit(fn(h, &e) ? 1 : 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	h->w.kernel->fail_at = 0;
}

START_TEST(a_kill_in_ADD_is_undone)
{
	auto_host struct host h = host();
	unsigned n = 0, requests;

	do {
		forget(&h);
		killed_at(&h, ++n, add);
		requests = h.w.kernel->requests;
		works(del, &h);
		is_as_before(&h);
	} while (requests >= n);
	ck_assert_uint_gt(n, 10);
}
END_TEST

START_TEST(a_kill_in_DEL_is_finished_by_the_next)
{
	auto_host struct host h = host();
	unsigned n = 0, requests;

	do {
		works(add, &h);
		killed_at(&h, ++n, del);
		requests = h.w.kernel->requests;
		works(del, &h);
		is_as_before(&h);
	} while (requests >= n);
	ck_assert_uint_gt(n, 10);
	is_usable(&h);
}
END_TEST

/* ---- memory ---- */

static void short_of_memory(int (*before)(void *arg, struct err *e),
			    int (*fn)(void *arg, struct err *e))
{
	auto_host struct host h = host();
	bool failed = true;

	for (unsigned n = 1; failed; n++) {
		struct err e = { .msg = "" };

		if (before)
			works(before, &h);
		else
			forget(&h);
		alloc_fail_begin(n);
		int rc = fn(&h, &e);
		struct alloc_count c = alloc_fail_end();
		failed = c.failed;
		ck_assert_uint_eq(c.live, 0);
		ck_assert_msg(rc == 0 || (failed && e.code == ERR_NOMEM), "%s", e.msg);
		if (rc == 0 && fn == del)
			is_as_before(&h);
		works(del, &h);
	}
	is_usable(&h);
}

START_TEST(each_failing_allocation_of_ADD_leaves_nothing)
{
	short_of_memory(NULL, add);
}
END_TEST

START_TEST(each_failing_allocation_of_DEL_can_be_repeated)
{
	short_of_memory(add, del);
}
END_TEST

TEST_PROGRAM("sriov/claim_faults", each_failing_request_of_ADD_leaves_nothing,
	     each_failing_request_of_DEL_can_be_repeated,
	     each_failing_request_of_DEL_with_two_MACs_can_be_repeated, a_kill_in_ADD_is_undone,
	     a_kill_in_DEL_is_finished_by_the_next, each_failing_allocation_of_ADD_leaves_nothing,
	     each_failing_allocation_of_DEL_can_be_repeated)
