/* SPDX-License-Identifier: Apache-2.0 */
/* vf_set_test.c: shows the message for each attribute, the repeats, and how refusals read. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/device/vf_priv.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

static const struct vf_info wanted = {
	.mac = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 },
	.vlan = 100,
	.qos = 5,
	.min_rate = 10,
	.max_rate = 1000,
	.spoofchk = true,
	.trust = true,
	.link_state = VF_LINK_DISABLE,
};

static const enum vf_attr each[] = {
	VF_MAC, VF_VLAN, VF_RATE, VF_SPOOFCHK, VF_TRUST, VF_LINK_STATE, VF_NODE_GUID, VF_PORT_GUID,
};

/* A clock that nobody waits for. */
struct time_told {
	int64_t now;
	int naps;
};

static int64_t told_now(void *arg)
{
	return ((struct time_told *)arg)->now;
}

static void told_nap(void *arg, int64_t ms)
{
	struct time_told *t = arg;

	ck_assert_int_gt(ms, 0);
	t->now += ms;
	t->naps++;
}

static int set(struct net_fake *k, const struct vf_change *c, struct time_told *t, struct err *e)
{
	const struct vf_clock clock = { told_now, told_nap, t };

	return nl_vf_set_by(k->nl, c, &clock, e);
}

/* The one attribute of the one VF in a request; the request's length. */
struct sent {
	_Alignas(4) char buf[256];
	struct nlattr *attr;
	uint32_t seq;
};

static size_t next_sent(const struct net_fake *k, struct sent *s)
{
	struct nlmsghdr *h = (void *)s->buf;
	struct nlattr *list, *info;
	ssize_t n = recv(k->peer, s->buf, sizeof(s->buf), MSG_DONTWAIT);

	ck_assert_int_gt(n, 0);
	ck_assert_uint_eq(h->nlmsg_len, (size_t)n);
	ck_assert_uint_eq(h->nlmsg_type, RTM_SETLINK);
	ck_assert_uint_eq(h->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	ck_assert_int_eq(((struct ifinfomsg *)nlmsg_data(h))->ifi_index, 5);
	list = nlmsg_attrdata(h, sizeof(struct ifinfomsg));
	ck_assert_int_eq(nla_type(list), IFLA_VFINFO_LIST);
	ck_assert_int_eq(nla_total_size(nla_len(list)), nlmsg_attrlen(h, sizeof(struct ifinfomsg)));
	info = nla_data(list);
	ck_assert_int_eq(nla_type(info), IFLA_VF_INFO);
	ck_assert_int_eq(nla_total_size(nla_len(info)), nla_len(list));
	s->attr = nla_data(info);
	ck_assert_int_eq(nla_total_size(nla_len(s->attr)), nla_len(info));
	s->seq = h->nlmsg_seq;
	return (size_t)n;
}

static bool nothing_more(const struct net_fake *k)
{
	char c;

	return recv(k->peer, &c, 1, MSG_DONTWAIT) < 0;
}

/* ---- what is asked ---- */

static size_t set_one(struct net_fake *k, uint32_t vf, const struct vf_info *want, enum vf_attr one,
		      struct sent *s)
{
	struct err e = { 0 };

	net_ack(k, k->nl->seq + 1, 0);
	ck_assert_int_eq(nl_vf_set(k->nl, (struct vf_ref){ 5, vf }, want, one, &e), 0);
	ck_assert_str_eq(e.msg, "");

	size_t n = next_sent(k, s);

	ck_assert(nothing_more(k));
	ck_assert_uint_eq(*(uint32_t *)nla_data(s->attr), vf);
	return n;
}

START_TEST(each_attribute_is_one_small_message)
{
	static const int types[] = { IFLA_VF_MAC, IFLA_VF_RATE, IFLA_VF_SPOOFCHK, IFLA_VF_TRUST,
				     IFLA_VF_LINK_STATE };
	static const enum vf_attr plain[] = { VF_MAC, VF_RATE, VF_SPOOFCHK, VF_TRUST,
					      VF_LINK_STATE };
	static const uint32_t numbers[] = { 0, 3, 249, 4000 };
	struct net_fake k = net_fake();
	struct sent s;

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		size_t len = 0;

		for (size_t j = 0; j < ARRAY_SIZE(numbers); j++) {
			size_t n = set_one(&k, numbers[j], &wanted, plain[i], &s);

			ck_assert_int_eq(nla_type(s.attr), types[i]);
			ck_assert(len == 0 || len == n);
			len = n;
		}
	}
	nl_release(k.nl);
}
END_TEST

START_TEST(the_values_in_it)
{
	const struct vf_info zero = { 0 };
	struct net_fake k = net_fake();
	struct sent s;

	(void)set_one(&k, 3, &wanted, VF_MAC, &s);
	ck_assert_int_eq(nla_len(s.attr), sizeof(struct ifla_vf_mac));
	ck_assert_mem_eq(((struct ifla_vf_mac *)nla_data(s.attr))->mac, wanted.mac, MAC_LEN);
	(void)set_one(&k, 3, &wanted, VF_RATE, &s);
	ck_assert_int_eq(nla_len(s.attr), sizeof(struct ifla_vf_rate));
	ck_assert_uint_eq(((struct ifla_vf_rate *)nla_data(s.attr))->min_tx_rate, 10);
	ck_assert_uint_eq(((struct ifla_vf_rate *)nla_data(s.attr))->max_tx_rate, 1000);
	for (int on = 0; on < 2; on++) {
		const struct vf_info *want = on ? &wanted : &zero;

		(void)set_one(&k, 3, want, VF_SPOOFCHK, &s);
		ck_assert_int_eq(nla_len(s.attr), sizeof(struct ifla_vf_spoofchk));
		ck_assert_int_eq(((struct ifla_vf_spoofchk *)nla_data(s.attr))->setting, on);
		(void)set_one(&k, 3, want, VF_TRUST, &s);
		ck_assert_int_eq(nla_len(s.attr), sizeof(struct ifla_vf_trust));
		ck_assert_int_eq(((struct ifla_vf_trust *)nla_data(s.attr))->setting, on);
		(void)set_one(&k, 3, want, VF_LINK_STATE, &s);
		ck_assert_int_eq(nla_len(s.attr), sizeof(struct ifla_vf_link_state));
		ck_assert_uint_eq(((struct ifla_vf_link_state *)nla_data(s.attr))->link_state,
				  (uint32_t)want->link_state);
	}
	nl_release(k.nl);
}
END_TEST

static struct ifla_vf_vlan_info sent_vlan(const struct sent *s)
{
	struct ifla_vf_vlan_info info;
	struct nlattr *inner = nla_data(s->attr);

	ck_assert_int_eq(nla_type(s->attr), IFLA_VF_VLAN_LIST);
	ck_assert_int_eq(nla_type(inner), IFLA_VF_VLAN_INFO);
	ck_assert_int_eq(nla_len(inner), sizeof(info));
	memcpy(&info, nla_data(inner), sizeof(info));
	return info;
}

/* The protocol is in network byte order: 81 00 on every machine. */
START_TEST(a_vlan_is_a_list_of_one)
{
	static const uint16_t protos[] = { 0, VLAN_PROTO_8021Q, VLAN_PROTO_8021AD };
	static const uint8_t bytes[][2] = { { 0x81, 0x00 }, { 0x81, 0x00 }, { 0x88, 0xa8 } };
	struct net_fake k = net_fake();
	struct vf_info want = wanted;
	struct sent s;
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(protos); i++) {
		want.vlan_proto = protos[i];
		net_ack(&k, k.nl->seq + 1, 0);
		ck_assert_int_eq(nl_vf_set(k.nl, (struct vf_ref){ 5, 3 }, &want, VF_VLAN, &e), 0);
		(void)next_sent(&k, &s);
		ck_assert(nothing_more(&k));

		struct ifla_vf_vlan_info info = sent_vlan(&s);

		ck_assert_uint_eq(info.vf, 3);
		ck_assert_uint_eq(info.vlan, 100);
		ck_assert_uint_eq(info.qos, 5);
		ck_assert_mem_eq(&info.vlan_proto, bytes[i], 2);
	}
	nl_release(k.nl);
}
END_TEST

START_TEST(the_old_form_of_a_vlan)
{
	static const int refusals[] = { EOPNOTSUPP, EINVAL };
	struct net_fake k = net_fake();
	struct sent s;
	struct ifla_vf_vlan *vlan;
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		net_ack(&k, k.nl->seq + 1, refusals[i]);
		net_ack(&k, k.nl->seq + 2, 0);
		ck_assert_int_eq(nl_vf_set(k.nl, (struct vf_ref){ 5, 3 }, &wanted, VF_VLAN, &e), 0);
		ck_assert_str_eq(e.msg, "");
		(void)next_sent(&k, &s);
		ck_assert_uint_eq(sent_vlan(&s).vlan, 100);
		(void)next_sent(&k, &s);
		ck_assert_int_eq(nla_type(s.attr), IFLA_VF_VLAN);
		ck_assert_int_eq(nla_len(s.attr), sizeof(*vlan));
		vlan = nla_data(s.attr);
		ck_assert_uint_eq(vlan->vf, 3);
		ck_assert_uint_eq(vlan->vlan, 100);
		ck_assert_uint_eq(vlan->qos, 5);
		ck_assert(nothing_more(&k));
	}
	nl_release(k.nl);
}
END_TEST

/* A tag of 802.1ad has no old form, and other refusals are not about the form. */
START_TEST(no_old_form_for_other_vlans)
{
	static const struct {
		uint16_t proto;
		int errnum;
	} c[] = { { VLAN_PROTO_8021AD, EOPNOTSUPP },
		  { VLAN_PROTO_8021AD, EINVAL },
		  { VLAN_PROTO_8021AD, EPROTONOSUPPORT },
		  { VLAN_PROTO_8021Q, EPERM } };
	struct net_fake k = net_fake();
	struct vf_info want = wanted;
	struct sent s;

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct err e = { 0 };

		want.vlan_proto = c[i].proto;
		net_ack(&k, k.nl->seq + 1, c[i].errnum);
		ck_assert_int_eq(nl_vf_set(k.nl, (struct vf_ref){ 5, 3 }, &want, VF_VLAN, &e), -1);
		ck_assert_int_eq(e.errnum, c[i].errnum);
		(void)next_sent(&k, &s);
		ck_assert(nothing_more(&k));
	}
	nl_release(k.nl);
}
END_TEST

/* ---- patience ---- */

START_TEST(tries_again_while_the_driver_resets)
{
	struct net_fake k = net_fake();
	const struct vf_change c = { { 5, 3 }, &wanted, VF_MAC };
	struct time_told t = { .now = 1000000 };
	struct sent first, s;
	struct err e = { 0 };

	net_ack(&k, 1, EBUSY);
	net_ack(&k, 2, EAGAIN);
	net_ack(&k, 3, EBUSY);
	net_ack(&k, 4, 0);
	ck_assert_int_eq(set(&k, &c, &t, &e), 0);
	ck_assert_str_eq(e.msg, "");
	ck_assert_int_eq(t.naps, 3);
	ck_assert_int_lt(t.now, 1000000 + 100);
	ck_assert_uint_gt(next_sent(&k, &first), 0);
	for (uint32_t i = 2; i <= 4; i++) {
		(void)next_sent(&k, &s);
		ck_assert_uint_eq(s.seq, i);
		ck_assert_mem_eq(s.attr, first.attr, (size_t)nla_total_size(nla_len(s.attr)));
	}
	nl_release(k.nl);
}
END_TEST

START_TEST(gives_up_after_two_seconds)
{
	struct net_fake k = net_fake();
	const struct vf_change c = { { 5, 3 }, &wanted, VF_TRUST };
	struct time_told t = { .now = 1000000 };
	struct err e = { 0 };

	for (uint32_t i = 1; i <= 60; i++)
		net_ack(&k, i, EBUSY);
	ck_assert_int_eq(set(&k, &c, &t, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EBUSY);
	ck_assert_int_eq(t.now, 1000000 + VF_PATIENCE_MS);
	ck_assert_uint_eq(k.nl->seq, (uint32_t)t.naps + 1);
	ck_assert_int_lt(t.naps, 30); /* it does not hammer */
	ck_assert_ptr_nonnull(strstr(e.msg, "set trust of VF 3 of interface number 5"));
	ck_assert_ptr_nonnull(strstr(e.detail, "being reset"));
	nl_release(k.nl);
}
END_TEST

START_TEST(the_real_clock_goes_on)
{
	struct net_fake k = net_fake();
	struct err e = { 0 };

	net_ack(&k, 1, EBUSY);
	net_ack(&k, 2, 0);
	ck_assert_int_eq(nl_vf_set(k.nl, (struct vf_ref){ 5, 3 }, &wanted, VF_MAC, &e), 0);
	ck_assert_uint_eq(k.nl->seq, 2);
	nl_release(k.nl);
}
END_TEST

/* Kernels ignore the second GUID of a request, so each is a request. The number is in host order.
 */
START_TEST(each_guid_is_a_request)
{
	static const struct {
		enum vf_attr one;
		int type;
		uint64_t number;
	} c[] = { { VF_NODE_GUID, IFLA_VF_IB_NODE_GUID, UINT64_C(0x506b4b0300c1a2b3) },
		  { VF_PORT_GUID, IFLA_VF_IB_PORT_GUID, UINT64_C(0x020000000000000b) } };
	const struct vf_info want = { .node_guid = guid_of_number(c[0].number),
				      .port_guid = guid_of_number(c[1].number) };
	struct net_fake k = net_fake();
	struct ifla_vf_guid g;
	struct sent s;

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		(void)set_one(&k, 3, &want, c[i].one, &s);
		ck_assert_int_eq(nla_type(s.attr), c[i].type);
		ck_assert_int_eq(nla_len(s.attr), sizeof(g));
		memcpy(&g, nla_data(s.attr), sizeof(g));
		ck_assert(g.vf == 3 && g.guid == c[i].number);
	}
	nl_release(k.nl);
}
END_TEST

/* ---- refusals ---- */

START_TEST(says_what_a_refusal_means)
{
	static const struct {
		enum vf_attr one;
		int errnum;
		const char *hint;
	} c[] = { { VF_LINK_STATE, EOPNOTSUPP, "no such setting: leave out \"link_state\"" },
		  { VF_VLAN, EPROTONOSUPPORT, "802.1ad" },
		  { VF_RATE, EINVAL, "minimum rate" },
		  { VF_MAC, EINVAL, "single station" },
		  { VF_VLAN, EINVAL, "0 to 4094" },
		  { VF_SPOOFCHK, EINVAL, "no VF of that number" },
		  { VF_TRUST, EINVAL, "no VF of that number" },
		  { VF_LINK_STATE, EINVAL, "no VF of that number" },
		  { VF_TRUST, EPERM, "devlink" },
		  { VF_TRUST, ENODEV, "" } };
	struct net_fake k = net_fake();

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct err e = { 0 };

		net_ack(&k, k.nl->seq + 1, c[i].errnum);
		net_ack(&k, k.nl->seq + 2, c[i].errnum);
		ck_assert_int_eq(nl_vf_set(k.nl, (struct vf_ref){ 5, 3 }, &wanted, c[i].one, &e),
				 -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
		ck_assert_int_eq(e.errnum, c[i].errnum);
		ck_assert_ptr_nonnull(strstr(e.msg, vf_attr_name(c[i].one)));
		ck_assert_msg(strstr(e.detail, c[i].hint), "%s: %s", c[i].hint, e.detail);
		k.nl->seq += 2; /* past the second acknowledgement, where it was not read */
	}
	nl_release(k.nl);
}
END_TEST

START_TEST(a_device_that_has_no_vfs_on_this_kernel)
{
	net_enter_new();
	net_link("bridge", "br0");

	auto_nl struct nl *nl = net_socket();
	int ifindex = net_ifindex(nl, "br0");

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct err e = { 0 };

		ck_assert_int_eq(nl_vf_set(nl, (struct vf_ref){ ifindex, 0 }, &wanted, each[i], &e),
				 -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
		ck_assert_msg(e.errnum == EOPNOTSUPP, "%s: %s", vf_attr_name(each[i]), e.msg);
	}
}
END_TEST

START_TEST(names_of_attributes)
{
	static const char *const names[] = { "mac",   "vlan",       "max_tx_rate", "spoofchk",
					     "trust", "link_state", "node GUID",   "port GUID" };
	unsigned all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		ck_assert_str_eq(vf_attr_name(each[i]), names[i]);
		all |= each[i];
	}
	ck_assert_uint_eq(all, VF_ALL);
	ck_assert_str_eq(vf_attr_name(VF_ALL), "?");
}
END_TEST

TEST_PROGRAM("nl_vf_set", each_guid_is_a_request, each_attribute_is_one_small_message,
	     the_values_in_it, a_vlan_is_a_list_of_one, the_old_form_of_a_vlan,
	     no_old_form_for_other_vlans, tries_again_while_the_driver_resets,
	     gives_up_after_two_seconds, the_real_clock_goes_on, says_what_a_refusal_means,
	     a_device_that_has_no_vfs_on_this_kernel, names_of_attributes)
