/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_change_test.c: shows that devices are renamed and moved, and how refusals read. */
#include <errno.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/device/rdma.h"
#include "lib/device/rdma_compat.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

struct sent {
	_Alignas(4) char buf[512];
	struct nlattr *tb[RDMA_ATTR_TOP + 1];
};

static void receive(const struct net_fake *k, struct sent *s, unsigned cmd)
{
	const struct nlmsghdr *h = (void *)s->buf;

	ck_assert_int_gt(recv(k->peer, s->buf, sizeof(s->buf), MSG_DONTWAIT), 0);
	ck_assert_uint_eq(h->nlmsg_type, RDMA_NLMSG(cmd));
	ck_assert_uint_eq(h->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	ck_assert_int_eq(nl_parse_attrs(h, 0, s->tb, RDMA_ATTR_TOP, NULL), 0);
}

START_TEST(a_rename_sends_no_namespace)
{
	struct net_fake k = net_fake();
	struct sent s;
	struct err e = { 0 };

	net_ack(&k, 1, 0);
	ck_assert_int_eq(nl_rdma_rename(k.nl, 3, "rocep59s0f0v3", &e), 0);
	receive(&k, &s, RDMA_NLDEV_CMD_SET);
	ck_assert_uint_eq(nla_get_u32(s.tb[RDMA_NLDEV_ATTR_DEV_INDEX]), 3);
	ck_assert_str_eq(nla_data(s.tb[RDMA_NLDEV_ATTR_DEV_NAME]), "rocep59s0f0v3");
	ck_assert_ptr_null(s.tb[RDMA_NLDEV_NET_NS_FD]);
	net_ack(&k, 2, EEXIST);
	ck_assert_int_eq(nl_rdma_rename(k.nl, 3, "mlx5_0", &e), -1);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, "mlx5_0"));
	nl_release(k.nl);
}
END_TEST

START_TEST(bad_names_are_refused)
{
	static const char *const names[] = { "", ".", "..", "a/b", "mlx5_%d", "a:1", "a b", "a\n" };
	struct net_fake k = net_fake();
	char longest[RDMA_NAME_LEN + 1];
	struct netns ns = { .fd = 9 };
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert_int_eq(nl_rdma_rename(k.nl, 3, names[i], &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
		ck_assert_int_eq(nl_rdma_move(k.nl, 3, &ns, names[i], &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
	}
	memset(longest, 'x', RDMA_NAME_LEN);
	longest[RDMA_NAME_LEN] = '\0';
	ck_assert_int_eq(nl_rdma_rename(k.nl, 3, longest, &e), -1);
	ck_assert_int_eq(recv(k.peer, longest, sizeof(longest), MSG_DONTWAIT), -1);
	longest[RDMA_NAME_LEN - 1] = '\0';
	net_ack(&k, 1, 0);
	ck_assert_int_eq(nl_rdma_rename(k.nl, 3, longest, &e), 0);
	nl_release(k.nl);
}
END_TEST

START_TEST(a_move_sends_a_name_only_if_one_is_given)
{
	struct netns ns = { .fd = 9 };
	struct net_fake k = net_fake();
	struct sent s;
	struct err e = { 0 };

	net_ack(&k, 1, 0);
	ck_assert_int_eq(nl_rdma_move(k.nl, 3, &ns, NULL, &e), 0);
	receive(&k, &s, RDMA_NLDEV_CMD_SET);
	ck_assert_uint_eq(nla_get_u32(s.tb[RDMA_NLDEV_ATTR_DEV_INDEX]), 3);
	ck_assert_uint_eq(nla_get_u32(s.tb[RDMA_NLDEV_NET_NS_FD]), 9);
	/* With a name kernels before 7.3 rename and do not move. */
	ck_assert_ptr_null(s.tb[RDMA_NLDEV_ATTR_DEV_NAME]);
	net_ack(&k, 2, 0);
	ck_assert_int_eq(nl_rdma_move(k.nl, 3, &ns, "pod0", &e), 0);
	receive(&k, &s, RDMA_NLDEV_CMD_SET);
	ck_assert_uint_eq(nla_get_u32(s.tb[RDMA_NLDEV_NET_NS_FD]), 9);
	ck_assert_str_eq(nla_data(s.tb[RDMA_NLDEV_ATTR_DEV_NAME]), "pod0");
	ck_assert_str_eq(e.msg, "");
	nl_release(k.nl);
}
END_TEST

START_TEST(says_why_it_does_not_move)
{
	static const struct {
		int errnum;
		const char *hint;
	} c[] = {
		{ EOPNOTSUPP, "driver" }, { EEXIST, "of that name" }, { EINVAL, "no longer" },
		{ ENODEV, "no longer" },  { EPERM, "CAP_NET_ADMIN" },
	};
	struct netns ns = { .fd = 9 };
	struct net_fake k = net_fake();

	for (uint32_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct err e = { 0 };

		net_ack(&k, i + 1, c[i].errnum);
		ck_assert_int_eq(nl_rdma_move(k.nl, 3, &ns, NULL, &e), -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
		ck_assert_int_eq(e.errnum, c[i].errnum);
		ck_assert_ptr_nonnull(strstr(e.detail, c[i].hint));
		ck_assert_ptr_nonnull(strstr(e.msg, "move RDMA device number 3"));
	}
	nl_release(k.nl);
}
END_TEST

START_TEST(sets_the_mode)
{
	struct net_fake k = net_fake();
	struct sent s;
	struct err e = { 0 };

	for (uint32_t i = 0; i < 2; i++) {
		net_ack(&k, i + 1, 0);
		ck_assert_int_eq(nl_rdma_sys_set(k.nl, (enum rdma_mode)i, &e), 0);
		receive(&k, &s, RDMA_NLDEV_CMD_SYS_SET);
		ck_assert_uint_eq(nla_get_u8(s.tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]), i);
	}
	net_ack(&k, 3, EBUSY);
	ck_assert_int_eq(nl_rdma_sys_set(k.nl, RDMA_EXCLUSIVE, &e), -1);
	ck_assert_int_eq(e.errnum, EBUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "to exclusive"));
	ck_assert_ptr_nonnull(strstr(e.detail, "at boot"));
	nl_release(k.nl);
}
END_TEST

TEST_PROGRAM("nl_rdma_change", a_rename_sends_no_namespace, bad_names_are_refused,
	     a_move_sends_a_name_only_if_one_is_given, says_why_it_does_not_move, sets_the_mode)
