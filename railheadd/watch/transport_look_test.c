/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_look_test.c: one look at pods that are namespaces of the test, with RDMA devices of
 * lib/testing/hca.h: which pods hold rails, what counts for them, and what is too much.
 */
#include "railheadd/watch/transport_look.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/testing/hca.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"
#include "plugins/stale.h"

#define RECORDS_MAX (TRANSPORT_PODS_MAX + 8)
#define BYTES       (40u << 20)

static struct {
	size_t n;
	struct record of[RECORDS_MAX];
	char container[RECORDS_MAX][16], netns[RECORDS_MAX][32];
} records;

/* In place of plugins/stale.c: the records of this test. */
int stale_each(const struct ctx *ctx, const char *network, stale_fn fn, void *arg, struct err *e)
{
	static struct json *some;

	(void)network;
	(void)e;
	some = json_new_object();
	for (size_t i = 0; i < records.n; i++) {
		records.of[i].tree = some;
		if (fn(ctx, &records.of[i], arg))
			break;
	}
	json_free(some);
	return 0;
}

/* A pod of that namespace, with an attachment of that name. */
static void attach(const struct netns *ns, const char *ifname, int ifindex)
{
	const size_t i = records.n++;

	ck_assert_uint_lt(i, RECORDS_MAX);
	(void)snprintf(records.container[i], sizeof(records.container[i]), "c%d", ns->fd);
	(void)snprintf(records.netns[i], sizeof(records.netns[i]), "/proc/self/fd/%d", ns->fd);
	records.of[i] = (struct record){ .key = { "net", records.container[i], ifname },
					 .netns = records.netns[i],
					 .netns_id = ns->id,
					 .ifindex = ifindex,
					 .args = "K8S_POD_NAMESPACE=ml;K8S_POD_NAME=train-0" };
}

/* One look in a child, as the agent takes it. */
static struct transport_table look(const struct transport_table *before)
{
	struct transport_table t = { 0 };
	static char text[JSON_MAX_SIZE];
	auto_json struct json *obj = NULL;
	size_t len = 0;
	struct err e;
	int ends[2];
	ssize_t n;

	ck_assert_int_eq(pipe(ends), 0);
	const pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)close(ends[1]);
		_exit(transport_look_main(before, 1000000));
	}
	(void)close(ends[1]);
	while ((n = read(ends[0], text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	(void)close(ends[0]);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_msg(json_parse(text, len, "look", &obj, &e) == 0, "%s", e.msg);
	ck_assert_msg(!json_get(obj, "error"), "%s", json_text(obj, "error"));
	ck_assert_msg(transport_read(obj, &t, &e) == 0, "%s", e.msg);
	return t;
}

static const struct transport_table none;

/* The own end of a cable to a pod, and its end there, which has an RDMA device in the pod. */
struct cabled {
	struct netns host, ns;
	struct nl *nl;
	int ifindex;
};

static void add_address(struct nl *nl, int ifindex, const char *text)
{
	struct ip_prefix at;
	struct err e;

	ck_assert_int_eq(ip_parse_prefix(text, &at), 0);
	ck_assert_msg(nl_addr_add(nl, ifindex, at, false, &e) == 0, "%s", e.msg);
}

static struct cabled pod_with_cable(void)
{
	struct cabled c;
	auto_nl struct nl *own = NULL;

	net_enter_new();
	c.host = net_self();
	c.ns = net_another();
	net_veth("cable", "rail0", &c.ns);
	c.nl = net_socket_in(&c.ns);
	c.ifindex = net_ifindex(c.nl, "rail0");
	own = net_socket();
	add_address(own, net_ifindex(own, "cable"), "10.9.0.1/24");
	add_address(c.nl, c.ifindex, "10.9.0.2/24");
	return c;
}

/* A device of the pod, that of the interface. */
static struct fakehca_dev *device_in(const struct cabled *c, int ifindex)
{
	struct fakehca_dev *d = fakehca_add("mlx5_0");

	d->in = d->ifin = c->ns.id;
	d->ifindex = ifindex;
	return d;
}

START_TEST(in_mode_exclusive_a_rail_is_the_interface_of_the_device)
{
	struct cabled c = pod_with_cable();

	fakehca(RDMA_EXCLUSIVE);
	(void)device_in(&c, c.ifindex);
	net_up(c.nl, "lo");
	attach(&c.ns, "lo", 1);
	ck_assert_uint_eq(look(&none).n, 0);
	attach(&c.ns, "rail0", c.ifindex);

	struct transport_table t = look(&none);

	ck_assert_uint_eq(t.n, 1);
	ck_assert_str_eq(t.pod[0]->name, "train-0");
	ck_assert(t.pod[0]->complete && !*t.pod[0]->missed && !t.left_out);
	transport_clear(&t);
	nl_release(c.nl);
}
END_TEST

/* Wait for a byte of the other process. */
static void hear(int from)
{
	char byte;

	ck_assert_int_eq(read(from, &byte, 1), 1);
}

/* In the pod: read BYTES at port 7, and live on. A byte to *said: it listens, and it has them. */
static pid_t reader_in(const struct cabled *c, int *said)
{
	const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(7) };
	static char bytes[1 << 16];
	size_t left = BYTES;
	struct err e;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	const pid_t child = fork();

	*said = ends[0];
	if (child) {
		(void)close(ends[1]);
		return child;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	const int server = netns_enter(&c->ns, &e) ? -1 : socket(AF_INET, SOCK_STREAM, 0);

	if (bind(server, (const struct sockaddr *)&at, sizeof(at)) || listen(server, 1) ||
	    write(ends[1], "", 1) != 1)
		_exit(1);
	const int s = accept(server, NULL, NULL);

	for (ssize_t n; left && (n = read(s, bytes, sizeof(bytes))) > 0; left -= (size_t)n)
		;
	if (left || write(ends[1], "", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

static int send_to_pod(void)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(7),
					.sin_addr.s_addr = htonl(0x0a090002) };
	static char bytes[1 << 16];
	const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connect(s, (const struct sockaddr *)&at, sizeof(at)), 0);
	for (size_t n = 0; n < BYTES; n += sizeof(bytes))
		ck_assert_int_eq(write(s, bytes, sizeof(bytes)), sizeof(bytes));
	return s;
}

START_TEST(bytes_of_a_rail_and_queue_pairs_of_its_processes_count)
{
	struct cabled c = pod_with_cable();
	struct fakehca_dev *d;
	int said;

	fakehca(RDMA_EXCLUSIVE);
	d = device_in(&c, c.ifindex);
	attach(&c.ns, "rail0", c.ifindex);
	struct transport_table first = look(&none);
	ck_assert_int_eq(first.pod[0]->qps, QPS_UNKNOWN); /* no process of the pod is there */
	const pid_t reader = reader_in(&c, &said);

	hear(said);
	const int s = send_to_pod();

	hear(said);
	struct transport_table t = look(&first);
	const struct transport_pod *p = t.pod[0];

	ck_assert_uint_eq(t.n, 1);
	ck_assert(p->complete && p->counted);
	ck_assert_uint_ge(p->rails.received, TRANSPORT_SOCKET_LEAST);
	ck_assert_uint_eq(p->other.received, 0);
	ck_assert_int_eq(p->qps, QPS_NONE);
	d->qp_pid = (uint32_t)reader;
	struct transport_table last = look(&t);
	ck_assert_int_eq(last.pod[0]->qps, QPS_SEEN);
	ck_assert_int_eq(last.pod[0]->state, TRANSPORT_RDMA);
	transport_clear(&first);
	transport_clear(&t);
	transport_clear(&last);
	(void)close(s);
	(void)close(said);
	(void)kill(reader, SIGKILL);
	ck_assert_int_eq(waitpid(reader, NULL, 0), reader);
	nl_release(c.nl);
}
END_TEST

/* What a pod has beyond the limits would count as another interface: its bytes are unknown. */
START_TEST(a_pod_with_too_much_says_so)
{
	struct cabled c = pod_with_cable();

	fakehca(RDMA_EXCLUSIVE);
	(void)device_in(&c, c.ifindex);
	for (int i = 0; i < 65; i++)
		attach(&c.ns, "rail0", c.ifindex + i);
	struct transport_table t = look(&none);

	ck_assert_str_eq(t.pod[0]->missed, "more than 64 rails");
	ck_assert(!t.pod[0]->complete);
	transport_clear(&t);
	records.n = 1;
	for (unsigned i = 0; i < 1024; i++) {
		char text[PREFIX_STR_LEN];

		(void)snprintf(text, sizeof(text), "10.10.%u.%u/32", i / 256, i % 256);
		add_address(c.nl, 1, text);
	}
	t = look(&none);
	ck_assert_str_eq(t.pod[0]->missed, "more than 1024 addresses");
	ck_assert(!t.pod[0]->complete);
	transport_clear(&t);
	nl_release(c.nl);
}
END_TEST

START_TEST(pods_beyond_the_limit_are_left_out_and_the_others_are_seen)
{
	struct cabled c = pod_with_cable();

	fakehca(RDMA_EXCLUSIVE);
	for (size_t i = 0; i < TRANSPORT_PODS_MAX + 1; i++) {
		const struct netns ns = net_another();
		struct fakehca_dev *d = fakehca_add("mlx5_0");

		d->in = d->ifin = ns.id;
		d->ifindex = 1; /* lo */
		attach(&ns, "lo", 1);
	}
	(void)device_in(&c, c.ifindex);
	attach(&c.ns, "rail0", c.ifindex);
	struct transport_table t = look(&none);

	ck_assert_uint_eq(t.n, TRANSPORT_PODS_MAX);
	ck_assert_uint_eq(t.left_out, 2);
	transport_clear(&t);
	nl_release(c.nl);
}
END_TEST

TEST_PROGRAM("transport_look", in_mode_exclusive_a_rail_is_the_interface_of_the_device,
	     bytes_of_a_rail_and_queue_pairs_of_its_processes_count, a_pod_with_too_much_says_so,
	     pods_beyond_the_limit_are_left_out_and_the_others_are_seen)
