/* SPDX-License-Identifier: Apache-2.0 */
/* What changes while nobody has a VF is an administrator's; what a pod left never is. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cni/testing/call.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "sriov/claim/claim.h"
#include "sriov/claim/taken.h"
#include "sriov/testing/vf.h"

/* A pod has VF 0 once, and gives it up. */
static void used_once(const struct testhost *w, const struct pod *p)
{
	const struct claimant who = claimant_of(w, "first", p);
	struct vf_place place;
	struct err e = { .msg = "" };

	good(claim_vf(&who, testhost_vf(0), &place, &e), &e);
	good(claim_release(&w->ctx, testhost_vf(0), &who.key, p->ns.id, &e), &e);
	ck_assert(!testhost_log_has("while it was free"));
}

static void claim_it(const struct testhost *w, const struct pod *p, struct vf_place *place)
{
	const struct claimant who = claimant_of(w, "second", p);
	struct err e = { .msg = "" };

	good(claim_vf(&who, testhost_vf(0), place, &e), &e);
}

static void settings_of(const struct testhost *w, const char *name, struct link_settings *out)
{
	struct err e = { .msg = "" };

	good(nl_settings_get(w->nl, net_ifindex(w->nl, name), out, &e), &e);
}

static void no_refusal(const char *what, const struct err *why, void *arg)
{
	(void)arg;
	ck_abort_msg("%s: %s", what, why->msg);
}

/* What somebody does to an interface in the namespace of nl. */
static void change_settings(struct nl *nl, const char *name)
{
	struct link_settings is, want;
	struct err e = { .msg = "" };
	int ifindex = net_ifindex(nl, name);

	good(nl_settings_get(nl, ifindex, &is, &e), &e);
	want = is;
	want.flags |= IFF_PROMISC | IFF_ALLMULTI;
	want.number[LINK_TXQLEN] = 77;
	(void)snprintf(want.alias, sizeof(want.alias), "a tenant's");
	nl_settings_set(nl, ifindex, &(struct settings_change){ &is, &want, no_refusal, NULL });
}

/* ---- an administrator ---- */

START_TEST(what_an_administrator_changes_stays)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	auto_netns struct netns here = net_self();
	const struct claimant who = claimant_of(&w, "second", &p);
	struct vf_place place;
	struct link_info link;
	struct err e = { .msg = "" };
	int dev = net_ifindex(w.nl, "v0");

	used_once(&w, &p);
	good(nl_link_set_mtu(w.nl, dev, 9000, &e), &e);
	good(nl_link_set_down(w.nl, dev, &e), &e);
	good(nl_link_move(w.nl, dev, &here, "rail0v0", &e), &e);
	w.kernel->vf[0].is.vlan = 7;
	change_settings(w.nl, "rail0v0");
	claim_it(&w, &p, &place);
	ck_assert(testhost_log_has(
		"vlan, name, mtu, down, promisc, allmulti, txqlen, alias; the new values are"));
	/* Its pod does what pods do, and all is again as the administrator wants it. */
	good(nl_link_set_mtu(w.nl, dev, 1300, &e), &e);
	w.kernel->vf[0].is.vlan = 100;
	good(claim_release(&w.ctx, testhost_vf(0), &who.key, p.ns.id, &e), &e);
	good(nl_link_by_name(w.nl, "rail0v0", &link, &e), &e);
	ck_assert_uint_eq(link.mtu, 9000);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 7);
	struct link_settings s;
	settings_of(&w, "rail0v0", &s);
	ck_assert_str_eq(s.alias, "a tenant's");
	ck_assert_uint_eq(s.number[LINK_TXQLEN], 77);
}
END_TEST

static unsigned times_logged(const char *text)
{
	char line[4096];
	FILE *f = fopen(TESTHOST_LOG, "re");
	unsigned n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, text) != NULL;
	(void)fclose(f);
	return n;
}

START_TEST(a_change_is_logged_once)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	used_once(&w, &p);
	good(nl_link_set_mtu(w.nl, net_ifindex(w.nl, "v0"), 9000, &e), &e);
	for (int i = 0; i < 3; i++) {
		const struct claimant who = claimant_of(&w, "second", &p);
		struct vf_place place;
		good(claim_vf(&who, testhost_vf(0), &place, &e), &e);
		good(claim_release(&w.ctx, testhost_vf(0), &who.key, p.ns.id, &e), &e);
	}
	ck_assert_uint_eq(times_logged("while it was free: mtu;"), 1);
}
END_TEST

/* ---- pods ---- */

START_TEST(nothing_of_a_pod_gets_into_the_next_one)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "second", &p);
	struct link_settings was, is;
	struct ethtool_state tool_was, tool, odd;
	struct vf_place place;
	struct err e = { .msg = "" };
	int ifindex;

	settings_of(&w, "v0", &was);
	good(ethtool_get("v0", &tool_was, &e), &e);
	claim_it(&w, &p, &place);
	good(vf_move_to_pod(&place, &(struct vf_target){ w.nl, p.nl, &p.ns, "net1" }, &ifindex, &e),
	     &e);
	good(claim_set_ifindex(&w.ctx, testhost_vf(0), &who.key, ifindex, &e), &e);
	change_settings(p.nl, "net1");
	auto_netns struct netns here = net_self();
	good(netns_enter(&p.ns, &e), &e);
	odd = tool_was;
	for (size_t i = 0; i < odd.blocks; i++)
		odd.wanted[i] = 0;
	ethtool_set("net1", &(struct ethtool_set){ &tool_was, &odd, no_refusal, NULL });
	good(ethtool_get("net1", &tool, &e), &e);
	ck_assert_ptr_nonnull(ethtool_changed_part(&tool, &tool_was, 0));
	good(netns_enter(&here, &e), &e);
	good(claim_release(&w.ctx, testhost_vf(0), &who.key, p.ns.id, &e), &e);
	settings_of(&w, "v0", &is);
	const char *what = settings_changed(&is, &was, 0);
	ck_assert_msg(!what, "%s is the pod's", what);
	good(ethtool_get("v0", &tool, &e), &e);
	what = ethtool_changed_part(&tool, &tool_was, 0);
	ck_assert_msg(!what, "%s are the pod's", what);
}
END_TEST

/* A driver that says yes and does nothing: what it kept is not an administrator's. */
START_TEST(a_failed_restore_does_not_become_the_baseline)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	struct vf_place place;
	struct err e = { .msg = "" };

	used_once(&w, &p);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	x.has_left = true;
	x.left = x.base;
	x.left.pf_side.vlan = w.kernel->vf[0].is.vlan = 7;
	good(vf_state_write(&w.ctx, &x, &e), &e);
	good(nl_link_set_mtu(w.nl, net_ifindex(w.nl, "v0"), 9000, &e), &e);
	claim_it(&w, &p, &place);
	auto_vf_entry struct vf_entry now = testhost_entry(&w, 0);
	ck_assert_uint_eq(now.base.pf_side.vlan, 0);
	ck_assert_uint_eq(now.base.mtu, 9000);
	ck_assert(!now.has_left);
}
END_TEST

START_TEST(a_driver_that_does_not_do_what_it_says)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod(), q = pod();
	const struct claimant who = claimant_of(&w, "second", &p),
			      next = claimant_of(&w, "third", &q);
	struct vf_place place;
	struct vf_info *is = &w.kernel->vf[1].is;
	struct err e = { .msg = "" };

	good(claim_vf(&who, testhost_vf(1), &place, &e), &e);
	is->vlan = 7;
	is->trust = true;
	w.kernel->ignores = VF_VLAN | VF_TRUST;
	good(claim_release(&w.ctx, testhost_vf(1), &who.key, p.ns.id, &e), &e);
	ck_assert(testhost_log_has("level=warn"));
	ck_assert(testhost_log_has("restored, except vlan, trust"));
	/* Another tenant does not get it, also while only one of them is left. */
	fails(claim_vf(&next, testhost_vf(1), &place, &e), &e, ERR_STATE, "vlan, trust");
	w.kernel->ignores = VF_TRUST;
	fails(claim_vf(&next, testhost_vf(1), &place, &e), &e, ERR_STATE, "trust");
	ck_assert_uint_eq(is->vlan, 0);
	good(claim_vf(&next, testhost_vf(0), &place, &e), &e);
	/* The driver does it at the next attempt. */
	w.kernel->ignores = 0;
	good(claim_vf(&next, testhost_vf(1), &place, &e), &e);
	ck_assert(!is->trust);
}
END_TEST

/* A record that had no DEL: somebody had the VF since, of whom its entry does not tell. */
START_TEST(changes_of_a_recorded_attachment_are_restored)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	struct vf_place place = { 0 };
	struct err e = { .msg = "" };

	used_once(&w, &p);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	memcpy(place.vf, x.vf, sizeof(place.vf));
	memcpy(place.pf, x.pf, sizeof(place.pf));
	place.index = 0;
	auto_json struct json *device = sriov_device(&place, NULL, NULL);
	struct record r = { .key = { "net-b", "stranger", "net1" },
			    .plugin = "sriov",
			    .kind = "",
			    .netns = p.path,
			    .netns_id = p.ns.id,
			    .master = "pf0",
			    .cni_path = "",
			    .args = "",
			    .device = device };
	memcpy(r.boot, x.boot, sizeof(r.boot));
	good(record_write(&w.ctx, &r, &e), &e);
	good(nl_link_set_mtu(w.nl, net_ifindex(w.nl, "v0"), 9000, &e), &e);
	w.kernel->vf[0].is.vlan = 7;
	claim_it(&w, &p, &place);
	ck_assert(testhost_log_has("left by container stranger"));
	struct link_info link;
	good(nl_link_by_name(w.nl, "v0", &link, &e), &e);
	ck_assert_uint_eq(link.mtu, 1500);
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 0);
}
END_TEST

/* ---- the VF state ---- */

START_TEST(settings_survive_the_text_form)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	struct vf_entry again = { 0 };
	struct vf_differences d;
	struct vf_place place;
	struct err e = { .msg = "" };

	change_settings(w.nl, "v0");
	claim_it(&w, &p, &place);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	ck_assert(x.base.has_settings);
	ck_assert_str_eq(x.base.link.alias, "a tenant's");
	ck_assert_uint_eq(x.base.link.number[LINK_TXQLEN], 77);
	ck_assert(x.base.link.flags & IFF_PROMISC);
	ck_assert_uint_ge(x.base.tool.blocks, 2);
	x.has_left = true;
	x.left = x.base;
	x.left.mtu = 1234;
	auto_free char *text = vf_state_print(&x);
	good(vf_state_decode(text, strlen(text), &again, &e), &e);
	vf_compare(&again.base, &x.base, true, &d);
	ck_assert_str_eq(d.text, "");
	ck_assert(again.has_left);
	ck_assert_uint_eq(again.left.mtu, 1234);
	auto_free char *text2 = vf_state_print(&again);
	ck_assert_str_eq(text, text2);
	vf_entry_clear(&again);
}
END_TEST

/* An entry of an earlier version has no settings: those that are found are kept from then on. */
START_TEST(entries_of_earlier_versions_are_read)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	struct vf_place place;
	struct err e = { .msg = "" };

	used_once(&w, &p);
	auto_vf_entry struct vf_entry x = testhost_entry(&w, 0);
	x.base.has_settings = false;
	good(vf_state_write(&w.ctx, &x, &e), &e);
	claim_it(&w, &p, &place);
	auto_vf_entry struct vf_entry now = testhost_entry(&w, 0);
	ck_assert(now.base.has_settings);
	ck_assert(!testhost_log_has("while it was free"));
}
END_TEST

TEST_PROGRAM("sriov/follow", what_an_administrator_changes_stays, a_change_is_logged_once,
	     nothing_of_a_pod_gets_into_the_next_one, a_failed_restore_does_not_become_the_baseline,
	     a_driver_that_does_not_do_what_it_says, changes_of_a_recorded_attachment_are_restored,
	     settings_survive_the_text_form, entries_of_earlier_versions_are_read)
