/* SPDX-License-Identifier: Apache-2.0 */
/* vf_test.c: shows how lists of VFs are read, also long, wrapped and broken ones. */
#include "lib/device/vf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"

#define HEAD sizeof(struct nlattr)

/* ---- answers as the kernel writes them, of any length ---- */

struct answer {
	_Alignas(4) char buf[256 * 1024];
	size_t len;
};

static size_t begin(struct answer *a, uint16_t type, const void *data, size_t size)
{
	const struct nlattr head = { .nla_type = type, .nla_len = (uint16_t)(HEAD + size) };
	size_t at = a->len;

	ck_assert_uint_le(at + HEAD + size + 4, sizeof(a->buf));
	memcpy(a->buf + at, &head, sizeof(head));
	if (size)
		memcpy(a->buf + at + HEAD, data, size);
	a->len += (HEAD + size + 3) & ~(size_t)3;
	return at;
}

/* The length wraps around at 16 bits, as with the kernel. */
static void end(struct answer *a, size_t at)
{
	uint16_t len = (uint16_t)(a->len - at);

	memcpy(a->buf + at, &len, sizeof(len));
}

static void start(struct answer *a)
{
	const struct ifinfomsg ifi = { .ifi_index = 5 };

	memset(a, 0, sizeof(*a));
	a->len = NLMSG_HDRLEN;
	memcpy(a->buf + a->len, &ifi, sizeof(ifi));
	a->len += sizeof(ifi);
	begin(a, IFLA_IFNAME, "ens3f0", 7);
}

static void say(const struct net_fake *k, struct answer *a, uint32_t seq)
{
	struct nlmsghdr h = { .nlmsg_len = (uint32_t)a->len,
			      .nlmsg_type = RTM_NEWLINK,
			      .nlmsg_seq = seq };

	memcpy(a->buf, &h, sizeof(h));
	ck_assert_int_eq(send(k->peer, a->buf, a->len, 0), (ssize_t)a->len);
}

/* One VF as rtnl_fill_vfinfo() writes it, without statistics: 196 bytes. Values follow from its
 * number. */
static void put_vf(struct answer *a, uint32_t vf)
{
	const struct ifla_vf_mac mac = { .vf = vf,
					 .mac = { 2, 0, 0, 0, (uint8_t)(vf >> 8), (uint8_t)vf } };
	const struct ifla_vf_vlan vlan = { vf, vf % 4095, vf % 8 };
	const struct ifla_vf_vlan_info info = { vf, vf % 4095, vf % 8, htons(VLAN_PROTO_8021AD) };
	const struct ifla_vf_rate rate = { vf, vf * 2, vf * 3 };
	const struct ifla_vf_tx_rate tx_rate = { vf, vf * 3 };
	const struct ifla_vf_trust on = { vf, 1 }, off = { vf, 0 }, disable = { vf, 2 };
	const char broadcast[32] = { 0 };
	size_t nest = begin(a, IFLA_VF_INFO, NULL, 0), list;

	begin(a, IFLA_VF_MAC, &mac, sizeof(mac));
	begin(a, IFLA_VF_BROADCAST, broadcast, sizeof(broadcast));
	begin(a, IFLA_VF_VLAN, &vlan, sizeof(vlan));
	begin(a, IFLA_VF_RATE, &rate, sizeof(rate));
	begin(a, IFLA_VF_TX_RATE, &tx_rate, sizeof(tx_rate));
	begin(a, IFLA_VF_SPOOFCHK, vf % 2 ? &on : &off, sizeof(on));
	begin(a, IFLA_VF_LINK_STATE, &disable, sizeof(disable));
	begin(a, IFLA_VF_RSS_QUERY_EN, &off, sizeof(off));
	begin(a, IFLA_VF_TRUST, vf % 2 ? &off : &on, sizeof(on));
	list = begin(a, IFLA_VF_VLAN_LIST, NULL, 0);
	begin(a, IFLA_VF_VLAN_INFO, &info, sizeof(info));
	end(a, list);
	end(a, nest);
}

static void put_vfs(struct answer *a, uint32_t n)
{
	size_t list, before;

	begin(a, IFLA_NUM_VF, &n, sizeof(n));
	list = begin(a, IFLA_VFINFO_LIST, NULL, 0);
	before = a->len;
	for (uint32_t i = 0; i < n; i++)
		put_vf(a, i);
	ck_assert_uint_eq(a->len - before, 196 * n);
	end(a, list);
	begin(a, IFLA_PARENT_DEV_NAME, "0000:3b:00.0", 13);
}

static void is_vf(const struct vf_info *s, uint32_t vf)
{
	const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, (uint8_t)(vf >> 8), (uint8_t)vf };

	ck_assert_uint_eq(s->has, VF_ETHERNET);
	ck_assert_mem_eq(s->mac, mac, MAC_LEN);
	ck_assert_uint_eq(s->vlan, vf % 4095);
	ck_assert_uint_eq(s->qos, vf % 8);
	ck_assert_uint_eq(s->vlan_proto, VLAN_PROTO_8021AD);
	ck_assert_uint_eq(s->min_rate, vf * 2);
	ck_assert_uint_eq(s->max_rate, vf * 3);
	ck_assert_int_eq(s->spoofchk, vf % 2);
	ck_assert_int_eq(s->trust, !(vf % 2));
	ck_assert_int_eq(s->link_state, VF_LINK_DISABLE);
}

static struct vf_info get(struct net_fake *k, struct answer *a, uint32_t vf)
{
	struct vf_info s;
	struct err e = { 0 };

	say(k, a, k->nl->seq + 1);
	ck_assert_msg(nl_vf_get(k->nl, (struct vf_ref){ 5, vf }, &s, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(e.msg, "");
	return s;
}

static struct answer *make_answer(void)
{
	struct answer *a = malloc(sizeof(*a));

	ck_assert_ptr_nonnull(a);
	start(a);
	return a;
}

/* ---- reading ---- */

START_TEST(reads_each_of_250)
{
	auto_free struct answer *a = make_answer();
	struct net_fake k = net_fake();

	put_vfs(a, 250);
	ck_assert_uint_gt(a->len, sizeof(k.nl->buf));
	for (uint32_t vf = 0; vf < 250; vf += vf < 240 ? 20 : 1) {
		struct vf_info s = get(&k, a, vf);

		is_vf(&s, vf);
	}
	ck_assert_uint_eq(get(&k, a, 250).has, 0);
	nl_release(k.nl);
}
END_TEST

/* 334 fit; of 400 the kernel says that they take what 65 and a half take, of 335 not even one. */
START_TEST(a_list_that_wraps_around)
{
	static const struct {
		uint32_t n, last;
	} c[] = { { 334, 333 }, { 400, 64 } };
	auto_free struct answer *a = make_answer();
	struct net_fake k = net_fake();

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		start(a);
		put_vfs(a, c[i].n);

		struct vf_info s = get(&k, a, c[i].last);

		is_vf(&s, c[i].last);
		ck_assert_uint_eq(get(&k, a, c[i].last + 1).has, 0);
		ck_assert_uint_eq(get(&k, a, c[i].n - 1).has, c[i].n == 334 ? VF_ETHERNET : 0);
	}
	start(a);
	put_vfs(a, 335);
	ck_assert_uint_eq(get(&k, a, 0).has, 0);
	nl_release(k.nl);
}
END_TEST

/* What follows a list that has wrapped can look like a list. */
START_TEST(only_the_first_list_counts)
{
	auto_free struct answer *a = make_answer();
	struct net_fake k = net_fake();
	size_t list;

	put_vfs(a, 2);
	list = begin(a, IFLA_VFINFO_LIST, NULL, 0);
	put_vf(a, 7);
	end(a, list);
	ck_assert_uint_eq(get(&k, a, 1).has, VF_ETHERNET);
	ck_assert_uint_eq(get(&k, a, 7).has, 0);
	nl_release(k.nl);
}
END_TEST

START_TEST(found_by_number_and_not_by_place)
{
	static const uint32_t order[] = { 9, 0, 300, 3 };
	auto_free struct answer *a = make_answer();
	struct net_fake k = net_fake();
	size_t list = begin(a, IFLA_VFINFO_LIST, NULL, 0);

	begin(a, IFLA_VF_INFO + 7, "?", 1); /* of the future */
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		put_vf(a, order[i]);
	end(a, list);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		struct vf_info s = get(&k, a, order[i]);

		is_vf(&s, order[i]);
	}
	for (uint32_t vf = 1; vf < 3; vf++)
		ck_assert_uint_eq(get(&k, a, vf).has, 0);
	nl_release(k.nl);
}
END_TEST

START_TEST(a_pf_without_vfs)
{
	auto_free struct answer *a = make_answer();
	struct net_fake k = net_fake();

	ck_assert_uint_eq(get(&k, a, 0).has, 0);
	begin(a, IFLA_VFINFO_LIST, NULL, 0);
	ck_assert_uint_eq(get(&k, a, 0).has, 0);
	nl_release(k.nl);
}
END_TEST

START_TEST(what_the_driver_does_not_tell)
{
	const struct ifla_vf_trust unknown = { 3, UINT32_MAX }, odd = { 3, 3 };
	const struct ifla_vf_vlan vlan = { 3, 100, 5 };
	const struct ifla_vf_mac other = { .vf = 4 };
	auto_free struct answer *a = make_answer();
	struct net_fake k = net_fake();
	size_t list = begin(a, IFLA_VFINFO_LIST, NULL, 0), nest = begin(a, IFLA_VF_INFO, NULL, 0);

	begin(a, IFLA_VF_VLAN_LIST, NULL, 0);
	begin(a, IFLA_VF_VLAN, &vlan, sizeof(vlan));
	begin(a, IFLA_VF_SPOOFCHK, &unknown, sizeof(unknown));
	begin(a, IFLA_VF_TRUST, &unknown, sizeof(unknown));
	begin(a, IFLA_VF_LINK_STATE, &odd, sizeof(odd));
	begin(a, IFLA_VF_RATE, &odd, sizeof(odd)); /* cut */
	begin(a, IFLA_VF_MAC, &other, sizeof(other));
	end(a, nest);
	end(a, list);

	struct vf_info s = get(&k, a, 3);

	ck_assert_uint_eq(s.has, VF_VLAN);
	ck_assert_uint_eq(s.vlan, 100);
	ck_assert_uint_eq(s.qos, 5);
	ck_assert_uint_eq(s.vlan_proto, VLAN_PROTO_8021Q);
	nl_release(k.nl);
}
END_TEST

START_TEST(guids_of_an_infiniband_pf)
{
	const struct ifla_vf_guid node = { 3, UINT64_C(0x506b4b0300c1a2b3) }, port = { 3, 0 },
				  other = { 4, 1 };
	const struct ifla_vf_trust state = { 3, IFLA_VF_LINK_STATE_ENABLE };
	const struct ifla_vf_mac pfs = { .vf = 3, .mac = { 0x80, 0, 2, 8, 0xfe, 0x80 } };
	auto_free struct answer *a = make_answer();
	struct net_fake k = net_fake();
	size_t list = begin(a, IFLA_VFINFO_LIST, NULL, 0), nest = begin(a, IFLA_VF_INFO, NULL, 0);

	begin(a, IFLA_VF_MAC, &pfs, sizeof(pfs));
	begin(a, IFLA_VF_LINK_STATE, &state, sizeof(state));
	begin(a, IFLA_VF_IB_NODE_GUID, &node, sizeof(node));
	begin(a, IFLA_VF_IB_PORT_GUID, &port, sizeof(port));
	end(a, nest);
	nest = begin(a, IFLA_VF_INFO, NULL, 0);
	begin(a, IFLA_VF_IB_NODE_GUID, &other, sizeof(other));
	end(a, nest);
	end(a, list);

	struct vf_info s = get(&k, a, 3);

	ck_assert_uint_eq(s.has, VF_LINK_STATE | VF_GUIDS);
	ck_assert_uint_eq(guid_number(s.node_guid), node.guid);
	ck_assert(guid_equal(s.port_guid, GUID_ZERO));
	ck_assert_uint_eq(get(&k, a, 4).has, VF_NODE_GUID);
	nl_release(k.nl);
}
END_TEST

START_TEST(a_list_without_room_leaves_out_all)
{
	struct net_fake k = net_fake();
	struct vf_info s = { .has = VF_ETHERNET };
	struct err e = { 0 };

	net_ack(&k, 1, EMSGSIZE);
	ck_assert_int_eq(nl_vf_get(k.nl, (struct vf_ref){ 5, 0 }, &s, &e), 0);
	ck_assert_uint_eq(s.has, 0);
	ck_assert_str_eq(e.msg, "");
	nl_release(k.nl);
}
END_TEST

START_TEST(answers_that_are_none)
{
	struct net_fake k = net_fake();
	struct nlmsghdr h = { .nlmsg_type = RTM_NEWLINK, .nlmsg_seq = 1 };
	struct vf_info s = { .has = 77 }, all[2] = { { .has = 77 }, { .has = 77 } };
	struct err e = { 0 };

	net_say(&k, &h, "abc", 3);
	ck_assert_int_eq(nl_vf_get(k.nl, (struct vf_ref){ 5, 0 }, &s, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	h = (struct nlmsghdr){ .nlmsg_type = RTM_NEWROUTE, .nlmsg_seq = 2 };
	net_say(&k, &h, "0123456789abcdef", 16);
	ck_assert_int_eq(nl_vf_get(k.nl, (struct vf_ref){ 5, 0 }, &s, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	net_ack(&k, 3, ENODEV);
	ck_assert_int_eq(nl_vf_get(k.nl, (struct vf_ref){ 5, 8 }, &s, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_ptr_nonnull(strstr(e.msg, "read VF 8 of interface number 5"));
	ck_assert_uint_eq(s.has, 77);
	net_ack(&k, 4, EPERM);
	ck_assert_int_eq(nl_vf_list(k.nl, 5, 2, all, &e), -1);
	ck_assert_int_eq(e.errnum, EPERM);
	ck_assert_ptr_nonnull(strstr(e.msg, "read the VFs of interface number 5"));
	ck_assert(all[0].has == 77 && all[1].has == 77);
	nl_release(k.nl);
}
END_TEST

/* ---- what is asked ---- */

/* With RTEXT_FILTER_VF alone the kernel collects the statistics of every VF. */
START_TEST(asks_once_and_never_for_statistics)
{
	_Alignas(4) char sent[256];
	auto_free struct answer *a = make_answer();
	struct net_fake k = net_fake();
	struct nlmsghdr *h = (void *)sent;
	struct nlattr *tb[IFLA_MAX + 1];

	put_vfs(a, 250);
	ck_assert_uint_eq(get(&k, a, 249).has, VF_ETHERNET);
	ck_assert_int_eq(recv(k.peer, sent, sizeof(sent), MSG_DONTWAIT),
			 NLMSG_LENGTH(sizeof(struct ifinfomsg)) + 8);
	ck_assert_uint_eq(h->nlmsg_type, RTM_GETLINK);
	ck_assert_uint_eq(h->nlmsg_flags, NLM_F_REQUEST);
	ck_assert_int_eq(((struct ifinfomsg *)nlmsg_data(h))->ifi_index, 5);
	ck_assert_int_eq(nl_parse_attrs(h, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL), 0);
	ck_assert_uint_eq(nla_get_u32(tb[IFLA_EXT_MASK]),
			  RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	ck_assert_int_eq(recv(k.peer, sent, sizeof(sent), MSG_DONTWAIT), -1);
	nl_release(k.nl);
}
END_TEST

START_TEST(a_device_without_vfs_on_this_kernel)
{
	struct vf_info s = { .has = 77 };
	struct err e = { 0 };

	net_enter_new();
	net_link("bridge", "br0");

	auto_nl struct nl *nl = net_socket();

	ck_assert_int_eq(nl_vf_get(nl, (struct vf_ref){ net_ifindex(nl, "br0"), 0 }, &s, &e), 0);
	ck_assert_uint_eq(s.has, 0);
	ck_assert_int_eq(nl_vf_get(nl, (struct vf_ref){ 424242, 0 }, &s, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
}
END_TEST

struct asked {
	struct net_fake k;
	struct answer *a;
};

static int ask(void *arg, struct err *e)
{
	struct asked *x = arg;
	struct vf_info s;

	/* What an earlier call left unread says the same. */
	x->k.nl->seq = 0;
	if (send(x->k.peer, x->a->buf, x->a->len, 0) < 0)
		return err_set(e, ERR_IO, errno, "the test");
	return nl_vf_get(x->k.nl, (struct vf_ref){ 5, 249 }, &s, e);
}

START_TEST(survives_each_failing_allocation)
{
	auto_free struct answer *a = make_answer();
	struct asked x = { .k = net_fake(), .a = a };

	put_vfs(a, 250);
	say(&x.k, a, 1);
	ck_assert_str_eq(alloc_fail_each(ask, &x), "ok");
	nl_release(x.k.nl);
}
END_TEST

START_TEST(lists_all_with_one_question)
{
	struct net_fake k = net_fake();
	struct answer *a = make_answer();
	struct vf_info s[10];
	struct err e = { 0 };

	start(a);
	put_vfs(a, 7);
	say(&k, a, 1);
	ck_assert_int_eq(nl_vf_list(k.nl, 5, 10, s, &e), 0);
	ck_assert_uint_eq(k.nl->seq, 1);
	for (uint32_t i = 0; i < 7; i++)
		is_vf(&s[i], i);
	for (uint32_t i = 7; i < 10; i++)
		ck_assert_uint_eq(s[i].has, 0);
	say(&k, a, 2);
	ck_assert_int_eq(nl_vf_list(k.nl, 5, 1, s, &e), 0);
	is_vf(&s[0], 0);
	ck_assert_int_eq(nl_vf_list(k.nl, 5, 0, s, &e), 0);
	nl_release(k.nl);
	free(a);
}
END_TEST

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The median of that many looks at the last of n VFs, in ns. */
static int64_t time_a_look(uint32_t n, size_t rounds)
{
	struct net_fake k = net_fake();
	struct answer *a = make_answer();
	int64_t *took = calloc(rounds, sizeof(*took));
	struct vf_info s;
	struct err e = { 0 };

	ck_assert_ptr_nonnull(took);
	start(a);
	put_vfs(a, n);
	for (size_t i = 0; i < rounds; i++) {
		say(&k, a, k.nl->seq + 1);
		int64_t began = now_ns();
		ck_assert_int_eq(nl_vf_get(k.nl, (struct vf_ref){ 5, n - 1 }, &s, &e), 0);
		took[i] = now_ns() - began;
		is_vf(&s, n - 1);
		(void)recv(k.peer, a->buf + sizeof(a->buf) - 256, 256, 0);
	}
	qsort(took, rounds, sizeof(*took), compare);
	int64_t median = took[rounds / 2];
	free(took);
	free(a);
	nl_release(k.nl);
	return median;
}

/* BENCH_ROUNDS: for the bench, which wants to know what an answer of 49 KB costs. Nothing is
 * judged. */
START_TEST(the_last_of_a_long_list)
{
	static const uint32_t lengths[] = { 1, 14, 250 };
	const char *text = getenv("BENCH_ROUNDS");
	const size_t rounds = text ? strtoul(text, NULL, 10) : 1;

	for (size_t i = 0; i < ARRAY_SIZE(lengths) && rounds && rounds < 1000000; i++) {
		int64_t ns = time_a_look(lengths[i], rounds);

		if (text)
			printf("list-%u look ns %lld\n", lengths[i], (long long)ns);
	}
}
END_TEST

TEST_PROGRAM("nl_vf", guids_of_an_infiniband_pf, reads_each_of_250, the_last_of_a_long_list,
	     lists_all_with_one_question, a_list_that_wraps_around, only_the_first_list_counts,
	     found_by_number_and_not_by_place, a_pf_without_vfs, what_the_driver_does_not_tell,
	     a_list_without_room_leaves_out_all, answers_that_are_none,
	     asks_once_and_never_for_statistics, a_device_without_vfs_on_this_kernel,
	     survives_each_failing_allocation)
