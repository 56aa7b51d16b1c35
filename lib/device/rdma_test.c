/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_test.c: shows how answers about RDMA devices are read, also broken ones. */
#include "lib/device/rdma.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/device/rdma_compat.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"

#define HEAD sizeof(struct nlattr)

/* ---- answers as the kernel writes them ---- */

struct body {
	_Alignas(4) char at[1024];
	size_t len;
};

static void put(struct body *b, uint16_t type, const void *data, size_t size)
{
	const struct nlattr head = { .nla_type = type, .nla_len = (uint16_t)(HEAD + size) };

	ck_assert_uint_le(b->len + HEAD + size + 4, sizeof(b->at));
	memcpy(b->at + b->len, &head, sizeof(head));
	memcpy(b->at + b->len + HEAD, data, size);
	b->len += (HEAD + size + 3) & ~(size_t)3;
}

static void put_u8(struct body *b, uint16_t type, uint8_t v)
{
	put(b, type, &v, sizeof(v));
}

static void put_u32(struct body *b, uint16_t type, uint32_t v)
{
	put(b, type, &v, sizeof(v));
}

static void put_u64(struct body *b, uint16_t type, uint64_t v)
{
	put(b, type, &v, sizeof(v));
}

static void put_str(struct body *b, uint16_t type, const char *s)
{
	put(b, type, s, strlen(s) + 1);
}

static void say(const struct net_fake *k, uint16_t cmd, uint32_t seq, const struct body *b)
{
	const struct nlmsghdr h = { .nlmsg_type = (uint16_t)RDMA_NLMSG(cmd), .nlmsg_seq = seq };

	net_say(k, &h, b->at, b->len);
}

static void done(const struct net_fake *k, uint32_t seq)
{
	const struct nlmsghdr h = { .nlmsg_type = NLMSG_DONE, .nlmsg_seq = seq };
	const int zero = 0;

	net_say(k, &h, &zero, sizeof(zero));
}

static struct body device(uint32_t index, const char *name)
{
	struct body b = { .len = 0 };

	put_u32(&b, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	put_str(&b, RDMA_NLDEV_ATTR_DEV_NAME, name);
	put_u32(&b, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	put_str(&b, RDMA_NLDEV_ATTR_FW_VERSION, "20.31.1014");
	put_u64(&b, RDMA_NLDEV_ATTR_NODE_GUID, 0x0c42a1030016054cull + index);
	put_u8(&b, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1);
	put_str(&b, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	put_u32(&b, 400, 7); /* of the future */
	return b;
}

static struct body port(uint32_t number, uint8_t state, uint32_t ifindex)
{
	struct body b = { .len = 0 };

	put_u32(&b, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	put_str(&b, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	put_u32(&b, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	put_u8(&b, RDMA_NLDEV_ATTR_PORT_STATE, state);
	if (ifindex)
		put_u32(&b, RDMA_NLDEV_ATTR_NDEV_INDEX, ifindex);
	return b;
}

/* What was sent: its attributes in tb; the message. */
struct sent {
	_Alignas(4) char buf[512];
	struct nlattr *tb[RDMA_ATTR_TOP + 1];
	const struct nlmsghdr *h;
};

static void receive(const struct net_fake *k, struct sent *s, unsigned cmd, unsigned flags)
{
	ck_assert_int_gt(recv(k->peer, s->buf, sizeof(s->buf), MSG_DONTWAIT), 0);
	s->h = (void *)s->buf;
	ck_assert_uint_eq(s->h->nlmsg_type, RDMA_NLMSG(cmd));
	ck_assert_uint_eq(s->h->nlmsg_flags, NLM_F_REQUEST | flags);
	ck_assert_int_eq(nl_parse_attrs(s->h, 0, s->tb, RDMA_ATTR_TOP, NULL), 0);
}

static uint32_t index_of(const struct sent *s)
{
	ck_assert_ptr_nonnull(s->tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	return nla_get_u32(s->tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
}

static void is_device(const struct rdma_link *d, uint32_t index, const char *name)
{
	ck_assert_uint_eq(d->index, index);
	ck_assert_str_eq(d->name, name);
	ck_assert_uint_eq(d->ports, 2);
	ck_assert_uint_eq(d->node_guid, 0x0c42a1030016054cull + index);
	ck_assert_uint_eq(d->node_type, 1);
	ck_assert_str_eq(d->protocol, "roce");
	ck_assert_str_eq(d->fw_version, "20.31.1014");
}

/* ---- devices ---- */

START_TEST(one_device)
{
	struct net_fake k = net_fake();
	struct body b = device(3, "mlx5_0"), bare = { .len = 0 };
	struct rdma_link d;
	struct sent s;
	struct err e = { 0 };

	say(&k, RDMA_NLDEV_CMD_GET, 1, &b);
	ck_assert_int_eq(nl_rdma_get(k.nl, 3, &d, &e), 0);
	is_device(&d, 3, "mlx5_0");
	receive(&k, &s, RDMA_NLDEV_CMD_GET, 0);
	ck_assert_uint_eq(index_of(&s), 3);
	put_u32(&bare, RDMA_NLDEV_ATTR_DEV_INDEX, 4);
	put_str(&bare, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	say(&k, RDMA_NLDEV_CMD_GET, 2, &bare);
	ck_assert_int_eq(nl_rdma_get(k.nl, 4, &d, &e), 0);
	ck_assert_str_eq(d.name, "rxe0");
	ck_assert_uint_eq(d.ports + d.node_guid + d.node_type, 0);
	ck_assert_str_eq(d.protocol, "");
	ck_assert_str_eq(e.msg, "");
	nl_release(k.nl);
}
END_TEST

START_TEST(a_device_of_another_namespace)
{
	struct net_fake k = net_fake();
	struct rdma_link d = { .index = 77 };
	struct err e = { 0 };

	net_ack(&k, 1, EINVAL);
	ck_assert_int_eq(nl_rdma_get(k.nl, 3, &d, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENODEV);
	net_ack(&k, 2, EPERM);
	ck_assert_int_eq(nl_rdma_get(k.nl, 3, &d, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EPERM);
	ck_assert_uint_eq(d.index, 77);
	nl_release(k.nl);
}
END_TEST

/* A name of 64 bytes is one that the kernel cannot have; what is cut would name another device. */
START_TEST(descriptions_that_are_none)
{
	struct net_fake k = net_fake();
	char longest[RDMA_NAME_LEN + 1];
	struct rdma_link d = { .index = 77 };
	uint32_t seq = 0;

	memset(longest, 'x', sizeof(longest));
	longest[RDMA_NAME_LEN] = '\0';
	for (int i = 0; i < 5; i++) {
		struct body b = { .len = 0 };
		struct err e = { 0 };

		if (i != 0)
			put_str(&b, RDMA_NLDEV_ATTR_DEV_NAME, i == 1 ? "" : i == 2 ? longest : "a");
		if (i == 3)
			put(&b, RDMA_NLDEV_ATTR_DEV_INDEX, "ab", 2);
		else if (i != 4)
			put_u32(&b, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
		say(&k, RDMA_NLDEV_CMD_GET, ++seq, &b);
		ck_assert_int_eq(nl_rdma_get(k.nl, 3, &d, &e), -1);
		ck_assert_int_eq(e.errnum, EBADMSG);
	}
	ck_assert_uint_eq(d.index, 77);
	nl_release(k.nl);
}
END_TEST

static int collect(const struct rdma_link *d, void *arg)
{
	testing_append(arg, 64, d->name);
	testing_append(arg, 64, " ");
	return strcmp(d->name, "stop") == 0;
}

START_TEST(all_devices)
{
	static const char *const names[] = { "mlx5_0", "mlx5_10", "stop", "mlx5_1" };
	struct net_fake k = net_fake();
	char seen[64] = "";
	struct rdma_link d;
	struct sent s;
	struct err e = { 0 };

	for (uint32_t round = 1; round <= 3; round++) {
		for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
			struct body b = device(i, names[i]);

			say(&k, RDMA_NLDEV_CMD_GET, round, &b);
		}
		done(&k, round);
	}
	ck_assert_int_eq(nl_rdma_list(k.nl, collect, seen, &e), 0);
	ck_assert_str_eq(seen, "mlx5_0 mlx5_10 stop ");
	receive(&k, &s, RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	ck_assert_ptr_null(s.tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	ck_assert_int_eq(nl_rdma_by_name(k.nl, "mlx5_1", &d, &e), 0);
	is_device(&d, 3, "mlx5_1");
	ck_assert_int_eq(nl_rdma_by_name(k.nl, "mlx5_", &d, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENODEV);
	nl_release(k.nl);
}
END_TEST

/* ---- ports ---- */

static int count_port(const struct rdma_port *p, void *arg)
{
	int *sum = arg;

	*sum = *sum * 100 + (int)p->port * 10 + p->ifindex;
	return p->port == 2;
}

START_TEST(ports_and_their_interfaces)
{
	struct net_fake k = net_fake();
	struct rdma_port p;
	struct sent s;
	struct err e = { 0 };
	int sum = 0;

	for (uint32_t i = 1; i <= 3; i++) {
		struct body b = port(i, RDMA_PORT_ACTIVE, i == 1 ? 7 : 0);

		say(&k, RDMA_NLDEV_CMD_PORT_GET, 1, &b);
	}
	done(&k, 1);
	ck_assert_int_eq(nl_rdma_ports(k.nl, 3, count_port, &sum, &e), 0);
	ck_assert_int_eq(sum, 1720);
	receive(&k, &s, RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP);
	ck_assert_uint_eq(index_of(&s), 3);

	struct body b = port(2, 200, 9);

	say(&k, RDMA_NLDEV_CMD_GET, 2, &b); /* as the kernel types its answer */
	ck_assert_int_eq(nl_rdma_port(k.nl, 3, 2, &p, &e), 0);
	ck_assert_uint_eq(p.port, 2);
	ck_assert_int_eq(p.ifindex, 9);
	ck_assert_int_eq(p.state, RDMA_PORT_NOP);
	ck_assert_str_eq(rdma_port_state_name(RDMA_PORT_ACTIVE), "ACTIVE");
	receive(&k, &s, RDMA_NLDEV_CMD_PORT_GET, 0);
	ck_assert_uint_eq(nla_get_u32(s.tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 2);
	nl_release(k.nl);
}
END_TEST

START_TEST(the_subnet_of_an_InfiniBand_port)
{
	struct net_fake k = net_fake();
	struct body b = port(1, RDMA_PORT_INIT, 0), roce = port(1, RDMA_PORT_ACTIVE, 0);
	struct rdma_port p;
	struct err e = { 0 };

	put_u64(&b, RDMA_NLDEV_ATTR_SUBNET_PREFIX, 0xfe80000000000000ull);
	put_u32(&b, RDMA_NLDEV_ATTR_LID, 0x1234);
	put_u32(&b, RDMA_NLDEV_ATTR_SM_LID, 7);
	put_u8(&b, RDMA_NLDEV_ATTR_LMC, 2);
	put_u8(&b, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5);
	say(&k, RDMA_NLDEV_CMD_PORT_GET, 1, &b);
	ck_assert_int_eq(nl_rdma_port(k.nl, 3, 1, &p, &e), 0);
	ck_assert(p.subnet.known);
	ck_assert_uint_eq(p.subnet.lid, 0x1234);
	ck_assert_uint_eq(p.subnet.sm_lid, 7);
	ck_assert_uint_eq(p.subnet.lmc, 2);
	ck_assert_uint_eq(p.subnet.prefix, 0xfe80000000000000ull);
	ck_assert_uint_eq(p.phys_state, 5);
	/* The kernel reports no LID of a RoCE port, not even 0. */
	say(&k, RDMA_NLDEV_CMD_PORT_GET, 2, &roce);
	ck_assert_int_eq(nl_rdma_port(k.nl, 3, 1, &p, &e), 0);
	ck_assert(!p.subnet.known && !p.subnet.lid && !p.phys_state);
	nl_release(k.nl);
}
END_TEST

START_TEST(ports_that_are_none)
{
	struct net_fake k = net_fake();
	struct body negative = port(1, 4, 0x80000000u), nameless = { .len = 0 };
	struct rdma_port p = { .port = 77 };
	struct err e = { 0 };

	say(&k, RDMA_NLDEV_CMD_PORT_GET, 1, &negative);
	ck_assert_int_eq(nl_rdma_port(k.nl, 3, 1, &p, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	put_u8(&nameless, RDMA_NLDEV_ATTR_PORT_STATE, 4);
	say(&k, RDMA_NLDEV_CMD_PORT_GET, 2, &nameless);
	ck_assert_int_eq(nl_rdma_port(k.nl, 3, 1, &p, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	net_ack(&k, 3, EINVAL);
	ck_assert_int_eq(nl_rdma_port(k.nl, 3, 9, &p, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	net_ack(&k, 4, EINVAL);
	ck_assert_int_eq(nl_rdma_ports(k.nl, 3, count_port, NULL, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_uint_eq(p.port, 77);
	nl_release(k.nl);
}
END_TEST

/* ---- queue pairs ---- */

/* pid 0: of a task that ended. KERNEL: of the kernel. */
#define KERNEL UINT32_MAX
static void put_qp(struct body *list, uint8_t type, uint8_t state, uint32_t pid)
{
	struct body qp = { .len = 0 };

	put_u8(&qp, RDMA_NLDEV_ATTR_RES_TYPE, type);
	put_u8(&qp, RDMA_NLDEV_ATTR_RES_STATE, state);
	if (pid == KERNEL)
		put(&qp, RDMA_NLDEV_ATTR_RES_KERN_NAME, "rdma_cm", sizeof("rdma_cm"));
	else if (pid)
		put_u32(&qp, RDMA_NLDEV_ATTR_RES_PID, pid);
	put(list, RDMA_NLDEV_ATTR_RES_QP_ENTRY | NLA_F_NESTED, qp.at, qp.len);
}

static int see_qp(const struct rdma_qp *q, void *arg)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%u %u %u\n", q->pid, q->type, q->state);
	testing_append(arg, 256, line);
	return q->pid == 73;
}

START_TEST(queue_pairs_of_processes)
{
	struct net_fake k = net_fake();
	struct body list = { .len = 0 }, b = { .len = 0 }, none = { .len = 0 };
	char text[256] = "";
	struct sent s;
	struct err e = { 0 };

	put_qp(&list, 2, 3, 70); /* RC, RTS */
	put_qp(&list, 2, 3, KERNEL);
	put_qp(&list, 2, 3, 0);
	put_qp(&list, 2, 0, 72); /* RESET */
	put_qp(&list, 4, 3, 73); /* UD, and no more are asked for */
	put_qp(&list, 2, 3, 74);
	put_u32(&b, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	put(&b, RDMA_NLDEV_ATTR_RES_QP | NLA_F_NESTED, list.at, list.len);
	put_u32(&none, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	say(&k, RDMA_NLDEV_CMD_RES_QP_GET, 1, &b);
	say(&k, RDMA_NLDEV_CMD_RES_QP_GET, 1, &none);
	done(&k, 1);
	ck_assert_int_eq(nl_rdma_qps(k.nl, 3, see_qp, text, &e), 0);
	ck_assert_str_eq(text, "70 2 3\n0 2 3\n72 2 0\n73 4 3\n");
	receive(&k, &s, RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP);
	ck_assert_uint_eq(index_of(&s), 3);
	nl_release(k.nl);
}
END_TEST

/* ---- character devices ---- */

static struct body chardev(const char *name, uint64_t number)
{
	struct body b = { .len = 0 };

	put_str(&b, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	put_u64(&b, RDMA_NLDEV_ATTR_CHARDEV_ABI, 6);
	put_u64(&b, RDMA_NLDEV_ATTR_CHARDEV, number);
	return b;
}

START_TEST(character_devices)
{
	/* 231:192, and the number of 511:0x12345 */
	struct body uverbs = chardev("uverbs0", 0xe7c0), far = chardev("umad77777", 0x1231ff45ull);
	const struct rdma_chardev_of verbs = { .type = "uverbs", .index = 3 },
				     mad = { .type = "umad", .index = 3, .port = 2 },
				     cm = { .type = "rdma_cm", .global = true };
	struct net_fake k = net_fake();
	struct rdma_chardev c;
	struct sent s;
	struct err e = { 0 };

	say(&k, RDMA_NLDEV_CMD_GET_CHARDEV, 1, &uverbs);
	ck_assert_int_eq(nl_rdma_chardev(k.nl, verbs, &c, &e), 0);
	ck_assert_str_eq(c.name, "uverbs0");
	ck_assert_uint_eq(c.major, 231);
	ck_assert_uint_eq(c.minor, 192);
	receive(&k, &s, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	ck_assert_str_eq(nla_data(s.tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE]), "uverbs");
	ck_assert_uint_eq(index_of(&s), 3);
	ck_assert_ptr_null(s.tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	say(&k, RDMA_NLDEV_CMD_GET_CHARDEV, 2, &far);
	ck_assert_int_eq(nl_rdma_chardev(k.nl, mad, &c, &e), 0);
	ck_assert_uint_eq(c.major, 511);
	ck_assert_uint_eq(c.minor, 0x12345);
	receive(&k, &s, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	ck_assert_uint_eq(nla_get_u32(s.tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 2);
	net_ack(&k, 3, ENOENT);
	ck_assert_int_eq(nl_rdma_chardev(k.nl, cm, &c, &e), -1);
	receive(&k, &s, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	ck_assert_ptr_null(s.tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	nl_release(k.nl);
}
END_TEST

START_TEST(character_devices_that_are_not_there)
{
	static const struct {
		int says, errnum;
		enum err_code code;
	} c[] = {
		{ ENOENT, ENOENT, ERR_NOTFOUND },
		{ EOPNOTSUPP, ENOENT, ERR_NOTFOUND },
		{ EINVAL, ENODEV, ERR_NOTFOUND },
		{ EPERM, EPERM, ERR_KERNEL },
	};
	struct body unnamed = chardev("", 5);
	struct net_fake k = net_fake();
	struct rdma_chardev out = { .name = "as it was" };
	const struct rdma_chardev_of of = { .type = "umad", .index = 3, .port = 2 };
	uint32_t seq = 0;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		net_ack(&k, ++seq, c[i].says);
		ck_assert_int_eq(nl_rdma_chardev(k.nl, of, &out, &e), -1);
		ck_assert_int_eq(e.code, c[i].code);
		ck_assert_int_eq(e.errnum, c[i].errnum);
		ck_assert_ptr_nonnull(strstr(e.msg, "umad of RDMA device number 3, port 2"));
	}
	say(&k, RDMA_NLDEV_CMD_GET_CHARDEV, ++seq, &unnamed);
	ck_assert_int_eq(nl_rdma_chardev(k.nl, of, &out, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	ck_assert_str_eq(out.name, "as it was");
	nl_release(k.nl);
}
END_TEST

/* ---- the mode ---- */

START_TEST(the_mode)
{
	struct net_fake k = net_fake();
	struct rdma_sys sys;
	struct err e = { 0 };
	uint32_t seq = 0;

	for (int i = 0; i < 3; i++) {
		struct body b = { .len = 0 };

		if (i < 2)
			put_u8(&b, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, (uint8_t)i);
		if (i == 1)
			put_u8(&b, COMPAT_RDMA_SYS_ATTR_MONITOR, 1);
		say(&k, RDMA_NLDEV_CMD_SYS_GET, ++seq, &b);
		ck_assert_int_eq(nl_rdma_sys_get(k.nl, &sys, &e), 0);
		ck_assert_int_eq(sys.mode, i == 0 ? RDMA_EXCLUSIVE : RDMA_SHARED);
		ck_assert_int_eq(sys.can_notify, i == 1);
	}
	ck_assert_str_eq(rdma_mode_name(RDMA_EXCLUSIVE), "exclusive");
	ck_assert_str_eq(rdma_mode_name(RDMA_SHARED), "shared");
	nl_release(k.nl);
}
END_TEST

/* ---- this kernel, and memory ---- */

/* Kernels with RDMA and kernels without it run this. */
START_TEST(a_socket_of_this_kernel)
{
	auto_nl struct nl *nl = NULL;
	auto_netns struct netns there = net_another(), here = net_self();
	struct rdma_sys sys;
	struct err e = { 0 };

	if (nl_rdma_open_in(&there, &here, &nl, &e)) {
		ck_assert_int_eq(e.code, ERR_NOTFOUND);
		ck_assert_int_eq(e.errnum, EPROTONOSUPPORT);
		ck_assert_ptr_nonnull(strstr(e.detail, "ib_core"));
		ck_assert_int_eq(nl_rdma_open(&nl, &e), -1);
		ck_assert_int_eq(e.errnum, EPROTONOSUPPORT);
	} else {
		ck_assert_int_eq(nl_rdma_sys_get(nl, &sys, &e), 0);
	}
	auto_netns struct netns now = net_self();
	ck_assert(netns_same(now.id, here.id));
}
END_TEST

/* Answers to every request, whatever its number, in the order of ask_all(). */
struct asked {
	struct net_fake k;
	struct body bodies[4];
	uint16_t cmds[4];
};

/* Check allocates, so that nothing in here may be one of its assertions. */
static int answer(struct asked *x, size_t i)
{
	_Alignas(4) char m[2048];
	const struct nlmsghdr h = {
		.nlmsg_len = (uint32_t)(sizeof(h) + x->bodies[i].len),
		.nlmsg_type = x->cmds[i],
		.nlmsg_seq = x->k.nl->seq + 1,
	};

	memcpy(m, &h, sizeof(h));
	memcpy(m + sizeof(h), x->bodies[i].at, x->bodies[i].len);
	return send(x->k.peer, m, h.nlmsg_len, 0) == (ssize_t)h.nlmsg_len ? 0 : -1;
}

static int ask_all(void *arg, struct err *e)
{
	const struct rdma_chardev_of verbs = { .type = "uverbs", .index = 3 };
	struct asked *x = arg;
	struct rdma_chardev cd;
	struct rdma_link link;
	int sum = 0;

	/* Not what an earlier call left. */
	while (recv(x->k.nl->fd, x->k.nl->buf, sizeof(x->k.nl->buf), MSG_DONTWAIT) > 0)
		;
	if (answer(x, 0) || nl_rdma_get(x->k.nl, 3, &link, e))
		return -1;
	if (answer(x, 1) || answer(x, 3) || nl_rdma_ports(x->k.nl, 3, count_port, &sum, e))
		return -1;
	return answer(x, 2) || nl_rdma_chardev(x->k.nl, verbs, &cd, e) ? -1 : 0;
}

START_TEST(survives_each_failing_allocation)
{
	struct asked x = {
		.k = net_fake(),
		.bodies = { device(3, "mlx5_0"),
			    port(1, 4, 7),
			    chardev("uverbs0", 0xe7c0),
			    { .len = sizeof(int) } },
		.cmds = { RDMA_NLMSG(RDMA_NLDEV_CMD_GET), RDMA_NLMSG(RDMA_NLDEV_CMD_PORT_GET),
			  RDMA_NLMSG(RDMA_NLDEV_CMD_GET_CHARDEV), NLMSG_DONE },
	};

	ck_assert_str_eq(alloc_fail_each(ask_all, &x), "ok");
	nl_release(x.k.nl);
}
END_TEST

TEST_PROGRAM("nl_rdma", one_device, a_device_of_another_namespace, descriptions_that_are_none,
	     all_devices, ports_and_their_interfaces, the_subnet_of_an_InfiniBand_port,
	     ports_that_are_none, queue_pairs_of_processes, character_devices,
	     character_devices_that_are_not_there, the_mode, a_socket_of_this_kernel,
	     survives_each_failing_allocation)
