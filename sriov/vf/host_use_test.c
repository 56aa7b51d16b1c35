/* SPDX-License-Identifier: Apache-2.0 */
/* A VF whose interface the host uses is nobody's to take, and says why. */
#include "sriov/vf/host_use.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/net/addr.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "sriov/choose/inventory.h"
#include "sriov/testing/manager.h"

static const char *const pf0[] = { "pf0" };

static int use_of(const struct testhost *w, const char *name, char why[HOST_USE_LEN])
{
	struct err e = { .msg = "" };
	int use = host_use(&w->ctx, w->nl, name, why, &e);

	ck_assert_msg(use >= 0, "%s", e.msg);
	return use;
}

static void give(const struct testhost *w, const char *name, const char *prefix)
{
	struct ip_prefix p;
	struct err e = { .msg = "" };

	ck_assert_int_eq(ip_parse_prefix(prefix, &p), 0);
	ck_assert_msg(nl_addr_add(w->nl, net_ifindex(w->nl, name), p, true, &e) == 0, "%s", e.msg);
}

/* Of a free VF of pf0; "" when there is none. */
static const char *picked(const struct testhost *w, const struct pod *p, struct err *e)
{
	static struct vf_place place;
	struct claimant who = claimant_of(w, "c1", p);

	who.vf_not_named = true;
	return claim_any(&who, (struct pf_list){ pf0, 1 }, &place, e) ? "" : place.name;
}

static struct err named(const struct testhost *w, const struct pod *p, uint32_t n)
{
	const struct claimant who = claimant_of(w, "c1", p);
	struct vf_place place;
	struct err e = { .msg = "" };

	if (claim_vf(&who, testhost_vf(n), &place, &e) == 0)
		ck_assert_str_eq(e.msg, "");
	return e;
}

static void shown_as(const struct testhost *w, uint32_t n, const char *why)
{
	auto_vf_view struct vf_view v = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(inventory_vf(&w->ctx, w->nl, testhost_vf(n), &v, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(vf_use_name(v.use), "in-use");
	ck_assert_str_eq(v.why, why);
}

START_TEST(an_address_counts_as_use)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	char why[HOST_USE_LEN];
	struct err e = { .msg = "" };

	ck_assert_int_eq(use_of(&w, "v0", why), HOST_USES_NOT);
	give(&w, "v0", "10.0.0.5/24");
	ck_assert_int_eq(use_of(&w, "v0", why), HOST_HAS_ADDRESS);
	shown_as(&w, 0, "has the address 10.0.0.5/24");
	ck_assert_str_eq(picked(&w, &p, &e), "v1");
	/* An attachment that names this VF gets it, with a warning in the log. */
	ck_assert_str_eq(named(&w, &p, 0).msg, "");
	ck_assert(testhost_log_has("has the address 10.0.0.5/24 on the host, and loses it"));
}
END_TEST

START_TEST(what_the_kernel_gives_is_no_use)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	char why[HOST_USE_LEN];
	struct err e = { .msg = "" };

	give(&w, "v0", "fe80::77/64");
	ck_assert_int_eq(use_of(&w, "v0", why), HOST_USES_NOT);
	ck_assert_str_eq(picked(&w, &p, &e), "v0");
}
END_TEST

START_TEST(an_IPv6_address_counts_as_use)
{
	auto_testhost struct testhost w = testhost(1);
	char why[HOST_USE_LEN];

	give(&w, "v0", "fd00::5/64");
	ck_assert_int_eq(use_of(&w, "v0", why), HOST_HAS_ADDRESS);
	ck_assert_str_eq(why, "has the address fd00::5/64");
}
END_TEST

START_TEST(a_bridge_port_counts_as_use)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	struct err e;

	net_link("bridge", "br0");
	testing_file(TESTHOST_SYS "/class/net/v0/upper_br0", 0600, "");
	shown_as(&w, 0, "is a port of the bridge br0");
	ck_assert_str_eq(picked(&w, &p, &e), "v1");
	e = named(&w, &p, 0);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "in use by the host: its interface v0 is a port"));
}
END_TEST

static void macvlan(const struct testhost *w, const struct netns *target)
{
	const struct link_spec spec = { .kind = "macvlan",
					.name = "mv0",
					.lower_ifindex = net_ifindex(w->nl, "v0"),
					.target = target,
					.data.macvlan.mode = MACVLAN_BRIDGE };
	struct err e = { .msg = "" };

	ck_assert_msg(nl_link_create(w->nl, &spec, &e) == 0, "%s (%s)", e.msg, e.detail);
}

START_TEST(a_macvlan_above_counts_as_use)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	macvlan(&w, NULL);
	testing_file(TESTHOST_SYS "/class/net/v0/upper_mv0", 0600, "");
	shown_as(&w, 0, "has the macvlan mv0 above it");
	ck_assert_str_eq(picked(&w, &p, &e), "");
	ck_assert_int_eq((int)e.code, ERR_EXHAUSTED);
}
END_TEST

/* Nothing on the host tells of it but the addresses that the card listens to. */
START_TEST(a_macvlan_in_a_pod_counts_as_use)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	char why[HOST_USE_LEN];
	struct err e;

	macvlan(&w, &p.ns);
	ck_assert_int_eq(use_of(&w, "v0", why), HOST_USES_NOT);
	net_up(p.nl, "mv0");
	ck_assert_int_eq(use_of(&w, "v0", why), HOST_HAS_ABOVE);
	ck_assert_ptr_nonnull(strstr(why, "for a device above it in another network namespace"));
	e = named(&w, &p, 0);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
}
END_TEST

/* All VFs go when their number changes: also those that nobody but the host uses. */
START_TEST(a_used_vf_blocks_a_change_of_the_number)
{
	struct testhost w = manager_testhost(4, "2");
	struct err e;

	give(&w, "v1", "10.0.0.5/24");
	e = refused(&w, &(struct vf_order){ .pf = "pf0", .count = 4 });
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "has the address 10.0.0.5/24"));
	num_is("2");
	testhost_clear(&w);
}
END_TEST

/* Bound to vfio-pci it has no interface; a virtual machine may have it. */
START_TEST(a_process_that_has_it_open_counts_as_use)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	char why[HOST_USE_LEN];
	struct err e = { .msg = "" };

	testhost_shows(0, NULL);
	fakepci_driver(TESTHOST_SYS, testhost_vf(0), "vfio-pci");
	fakepci_link(TESTHOST_SYS, testhost_vf(0), "iommu_group", "../../kernel/iommu_groups/42");
	w.ctx.proc = "/mnt/proc";
	ck_assert(mkdir("/mnt/proc", 0700) == 0 && mkdir("/mnt/proc/12", 0700) == 0 &&
		  mkdir("/mnt/proc/12/fd", 0700) == 0 && mkdir("/mnt/proc/sys", 0700) == 0 &&
		  mkdir("/mnt/proc/sys/kernel", 0700) == 0 &&
		  mkdir("/mnt/proc/sys/kernel/random", 0700) == 0);
	testing_file("/mnt/proc/sys/kernel/random/boot_id", 0600,
		     "01234567-89ab-cdef-0123-456789abcdef\n");
	testing_file("/mnt/proc/12/comm", 0600, "qemu\n");
	ck_assert_int_eq(symlink("/dev/vfio/4", "/mnt/proc/12/fd/3"), 0);
	ck_assert_int_eq(host_use_vfio(&w.ctx, testhost_vf(0), why, &e), HOST_USES_NOT);
	ck_assert_int_eq(symlink("/dev/vfio/42", "/mnt/proc/12/fd/4"), 0);
	shown_as(&w, 0, "is open in process 12 (qemu)");
	e = named(&w, &p, 0);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "in use by the host: it is open in process 12 (qemu)"));
}
END_TEST

START_TEST(a_removed_interface_is_not_in_use)
{
	auto_testhost struct testhost w = testhost(1);
	char why[HOST_USE_LEN];

	ck_assert_int_eq(use_of(&w, "nosuch0", why), HOST_USES_NOT);
}
END_TEST

/* ---- adopting ---- */

static struct vf_report adopt(const struct testhost *w, bool dry_run)
{
	const struct manager m = { &w->ctx, w->nl, NULL, NULL };
	struct vf_report r;
	struct err e = { .msg = "" };

	ck_assert_msg(manager_adopt(&m, testhost_vf(0), dry_run, &r, &e) == 0, "%s", e.msg);
	return r;
}

START_TEST(adopt_makes_the_present_state_the_baseline)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	struct err e = { .msg = "" };

	ck_assert_int_eq(adopt(&w, false).outcome, VF_REPAIRED);
	ck_assert_int_eq(adopt(&w, false).outcome, VF_WAS_HEALTHY);
	ck_assert_int_eq(nl_link_set_mtu(w.nl, net_ifindex(w.nl, "v0"), 9000, &e), 0);
	w.kernel->vf[0].is.vlan = 7;
	ck_assert_int_eq(adopt(&w, true).outcome, VF_WOULD_REPAIR);
	struct vf_report r = adopt(&w, false);
	ck_assert_int_eq(r.outcome, VF_REPAIRED);
	ck_assert_str_eq(r.why, "vlan, mtu");
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	ck_assert_uint_eq(x.base.mtu, 9000);
	ck_assert_uint_eq(x.base.pf_side.vlan, 7);
	/* What nobody could put back may be called right as well. */
	x.to_restore = VF_RATE;
	ck_assert_int_eq(vf_state_write(&w.ctx, &x, &e), 0);
	r = adopt(&w, false);
	ck_assert_int_eq(r.outcome, VF_REPAIRED);
	ck_assert_str_eq(named(&w, &p, 0).msg, "");
	ck_assert_int_eq(adopt(&w, false).outcome, VF_SKIPPED);
	ck_assert_int_eq(claim_release(&w.ctx, testhost_vf(0), &who.key, p.ns.id, &e), 0);
	give(&w, "v0", "10.0.0.5/24");
	r = adopt(&w, false);
	ck_assert_int_eq(r.outcome, VF_SKIPPED);
	ck_assert_str_eq(r.why, "it has the address 10.0.0.5/24");
}
END_TEST

TEST_PROGRAM("sriov/vf/host_use", an_address_counts_as_use, what_the_kernel_gives_is_no_use,
	     an_IPv6_address_counts_as_use, a_bridge_port_counts_as_use,
	     a_macvlan_above_counts_as_use, a_macvlan_in_a_pod_counts_as_use,
	     a_used_vf_blocks_a_change_of_the_number, a_process_that_has_it_open_counts_as_use,
	     a_removed_interface_is_not_in_use, adopt_makes_the_present_state_the_baseline)
