/* SPDX-License-Identifier: Apache-2.0 */
/* link_test.c: shows on a real kernel that interfaces are found and created as described. */
#include "lib/net/link.h"

#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

static const uint8_t some_mac[MAC_LEN] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };

/* A pod's namespace, and a host with a lower device "up0". */
struct world {
	struct netns pod;
	struct nl *host, *in_pod;
	int lower;
};

static struct world make_world(void)
{
	struct world w;

	net_enter_new();
	w.pod = net_another();
	net_veth("up0", "peer0", NULL);
	w.host = net_socket();
	w.in_pod = net_socket_in(&w.pod);
	w.lower = net_ifindex(w.host, "up0");
	return w;
}

static void drop_world(struct world *w)
{
	nl_release(w->host);
	nl_release(w->in_pod);
	netns_close(&w->pod);
}
#define auto_world auto_clean(drop_world)

static struct link_spec macvlan(const struct world *w, const char *name)
{
	return (struct link_spec){
		.kind = "macvlan",
		.name = name,
		.lower_ifindex = w->lower,
		.target = &w->pod,
		.data.macvlan.mode = MACVLAN_BRIDGE,
	};
}

static void create(const struct world *w, const struct link_spec *spec)
{
	struct err e = { 0 };

	ck_assert_msg(nl_link_create(w->host, spec, &e) == 0, "%s (%s)", e.msg, e.detail);
	ck_assert_str_eq(e.msg, "");
}

static struct link_info in_pod(const struct world *w, const char *name)
{
	struct link_info li;
	struct err e = { 0 };

	ck_assert_msg(nl_link_by_name(w->in_pod, name, &li, &e) == 0, "%s", e.msg);
	return li;
}

/* ---- looking up ---- */

START_TEST(looks_up_by_name_and_by_number)
{
	auto_world struct world w = make_world();
	struct link_info a, b;
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_by_name(w.host, "up0", &a, &e), 0);
	ck_assert_int_eq(nl_link_by_index(w.host, a.ifindex, &b, &e), 0);
	ck_assert_str_eq(b.name, "up0");
	ck_assert_str_eq(b.kind, "veth");
	ck_assert_int_eq(b.lower_ifindex, net_ifindex(w.host, "peer0"));
	ck_assert_uint_eq(b.mtu, 1500);
	ck_assert(b.flags & IFF_UP);
	ck_assert(link_is_ethernet(&b));
	ck_assert_mem_eq(a.addr.byte, b.addr.byte, MAC_LEN);
	ck_assert_uint_eq(b.data.macvlan.mode, LINK_DATA_UNKNOWN);
	ck_assert_uint_eq(b.data.ipvlan.flag, LINK_DATA_UNKNOWN);
	ck_assert_int_eq(nl_link_by_name(w.host, "lo", &a, &e), 0);
	ck_assert_str_eq(a.kind, "");
	ck_assert_int_eq(a.lower_ifindex, 0);
}
END_TEST

static const char *const absent[] = {
	"nonesuch", "", "fifteen-bytes-x", "sixteen-bytes-xx", "far-longer-than-any-interface-name",
	"up%d"
};

START_TEST(what_is_not_there_is_no_device)
{
	auto_world struct world w = make_world();
	struct link_info li = { .ifindex = 77 };
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
		e.errnum = 0;
		ck_assert_int_eq(nl_link_by_name(w.host, absent[i], &li, &e), -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
		ck_assert_msg(e.errnum == ENODEV || !absent[i][0], "%s: %s", absent[i], e.msg);
	}
	static const int numbers[] = { 0, -1, 999999 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		ck_assert_int_eq(nl_link_by_index(w.host, numbers[i], &li, &e), -1);
		ck_assert_int_eq(e.errnum, ENODEV);
	}
	ck_assert_int_eq(li.ifindex, 77);
	ck_assert_ptr_nonnull(strstr(e.msg, "interface number 999999"));
}
END_TEST

/* The kernel answers for an altname as well, and the interface that has it may be anybody's. */
START_TEST(an_altname_is_not_the_name)
{
	auto_world struct world w = make_world();
	struct link_info li = { .ifindex = 77 };
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_altname_add(w.host, net_ifindex(w.host, "up0"), "net1", &e), 0);
	ck_assert_int_eq(nl_link_by_name(w.host, "net1", &li, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_ptr_nonnull(strstr(e.detail, "up0"));
	ck_assert_int_eq(li.ifindex, 77);
	ck_assert_int_eq(nl_link_by_any_name(w.host, "net1", &li, &e), 0);
	ck_assert_str_eq(li.name, "up0");
	ck_assert_int_eq(nl_link_by_any_name(w.host, "nonesuch", &li, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
}
END_TEST

/* Whoever asks with RTEXT_FILTER_VF makes the kernel collect the statistics of every VF. */
START_TEST(look_ups_carry_no_ext_mask)
{
	auto_nl_req struct nl_req by_name = { 0 }, by_index = { 0 };

	nl_link_get_request(&by_name, "up0", 0);
	nl_link_get_request(&by_index, NULL, 7);
	ck_assert_ptr_null(
		nlmsg_find_attr(nlmsg_hdr(by_name.msg), sizeof(struct ifinfomsg), IFLA_EXT_MASK));
	ck_assert_ptr_null(
		nlmsg_find_attr(nlmsg_hdr(by_name.msg), sizeof(struct ifinfomsg), IFLA_ALT_IFNAME));
	ck_assert_ptr_nonnull(
		nlmsg_find_attr(nlmsg_hdr(by_name.msg), sizeof(struct ifinfomsg), IFLA_IFNAME));
	ck_assert_uint_eq(nlmsg_hdr(by_index.msg)->nlmsg_len,
			  NLMSG_LENGTH(sizeof(struct ifinfomsg)));
	ck_assert_uint_eq(nlmsg_hdr(by_name.msg)->nlmsg_flags, NLM_F_REQUEST);
	ck_assert_uint_eq(nlmsg_hdr(by_index.msg)->nlmsg_flags, NLM_F_REQUEST);
}
END_TEST

START_TEST(a_description_that_makes_no_sense)
{
	struct net_fake k = net_fake();
	struct nlmsghdr h = { .nlmsg_type = RTM_NEWLINK };
	struct ifinfomsg ifi = { .ifi_index = 3 };
	struct link_info li;
	struct err e = { 0 };

	h.nlmsg_seq = 1;
	net_say(&k, &h, &ifi, sizeof(ifi)); /* without a name */
	ck_assert_int_eq(nl_link_by_index(k.nl, 3, &li, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	h.nlmsg_seq = 2;
	net_say(&k, &h, &ifi, 3); /* cut */
	ck_assert_int_eq(nl_link_by_index(k.nl, 3, &li, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	nl_release(k.nl);
}
END_TEST

/* ---- creating ---- */

START_TEST(makes_a_macvlan_in_the_pod)
{
	auto_world struct world w = make_world();
	struct link_spec spec = macvlan(&w, "net1");
	struct link_info li;
	struct err e = { 0 };

	spec.mtu = 1400;
	spec.addr = hw_addr_of_mac(some_mac);
	spec.data.macvlan.bcqueuelen = 500;
	create(&w, &spec);
	li = in_pod(&w, "net1");
	ck_assert_str_eq(li.kind, "macvlan");
	ck_assert_uint_eq(li.data.macvlan.mode, MACVLAN_BRIDGE);
	ck_assert_int_eq(li.lower_ifindex, w.lower);
	ck_assert_uint_eq(li.mtu, 1400);
	ck_assert_mem_eq(li.addr.byte, some_mac, MAC_LEN);
	ck_assert(!(li.flags & IFF_UP));
	ck_assert_int_eq(nl_link_by_name(w.host, "net1", &li, &e), -1);
}
END_TEST

START_TEST(knows_the_namespace_of_the_lower_device)
{
	auto_world struct world w = make_world();
	struct netns self = net_self(), other = net_another();
	struct link_spec spec = macvlan(&w, "net1");
	int id = -7;
	struct err e = { 0 };

	create(&w, &spec);
	ck_assert_int_eq(nl_link_nsid(w.in_pod, &self, &id, &e), 0);
	ck_assert_int_ge(id, 0);
	ck_assert_int_eq(in_pod(&w, "net1").lower_nsid, id);
	ck_assert_int_eq(nl_link_nsid(w.in_pod, &other, &id, &e), 0);
	ck_assert_int_eq(id, -1); /* nobody asked for one */
	spec.target = NULL;
	create(&w, &spec);

	struct link_info here;

	ck_assert_int_eq(nl_link_by_name(w.host, "net1", &here, &e), 0);
	ck_assert_int_eq(here.lower_nsid, -1);
	ck_assert_int_eq(close(other.fd), 0);
	other.fd = w.pod.fd + 500;
	ck_assert_int_eq(nl_link_nsid(w.in_pod, &other, &id, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "network namespace"));
	netns_close(&self);
}
END_TEST

START_TEST(makes_every_mode)
{
	static const uint32_t modes[] = { MACVLAN_PRIVATE, MACVLAN_VEPA, MACVLAN_BRIDGE,
					  MACVLAN_PASSTHRU };
	auto_world struct world w = make_world();
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct link_spec spec = macvlan(&w, "net1");

		spec.data.macvlan.mode = modes[i];
		create(&w, &spec);

		struct link_info li = in_pod(&w, "net1");

		ck_assert_uint_eq(li.data.macvlan.mode, modes[i]);
		ck_assert_int_eq(nl_link_delete(w.in_pod, li.ifindex, &e), 0);
	}
}
END_TEST

START_TEST(makes_one_in_its_own_namespace)
{
	auto_world struct world w = make_world();
	struct link_spec spec = macvlan(&w, "net1");
	struct link_info li;
	struct err e = { 0 };

	spec.target = NULL;
	create(&w, &spec);
	ck_assert_int_eq(nl_link_by_name(w.host, "net1", &li, &e), 0);
	ck_assert_int_eq(nl_link_create(w.host, &spec, &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
}
END_TEST

/* The host's own eth0 must not stand in the way of the pod's. */
START_TEST(the_host_may_have_the_same_name)
{
	auto_world struct world w = make_world();

	net_link("bridge", "eth0");

	struct link_spec spec = macvlan(&w, "eth0");

	create(&w, &spec);
	ck_assert_str_eq(in_pod(&w, "eth0").kind, "macvlan");
}
END_TEST

/* What older kernels need for that: a number of our choice. */
START_TEST(a_chosen_number_serves_as_well)
{
	auto_world struct world w = make_world();
	struct link_spec spec = macvlan(&w, "eth0"), twin = macvlan(&w, "eth1");
	struct err e = { 0 };

	net_link("bridge", "eth0");
	ck_assert_int_eq(nl_link_create_as(w.host, &spec, 0x1234567, &e), 0);
	ck_assert_int_eq(in_pod(&w, "eth0").ifindex, 0x1234567);
	ck_assert_int_eq(nl_link_create_as(w.host, &twin, 0x1234567, &e), -1);
	ck_assert(e.errnum == EBUSY || e.errnum == EEXIST); /* before and since 6.14 */
	ck_assert_int_eq(nl_link_create_as(w.host, &spec, 0x1234568, &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
}
END_TEST

START_TEST(a_number_is_known_before_the_link)
{
	auto_world struct world w = make_world();
	struct link_spec spec = macvlan(&w, "net1");
	struct err e = { 0 };

	spec.ifindex = nl_link_choose_ifindex();
	ck_assert_int_ge(spec.ifindex, 0x1000000);
	create(&w, &spec);
	ck_assert_int_eq(in_pod(&w, "net1").ifindex, spec.ifindex);
	spec.name = "net2";
	ck_assert_int_eq(nl_link_create(w.host, &spec, &e), -1);
	ck_assert(e.errnum == EBUSY || e.errnum == EEXIST); /* before and since 6.14 */
}
END_TEST

START_TEST(a_name_that_the_pod_has_is_taken)
{
	auto_world struct world w = make_world();
	struct link_spec spec = macvlan(&w, "net1");
	struct err e = { 0 };

	create(&w, &spec);

	int first = in_pod(&w, "net1").ifindex;

	ck_assert_int_eq(nl_link_create(w.host, &spec, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, "create macvlan \"net1\""));
	net_link("bridge", "net1"); /* the host has it as well */
	ck_assert_int_eq(nl_link_create(w.host, &spec, &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_int_eq(in_pod(&w, "net1").ifindex, first);
}
END_TEST

/* A kernel before 6.14 in two answers: EEXIST for the plain request, none for the numbered one. */
START_TEST(an_older_kernel_gets_a_number)
{
	struct net_fake k = net_fake();
	struct netns pod = { .fd = k.peer };
	struct link_spec spec = {
		.kind = "macvlan", .name = "eth0", .lower_ifindex = 5, .target = &pod
	};
	struct nl_req answer = { 0 };
	struct ifinfomsg ifi = { .ifi_index = 2 };
	struct err e = { 0 };
	struct {
		struct nlmsghdr h;
		struct ifinfomsg ifi;
		char rest[1024];
	} sent;

	net_ack(&k, 1, EEXIST);
	nl_req_begin(&answer, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	nl_req_put_str(&answer, IFLA_IFNAME, "eth0");
	nlmsg_hdr(answer.msg)->nlmsg_seq = 2;
	net_say(&k, nlmsg_hdr(answer.msg), nlmsg_data(nlmsg_hdr(answer.msg)),
		(size_t)nlmsg_datalen(nlmsg_hdr(answer.msg)));
	net_ack(&k, 3, EBUSY);
	net_ack(&k, 4, 0);
	ck_assert_int_eq(nl_link_create(k.nl, &spec, &e), 0);
	ck_assert_str_eq(e.msg, "");
	for (uint32_t i = 1; i <= 4; i++) {
		ck_assert_int_gt(recv(k.peer, &sent, sizeof(sent), MSG_DONTWAIT), 0);
		ck_assert_uint_eq(sent.h.nlmsg_seq, i);
		ck_assert_int_eq(sent.ifi.ifi_index >= 0x1000000, i > 2);
	}
	nl_req_clear(&answer);
	nl_release(k.nl);
}
END_TEST

static const uint8_t ipoib[HW_ADDR_MAX] = { 0x80, 0, 2, 8, 0xfe, 0x80, 0, 0,    0,    0,
					    0,    0, 0, 2, 0xc9, 3,    0, 0x12, 0x34, 0x57 };

START_TEST(an_ipoib_link)
{
	const struct link_info ib0 = { .ifindex = 7,
				       .name = "ib0",
				       .type = ARPHRD_INFINIBAND,
				       .addr = hw_addr_make(ipoib, sizeof(ipoib)),
				       .perm_addr = hw_addr_make(ipoib, sizeof(ipoib)) };
	struct net_fake k = net_fake();
	char text[HW_ADDR_STR_LEN];
	struct link_info link;
	struct err e = { 0 };

	net_say_link(&k, 1, &ib0, &ib0.addr);
	ck_assert_int_eq(nl_link_by_index(k.nl, 7, &link, &e), 0);
	ck_assert_uint_eq(link.type, ARPHRD_INFINIBAND);
	ck_assert_str_eq(hw_addr_format(link.addr, text),
			 "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:57");
	ck_assert_mem_eq(&link.perm_addr, &link.addr, sizeof(link.addr));
	ck_assert(!link_is_ethernet(&link));
	nl_release(k.nl);
}
END_TEST

/* The loopback device has 6 bytes, too. */
START_TEST(what_is_ethernet)
{
	struct link_info link = { .type = ARPHRD_ETHER, .addr = hw_addr_of_mac(some_mac) };

	ck_assert(link_is_ethernet(&link));
	link.type = ARPHRD_LOOPBACK;
	ck_assert(!link_is_ethernet(&link));
	link = (struct link_info){ .type = ARPHRD_ETHER, .addr = hw_addr_make(ipoib, 20) };
	ck_assert(!link_is_ethernet(&link));
}
END_TEST

/* A bond gives its members its own address. */
START_TEST(the_address_that_it_was_made_with)
{
	const uint8_t now[MAC_LEN] = { 2, 0, 0, 0, 0, 1 }, made_with[] = { 0, 1, 2, 3, 4, 5, 6 };
	struct ifinfomsg ifi = { .ifi_index = 2 };
	struct link_info link;
	struct err e = { 0 };

	for (int len = MAC_LEN - 1; len <= MAC_LEN + 1; len++) {
		struct net_fake k = net_fake();
		struct nl_req answer = { 0 };

		nl_req_begin(&answer, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
		nl_req_put_str(&answer, IFLA_IFNAME, "eth0");
		ck_assert_int_eq(nla_put(answer.msg, IFLA_ADDRESS, MAC_LEN, now), 0);
		ck_assert_int_eq(nla_put(answer.msg, IFLA_PERM_ADDRESS, len, made_with), 0);
		nlmsg_hdr(answer.msg)->nlmsg_seq = 1;
		net_say(&k, nlmsg_hdr(answer.msg), nlmsg_data(nlmsg_hdr(answer.msg)),
			(size_t)nlmsg_datalen(nlmsg_hdr(answer.msg)));
		net_ack(&k, 1, 0);
		ck_assert_int_eq(nl_link_by_name(k.nl, "eth0", &link, &e), 0);
		ck_assert_mem_eq(link.addr.byte, now, MAC_LEN);
		ck_assert_int_eq(link.perm_addr.len, len);
		ck_assert_mem_eq(link.perm_addr.byte, made_with, (size_t)len);
		nl_req_clear(&answer);
		nl_release(k.nl);
	}
}
END_TEST

START_TEST(names_no_link_may_have_are_refused)
{
	static const char *const names[] = { "",    "net%d", "%",   "sixteen-bytes-xx",
					     "a/b", "a b",   "a:b", ".." };
	auto_world struct world w = make_world();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct link_spec spec = macvlan(&w, names[i]);
		struct err e = { 0 };

		ck_assert_int_eq(nl_link_create(w.host, &spec, &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
		ck_assert_int_eq(e.errnum, EINVAL);
	}
	struct link_spec longest = macvlan(&w, "fifteen-bytes-x");

	create(&w, &longest);
	ck_assert_str_eq(in_pod(&w, "fifteen-bytes-x").name, "fifteen-bytes-x");
}
END_TEST

START_TEST(a_lower_device_that_is_not_there)
{
	auto_world struct world w = make_world();
	struct link_spec spec = macvlan(&w, "net1");
	struct err e = { 0 };

	spec.lower_ifindex = 424242;
	ck_assert_int_eq(nl_link_create(w.host, &spec, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, ENODEV);
}
END_TEST

START_TEST(ipvlan_or_a_clear_word_about_it)
{
	auto_world struct world w = make_world();
	struct link_spec spec = {
		.kind = "ipvlan",
		.name = "net1",
		.lower_ifindex = w.lower,
		.target = &w.pod,
		.data.ipvlan.mode = IPVLAN_L3,
		.data.ipvlan.flag = IPVLAN_VEPA,
	};
	struct err e = { 0 };

	if (nl_link_create(w.host, &spec, &e) == 0) {
		struct link_info li = in_pod(&w, "net1");

		ck_assert_str_eq(li.kind, "ipvlan");
		ck_assert_uint_eq(li.data.ipvlan.mode, IPVLAN_L3);
		ck_assert_uint_eq(li.data.ipvlan.flag, IPVLAN_VEPA);
		return;
	}
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_ptr_nonnull(
		strstr(e.detail, "this kernel has no ipvlan: load or install the module"));
}
END_TEST

static uint16_t nested_u16(struct nlattr *data, int type)
{
	struct nlattr *a = nla_find(nla_data(data), nla_len(data), type);

	ck_assert_ptr_nonnull(a);
	ck_assert_int_eq(nla_len(a), 2);
	return nla_get_u16(a);
}

/* Where the kernel has no ipvlan, what we would have asked of it can still be read. */
START_TEST(what_is_asked_for_an_ipvlan)
{
	struct net_fake k = net_fake();
	struct netns pod = { .fd = 9 };
	struct link_spec spec = { .kind = "ipvlan",
				  .name = "net1",
				  .lower_ifindex = 5,
				  .target = &pod,
				  .data.ipvlan.mode = IPVLAN_L3S,
				  .data.ipvlan.flag = IPVLAN_PRIVATE };
	_Alignas(4) char buf[1024];
	struct nlmsghdr *h = (void *)buf;
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct err e = { 0 };

	net_ack(&k, 1, 0);
	ck_assert_int_eq(nl_link_create(k.nl, &spec, &e), 0);
	ck_assert_int_gt(recv(k.peer, buf, sizeof(buf), 0), 0);
	ck_assert_int_eq(nl_parse_attrs(h, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL), 0);
	ck_assert_uint_eq(h->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
	ck_assert_uint_eq(nla_get_u32(tb[IFLA_NET_NS_FD]), 9);
	ck_assert_uint_eq(nla_get_u32(tb[IFLA_LINK]), 5);
	ck_assert_ptr_null(tb[IFLA_MTU]);
	ck_assert_ptr_null(tb[IFLA_ADDRESS]);
	ck_assert_int_eq(nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL), 0);
	ck_assert_str_eq(nla_get_string(info[IFLA_INFO_KIND]), "ipvlan");
	ck_assert_uint_eq(nested_u16(info[IFLA_INFO_DATA], IFLA_IPVLAN_MODE), IPVLAN_L3S);
	ck_assert_uint_eq(nested_u16(info[IFLA_INFO_DATA], IFLA_IPVLAN_FLAGS), IPVLAN_PRIVATE);
	nl_release(k.nl);
}
END_TEST

/* ---- changing, deleting ---- */

START_TEST(goes_up_and_away)
{
	auto_world struct world w = make_world();
	struct link_spec spec = macvlan(&w, "net1");
	struct err e = { 0 };

	create(&w, &spec);

	int ifindex = in_pod(&w, "net1").ifindex;

	ck_assert_int_eq(nl_link_set_up(w.in_pod, ifindex, &e), 0);
	ck_assert(in_pod(&w, "net1").flags & IFF_UP);
	ck_assert_int_eq(nl_link_delete(w.in_pod, ifindex, &e), 0);
	ck_assert_int_eq(nl_link_delete(w.in_pod, ifindex, &e), 0);
	ck_assert_str_eq(e.msg, "");
	ck_assert_int_eq(nl_link_set_up(w.in_pod, ifindex, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	/* lo is there and stays. */
	ck_assert_int_eq(nl_link_delete(w.in_pod, 1, &e), -1);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
}
END_TEST

TEST_PROGRAM("nl_link", looks_up_by_name_and_by_number, what_is_not_there_is_no_device,
	     an_altname_is_not_the_name, look_ups_carry_no_ext_mask,
	     a_description_that_makes_no_sense, makes_a_macvlan_in_the_pod,
	     knows_the_namespace_of_the_lower_device, makes_every_mode,
	     makes_one_in_its_own_namespace, the_host_may_have_the_same_name,
	     a_chosen_number_serves_as_well, a_number_is_known_before_the_link,
	     a_name_that_the_pod_has_is_taken, an_older_kernel_gets_a_number, an_ipoib_link,
	     what_is_ethernet, the_address_that_it_was_made_with,
	     names_no_link_may_have_are_refused, a_lower_device_that_is_not_there,
	     ipvlan_or_a_clear_word_about_it, what_is_asked_for_an_ipvlan, goes_up_and_away)
