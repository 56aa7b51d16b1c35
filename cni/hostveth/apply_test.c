/* SPDX-License-Identifier: Apache-2.0 */
/* Shows on a real kernel that a pair is made, shared, checked and removed, and what is refused. */
#include <string.h>

#include "cni/hostveth/hostveth.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

/* The namespace of the test is the node. The pod has its addresses on lo. */
struct pod {
	struct netns node_ns, pod_ns;
	struct hostveth_sides s;
	struct hostveth_conf conf;
};

static void pod_clear(struct pod *p)
{
	nl_release(p->s.node);
	nl_release(p->s.pod);
	netns_close(&p->node_ns);
	netns_close(&p->pod_ns);
}
#define auto_pod auto_clean(pod_clear)

static const struct log quiet = { .fd = -1 };

static void pod_make(struct pod *p, const char *container)
{
	*p = (struct pod){ .node_ns = net_self(), .pod_ns = net_another() };
	p->s = (struct hostveth_sides){ .container = container,
					.log = &quiet,
					.proc = "/proc",
					.node_ns = &p->node_ns,
					.pod_ns = &p->pod_ns,
					.node = net_socket(),
					.pod = net_socket_in(&p->pod_ns) };
	net_up(p->s.pod, "lo");
}

static struct ip_prefix net_of(const char *text)
{
	struct ip_prefix p;

	ck_assert_int_eq(ip_parse_prefix(text, &p), 0);
	return p;
}

/* An attachment with one address. */
struct attachment {
	struct cni_ip ip;
	struct cni_result r;
	struct hostveth_node node;
	struct hostveth_request request;
};

static void attachment_make(struct attachment *a, struct pod *p, uint32_t metric, const char *addr)
{
	struct err e;

	*a = (struct attachment){ .ip = { .address = net_of(addr), .interface = -1 } };
	a->r = (struct cni_result){ .ips = &a->ip, .n_ips = 1 };
	a->request = (struct hostveth_request){ &p->conf, &a->r, &a->node, metric };
	ck_assert_int_eq(
		nl_addr_add(p->s.pod, net_ifindex(p->s.pod, "lo"), a->ip.address, true, &e), 0);
}

static void add(const struct pod *p, const struct attachment *a)
{
	struct err e = { .msg = "" };

	ck_assert_msg(hostveth_add(&p->s, &a->request, &e) == 0, "%s", e.msg);
	ck_assert_msg(hostveth_check(&p->s, &a->request, &e) == 0, "%s", e.msg);
}

static void removes(const struct pod *p, const struct attachment *a)
{
	struct hostveth_id id = hostveth_id(p->s.container, 0);
	auto_json struct json *note = hostveth_note(id.name, a->request.metric, NULL, &a->r);
	struct err e = { .msg = "" };

	ck_assert_msg(hostveth_remove(&p->s, note, &e) == 0, "%s", e.msg);
}

/* -1: none. */
static int node_end(const struct pod *p)
{
	struct hostveth_id id;
	struct link_info end;
	struct err e;

	ck_assert_int_eq(hostveth_find(&p->s, &id, &end, &e), 0);
	return end.ifindex ? end.ifindex : -1;
}

static int count_rule(const struct rule_spec *r, void *arg)
{
	*(int *)arg += r->table == HOSTVETH_TABLE;
	return 0;
}

static int rules_of(const struct pod *p)
{
	struct err e;
	int n = 0;

	ck_assert_int_eq(nl_rule_list(p->s.pod, count_rule, &n, &e), 0);
	return n;
}

START_TEST(attachments_share_a_pair_which_goes_with_the_last)
{
	auto_pod struct pod p;
	struct attachment first, second;

	net_enter_new();
	pod_make(&p, "one");
	attachment_make(&first, &p, 7, "10.1.0.5/24");
	attachment_make(&second, &p, 8, "fd00::5/64");
	add(&p, &first);
	add(&p, &first);
	add(&p, &second);
	ck_assert_int_eq(rules_of(&p), 3);
	removes(&p, &second);
	ck_assert_int_gt(node_end(&p), 0);
	ck_assert_int_eq(rules_of(&p), 2);
	add(&p, &first);
	removes(&p, &first);
	ck_assert_int_eq(node_end(&p), -1);
	ck_assert_int_eq(rules_of(&p), 0);
	removes(&p, &second);
}
END_TEST

START_TEST(an_address_leads_to_one_pod)
{
	auto_pod struct pod one, two;
	struct attachment a, b;
	struct err e;

	net_enter_new();
	for (int i = 0; i < 2; i++) {
		const char *addr = i ? "fd00::5/64" : "10.1.0.5/24";

		pod_make(&one, "one");
		pod_make(&two, "two");
		attachment_make(&a, &one, 7, addr);
		attachment_make(&b, &two, 7, addr);
		add(&one, &a);
		ck_assert_int_eq(hostveth_add(&two.s, &b.request, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_BUSY);
		ck_assert_ptr_nonnull(strstr(e.msg, i ? "another pod of the node has fd00::5"
						      : "another pod of the node has 10.1.0.5"));
		ck_assert_int_eq(node_end(&two), -1);
		removes(&one, &a);
		add(&two, &b);
		removes(&two, &b);
		if (i == 0) {
			pod_clear(&one);
			pod_clear(&two);
		}
	}
}
END_TEST

START_TEST(what_the_pod_has_already_is_refused)
{
	auto_pod struct pod p;
	struct attachment a;
	struct route_spec r = { .dst = net_of("10.9.0.0/24"),
				.table = HOSTVETH_TABLE,
				.scope = -1 };
	struct err e;

	net_enter_new();
	pod_make(&p, "one");
	attachment_make(&a, &p, 7, "10.1.0.5/24");
	r.ifindex = net_ifindex(p.s.pod, "lo");
	ck_assert_int_eq(nl_route_add(p.s.pod, &r, &e), 0);
	ck_assert_int_eq(hostveth_add(&p.s, &a.request, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "table 2024 is in use"));
	ck_assert_int_eq(nl_route_delete(p.s.pod, &r, &e), 0);
	add(&p, &a);
}
END_TEST

/* A pair of the name that has another MAC address is somebody else's. */
START_TEST(another_ones_interface_is_left_alone)
{
	auto_pod struct pod p;
	struct attachment a;

	net_enter_new();
	pod_make(&p, "one");
	attachment_make(&a, &p, 7, "10.1.0.5/24");
	net_veth(hostveth_id("one", 0).name, "other", NULL);
	removes(&p, &a);
	ck_assert_int_gt(net_ifindex(p.s.node, "other"), 0);
	add(&p, &a);
	ck_assert_int_ne(node_end(&p), net_ifindex(p.s.node, hostveth_id("one", 0).name));
}
END_TEST

/* Kernels may lack the filter: here it has more addresses than it can have. */
START_TEST(an_attachment_goes_though_the_filter_stays)
{
	auto_pod struct pod p;
	struct attachment first, second;
	struct route_spec way = { .dst = net_of("10.2.0.0/32"), .scope = -1 };
	struct err e = { .msg = "" };

	net_enter_new();
	pod_make(&p, "one");
	attachment_make(&first, &p, 7, "10.1.0.5/24");
	attachment_make(&second, &p, 8, "10.1.0.6/24");
	add(&p, &first);
	add(&p, &second);
	way.ifindex = node_end(&p);
	ck_assert_int_eq(ip_parse("169.254.113.2", &way.gw), 0);
	way.onlink = true;
	for (int i = 0; i < 500; i++, way.dst.addr.v++)
		ck_assert_msg(nl_route_add(p.s.node, &way, &e) == 0, "%s", e.msg);
	removes(&p, &second);
	ck_assert_int_eq(rules_of(&p), 2);
}
END_TEST

TEST_PROGRAM("cni/hostveth_apply", attachments_share_a_pair_which_goes_with_the_last,
	     an_address_leads_to_one_pod, what_the_pod_has_already_is_refused,
	     another_ones_interface_is_left_alone, an_attachment_goes_though_the_filter_stays)
