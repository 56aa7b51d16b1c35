/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_change_test.c: shows on a real kernel that interfaces are changed and moved, and what is
 * refused.
 */
#include "lib/net/link.h"

#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"

static const uint8_t some_mac[MAC_LEN] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };

/* A host with the veth "up0", and a pod's namespace. */
struct world {
	struct netns host_ns, pod_ns;
	struct nl *host, *pod;
	int dev;
};

static struct world make_world(void)
{
	struct world w;

	net_enter_new();
	w.host_ns = net_self();
	w.pod_ns = net_another();
	net_veth("up0", "peer0", NULL);
	w.host = net_socket();
	w.pod = net_socket_in(&w.pod_ns);
	w.dev = net_ifindex(w.host, "up0");
	return w;
}

static void drop_world(struct world *w)
{
	nl_release(w->host);
	nl_release(w->pod);
	netns_close(&w->host_ns);
	netns_close(&w->pod_ns);
}
#define auto_world auto_clean(drop_world)

static bool exists(struct nl *nl, const char *name)
{
	struct link_info li;
	struct err e = { 0 };

	if (nl_link_by_name(nl, name, &li, &e) == 0)
		return true;
	ck_assert_int_eq(e.errnum, ENODEV);
	return false;
}

static int in_netns(const char *name, const struct netns *ns, const char *kind)
{
	auto_netns struct netns self = net_self();
	struct err e = { 0 };

	ck_assert_int_eq(netns_enter(ns, &e), 0);
	net_link(kind, name);
	ck_assert_int_eq(netns_enter(&self, &e), 0);
	return 0;
}

static int count(const char *name, void *arg)
{
	(void)name;
	++*(int *)arg;
	return 0;
}

static int altnames_of(struct nl *nl, const char *name)
{
	struct err e = { 0 };
	int n = 0;

	ck_assert_int_eq(nl_link_altnames(nl, net_ifindex(nl, name), count, &n, &e), 0);
	return n;
}

/* ---- changing ---- */

START_TEST(goes_down_and_gets_a_mac_and_an_mtu)
{
	auto_world struct world w = make_world();
	struct link_info li;
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_set_down(w.host, w.dev, &e), 0);
	ck_assert_int_eq(nl_link_set_hw_addr(w.host, w.dev, hw_addr_of_mac(some_mac), &e), 0);
	ck_assert_int_eq(nl_link_set_mtu(w.host, w.dev, 9000, &e), 0);
	ck_assert_int_eq(nl_link_by_index(w.host, w.dev, &li, &e), 0);
	ck_assert(!(li.flags & IFF_UP));
	ck_assert_mem_eq(li.addr.byte, some_mac, MAC_LEN);
	ck_assert_uint_eq(li.mtu, 9000);
	ck_assert_str_eq(li.parent, "");
	ck_assert_int_eq(nl_link_set_up(w.host, w.dev, &e), 0);
	ck_assert_int_eq(nl_link_by_index(w.host, w.dev, &li, &e), 0);
	ck_assert(li.flags & IFF_UP);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(becomes_a_member_and_leaves)
{
	auto_world struct world w = make_world();
	struct link_info li;
	struct err e = { 0 };

	net_link("bridge", "br0");
	const int bridge = net_ifindex(w.host, "br0");

	ck_assert_int_eq(nl_link_set_master(w.host, w.dev, bridge, &e), 0);
	ck_assert_int_eq(nl_link_by_index(w.host, w.dev, &li, &e), 0);
	ck_assert_int_eq(li.upper_ifindex, bridge);
	ck_assert_int_eq(nl_link_set_master(w.host, w.dev, 0, &e), 0);
	ck_assert_int_eq(nl_link_by_index(w.host, w.dev, &li, &e), 0);
	ck_assert_int_eq(li.upper_ifindex, 0);
	ck_assert_int_eq(nl_link_set_master(w.host, w.dev, 424242, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "set interface number 424242 as master of "));
}
END_TEST

START_TEST(what_the_kernel_does_not_let_pass_names_the_value)
{
	static const uint8_t multicast[MAC_LEN] = { 0x01, 0, 0, 0, 0, 1 };
	auto_world struct world w = make_world();
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_set_hw_addr(w.host, w.dev, hw_addr_of_mac(multicast), &e), -1);
	ck_assert_int_eq(e.errnum, EADDRNOTAVAIL);
	ck_assert_ptr_nonnull(strstr(e.msg, "set MAC 01:00:00:00:00:01 of interface number "));
	ck_assert_int_eq(nl_link_set_mtu(w.host, w.dev, 10, &e), -1);
	ck_assert_int_eq(e.errnum, EINVAL);
	ck_assert_ptr_nonnull(strstr(e.msg, "set MTU 10 of interface number "));
	ck_assert_int_eq(nl_link_set_down(w.host, 424242, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, "set interface number 424242 down"));
}
END_TEST

/* ---- moving ---- */

START_TEST(moves_and_renames_and_comes_back)
{
	auto_world struct world w = make_world();
	struct link_info li;
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_set_hw_addr(w.host, w.dev, hw_addr_of_mac(some_mac), &e), 0);
	ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.pod_ns, "net1", &e), 0);
	ck_assert(!exists(w.host, "up0") && !exists(w.host, "net1") && !exists(w.pod, "up0"));
	ck_assert_int_eq(nl_link_by_name(w.pod, "net1", &li, &e), 0);
	ck_assert_mem_eq(li.addr.byte, some_mac, MAC_LEN);
	ck_assert(!(li.flags & IFF_UP));
	ck_assert_int_eq(nl_link_move(w.pod, li.ifindex, &w.host_ns, "up0", &e), 0);
	ck_assert(exists(w.host, "up0") && !exists(w.pod, "net1") && !exists(w.pod, "up0"));
	ck_assert_str_eq(e.msg, "");
}
END_TEST

/* With the old name taken in the pod as well, and with the new one taken on the host. */
START_TEST(names_that_others_have_where_it_does_not_matter)
{
	auto_world struct world w = make_world();
	struct err e = { 0 };

	in_netns("up0", &w.pod_ns, "bridge");
	net_link("bridge", "net1");
	ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.pod_ns, "net1", &e), 0);
	ck_assert(exists(w.pod, "net1") && exists(w.pod, "up0") && !exists(w.host, "up0"));
}
END_TEST

START_TEST(a_name_that_is_taken_leaves_it_where_it_was)
{
	auto_world struct world w = make_world();
	struct link_info li;
	struct err e = { 0 };

	in_netns("net1", &w.pod_ns, "bridge");
	for (int both = 0; both < 2; both++) {
		ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.pod_ns, "net1", &e), -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
		ck_assert_int_eq(e.errnum, EEXIST);
		ck_assert_ptr_nonnull(strstr(e.msg, "move interface \"up0\", as \"net1\""));
		ck_assert_ptr_nonnull(strstr(e.detail, "is taken there"));
		ck_assert_ptr_null(strstr(e.detail, "it is now"));
		ck_assert_int_eq(nl_link_by_name(w.host, "up0", &li, &e), 0);
		ck_assert_int_eq(li.ifindex, w.dev);
		ck_assert_msg(li.flags & IFF_UP, "it was up");
		ck_assert_int_eq(exists(w.pod, "up0"), both);
		if (!both)
			in_netns("up0", &w.pod_ns, "bridge");
	}
}
END_TEST

START_TEST(an_alternative_name_that_is_taken)
{
	auto_world struct world w = make_world();
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_altname_add(w.host, w.dev, "enp1s0f0v3", &e), 0);
	in_netns("enp1s0f0v3", &w.pod_ns, "bridge");
	ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.pod_ns, "net1", &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert(exists(w.host, "up0") && !exists(w.pod, "net1"));
	ck_assert_int_eq(nl_link_altname_del(w.host, w.dev, "enp1s0f0v3", &e), 0);
	ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.pod_ns, "net1", &e), 0);
	ck_assert(exists(w.pod, "net1"));
}
END_TEST

START_TEST(alternative_names_go_along)
{
	auto_world struct world w = make_world();
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_altname_add(w.host, w.dev, "enp1s0f0v3", &e), 0);
	ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.pod_ns, "net1", &e), 0);
	ck_assert_int_eq(altnames_of(w.pod, "net1"), 1);
}
END_TEST

START_TEST(within_its_namespace_it_is_renamed)
{
	auto_world struct world w = make_world();
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_set_down(w.host, w.dev, &e), 0);
	ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.host_ns, "up7", &e), 0);
	ck_assert_int_eq(net_ifindex(w.host, "up7"), w.dev);
	ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.host_ns, "peer0", &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_int_eq(net_ifindex(w.host, "up7"), w.dev);
}
END_TEST

START_TEST(a_link_that_cannot_move_is_explained)
{
	static const char *const names[] = { "", "net%d", "a/b", "sixteen-bytes-xx" };
	auto_world struct world w = make_world();
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert_int_eq(nl_link_move(w.host, w.dev, &w.pod_ns, names[i], &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
		ck_assert_int_eq(e.errnum, EINVAL);
	}
	ck_assert_int_eq(nl_link_move(w.host, 1, &w.pod_ns, "net1", &e), -1); /* lo */
	ck_assert_int_eq(e.errnum, EINVAL);
	ck_assert_ptr_nonnull(strstr(e.detail, "may not leave"));
	ck_assert_int_eq(nl_link_move(w.host, 424242, &w.pod_ns, "net1", &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert(exists(w.host, "up0"));
}
END_TEST

/* ---- a kernel that is the test ---- */

struct sent {
	_Alignas(4) char buf[1024];
	struct nlattr *tb[IFLA_MAX + 1];
};

static struct nlmsghdr *next_sent(const struct net_fake *k, struct sent *s)
{
	struct nlmsghdr *h = (void *)s->buf;
	ssize_t n = recv(k->peer, s->buf, sizeof(s->buf), MSG_DONTWAIT);

	ck_assert_int_gt(n, 0);
	ck_assert_uint_eq(h->nlmsg_len, (size_t)n);
	ck_assert_int_eq(nl_parse_attrs(h, sizeof(struct ifinfomsg), s->tb, IFLA_MAX, NULL), 0);
	ck_assert_ptr_null(s->tb[IFLA_EXT_MASK]);
	return h;
}

static bool nothing_more(const struct net_fake *k)
{
	char c;

	return recv(k->peer, &c, 1, MSG_DONTWAIT) < 0;
}

/* An answer about device 5, "up0", down; more attributes can follow. */
static void say_link(const struct net_fake *k, uint32_t seq, const char *const *altnames)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = 5 };

	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	nl_req_put_str(&rq, IFLA_IFNAME, "up0");
	nl_req_put_str(&rq, IFLA_PARENT_DEV_NAME, "10000:01:00.0");
	if (altnames) {
		struct nlattr *list = nl_req_nest(&rq, IFLA_PROP_LIST);

		nl_req_put_u32(&rq, IFLA_ALT_IFNAME + 1, 7); /* a property of the future */
		for (; *altnames; altnames++)
			nl_req_put_str(&rq, IFLA_ALT_IFNAME, *altnames);
		nl_req_nest_end(&rq, list);
	}
	ck_assert_ptr_nonnull(rq.msg);
	nlmsg_hdr(rq.msg)->nlmsg_seq = seq;
	net_say(k, nlmsg_hdr(rq.msg), nlmsg_data(nlmsg_hdr(rq.msg)),
		(size_t)nlmsg_datalen(nlmsg_hdr(rq.msg)));
}

START_TEST(an_ipoib_link_gets_its_20_bytes)
{
	struct net_fake k = net_fake();
	struct hw_addr addr = { .len = 20, .byte = { 0x80, 0, 2, 8, 0xfe, 0x80, [19] = 0x57 } };
	struct sent s;
	struct err e = { 0 };

	net_ack(&k, 1, 0);
	net_ack(&k, 2, EINVAL);
	ck_assert_int_eq(nl_link_set_hw_addr(k.nl, 5, addr, &e), 0);
	(void)next_sent(&k, &s);
	ck_assert_int_eq(nla_len(s.tb[IFLA_ADDRESS]), 20);
	ck_assert_mem_eq(nla_data(s.tb[IFLA_ADDRESS]), addr.byte, 20);
	ck_assert_int_eq(nl_link_set_hw_addr(k.nl, 5, addr, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "80:00:02:08:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:"
					    "00:57"));
	nl_release(k.nl);
}
END_TEST

START_TEST(one_message_moves_and_renames)
{
	struct net_fake k = net_fake();
	struct netns pod = { .fd = 9 };
	struct sent s;
	struct err e = { 0 };

	say_link(&k, 1, NULL);
	net_ack(&k, 2, 0);
	ck_assert_int_eq(nl_link_move(k.nl, 5, &pod, "net1", &e), 0);
	ck_assert_uint_eq(next_sent(&k, &s)->nlmsg_type, RTM_GETLINK);

	struct nlmsghdr *h = next_sent(&k, &s);

	ck_assert_uint_eq(h->nlmsg_type, RTM_SETLINK);
	ck_assert_uint_eq(h->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	ck_assert_int_eq(((struct ifinfomsg *)nlmsg_data(h))->ifi_index, 5);
	ck_assert_uint_eq(nla_get_u32(s.tb[IFLA_NET_NS_FD]), 9);
	ck_assert_str_eq(nla_get_string(s.tb[IFLA_IFNAME]), "net1");
	ck_assert(nothing_more(&k));
	nl_release(k.nl);
}
END_TEST

/* Moved, not renamed, and no way back: then it must be told where it is. */
START_TEST(what_cannot_be_brought_back_is_told)
{
	struct net_fake k = net_fake();
	struct netns pod = { .fd = -1 };
	struct err e = { 0 };

	say_link(&k, 1, NULL);
	net_ack(&k, 2, EEXIST);
	net_ack(&k, 3, ENODEV); /* a look: gone from here */
	ck_assert_int_eq(nl_link_move(k.nl, 5, &pod, "net1", &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(
		strstr(e.detail, "it is now in the other network namespace as \"up0\": "));
	nl_release(k.nl);
}
END_TEST

START_TEST(an_old_kernel_wants_it_down)
{
	struct net_fake k = net_fake();
	struct netns pod = { .fd = 9 };
	struct err e = { 0 };

	say_link(&k, 1, NULL);
	net_ack(&k, 2, EBUSY);
	say_link(&k, 3, NULL);
	ck_assert_int_eq(nl_link_move(k.nl, 5, &pod, "net1", &e), -1);
	ck_assert_int_eq(e.errnum, EBUSY);
	ck_assert_ptr_nonnull(strstr(e.detail, "only while it is down"));
	nl_release(k.nl);
}
END_TEST

START_TEST(the_parent_device_is_read)
{
	struct net_fake k = net_fake();
	struct link_info li;
	struct err e = { 0 };

	say_link(&k, 1, NULL);
	ck_assert_int_eq(nl_link_by_index(k.nl, 5, &li, &e), 0);
	ck_assert_str_eq(li.parent, "10000:01:00.0");
	nl_release(k.nl);
}
END_TEST

START_TEST(half_a_parent_is_none)
{
	struct net_fake k = net_fake();
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = 5 };
	struct link_info li;
	struct err e = { 0 };

	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	nl_req_put_str(&rq, IFLA_IFNAME, "up0");
	nl_req_put_str(&rq, IFLA_PARENT_DEV_NAME, "platform-device-with-a-long-name-0");
	nlmsg_hdr(rq.msg)->nlmsg_seq = 1;
	net_say(&k, nlmsg_hdr(rq.msg), nlmsg_data(nlmsg_hdr(rq.msg)),
		(size_t)nlmsg_datalen(nlmsg_hdr(rq.msg)));
	ck_assert_int_eq(nl_link_by_index(k.nl, 5, &li, &e), 0);
	ck_assert_str_eq(li.parent, "");
	nl_release(k.nl);
}
END_TEST

/* ---- alternative names ---- */

START_TEST(gives_and_takes_alternative_names)
{
	auto_world struct world w = make_world();
	struct err e = { 0 };

	ck_assert_int_eq(altnames_of(w.host, "up0"), 0);
	for (int i = 0; i < 2; i++) { /* there already is as good */
		ck_assert_int_eq(nl_link_altname_add(w.host, w.dev, "a-name-of-over-15-bytes", &e),
				 0);
		ck_assert_int_eq(altnames_of(w.host, "up0"), 1);
	}
	struct link_info li;

	ck_assert_int_eq(nl_link_by_any_name(w.host, "a-name-of-over-15-bytes", &li, &e), 0);
	ck_assert_int_eq(li.ifindex, w.dev);
	ck_assert_int_eq(nl_link_altname_add(w.host, w.dev, "another", &e), 0);
	ck_assert_int_eq(altnames_of(w.host, "up0"), 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(nl_link_altname_del(w.host, w.dev, "another", &e), 0);
		ck_assert_int_eq(altnames_of(w.host, "up0"), 1);
	}
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(alternative_names_of_others)
{
	auto_world struct world w = make_world();
	int other = net_ifindex(w.host, "peer0");
	char longest[128], too_long[129];
	struct err e = { 0 };

	memset(longest, 'x', sizeof(longest));
	longest[127] = '\0';
	memset(too_long, 'x', sizeof(too_long));
	too_long[128] = '\0';
	ck_assert_int_eq(nl_link_altname_add(w.host, other, "alt", &e), 0);
	ck_assert_int_eq(nl_link_altname_add(w.host, w.dev, "alt", &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, "give alternative name \"alt\" to interface number "));
	ck_assert_int_eq(nl_link_altname_add(w.host, w.dev, "peer0", &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	/* It has no such name, so there is nothing to take; the other one keeps it. */
	ck_assert_int_eq(nl_link_altname_del(w.host, w.dev, "alt", &e), 0);
	ck_assert_int_eq(altnames_of(w.host, "peer0"), 1);
	ck_assert_int_eq(nl_link_altname_del(w.host, 424242, "alt", &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_int_eq(nl_link_altname_add(w.host, w.dev, longest, &e), 0);
	ck_assert_int_eq(nl_link_altname_add(w.host, w.dev, too_long, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
}
END_TEST

START_TEST(alternative_names_of_nothing)
{
	static const int numbers[] = { 0, -1, 424242 };
	auto_world struct world w = make_world();
	struct err e = { 0 };
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		ck_assert_int_eq(nl_link_altnames(w.host, numbers[i], count, &n, &e), -1);
		ck_assert_int_eq(e.errnum, ENODEV);
	}
	ck_assert_int_eq(n, 0);
}
END_TEST

struct names {
	char text[64];
	int until;
};

static int collect(const char *name, void *arg)
{
	struct names *n = arg;

	testing_append(n->text, sizeof(n->text), name);
	testing_append(n->text, sizeof(n->text), " ");
	return --n->until == 0;
}

static const char *const three[] = { "one", "two", "three", NULL };

START_TEST(the_walk_ends_when_told)
{
	struct net_fake k = net_fake();
	struct names all = { .until = 99 }, two = { .until = 2 };
	struct err e = { 0 };

	say_link(&k, 1, three);
	ck_assert_int_eq(nl_link_altnames(k.nl, 5, collect, &all, &e), 0);
	ck_assert_str_eq(all.text, "one two three ");
	say_link(&k, 2, three);
	ck_assert_int_eq(nl_link_altnames(k.nl, 5, collect, &two, &e), 0);
	ck_assert_str_eq(two.text, "one two ");
	nl_release(k.nl);
}
END_TEST

START_TEST(an_alternative_name_beyond_the_kernels_limit)
{
	struct net_fake k = net_fake();
	char name[200];
	const char *const names[] = { name, NULL };
	struct err e = { 0 };
	int n = 0;

	memset(name, 'x', sizeof(name));
	name[128] = '\0';
	say_link(&k, 1, names);
	ck_assert_int_eq(nl_link_altnames(k.nl, 5, count, &n, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	ck_assert_int_eq(n, 0);
	nl_release(k.nl);
}
END_TEST

static int rename_all(void *arg, struct err *e)
{
	struct world *w = arg;
	int n = 0;

	return nl_link_altname_add(w->host, w->dev, "alt", e) ||
			       nl_link_altnames(w->host, w->dev, count, &n, e) ||
			       nl_link_altname_del(w->host, w->dev, "alt", e) ||
			       nl_link_move(w->host, w->dev, &w->host_ns, "up0", e)
		       ? -1
		       : 0;
}

START_TEST(survives_each_failing_allocation)
{
	auto_world struct world w = make_world();

	ck_assert_str_eq(alloc_fail_each(rename_all, &w), "ok");
}
END_TEST

TEST_PROGRAM("nl_link_change", goes_down_and_gets_a_mac_and_an_mtu, becomes_a_member_and_leaves,
	     what_the_kernel_does_not_let_pass_names_the_value, moves_and_renames_and_comes_back,
	     names_that_others_have_where_it_does_not_matter,
	     a_name_that_is_taken_leaves_it_where_it_was, an_alternative_name_that_is_taken,
	     alternative_names_go_along, within_its_namespace_it_is_renamed,
	     a_link_that_cannot_move_is_explained, an_ipoib_link_gets_its_20_bytes,
	     one_message_moves_and_renames, what_cannot_be_brought_back_is_told,
	     an_old_kernel_wants_it_down, the_parent_device_is_read, half_a_parent_is_none,
	     gives_and_takes_alternative_names, alternative_names_of_others,
	     alternative_names_of_nothing, the_walk_ends_when_told,
	     an_alternative_name_beyond_the_kernels_limit, survives_each_failing_allocation)
