/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipoib_test.c: shows which parents and keys the plugin takes, and what it asks the kernel for. The
 * kernel is the test: no test machine has InfiniBand.
 */
#include "plugins/ether/ipoib.h"

#include <errno.h>
#include <stdio.h>

#include "cni/engine/staged.h"
#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define INFINIBAND 32 /* ARPHRD_INFINIBAND */
#define NEWLINK    16
#define SETLINK    19
#define GETLINK    18

static const struct link_info ib0 = {
	.ifindex = 5,
	.name = "ib0",
	.kind = "ipoib",
	.mtu = 2044,
	.type = INFINIBAND,
	.data.ipoib = { .pkey = 0xffff, .mode = IPOIB_DATAGRAM, .umcast = 0 },
};

struct world {
	struct cni_call call;
	struct attach a;
	struct json *conf;
	struct net_fake kernel;
};

/* An ADD with these keys, whose master has been looked up. -1: they are refused. */
static int begin(struct world *w, const char *keys, const struct link_info *master, struct err *e)
{
	char text[512];

	*w = (struct world){ .kernel = net_fake() };
	if (master->lower_ifindex && master->lower_ifindex != master->ifindex)
		net_ack(&w->kernel, 1, ENODEV); /* who asks for the parent's name */
	(void)snprintf(text, sizeof(text), "{\"name\":\"net\"%s%s}", *keys ? "," : "", keys);
	ck_assert_int_eq(json_parse(text, strlen(text), "conf", &w->conf, e), 0);
	ctx_init(&w->call.ctx, "test");
	w->call.ctx.run_dir = "/nonexistent";
	w->call.env.container = "c1";
	w->call.env.ifname = "net1";
	w->call.conf.name = "net";
	w->call.data = &ipoib_type;
	w->a = (struct attach){ .call = &w->call,
				.type = &ipoib_type,
				.conf.master.n = 1,
				.master = *master,
				.pod = { .fd = 0 },
				.host_nl = w->kernel.nl };
	w->a.records.ctx = w->call.ctx;
	ipoib_type.defaults(w->a.state);
	return json_decode(w->conf, "", ipoib_type.fields, w->a.state, e) ||
			       ipoib_type.validate(&w->a, e) || ipoib_type.check_master(&w->a, e)
		       ? -1
		       : 0;
}

static void end(struct world *w)
{
	json_free(w->conf);
	json_free(w->a.device);
	nl_release(w->kernel.nl);
	ck_assert_int_eq(close(w->kernel.peer), 0);
}

static void refused(const char *keys, const struct link_info *master, const char *word)
{
	struct err e = { 0 };
	struct world w;

	ck_assert_int_eq(begin(&w, keys, master, &e), -1);
	ck_assert_msg(e.code == ERR_CONFIG || e.code == ERR_FIELD || e.code == ERR_DECODE, "%d",
		      (int)e.code);
	ck_assert_msg(strstr(e.msg, word) != NULL, "%s", e.msg);
	end(&w);
}

START_TEST(which_parents_are_refused)
{
	struct link_info child = ib0, ethernet = ib0, other = ib0, own = ib0;
	struct err e = { 0 };
	struct world w;

	child.lower_ifindex = 4;
	refused("", &child, "the kernel makes no child of a child");
	ethernet.type = 1;
	(void)stpcpy(ethernet.kind, "macvlan");
	refused("", &ethernet, "master: ib0 is not an IPoIB interface but of kind macvlan");
	ethernet.kind[0] = '\0';
	refused("", &ethernet, "master: ib0 is not an IPoIB interface: name that of");
	(void)stpcpy(other.kind, "dummy");
	refused("", &other, "of kind \"dummy\"");
	own.lower_ifindex = own.ifindex;
	ck_assert_int_eq(begin(&w, "", &own, &e), 0);
	end(&w);
}
END_TEST

START_TEST(the_parent_of_a_child_is_named)
{
	const struct hw_addr none = { 0 };
	struct link_info child = ib0, parent = { .ifindex = 5, .name = "ib0" };
	struct err e = { 0 };
	struct world w;

	ck_assert_int_eq(begin(&w, "", &ib0, &e), 0);
	child.ifindex = 6;
	child.lower_ifindex = 5;
	(void)stpcpy(child.name, "ib0.8001");
	w.a.master = child;
	net_say_link(&w.kernel, 1, &parent, &none);
	ck_assert_int_eq(ipoib_type.check_master(&w.a, &e), -1);
	ck_assert_str_eq(e.msg, "master: ib0.8001 is a child of ib0, and the kernel makes no child "
				"of a child: name ib0; the key \"pkey\" chooses the partition");
	end(&w);
}
END_TEST

START_TEST(which_keys_are_refused)
{
	struct err e = { 0 };
	struct attach a = { .type = &ipoib_type };

	refused("\"pkey\":\"0x8000\"", &ib0, "pkey: must be a partition key");
	refused("\"pkey\":0", &ib0, "pkey: must be a partition key");
	refused("\"pkey\":[]", &ib0, "pkey: must be a partition key, a string or a number");
	refused("\"mode\":\"ud\"", &ib0, "mode: must be one of datagram, connected");
	refused("\"umcast\":1", &ib0, "umcast: must be true or false");
	ck_assert_int_eq(ipoib_type.validate(&a, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "master: missing"));
	ck_assert(ipoib_type.no_dhcp);
}
END_TEST

/* What an ADD asks the kernel for, which agrees to all. */
static union link_data asked(const char *keys, const struct link_info *parent, uint32_t mtu)
{
	const struct hw_addr none = { 0 };
	struct link_info made = ib0, seen;
	struct err e = { 0 };
	struct world w;
	uint32_t seq = 0;
	bool moves;

	ck_assert_msg(begin(&w, keys, parent, &e) == 0, "%s", e.msg);
	w.a.conf.mtu = mtu;
	made.ifindex = 9;
	net_ack(&w.kernel, ++seq, 0);
	staged_name(&(struct record_key){ "net", "c1", "net1" }, made.name);
	net_say_link(&w.kernel, ++seq, &made, &none);
	net_ack(&w.kernel, ++seq, 0);
	if (mtu)
		net_ack(&w.kernel, ++seq, 0);
	net_say_link(&w.kernel, ++seq, &made, &none);
	net_ack(&w.kernel, ++seq, 0);
	ck_assert_msg(ipoib_type.create(&w.a, &e) == 0, "%s", e.msg);

	union link_data data;
	ck_assert_uint_eq(net_hear(&w.kernel, &seen, &moves), NEWLINK);
	data = seen.data;
	ck_assert_str_eq(seen.kind, "ipoib");
	ck_assert_str_eq(seen.name, made.name);
	ck_assert_int_eq(seen.lower_ifindex, 5);
	ck_assert(!moves && seen.mtu == 0);
	ck_assert_uint_eq(net_hear(&w.kernel, &seen, &moves), GETLINK);
	ck_assert_uint_eq(net_hear(&w.kernel, &seen, &moves), SETLINK);
	ck_assert_str_eq(seen.alias, "railhead:net/c1/net1");
	ck_assert_int_eq(seen.ifindex, 9);
	if (mtu) {
		ck_assert_uint_eq(net_hear(&w.kernel, &seen, &moves), SETLINK);
		ck_assert_uint_eq(seen.mtu, mtu);
	}
	ck_assert_uint_eq(net_hear(&w.kernel, &seen, &moves), GETLINK);
	ck_assert_uint_eq(net_hear(&w.kernel, &seen, &moves), SETLINK);
	ck_assert(moves);
	ck_assert_str_eq(seen.name, "net1");
	end(&w);
	return data;
}

START_TEST(a_child_is_as_its_parent)
{
	struct link_info connected = ib0, limited = ib0;
	union link_data d = asked("", &ib0, 0);

	ck_assert_uint_eq(d.ipoib.pkey, 0xffff);
	ck_assert_uint_eq(d.ipoib.mode, IPOIB_DATAGRAM);
	ck_assert_uint_eq(d.ipoib.umcast, 0);
	connected.data.ipoib.mode = IPOIB_CONNECTED;
	ck_assert_uint_eq(asked("\"mode\":\"\"", &connected, 0).ipoib.mode, IPOIB_CONNECTED);
	limited.data.ipoib.pkey = 0x12;
	ck_assert_uint_eq(asked("\"pkey\":\"\"", &limited, 0).ipoib.pkey, 0x8012);
}
END_TEST

START_TEST(a_child_is_as_configured)
{
	union link_data d =
		asked("\"pkey\":\"0x1\",\"mode\":\"connected\",\"umcast\":true", &ib0, 0);

	ck_assert_uint_eq(d.ipoib.pkey, 0x8001);
	ck_assert_uint_eq(d.ipoib.mode, IPOIB_CONNECTED);
	ck_assert_uint_eq(d.ipoib.umcast, 1);
	ck_assert_uint_eq(asked("\"pkey\":32770", &ib0, 1500).ipoib.pkey, 0x8002);
}
END_TEST

/* A child can have another mode than its parent, and with it another mtu. */
START_TEST(the_largest_mtu)
{
	struct link_info connected = ib0;
	static const char *const keys[] = { "", "\"mode\":\"connected\"", "\"mode\":\"datagram\"" };
	static const uint32_t of_datagram[] = { 2044, 65520, 2044 },
			      of_connected[] = { 65520, 65520, 4092 };

	connected.data.ipoib.mode = IPOIB_CONNECTED;
	connected.mtu = 65520;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct err e = { 0 };
		struct world w;

		ck_assert_int_eq(begin(&w, keys[i], &ib0, &e), 0);
		ck_assert_uint_eq(ipoib_type.max_mtu(&w.a), of_datagram[i]);
		w.a.master = connected;
		ck_assert_uint_eq(ipoib_type.max_mtu(&w.a), of_connected[i]);
		end(&w);
	}
}
END_TEST

START_TEST(what_the_kernel_refuses_is_explained)
{
	static const struct {
		const char *keys;
		int errnum;
		uint32_t mtu;
		const char *hint;
	} cases[] = {
		{ "\"mode\":\"connected\"", EINVAL, 0, "use \"mode\": \"datagram\"" },
		{ "", EINVAL, 2000, "in datagram mode the mtu is at most" },
		{ "", ENODEV, 0, "ib0 is gone" },
		{ "", ENOMEM, 0, "queue pair" },
		{ "", EOPNOTSUPP, 0, "this kernel has no ipoib" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = { 0 };
		struct world w;

		ck_assert_int_eq(begin(&w, cases[i].keys, &ib0, &e), 0);
		w.a.conf.mtu = cases[i].mtu;
		net_ack(&w.kernel, 1, cases[i].errnum);
		ck_assert_int_eq(ipoib_type.create(&w.a, &e), -1);
		ck_assert_int_eq(e.errnum, cases[i].errnum);
		ck_assert_msg(strstr(e.detail, cases[i].hint) != NULL, "%s", e.detail);
		end(&w);
	}
}
END_TEST

static void checked(struct world *w, int rc, const char *word)
{
	struct err e = { 0 };

	ck_assert_int_eq(ipoib_type.check(&w->a, &e), rc);
	ck_assert_msg(!rc || (e.code == ERR_STATE && strstr(e.msg, word)), "%s", e.msg);
}

START_TEST(CHECK_compares_each_attribute)
{
	const struct link_info child = { .name = "net1",
					 .kind = "ipoib",
					 .mtu = 1500,
					 .data.ipoib = { 0x8001, IPOIB_DATAGRAM, 0 } };
	struct err e = { 0 };
	struct world w;

	ck_assert_int_eq(begin(&w, "\"pkey\":\"0x1\",\"mode\":\"datagram\"", &ib0, &e), 0);
	w.a.conf.mtu = 1500;
	w.a.link = child;
	checked(&w, 0, "");
	w.a.link.data.ipoib.pkey = 0xffff;
	checked(&w, -1, "pkey: ipoib net1 has 0xffff, 0x8001 is asked for");
	w.a.link = child;
	w.a.link.data.ipoib.mode = IPOIB_CONNECTED;
	checked(&w, -1, "mode");
	w.a.link = child;
	w.a.link.data.ipoib.umcast = 1;
	checked(&w, -1, "umcast");
	w.a.link = child;
	w.a.link.mtu = 1499;
	checked(&w, -1, "mtu: ipoib net1 has 1499, 1500 is asked for");
	end(&w);
}
END_TEST

/* The parent may have got another mode since; what ADD took is on record. */
START_TEST(CHECK_remembers_the_parent)
{
	struct link_info changed = ib0;
	struct err e = { 0 };
	struct world w;

	(void)testing_dir();
	ck_assert_int_eq(begin(&w, "", &ib0, &e), 0);
	w.call.ctx.run_dir = w.a.records.ctx.run_dir = "/mnt/run";
	net_ack(&w.kernel, 1, EPERM);
	ck_assert_int_eq(ipoib_type.create(&w.a, &e), -1);
	const struct record r = { .key = { "net", "c1", "net1" },
				  .plugin = "ipoib",
				  .kind = "ipoib",
				  .netns = "/x",
				  .netns_id = { 1, 2, 3 },
				  .boot = "0123456789abcdef0123456789abcdef0123",
				  .master = "ib0",
				  .device = w.a.device };
	ck_assert_msg(record_write(&w.a.records.ctx, &r, &e) == 0, "%s", e.msg);
	w.a.link = (struct link_info){ .name = "net1",
				       .kind = "ipoib",
				       .data.ipoib = { 0xffff, IPOIB_DATAGRAM, 0 } };
	changed.data.ipoib.mode = IPOIB_CONNECTED;
	w.a.master = changed;
	checked(&w, 0, "");
	w.a.link.data.ipoib.mode = IPOIB_CONNECTED;
	checked(&w, -1, "mode");
	end(&w);
}
END_TEST

/* ---- as a whole, on this machine's kernel ---- */

struct node {
	struct ctx ctx;
	struct netns pod;
	char netns[64];
};

static struct node node(void)
{
	struct node n = { .pod = { .fd = -1 } };

	(void)testing_dir();
	net_enter_new();
	n.pod = net_another();
	net_veth("eth1", "peer1", NULL);
	(void)snprintf(n.netns, sizeof(n.netns), "/proc/%d/fd/%d", (int)getpid(), n.pod.fd);
	ctx_init(&n.ctx, "test");
	n.ctx.run_dir = "/mnt/run";
	n.ctx.cni_dir = NULL;
	n.ctx.log.fd = -1;
	return n;
}

/* A call with these keys; -1: it fails with that code and word. */
static int called(const struct node *n, enum cni_command cmd, const char *keys, enum err_code code,
		  const char *word)
{
	bool pod = cmd != CNI_STATUS;
	struct cni_call c = { .ctx = n->ctx,
			      .env = { .cmd = cmd,
				       .container = pod ? "c1" : "",
				       .netns = pod ? n->netns : "",
				       .ifname = pod ? "net1" : "",
				       .path = "/nonexistent",
				       .args = "" } };
	struct err e = { 0 };
	char *conf;

	ck_assert_int_gt(
		asprintf(&conf, "{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"ipoib\",%s}",
			 keys),
		0);
	int rc = testing_call(&ipoib_type, &c, conf, "/mnt/out", &e);
	ck_assert_msg(rc == 0 || (e.code == code && strstr(e.msg, word)), "%d: %s", (int)e.code,
		      e.msg);
	ck_assert_uint_eq(testing_records(&n->ctx, NULL), 0);
	return rc;
}

/* DEL has nothing to release then: it needs no program of that name. */
START_TEST(dhcp_is_refused)
{
	struct node n = node();
	const char *keys = "\"master\":\"eth1\",\"ipam\":{\"type\":\"dhcp\"}";

	ck_assert_int_eq(called(&n, CNI_ADD, keys, ERR_CONFIG, "ipam.type: \"dhcp\" knows"), -1);
	ck_assert_int_eq(called(&n, CNI_DEL, keys, 0, ""), 0);
}
END_TEST

START_TEST(Ethernet_is_refused)
{
	struct node n = node();

	ck_assert_int_eq(called(&n, CNI_ADD, "\"master\":\"eth1\"", ERR_CONFIG,
				"master: eth1 is not an IPoIB interface but of kind veth"),
			 -1);
	ck_assert_int_eq(called(&n, CNI_ADD, "\"mtu\":1500", ERR_CONFIG, "master: missing"), -1);
	ck_assert_int_eq(called(&n, CNI_STATUS, "\"master\":\"eth1\"", ERR_UNAVAILABLE,
				"master: eth1 is not an IPoIB interface"),
			 -1);
	ck_assert_int_eq(called(&n, CNI_DEL, "\"mtu\":1500", 0, ""), 0);
}
END_TEST

/* As in the documentation and the tests of ipoib-cni: the keys are taken, only the master is not.
 */
#define HOST_LOCAL(keys) "\"ipam\":{\"type\":\"host-local\"," keys "}"

START_TEST(configurations_of_ipoib_cni)
{
	static const char *const keys[] = {
		"\"master\":\"eth1\",\"vf\":0," HOST_LOCAL(
			"\"subnet\":\"10.1.2.0/26\","
			"\"gateway\":\"10.1.2.1\",\"routes\":[{\"dst\":\"0.0.0.0/0\"}]"),
		"\"master\":\"eth1\"," HOST_LOCAL(
			"\"subnet\":\"10.1.2.0/24\","
			"\"rangeStart\":\"10.1.2.10\",\"rangeEnd\":\"10.1.2.20\""),
		"\"master\":\"eth1\",\"mtu\":0,\"ipam\":{}",
	};
	struct node n = node();

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		ck_assert_int_eq(called(&n, CNI_ADD, keys[i], ERR_CONFIG,
					"master: eth1 is not an IPoIB interface"),
				 -1);
}
END_TEST

TEST_PROGRAM("ipoib", which_parents_are_refused, the_parent_of_a_child_is_named,
	     which_keys_are_refused, a_child_is_as_its_parent, a_child_is_as_configured,
	     the_largest_mtu, what_the_kernel_refuses_is_explained, CHECK_compares_each_attribute,
	     CHECK_remembers_the_parent, dhcp_is_refused, Ethernet_is_refused,
	     configurations_of_ipoib_cni)
