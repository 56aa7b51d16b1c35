/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_engine_test.c: the contract against a real etcd, and what only etcd has: several endpoints,
 * users, a full database, a store that was restored.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

#include "cluster/etcd/etcd.h"
#include "cluster/testing/contract.h"
#include "cluster/testing/etcd_engine.h"
#include "lib/testing/testing.h"

static enum cluster_outcome create_beside(struct calls *c, const char *name, const char *names,
					  struct ended *e)
{
	const struct cluster_beside beside = { CLUSTER_POOL, "beside", names, false };
	struct thing t = { .kind = CLUSTER_BLOCK, .name = name, .beside = &beside };

	return do_write(c, WRITE_CREATE, &t, e);
}

START_TEST(a_creation_tells_more)
{
	struct calls c = engine_open();
	struct thing pool = { .kind = CLUSTER_POOL, .name = "beside", .number = 4 };
	struct ended e;

	ck_assert_int_eq(create_beside(&c, "beside-01", "beside-0", &e), CLUSTER_OK);
	ck_assert(e.told && !*e.also);
	must_write(&c, WRITE_CREATE, &pool);
	ck_assert_int_eq(create_beside(&c, "beside-02", "beside-0", &e), CLUSTER_OK);
	ck_assert_str_eq(e.also, "beside=4");
	ck_assert_int_eq(create_beside(&c, "beside-02", "beside-0", &e), CLUSTER_EXISTS);
	ck_assert_str_eq(e.also, "beside-01 beside-02 ");
	ck_assert_int_eq(create_beside(&c, "beside-02", NULL, &e), CLUSTER_EXISTS);
	ck_assert(!e.told);
	engine_close(&c);
}
END_TEST

static void ranked_as(struct calls *c, enum write how, struct thing *t, const char *want)
{
	static const struct cluster_beside beside = { .rank = true };
	struct ended e;

	t->beside = &beside;
	ck_assert_int_eq(do_write(c, how, t, &e), CLUSTER_OK);
	ck_assert_str_eq(e.also, want);
	t->at = e.object.at;
}

START_TEST(a_write_tells_the_rank)
{
	struct calls c = engine_open();
	struct thing a = { .kind = CLUSTER_HEARTBEAT, .name = "rank-a", .node = "rank-a" }, b = a;
	struct ended e;

	b.name = b.node = "rank-b";
	ranked_as(&c, WRITE_CREATE, &b, "number 0");
	ranked_as(&c, WRITE_CREATE, &a, "number 1");
	ranked_as(&c, WRITE_UPDATE, &b, "number 1");
	ranked_as(&c, WRITE_UPDATE, &a, "number 0");
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &a, &e), CLUSTER_OK);
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &b, &e), CLUSTER_OK);
	engine_close(&c);
}
END_TEST

START_TEST(the_next_endpoint_answers)
{
	const char *const endpoints[] = { "http://127.0.0.1:9", getenv("ETCD_ENDPOINT"), NULL };
	const char *const dead[] = { "http://127.0.0.1:9", "http://127.0.0.1:10", NULL };
	struct etcd_conf conf = conf_of(endpoints, 30000);
	struct calls c = open_with(&conf);
	struct thing t = { .kind = CLUSTER_POOL, .name = "endpoint-a" };
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	engine_close(&c);
	c = open_with(&conf);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	engine_close(&c);
	conf = conf_of(dead, 30000);
	conf.user = conf.password = NULL;
	c = open_with(&conf);
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &t, &e), CLUSTER_AWAY);
	engine_close(&c);
}
END_TEST

/* A server that accepts connections and says nothing. Its address goes to url. */
static int silent_server(char *url, size_t size)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *endpoint = getenv("ETCD_ENDPOINT");

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sa, len), 0);
	ck_assert_int_eq(listen(fd, 10), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	(void)snprintf(url, size, "%.*s://127.0.0.1:%d", (int)strcspn(endpoint, ":"), endpoint,
		       ntohs(sa.sin_port));
	return fd;
}

/* A silent server may have executed a write, unless not even TLS was agreed on. */
START_TEST(a_write_goes_to_one_endpoint)
{
	char silent[64];
	const char *const endpoints[] = { silent, getenv("ETCD_ENDPOINT"), NULL };
	struct etcd_conf conf = conf_of(endpoints, text_of("ETCD_USER") ? 10000 : 3000);
	enum cluster_outcome want = conf.tls.ca ? CLUSTER_OK : CLUSTER_AWAY;
	struct thing t = { .kind = CLUSTER_POOL, .name = "silent-a" };
	int fd = silent_server(silent, sizeof(silent));
	struct calls c = open_with(&conf), other = engine_open();
	struct ended e;

	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), want);
	/* half of the time is for the silent one */
	conf.timeout_ms = 10000;
	ck_assert_int_eq(do_get(&other, &t, &e),
			 want == CLUSTER_OK ? CLUSTER_OK : CLUSTER_NOT_FOUND);
	engine_close(&c);
	c = open_with(&conf);
	ck_assert_int_eq(do_get(&c, &t, &e), want == CLUSTER_OK ? CLUSTER_OK : CLUSTER_NOT_FOUND);
	engine_close(&c);
	engine_close(&other);
	(void)close(fd);
}
END_TEST

/* The same revision, written twice: before the snapshot was restored and after it. */
START_TEST(a_restored_store_is_noticed)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open(), quick = engine_open_within(2000);
	struct thing t = { .kind = CLUSTER_BLOCK, .name = "restored-a", .node = "restored-n" };
	struct thing lost, now;
	struct cluster_selector which = { .kind = CLUSTER_BLOCK, .node = "restored-n" };
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	engine_control("save");
	lost = now = t;
	lost.number = 1;
	must_write(&c, WRITE_UPDATE, &lost);
	must_write(&c, WRITE_UPDATE, &lost);
	/* now it has a token, too */
	while (do_list(&quick, &which, &l) == CLUSTER_AWAY)
		ck_assert_uint_eq(l.n, 0);
	engine_close(&c);
	engine_control("restore");
	/* etcd does not answer to a token from its future */
	do {
		start_watch(&quick, &which, l.revision, &w);
		wait_watched(&quick, &w, 0);
	} while (w.outcome == CLUSTER_AWAY);
	ck_assert_msg(w.outcome == CLUSTER_EXPIRED, "%d: %s", (int)w.outcome, w.why);
	engine_close(&quick);
	c = engine_open();
	now.number = 2;
	must_write(&c, WRITE_UPDATE, &now);
	must_write(&c, WRITE_UPDATE, &now);
	/* same name, uid and revision */
	ck_assert_str_eq(lost.at.uid, now.at.uid);
	ck_assert_int_eq(strncmp(lost.at.version, now.at.version, strcspn(now.at.version, "-")), 0);
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &lost, &e), CLUSTER_CONFLICT);
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &lost, &e), CLUSTER_CONFLICT);
	engine_close(&c);
}
END_TEST

START_TEST(a_full_store_refuses)
{
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "full-a" };
	struct thing b = { .kind = CLUSTER_POOL, .name = "full-b" };
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	engine_control("fill");
	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &b, &e), CLUSTER_REFUSED);
	ck_assert_ptr_nonnull(strstr(e.why, "etcdctl alarm disarm"));
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	engine_control("empty");
	must_write(&c, WRITE_CREATE, &b);
	engine_close(&c);
}
END_TEST

static bool has_revision(const void *arg)
{
	const struct watched *w = arg;

	return *w->revision || w->ended;
}

struct progress {
	const struct watched *watch;
	const char *from;
};

static bool has_progressed(const void *arg)
{
	const struct progress *p = arg;

	return (has_revision(p->watch) && strcmp(p->watch->revision, p->from) != 0) ||
	       p->watch->ended;
}

/* etcd reports progress each second here; a watch from there sees what came after it. */
START_TEST(a_quiet_watch_goes_on)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "other-a" };
	struct thing q = { .kind = CLUSTER_POOL, .name = "quiet-a" };
	struct cluster_selector which = { .kind = CLUSTER_POOL, .prefix = "quiet-" };
	struct progress past = { &w, l.revision };
	char seen[CLUSTER_REVISION_LEN];

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	must_write(&c, WRITE_CREATE, &t);
	loop_until(c.base, has_progressed, &past);
	ck_assert_msg(!w.ended && !w.n, "%s", w.why);
	(void)snprintf(seen, sizeof(seen), "%s", w.revision);
	c.store->ops->cancel(w.call);
	must_write(&c, WRITE_CREATE, &q);
	start_watch(&c, &which, seen, &w);
	wait_watched(&c, &w, 1);
	ck_assert_str_eq(w.text, "quiet-a=0 ");
	engine_close(&c);
}
END_TEST

static void refused_as(const struct etcd_conf *conf, const char *why)
{
	static struct listed l;
	static struct watched w;
	struct calls c = open_with(conf);
	struct thing t = { .kind = CLUSTER_POOL, .name = "rights-a" };
	struct cluster_selector which = { .kind = CLUSTER_POOL, .prefix = "rights-" };
	struct ended e;

	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_REFUSED);
	ck_assert_msg(strstr(e.why, why), "%s", e.why);
	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), CLUSTER_REFUSED);
	ck_assert_msg(strstr(e.why, why), "%s", e.why);
	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_REFUSED);
	start_watch(&c, &which, "1", &w);
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_REFUSED, "%d: %s", (int)w.outcome, w.why);
	engine_close(&c);
}

START_TEST(who_may_not_is_refused)
{
	const char *const endpoints[] = { getenv("ETCD_ENDPOINT"), NULL };
	struct etcd_conf conf = conf_of(endpoints, 30000);

	conf.password = "wrong";
	refused_as(&conf, "check user and password");
	conf.user = "guest";
	conf.password = "guest";
	refused_as(&conf, "as user \"guest\"");
	conf.user = conf.password = NULL;
	refused_as(&conf, "etcd wants a user");
}
END_TEST

static void count_stray(void *arg, const struct err *e)
{
	ck_assert_msg(strstr(e->msg, "/contract/nodes/"), "%s", e->msg);
	++*(unsigned *)arg;
}

/* A server that is stopped ends its watches. What they have not seen comes after it starts again.
 */
START_TEST(a_watch_whose_server_ends_misses_nothing)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "ends-a" };
	struct cluster_selector which = { .kind = CLUSTER_POOL, .prefix = "ends-" };
	char want[4096] = "";

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	for (int i = 0; i < 60; i++) {
		char text[32];

		t.number = i;
		must_write(&c, i ? WRITE_UPDATE : WRITE_CREATE, &t);
		(void)snprintf(text, sizeof(text), "ends-a=%d ", i);
		testing_append(want, sizeof(want), text);
		if (i % 20 != 19)
			continue;
		engine_control("end");
		wait_watched(&c, &w, 0);
		ck_assert_int_ne(w.outcome, CLUSTER_EXPIRED);
		engine_control("start");
		go_on_watching(&c, &which, &w);
	}
	wait_watched(&c, &w, 60);
	ck_assert_str_eq(w.text, want);
	engine_close(&c);
}
END_TEST

/* Another program has written below the prefix. */
START_TEST(a_foreign_key_is_left_out)
{
	static struct listed l;
	static struct watched w;
	unsigned strays = 0;
	const char *const endpoints[] = { getenv("ETCD_ENDPOINT"), NULL };
	struct etcd_conf conf = conf_of(endpoints, 30000);
	struct thing a = { .kind = CLUSTER_NODE, .name = "foreign-a" };
	struct thing z = { .kind = CLUSTER_NODE, .name = "foreign-z" };
	struct cluster_selector which = { .kind = CLUSTER_NODE, .prefix = "foreign-" };

	conf.stray = count_stray;
	conf.stray_arg = &strays;
	conf.page = 1;
	struct calls c = open_with(&conf);

	must_write(&c, WRITE_CREATE, &a);
	must_write(&c, WRITE_CREATE, &z);
	engine_control("foreign");
	ck_assert_msg(do_list(&c, &which, &l) == CLUSTER_OK, "%s", l.why);
	ck_assert_str_eq(l.text, "foreign-a=0@ foreign-z=0@ ");
	ck_assert_uint_eq(strays, 2);
	start_watch(&c, &which, l.revision, &w);
	engine_control("foreign");
	must_write(&c, WRITE_REMOVE, &z);
	wait_watched(&c, &w, 1);
	ck_assert_str_eq(w.text, "-foreign-z ");
	ck_assert_uint_eq(strays, 4);
	engine_close(&c);
}
END_TEST

/* A change of the password ends all tokens of the user. */
START_TEST(an_ended_token_is_renewed)
{
	static struct watched w;
	static struct listed l;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "token-a" };
	struct cluster_selector which = { .kind = CLUSTER_POOL, .prefix = "token-" };

	must_write(&c, WRITE_CREATE, &t);
	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	engine_control("invalidate");
	start_watch(&c, &which, l.revision, &w);
	must_write(&c, WRITE_UPDATE, &t);
	wait_watched(&c, &w, 1);
	engine_control("invalidate");
	must_write(&c, WRITE_UPDATE, &t);
	must_write(&c, WRITE_REMOVE, &t);
	engine_close(&c);
}
END_TEST

START_TEST(an_untrusted_server_gets_nothing)
{
	const char *const endpoints[] = { getenv("ETCD_ENDPOINT"), NULL };
	struct etcd_conf conf = conf_of(endpoints, 30000);
	struct thing t = { .kind = CLUSTER_POOL, .name = "tls-a" };
	struct ended e;

	conf.tls.ca = conf.tls.cert;
	struct calls c = open_with(&conf);

	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	ck_assert_msg(strstr(e.why, "compare the CA"), "%s", e.why);
	engine_close(&c);
	conf.tls = (struct http_tls){ .ca = ca };
	c = open_with(&conf);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	engine_close(&c);
}
END_TEST

/* Write a number until the store says that it is there, as an agent does: a lost answer is looked
 * up. */
static void write_number(struct calls *c, struct thing *t, int number)
{
	struct ended e = { .outcome = CLUSTER_AWAY };

	t->number = number;
	while (do_write(c, WRITE_UPDATE, t, &e) != CLUSTER_OK) {
		ck_assert_msg(e.outcome == CLUSTER_AWAY || e.outcome == CLUSTER_CONFLICT, "%s",
			      e.why);
		while (do_get(c, t, &e) != CLUSTER_OK)
			ck_assert_msg(e.outcome == CLUSTER_AWAY, "%s", e.why);
		if (e.number == number)
			break;
		t->at = e.object.at;
	}
	t->at = e.object.at;
}

/* A list as soon as the store gives one. */
static void list_again(struct calls *c, const struct cluster_selector *which, struct listed *l)
{
	while (do_list(c, which, l) != CLUSTER_OK)
		ck_assert_msg(l->outcome == CLUSTER_AWAY, "%s", l->why);
}

/* ETCD_MEMBERS: three addresses. One of the members that are killed is the leader. */
START_TEST(any_member_may_die)
{
	static struct listed l;
	char members[256], command[32], *rest = members;
	const char *endpoints[4] = { NULL };
	struct thing t = { .kind = CLUSTER_BLOCK, .name = "member-a", .node = "member-n" };
	struct cluster_selector which = { .kind = CLUSTER_BLOCK, .node = "member-n" };
	struct etcd_conf conf = { .endpoints = endpoints,
				  .prefix = "/contract/",
				  .timeout_ms = 10000 };
	struct calls c = { .base = loop_new() };
	struct err e;

	(void)snprintf(members, sizeof(members), "%s", getenv("ETCD_MEMBERS"));
	for (size_t i = 0; i < 3; i++)
		endpoints[i] = strsep(&rest, " ");
	ck_assert_int_eq(etcd_open(c.base, &conf, &c.store, &e), 0);
	must_write(&c, WRITE_CREATE, &t);
	for (int i = 1; i <= 3; i++) {
		(void)snprintf(command, sizeof(command), "kill %d", i);
		engine_control(command);
		write_number(&c, &t, i);
		write_number(&c, &t, 10 + i);
		list_again(&c, &which, &l);
		ck_assert_str_eq(l.last.at.version, t.at.version);
		(void)snprintf(command, sizeof(command), "start %d", i);
		engine_control(command);
	}
	engine_close(&c);
}
END_TEST

/* A member that is alone would be silent for ever. */
START_TEST(a_watch_wants_a_leader)
{
	static struct listed l;
	static struct watched w;
	char first[64];
	const char *const endpoints[] = { first, NULL };
	struct cluster_selector which = { .kind = CLUSTER_BLOCK, .node = "leader-n" };
	struct etcd_conf conf = { .endpoints = endpoints,
				  .prefix = "/contract/",
				  .timeout_ms = 10000 };
	struct calls c = { .base = loop_new() };
	struct err e;

	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(getenv("ETCD_MEMBERS"), " "),
		       getenv("ETCD_MEMBERS"));
	ck_assert_int_eq(etcd_open(c.base, &conf, &c.store, &e), 0);
	list_again(&c, &which, &l);
	start_watch(&c, &which, l.revision, &w);
	engine_control("kill 2");
	engine_control("kill 3");
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_AWAY, "%d: %s", (int)w.outcome, w.why);
	engine_control("spawn 2");
	engine_control("spawn 3");
	engine_control("ready 2");
	engine_control("ready 3");
	engine_close(&c);
}
END_TEST

int main(void)
{
	static const struct contract_engine engine = { "etcd", open_etcd, false };
	/* the last three need users and TLS */
	const TTest *const tests[] = {
		a_creation_tells_more,       a_write_tells_the_rank,
		the_next_endpoint_answers,   a_write_goes_to_one_endpoint,
		a_restored_store_is_noticed, a_full_store_refuses,
		a_quiet_watch_goes_on,       a_watch_whose_server_ends_misses_nothing,
		a_foreign_key_is_left_out,   who_may_not_is_refused,
		an_ended_token_is_renewed,   an_untrusted_server_gets_nothing
	};
	size_t n = ARRAY_SIZE(tests) - (text_of("ETCD_USER") ? 0 : 3);
	Suite *suite = suite_create("etcd");
	SRunner *runner;
	int failed;

	etcd_read_files();
	contract_engine = &engine;
	if (getenv("ETCD_MEMBERS")) {
		contract_test(suite, any_member_may_die);
		contract_test(suite, a_watch_wants_a_leader);
	} else {
		contract_add(suite);
		for (size_t i = 0; i < n; i++)
			contract_test(suite, tests[i]);
	}
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
