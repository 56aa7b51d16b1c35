/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings_test.c: shows that the list covers each attribute of the headers and of this kernel,
 * and that settings are restored.
 */
#include "lib/net/settings.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/net/link.h"
#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

struct world {
	struct nl *nl;
	int dev;
};

static struct world make_world(void)
{
	struct world w;

	net_enter_new();
	net_veth("v0", "peer0", NULL);
	w.nl = net_socket();
	w.dev = net_ifindex(w.nl, "v0");
	return w;
}

static void drop_world(struct world *w)
{
	nl_release(w->nl);
}
#define auto_world auto_clean(drop_world)

static struct link_settings settings(const struct world *w)
{
	struct link_settings s;
	struct err e = { .msg = "" };

	ck_assert_msg(nl_settings_get(w->nl, w->dev, &s, &e) == 0, "%s", e.msg);
	return s;
}

/* ---- the list ---- */

static const char counts[] = "a number that the kernel counts; no user sets it";
static const char made[] = "fixed when the device is made";
static const char of_hw[] = "what the hardware or its driver is";
static const char netns[] = "says where it is, and is how it is moved";
static const char upper[] = "the kernel takes it off when the device leaves the namespace";
static const char afresh[] = "recreated when the device comes into a namespace";
static const char follows[] = "follows from the carrier, and from the link mode, which is kept";
static const char of_pf[] = "an attribute of the PF; pods get only VFs";
static const char query[] = "only ever in a request";
static const char no_vf[] = "only of devices whose driver has it (macvlan, vxlan, dummy, switch "
			    "ports); no VF's has";

/* NULL: it is kept. By number: half of them are newer than the oldest headers we are built with. */
static const struct {
	int attr;
	const char *why;
} list[] = {
	{ IFLA_ADDRESS, NULL },
	{ IFLA_BROADCAST, NULL },
	{ IFLA_IFNAME, NULL },
	{ IFLA_MTU, NULL },
	{ IFLA_LINK, made },
	{ IFLA_QDISC, afresh },
	{ IFLA_STATS, counts },
	{ IFLA_COST, query },
	{ IFLA_PRIORITY, query },
	{ IFLA_MASTER, upper },
	{ IFLA_WIRELESS, of_hw },
	{ IFLA_PROTINFO, upper },
	{ IFLA_TXQLEN, NULL },
	{ IFLA_MAP, "addresses of ISA cards; no driver of a VF takes others" },
	{ IFLA_WEIGHT, "the kernel takes it and ignores it" },
	{ IFLA_OPERSTATE, follows },
	{ IFLA_LINKMODE, NULL },
	{ IFLA_LINKINFO, made },
	{ IFLA_NET_NS_PID, netns },
	{ IFLA_IFALIAS, NULL },
	{ IFLA_NUM_VF, of_pf },
	{ IFLA_VFINFO_LIST, of_pf },
	{ IFLA_STATS64, counts },
	{ IFLA_VF_PORTS, of_pf },
	{ IFLA_PORT_SELF, of_pf },
	{ IFLA_AF_SPEC, afresh },
	{ IFLA_GROUP, NULL },
	{ IFLA_NET_NS_FD, netns },
	{ IFLA_EXT_MASK, query },
	{ IFLA_PROMISCUITY, counts },
	{ IFLA_NUM_TX_QUEUES, made },
	{ IFLA_NUM_RX_QUEUES, made },
	{ IFLA_CARRIER, no_vf },
	{ IFLA_PHYS_PORT_ID, of_hw },
	{ IFLA_CARRIER_CHANGES, counts },
	{ IFLA_PHYS_SWITCH_ID, of_hw },
	{ IFLA_LINK_NETNSID, netns },
	{ IFLA_PHYS_PORT_NAME, of_hw },
	{ IFLA_PROTO_DOWN, no_vf },
	{ IFLA_GSO_MAX_SEGS, NULL },
	{ IFLA_GSO_MAX_SIZE, NULL },
	{ IFLA_PAD, query },
	{ IFLA_XDP, NULL },
	{ IFLA_EVENT, query },
	{ IFLA_NEW_NETNSID, netns },
	{ IFLA_TARGET_NETNSID, netns },
	{ IFLA_CARRIER_UP_COUNT, counts },
	{ IFLA_CARRIER_DOWN_COUNT, counts },
	{ IFLA_NEW_IFINDEX, netns },
	{ IFLA_MIN_MTU, of_hw },
	{ IFLA_MAX_MTU, of_hw },
	{ IFLA_PROP_LIST, NULL },
	{ IFLA_ALT_IFNAME, NULL },
	{ IFLA_PERM_ADDRESS, of_hw },
	{ IFLA_PROTO_DOWN_REASON, no_vf },
	{ IFLA_PARENT_DEV_NAME, of_hw },
	{ IFLA_PARENT_DEV_BUS_NAME, of_hw },
	{ IFLA_GRO_MAX_SIZE, NULL },
	{ IFLA_TSO_MAX_SIZE, of_hw },
	{ IFLA_TSO_MAX_SEGS, of_hw },
	{ IFLA_ALLMULTI, counts },
	{ 62 /* IFLA_DEVLINK_PORT */, of_hw },
	{ 63 /* IFLA_GSO_IPV4_MAX_SIZE */, NULL },
	{ 64 /* IFLA_GRO_IPV4_MAX_SIZE */, NULL },
	{ 65 /* IFLA_DPLL_PIN */, of_hw },
	{ 66 /* IFLA_MAX_PACING_OFFLOAD_HORIZON */, of_hw },
	{ 67 /* IFLA_NETNS_IMMUTABLE */, of_hw },
	{ 68 /* IFLA_HEADROOM */, of_hw },
	{ 69 /* IFLA_TAILROOM */, of_hw },
};

enum settings_verdict { SETTINGS_UNKNOWN, SETTINGS_KEPT, SETTINGS_EXEMPT };

/* What becomes of an attribute (IFLA_*) of a link that a pod has had. KEPT: it is restored, here or
 * by the plugin that moved the link. EXEMPT: *why says why it is not restored. */
static enum settings_verdict effect_of(int attr, const char **why)
{
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		if (list[i].attr != attr)
			continue;
		*why = list[i].why;
		return list[i].why ? SETTINGS_EXEMPT : SETTINGS_KEPT;
	}
	return SETTINGS_UNKNOWN;
}

struct told_search {
	void (*fn)(int attr, void *arg);
	void *arg;
};

static int on_told(const struct nlmsghdr *h, void *arg, struct err *e)
{
	const struct told_search *t = arg;
	const struct nlattr *a;
	int left;

	(void)e;
	for (a = nlmsg_attrdata(h, sizeof(struct ifinfomsg)),
	    left = nlmsg_attrlen(h, sizeof(struct ifinfomsg));
	     nla_ok(a, left); a = nla_next(a, &left))
		t->fn(nla_type(a), t->arg);
	return 0;
}

static int each_attribute(struct nl *nl, int ifindex, void (*fn)(int attr, void *arg), void *arg,
			  struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct told_search t = { fn, arg };

	nl_link_get_request(&rq, NULL, ifindex);
	return nl_get(nl, &rq, (struct nl_sink){ on_told, &t }, e);
}

static void is_judged(int attr, void *arg)
{
	unsigned *n = arg;
	const char *why = "";
	enum settings_verdict v = effect_of(attr, &why);

	ck_assert_msg(v != SETTINGS_UNKNOWN,
		      "nobody has thought of the attribute %d of links (IFLA_*): can a pod set it? "
		      "the list of settings_test.c",
		      attr);
	ck_assert((v == SETTINGS_EXEMPT) == (why && *why));
	++*n;
}

START_TEST(each_attribute_of_the_headers)
{
	unsigned n = 0;

	for (int attr = 1; attr <= IFLA_MAX; attr++)
		is_judged(attr, &n);
	ck_assert_uint_gt(n, 50);
}
END_TEST

START_TEST(each_attribute_of_this_kernel)
{
	static const char *const links[] = { "v0", "lo", "br0" };
	auto_world struct world w = make_world();
	struct err e = { .msg = "" };
	unsigned n = 0;

	net_link("bridge", "br0");
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		ck_assert_int_eq(
			each_attribute(w.nl, net_ifindex(w.nl, links[i]), is_judged, &n, &e), 0);
	ck_assert_uint_gt(n, 60);
}
END_TEST

static const char *why;

START_TEST(an_attribute_of_the_future)
{
	ck_assert_int_eq((int)effect_of(120, &why), (int)SETTINGS_UNKNOWN);
	ck_assert_int_eq((int)effect_of(IFLA_IFALIAS, &why), (int)SETTINGS_KEPT);
}
END_TEST

/* ---- the way back ---- */

static void is_not_refused(const char *what, const struct err *e, void *arg)
{
	(void)arg;
	ck_abort_msg("%s: %s", what, e->msg);
}

static void put(const struct world *w, const struct link_settings *want)
{
	const struct link_settings is = settings(w);

	nl_settings_set(w->nl, w->dev,
			&(struct settings_change){ &is, want, is_not_refused, NULL });
}

static void ends_as(const struct world *w, const struct link_settings *want)
{
	const struct link_settings is = settings(w);
	const char *what = settings_changed(&is, want, 0);

	ck_assert_msg(!what, "%s is not as it was", what);
}

/* What others than rtnetlink would set as well; all of it, in the kernel's own terms. */
static void set_flags(const struct world *w, unsigned flags, unsigned change)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = w->dev, .ifi_flags = flags, .ifi_change = change };
	struct err ignored;

	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	if (nl_request(w->nl, &rq, &ignored))
		return;
}

static unsigned flags_of(const struct world *w)
{
	struct link_info li;
	struct err e = { .msg = "" };

	ck_assert_int_eq(nl_link_by_index(w->nl, w->dev, &li, &e), 0);
	return li.flags;
}

/* Each bit that the kernel lets us turn shows as a difference, and is turned back. */
START_TEST(each_flag)
{
	const unsigned not_kept =
		IFF_UP | IFF_RUNNING | IFF_LOWER_UP | IFF_DORMANT; /* vf.h has the first */
	auto_world struct world w = make_world();
	const struct link_settings was = settings(&w);
	const unsigned before = flags_of(&w);
	unsigned turned = 0;

	for (unsigned bit = 1; bit; bit <<= 1) {
		if (bit & not_kept)
			continue;
		set_flags(&w, ~before, bit);
		if (flags_of(&w) == before)
			continue;
		turned++;
		const struct link_settings is = settings(&w);
		ck_assert_msg(settings_changed(&is, &was, 0), "flag %#x is not in the list", bit);
		put(&w, &was);
		ck_assert_uint_eq(flags_of(&w), before);
	}
	ck_assert_uint_ge(turned, 5);
}
END_TEST

START_TEST(numbers_and_names)
{
	auto_world struct world w = make_world();
	const struct link_settings was = settings(&w);
	struct link_settings other = was;
	size_t n = 0;

	(void)snprintf(other.alias, sizeof(other.alias), "of a pod");
	other.number[LINK_TXQLEN] = 77;
	other.number[LINK_GROUP] = 9;
	other.number[LINK_MODE] = 1;
	other.number[LINK_GSO_SEGS] = 11;
	other.number[LINK_GSO_SIZE] = 30000;
	other.number[LINK_GRO_SIZE] = 40000;
	other.number[LINK_GSO_V4_SIZE] = 20000;
	other.number[LINK_GRO_V4_SIZE] = 35000;
	other.broadcast.byte[5] = 0xfe;
	ck_assert_uint_ge(was.has, (1u << LINK_GRO_SIZE) - 1);
	put(&w, &other);
	ends_as(&w, &other);
	const struct link_settings is = settings(&w);
	while (settings_changed(&is, &was, n))
		n++;
	ck_assert_uint_ge(n, 8);
	put(&w, &was);
	ends_as(&w, &was);
	ck_assert_str_eq(settings(&w).alias, "");
}
END_TEST

static void note_refusal(const char *what, const struct err *e, void *arg)
{
	ck_assert_str_ne(e->msg, "");
	(void)snprintf(arg, 64, "%s", what);
}

START_TEST(a_refusal_does_not_stop_the_rest)
{
	auto_world struct world w = make_world();
	const struct link_settings was = settings(&w);
	struct link_settings other = was;
	char refused[64] = "";

	other.number[LINK_GSO_SEGS] = UINT32_MAX;
	(void)snprintf(other.alias, sizeof(other.alias), "x");
	nl_settings_set(w.nl, w.dev,
			&(struct settings_change){ &was, &other, note_refusal, refused });
	ck_assert_str_eq(refused, "gsoMaxSegs");
	ck_assert_str_eq(settings(&w).alias, "x");
}
END_TEST

START_TEST(an_interface_that_is_not_there)
{
	auto_world struct world w = make_world();
	struct link_settings s;
	struct err e = { .msg = "" };

	ck_assert_int_eq(nl_settings_get(w.nl, 0, &s, &e), -1);
	ck_assert_int_eq(nl_settings_get(w.nl, 9999, &s, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
}
END_TEST

/* ---- XDP ---- */

/* A program that lets all pass; -1: this kernel or sandbox allows none. */
static int load_xdp(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_XDP };

	a.insns = (uint64_t)(uintptr_t)insns;
	a.insn_cnt = ARRAY_SIZE(insns);
	a.license = (uint64_t)(uintptr_t) "GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
}

START_TEST(a_program_that_was_attached)
{
	auto_world struct world w = make_world();
	const struct link_settings was = settings(&w);
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = w.dev };
	auto_fd int prog = load_xdp();
	struct err e = { .msg = "" };

	if (prog < 0) {
		printf("SKIP: no XDP program can be loaded here: %s\n", strerror(errno));
		return;
	}
	nl_req_begin(&rq, RTM_SETLINK, 0, &ifi, sizeof(ifi));
	struct nlattr *nest = nl_req_nest(&rq, IFLA_XDP | NLA_F_NESTED);
	nl_req_put_u32(&rq, IFLA_XDP_FD, (uint32_t)prog);
	nl_req_put_u32(&rq, IFLA_XDP_FLAGS, XDP_FLAGS_SKB_MODE);
	nl_req_nest_end(&rq, nest);
	ck_assert_msg(nl_request(w.nl, &rq, &e) == 0, "%s", e.msg);
	const struct link_settings is = settings(&w);
	ck_assert(is.xdp[LINK_XDP_GENERIC]);
	ck_assert_str_eq(settings_changed(&is, &was, 0), "xdpgeneric");
	put(&w, &was);
	ends_as(&w, &was);
}
END_TEST

START_TEST(the_broadcast_address_of_an_ipoib_link)
{
	const struct link_info ib0 = { .ifindex = 7, .name = "ib0" };
	const struct hw_addr all = { 20, { 0, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b } };
	struct net_fake k = net_fake();
	struct link_settings is, other;
	struct err e = { 0 };

	net_say_link(&k, 1, &ib0, &all);
	ck_assert_int_eq(nl_settings_get(k.nl, 7, &is, &e), 0);
	ck_assert_uint_eq(is.broadcast.len, 20);
	ck_assert_mem_eq(is.broadcast.byte, all.byte, 20);
	other = is;
	ck_assert_ptr_null(settings_changed(&is, &other, 0));
	other.broadcast.byte[19] ^= 1;
	ck_assert_str_eq(settings_changed(&is, &other, 0), "broadcast");
	nl_release(k.nl);
}
END_TEST

TEST_PROGRAM("lib/net/settings", each_attribute_of_the_headers, each_attribute_of_this_kernel,
	     an_attribute_of_the_future, each_flag, numbers_and_names,
	     a_refusal_does_not_stop_the_rest, an_interface_that_is_not_there,
	     a_program_that_was_attached, the_broadcast_address_of_an_ipoib_link)
