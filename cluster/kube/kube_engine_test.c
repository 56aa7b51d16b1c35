/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_test.c: the contract against a real API server, and what only Kubernetes has: types
 * that can be missing, rights, tokens that end, schemas.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "cluster/kube/kube.h"
#include "cluster/testing/contract.h"
#include "cluster/testing/kube_users.h"
#include "cluster/testing/loop.h"
#include "lib/sys/fs.h"

#define HEX_10_1_2_0 "0000000000000000000000000a010200"

/* ---- objects ---- */

START_TEST(a_heartbeat_is_a_lease)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_HEARTBEAT, .name = "beat-a", .number = 1 }, old;
	struct cluster_selector all = { .kind = CLUSTER_HEARTBEAT };
	struct cluster_selector one = { .kind = CLUSTER_HEARTBEAT, .node = "beat-a" };
	const struct cluster_beside beside = { .rank = true };
	struct ended e;

	/* the lease of another program is in the same namespace */
	engine_control("lease");
	ck_assert_int_eq(do_list(&c, &one, &l), CLUSTER_OK);
	ck_assert_uint_eq(l.n, 0);
	start_watch(&c, &all, l.revision, &w);
	t.beside = &beside;
	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), CLUSTER_OK);
	ck_assert(strncmp(e.also, "number ", 7) == 0 &&
		  strcmp(e.also + 7, e.object.at.version) == 0);
	t.at = e.object.at;
	old = t;
	t.number = 2;
	must_write(&c, WRITE_UPDATE, &t);
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &old, &e), CLUSTER_CONFLICT);
	ck_assert_int_eq(do_list(&c, &all, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, "beat-a=2@beat-a ");
	ck_assert_int_eq(do_list(&c, &one, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, "beat-a=2@beat-a ");
	t.name = "beat-b";
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &t, &e), CLUSTER_NOT_FOUND);
	t.name = "beat-a";
	must_write(&c, WRITE_REMOVE, &t);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_NOT_FOUND);
	wait_watched(&c, &w, 3);
	ck_assert_str_eq(w.text, "beat-a=1 beat-a=2 -beat-a ");
	t.name = "other-lease";
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	must_say(e.why, "railhead.io/heartbeat");
	engine_close(&c);
}
END_TEST

/* ---- any value ---- */

/* Create it, or update what is at t->at, with this value. */
static enum cluster_outcome write_text(struct calls *c, struct thing *t, const char *text,
				       struct ended *e)
{
	if (do_write_text(c, t, NULL, text, e) == CLUSTER_OK)
		t->at = e->object.at;
	return e->outcome;
}

/* kubectl shows a block in columns; a label that people set stays at an update. */
START_TEST(people_can_read_a_block)
{
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_BLOCK, .name = "rail1-" HEX_10_1_2_0, .node = "n1" };
	struct ended e;

	ck_assert_int_eq(write_text(&c, &t, "{\"node\":\"n1\",\"used\":3}", &e), CLUSTER_OK);
	engine_control("label");
	ck_assert_int_eq(write_text(&c, &t, "{\"node\":\"n1\",\"used\":4}", &e), CLUSTER_CONFLICT);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	t.at = e.object.at;
	ck_assert_int_eq(write_text(&c, &t, "{\"node\":\"n1\",\"used\":5}", &e), CLUSTER_OK);
	engine_control("shown");
	engine_close(&c);
}
END_TEST

/* 1,024 agents that start at once are one user for the API server, which has 300 places for it. */
START_TEST(agents_wait_in_a_queue_of_their_own)
{
	engine_control("queued");
}
END_TEST

START_TEST(fixed_keys_never_change)
{
	struct calls c = engine_open();
	struct thing pool = { .kind = CLUSTER_POOL, .name = "fixed-a" };
	struct thing block = { .kind = CLUSTER_BLOCK, .name = "fixed-a-" HEX_10_1_2_0 };
	struct ended e;

	ck_assert_int_eq(write_text(&c, &pool, "{\"subnet\":\"10.1.0.0/16\",\"blockSize\":8}", &e),
			 CLUSTER_OK);
	ck_assert_int_eq(write_text(&c, &pool, "{\"subnet\":\"10.2.0.0/16\",\"blockSize\":8}", &e),
			 CLUSTER_REFUSED);
	must_say(e.why, "subnet never changes");
	ck_assert_int_eq(write_text(&c, &pool, "{\"subnet\":\"10.1.0.0/16\"}", &e),
			 CLUSTER_REFUSED);
	must_say(e.why, "spec.blockSize: Required value");
	ck_assert_int_eq(write_text(&c, &pool,
				    "{\"subnet\":\"10.1.0.0/16\",\"blockSize\":8,\"warm\":4}", &e),
			 CLUSTER_OK);
	ck_assert_int_eq(write_text(&c, &block, "{\"token\":\"short\"}", &e), CLUSTER_REFUSED);
	must_say(e.why, "spec.token");
	ck_assert_int_eq(write_text(&c, &block, "{\"token\":\"0123456789abcdef\"}", &e),
			 CLUSTER_OK);
	engine_control("other-start");
	pool = (struct thing){ .kind = CLUSTER_POOL, .name = "a.name.with.dots" };
	ck_assert_int_eq(write_text(&c, &pool, "{\"subnet\":\"10.1.0.0/16\",\"blockSize\":8}", &e),
			 CLUSTER_REFUSED);
	must_say(e.why, "at most 30 characters");
	engine_close(&c);
}
END_TEST

/* ---- the status of a pool ---- */

static enum cluster_outcome report(struct calls *c, const struct thing *t, const char *text,
				   struct ended *e)
{
	do_report_text(c, t, text, e);
	return e->outcome;
}

/* It changes the version, and neither the generation nor the value; an update keeps it. */
START_TEST(a_status_is_beside_the_definition)
{
	static const char definition[] = "{\"subnet\":\"10.7.0.0/16\",\"blockSize\":8}";
	static struct listed l;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "status-a" }, old;
	struct cluster_selector all = { .kind = CLUSTER_POOL };
	struct ended e;

	ck_assert_int_eq(write_text(&c, &t, definition, &e), CLUSTER_OK);
	old = t;
	ck_assert_msg(report(&c, &t, "{\"nodes\":2,\"new\":1}", &e) == CLUSTER_OK, "%s", e.why);
	ck_assert_int_eq(e.object.generation, 1);
	ck_assert_str_eq(e.status, "{\"new\":1,\"nodes\":2}");
	ck_assert_str_ne(e.object.at.version, old.at.version);
	ck_assert_int_eq(report(&c, &old, "{\"nodes\":3}", &e), CLUSTER_CONFLICT);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	t.at = e.object.at;
	ck_assert_int_eq(
		write_text(&c, &t, "{\"subnet\":\"10.7.0.0/16\",\"blockSize\":8,\"warm\":1}", &e),
		CLUSTER_OK);
	ck_assert_int_eq(e.object.generation, 2);
	ck_assert_str_eq(e.status, "{\"new\":1,\"nodes\":2}");
	ck_assert_int_eq(do_list(&c, &all, &l), CLUSTER_OK);
	ck_assert_ptr_nonnull(strstr(l.text, "status-a="));
	/* an equal status is not a write; one that the type does not allow is refused */
	ck_assert_int_eq(report(&c, &t, "{\"nodes\":2,\"new\":1}", &e), CLUSTER_OK);
	ck_assert_str_eq(e.object.at.version, t.at.version);
	ck_assert_int_eq(report(&c, &t, "{\"nodes\":\"two\"}", &e), CLUSTER_REFUSED);
	must_say(e.why, "status.nodes");
	/* another pool of this name */
	(void)snprintf(t.at.uid, sizeof(t.at.uid), "%s", "no-such-uid");
	ck_assert_int_eq(report(&c, &t, "{\"nodes\":3}", &e), CLUSTER_NOT_FOUND);
	t.name = "status-b";
	ck_assert_int_eq(report(&c, &t, "{\"nodes\":3}", &e), CLUSTER_NOT_FOUND);
	engine_close(&c);
}
END_TEST

/* ---- versions that come again ---- */

#define CLAIM(node, token, more)                                                                   \
	"{\"node\":\"" node "\",\"holder\":\"h\",\"token\":\"" token "\",\"touched\":1" more "}"
#define TOKEN_1 "1111111111111111"
#define TOKEN_2 "2222222222222222"
#define ASKED   ",\"ask\":{\"node\":\"n2\",\"token\":\"" TOKEN_2 "\"}"

/*
 * After a restore of etcd one uid and one version name two states of a block. A caller who knows
 * the other one has this object's uid and version, and another value in mind.
 */
START_TEST(a_version_of_another_state)
{
	static const char *const others[] = {
		CLAIM("n1", TOKEN_2, ""),
		CLAIM("n2", TOKEN_1, ""),
		CLAIM("n1", TOKEN_1, ASKED),
		"{\"touched\":1}",
	};
	static const char now[] = CLAIM("n1", TOKEN_1, ",\"used\":7");
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_BLOCK, .name = "state-" HEX_10_1_2_0, .node = "n1" };
	struct ended e;

	ck_assert_int_eq(write_text(&c, &t, now, &e), CLUSTER_OK);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		ck_assert_msg(do_write_text(&c, &t, others[i], "{\"touched\":2}", &e) ==
				      CLUSTER_CONFLICT,
			      "%s", e.why);
		must_say(e.why, "another owner or asker");
		ck_assert_int_eq(do_write_text(&c, &t, others[i], NULL, &e), CLUSTER_CONFLICT);
	}
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	ck_assert_str_eq(e.object.at.version, t.at.version);
	/* a free block, which nobody asks for, and back */
	t.node = NULL;
	ck_assert_msg(do_write_text(&c, &t, CLAIM("n1", TOKEN_1, ""), "{\"touched\":2}", &e) ==
			      CLUSTER_OK,
		      "%s", e.why);
	t.at = e.object.at;
	ck_assert_int_eq(do_write_text(&c, &t, now, "{\"touched\":3}", &e), CLUSTER_CONFLICT);
	ck_assert_msg(do_write_text(&c, &t, "{\"touched\":2}", "{\"touched\":3" ASKED "}", &e) ==
			      CLUSTER_OK,
		      "%s", e.why);
	ck_assert_int_eq(do_write_text(&c, &t, "{\"touched\":2}", NULL, &e), CLUSTER_CONFLICT);
	t.at = e.object.at;
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	t.at = e.object.at;
	ck_assert_int_eq(do_write_text(&c, &t, "{\"touched\":3" ASKED "}", NULL, &e), CLUSTER_OK);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_NOT_FOUND);
	engine_close(&c);
}
END_TEST

#define BEAT(boot, count) "{\"holder\":\"h\",\"boot\":\"" boot "\",\"count\":" count "}"

/* The same of a heartbeat. One that a person has written in another form is not another one. */
START_TEST(a_version_of_another_heartbeat)
{
	static const char same[] = "{ \"count\": 7, \"boot\": \"b1\", \"holder\": \"h\" }";
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_HEARTBEAT, .name = "state-beat" };
	struct ended e;

	ck_assert_int_eq(write_text(&c, &t, BEAT("b1", "7"), &e), CLUSTER_OK);
	ck_assert_int_eq(do_write_text(&c, &t, BEAT("b1", "8"), BEAT("b1", "9"), &e),
			 CLUSTER_CONFLICT);
	must_say(e.why, "another holder or count");
	ck_assert_int_eq(do_write_text(&c, &t, BEAT("b2", "7"), BEAT("b2", "8"), &e),
			 CLUSTER_CONFLICT);
	ck_assert_int_eq(do_write_text(&c, &t, same, BEAT("b1", "8"), &e), CLUSTER_OK);
	t.at = e.object.at;
	ck_assert_msg(do_write_text(&c, &t, BEAT("b1", "8"), BEAT("b1", "9"), &e) == CLUSTER_OK,
		      "%s", e.why);
	ck_assert_int_eq(do_write_text(&c, &t, BEAT("b1", "8"), BEAT("b1", "10"), &e),
			 CLUSTER_CONFLICT);
	engine_close(&c);
}
END_TEST

/* ---- types and rights ---- */

START_TEST(a_missing_type_is_away)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_NODE, .name = "missing-a" };
	struct cluster_selector all = { .kind = CLUSTER_NODE };
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	engine_control("no-type");
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	must_say(e.why, "railnodes.railhead.io is missing");
	must_say(e.why, "kubectl apply -f packaging/kubernetes/crds/");
	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), CLUSTER_AWAY);
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &t, &e), CLUSTER_AWAY);
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &t, &e), CLUSTER_AWAY);
	ck_assert_int_eq(do_list(&c, &all, &l), CLUSTER_AWAY);
	start_watch(&c, &all, "1", &w);
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_AWAY, "%d: %s", (int)w.outcome, w.why);
	engine_control("type");
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_NOT_FOUND);
	must_write(&c, WRITE_CREATE, &t);
	engine_close(&c);
}
END_TEST

START_TEST(who_may_not_is_refused)
{
	static struct listed l;
	static struct watched w;
	struct calls c = kube_open_as("guest", NULL);
	struct thing t = { .kind = CLUSTER_POOL, .name = "rights-a" };
	struct cluster_selector all = { .kind = CLUSTER_POOL };
	struct ended e;

	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_NOT_FOUND);
	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), CLUSTER_REFUSED);
	must_say(e.why, "system:serviceaccount:railhead:guest");
	must_say(e.why, "cannot create resource \"railpools\"");
	must_say(e.why, "rbac.yaml");
	ck_assert_int_eq(do_list(&c, &all, &l), CLUSTER_REFUSED);
	start_watch(&c, &all, "1", &w);
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_REFUSED, "%d: %s", (int)w.outcome, w.why);
	engine_close(&c);
}
END_TEST

/* The control makes the token file bad, or good with another token. */
START_TEST(a_new_token_is_used)
{
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "token-a" };
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	engine_control("expired-token");
	ck_assert_msg(do_write(&c, WRITE_UPDATE, &t, &e) == CLUSTER_REFUSED, "%s", e.why);
	must_say(e.why, "whether it has expired");
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_REFUSED);
	engine_control("no-token");
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	must_say(e.why, "token for Kubernetes");
	engine_control("token");
	must_write(&c, WRITE_UPDATE, &t);
	engine_close(&c);
}
END_TEST

/* A pipe in place of the token file: what is read from it is gone. */
struct token_pipe {
	const char *path;
	char next[8192]; /* "": it was handed out */
	int reader;
	struct ended e;
};

static void put_token(struct token_pipe *p, const char *token)
{
	int fd = open(p->path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(write(fd, token, strlen(token)), (ssize_t)strlen(token));
	(void)close(fd);
}

/* When the first token was read, the next one comes. */
static bool has_ended_with_tokens(const void *arg)
{
	struct token_pipe *p = *(struct token_pipe *const *)arg;
	int left = 0;

	ck_assert_int_eq(ioctl(p->reader, FIONREAD, &left), 0);
	if (!left && *p->next) {
		put_token(p, p->next);
		*p->next = '\0';
	}
	return p->e.done;
}

/* The kubelet replaces the token between our reading it and the answer. */
START_TEST(a_token_that_ends_is_read_again)
{
	struct calls c = { .base = loop_new() };
	struct token_pipe pipe = { 0 }, *p = &pipe;
	struct kube_conf conf = { .timeout_ms = 30000 };
	auto_free char *old = NULL, *new = NULL;
	struct thing t = { .kind = CLUSTER_POOL, .name = "again-a" };
	char path[512], file[512];
	struct err err;

	(void)snprintf(path, sizeof(path), "%s/agent.kubeconfig", getenv("KUBE_FOLDER"));
	(void)snprintf(file, sizeof(file), "%s/railheadd.token", getenv("KUBE_FOLDER"));
	engine_control("token");
	ck_assert_int_gt(fs_read_at(AT_FDCWD, file, sizeof(pipe.next) - 1, &new, &err), 0);
	engine_control("expired-token");
	ck_assert_int_gt(fs_read_at(AT_FDCWD, file, sizeof(pipe.next) - 1, &old, &err), 0);
	engine_control("token");
	ck_assert_int_eq(kube_login_file(path, NULL, &conf.login, &err), 0);
	(void)snprintf(file, sizeof(file), "%s/pipe", getenv("KUBE_FOLDER"));
	free(conf.login.token_file);
	conf.login.token_file = strdup(file);
	pipe.path = file;
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	pipe.reader = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	put_token(p, old);
	testing_append(pipe.next, sizeof(pipe.next), new);
	ck_assert_int_eq(kube_open(c.base, &conf, &c.store, &err), 0);
	start_write(&c, WRITE_CREATE, &t, &pipe.e);
	loop_until(c.base, has_ended_with_tokens, &p);
	ck_assert_msg(pipe.e.outcome == CLUSTER_OK, "%s", pipe.e.why);
	kube_login_clear(&conf.login);
	engine_close(&c);
}
END_TEST

START_TEST(an_untrusted_server_gets_nothing)
{
	struct calls c = kube_open_as("deceived", NULL);
	struct thing t = { .kind = CLUSTER_POOL, .name = "tls-a" };
	struct ended e;

	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	must_say(e.why, "compare the CA");
	engine_close(&c);
}
END_TEST

/* A client certificate instead of a token. */
START_TEST(a_certificate_is_a_user)
{
	struct calls c = kube_open_as("admin", NULL);
	struct thing t = { .kind = CLUSTER_POOL, .name = "certificate-a" };

	must_write(&c, WRITE_CREATE, &t);
	engine_close(&c);
}
END_TEST

#define CROWD 64

/* Priority and fairness lets one request of this user through at a time. */
START_TEST(a_busy_server_says_when)
{
	static struct ended e[CROWD];
	struct calls c = kube_open_as("busy", NULL);
	struct thing t = { .kind = CLUSTER_POOL, .name = "busy-a" };
	int refused = 0;

	while (!refused) {
		for (int i = 0; i < CROWD; i++)
			start_write(&c, WRITE_CREATE, &t, &e[i]);
		for (int i = 0; i < CROWD; i++) {
			wait_ended(&c, &e[i]);
			if (e[i].outcome == CLUSTER_OK || e[i].outcome == CLUSTER_EXISTS)
				continue;
			ck_assert_msg(e[i].outcome == CLUSTER_REFUSED, "%s", e[i].why);
			ck_assert_uint_ge(e[i].retry_ms, 1000);
			refused++;
		}
	}
	engine_close(&c);
}
END_TEST

int main(void)
{
	static const struct contract_engine engine = { "kubernetes", kube_open_agent, true };
	const TTest *const tests[] = {
		a_heartbeat_is_a_lease,
		people_can_read_a_block,
		agents_wait_in_a_queue_of_their_own,
		fixed_keys_never_change,
		a_version_of_another_state,
		a_status_is_beside_the_definition,
		a_version_of_another_heartbeat,
		a_missing_type_is_away,
		who_may_not_is_refused,
		a_new_token_is_used,
		a_token_that_ends_is_read_again,
		an_untrusted_server_gets_nothing,
		a_certificate_is_a_user,
		a_busy_server_says_when,
	};
	Suite *suite = suite_create("kubernetes");
	SRunner *runner;
	int failed;

	contract_engine = &engine;
	contract_add(suite);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		contract_test(suite, tests[i]);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
