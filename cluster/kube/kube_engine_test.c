/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_test.c: the contract against a real API server, and what only Kubernetes has: types
 * that can be missing, rights, tokens that end, bookmarks, schemas.
 *
 * KUBE_FOLDER has the kubeconfigs; see conformance/cluster-store/.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "cluster/kube/kube.h"
#include "cluster/store/cluster_contract.h"
#include "cluster/testing/loop.h"
#include "lib/sys/fs.h"

#define HEX_10_1_2_0 "0000000000000000000000000a010200"

/* A store of the kubeconfig of this user. */
static struct calls open_as(const char *user, const struct kube_conf *like)
{
	struct kube_conf conf = *like;
	struct calls c = { .base = loop_new() };
	char path[512];
	struct err e;

	(void)snprintf(path, sizeof(path), "%s/%s.kubeconfig", getenv("KUBE_FOLDER"), user);
	ck_assert_msg(!kube_login_file(path, NULL, &conf.login, &e), "%s", e.msg);
	ck_assert_msg(!kube_open(c.base, &conf, &c.store, &e), "%s", e.msg);
	kube_login_clear(&conf.login);
	return c;
}

static const struct kube_conf usual = { .timeout_ms = 30000 };

static int open_kube(struct event_base *base, unsigned timeout_ms, struct cluster_store **out,
		     struct err *e)
{
	struct kube_conf conf = { .timeout_ms = timeout_ms };
	char path[512];
	int rc;

	(void)snprintf(path, sizeof(path), "%s/agent.kubeconfig", getenv("KUBE_FOLDER"));
	if (kube_login_file(path, NULL, &conf.login, e))
		return -1;
	rc = kube_open(base, &conf, out, e);
	kube_login_clear(&conf.login);
	return rc;
}

static void must_say(const char *why, const char *what)
{
	ck_assert_msg(strstr(why, what), "%s", why);
}

/* ---- objects ---- */

START_TEST(a_heartbeat_is_a_lease)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_HEARTBEAT, .name = "beat-a", .number = 1 }, old;
	struct cluster_selector all = { CLUSTER_HEARTBEAT, NULL, NULL };
	struct cluster_selector one = { CLUSTER_HEARTBEAT, "beat-a", NULL };
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

static void on_text(void *arg, const struct cluster_result *r)
{
	struct ended *e = arg;

	e->done = true;
	e->outcome = r->outcome;
	if (r->object)
		e->object = *r->object;
	(void)snprintf(e->why, sizeof(e->why), "%s\n%s", r->err.msg, r->err.detail);
}

/* Create it, or update what is at t->at, with this value. */
static enum cluster_outcome write_text(struct calls *c, struct thing *t, const char *text,
				       struct ended *e)
{
	const struct cluster_store_ops *ops = c->store->ops;
	struct cluster_object o = { .kind = t->kind, .at = t->at };
	auto_json struct json *value = NULL;
	struct err err;

	*e = (struct ended){ 0 };
	ck_assert_int_eq(json_parse(text, strlen(text), "value", &value, &err), 0);
	o.value = value;
	(void)snprintf(o.name, sizeof(o.name), "%s", t->name);
	(void)snprintf(o.node, sizeof(o.node), "%s", t->node ? t->node : "");
	ck_assert_ptr_nonnull((*t->at.uid ? ops->update : ops->create)(c->store, &o, on_text, e));
	wait_ended(c, e);
	if (e->outcome == CLUSTER_OK)
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
	must_say(e.why, "blockSize never changes");
	ck_assert_int_eq(write_text(&c, &pool,
				    "{\"subnet\":\"10.1.0.0/16\",\"blockSize\":8,\"warm\":4}", &e),
			 CLUSTER_OK);
	ck_assert_int_eq(write_text(&c, &block, "{\"token\":\"short\"}", &e), CLUSTER_REFUSED);
	must_say(e.why, "spec.token");
	ck_assert_int_eq(write_text(&c, &block, "{\"token\":\"0123456789abcdef\"}", &e),
			 CLUSTER_OK);
	engine_control("other-start");
	pool = (struct thing){ .kind = CLUSTER_POOL, .name = "a.name.with.dots" };
	ck_assert_int_eq(write_text(&c, &pool, "{}", &e), CLUSTER_REFUSED);
	must_say(e.why, "at most 30 characters");
	engine_close(&c);
}
END_TEST

/* ---- versions that come again ---- */

static enum cluster_outcome write_was(struct calls *c, const struct thing *t, const char *was,
				      const char *text, struct ended *e)
{
	const struct cluster_store_ops *ops = c->store->ops;
	struct cluster_object o = { .kind = t->kind, .at = t->at };
	auto_json struct json *value = NULL, *before = NULL;
	struct err err;

	*e = (struct ended){ 0 };
	ck_assert_int_eq(json_parse(was, strlen(was), "was", &before, &err), 0);
	if (text)
		ck_assert_int_eq(json_parse(text, strlen(text), "value", &value, &err), 0);
	o.was = before;
	o.value = value;
	(void)snprintf(o.name, sizeof(o.name), "%s", t->name);
	ck_assert_ptr_nonnull((text ? ops->update : ops->remove)(c->store, &o, on_text, e));
	wait_ended(c, e);
	return e->outcome;
}

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
		ck_assert_msg(write_was(&c, &t, others[i], "{\"touched\":2}", &e) ==
				      CLUSTER_CONFLICT,
			      "%s", e.why);
		must_say(e.why, "another owner or asker");
		ck_assert_int_eq(write_was(&c, &t, others[i], NULL, &e), CLUSTER_CONFLICT);
	}
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	ck_assert_str_eq(e.object.at.version, t.at.version);
	/* a free block, which nobody asks for, and back */
	ck_assert_msg(write_was(&c, &t, CLAIM("n1", TOKEN_1, ""), "{\"touched\":2}", &e) ==
			      CLUSTER_OK,
		      "%s", e.why);
	t.at = e.object.at;
	ck_assert_int_eq(write_was(&c, &t, now, "{\"touched\":3}", &e), CLUSTER_CONFLICT);
	ck_assert_msg(write_was(&c, &t, "{\"touched\":2}", "{\"touched\":3" ASKED "}", &e) ==
			      CLUSTER_OK,
		      "%s", e.why);
	ck_assert_int_eq(write_was(&c, &t, "{\"touched\":2}", NULL, &e), CLUSTER_CONFLICT);
	t.at = e.object.at;
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	t.at = e.object.at;
	ck_assert_int_eq(write_was(&c, &t, "{\"touched\":3" ASKED "}", NULL, &e), CLUSTER_OK);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_NOT_FOUND);
	engine_close(&c);
}
END_TEST

/* ---- types and rights ---- */

START_TEST(a_missing_type_is_away)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_IDENTITY, .name = "missing-a" };
	struct cluster_selector all = { CLUSTER_IDENTITY, NULL, NULL };
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	engine_control("no-type");
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	must_say(e.why, "railidentities.railhead.io is missing");
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
	struct calls c = open_as("guest", &usual);
	struct thing t = { .kind = CLUSTER_POOL, .name = "rights-a" };
	struct cluster_selector all = { CLUSTER_POOL, NULL, NULL };
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
	struct kube_conf conf = usual;
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
	struct calls c = open_as("deceived", &usual);
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
	struct calls c = open_as("admin", &usual);
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
	struct calls c = open_as("busy", &usual);
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

/* ---- lists and watches ---- */

struct broken_list {
	bool done;
	unsigned n;
	enum cluster_outcome outcome;
};

static void compact_at_first(void *arg, const struct cluster_object *o)
{
	struct broken_list *l = arg;

	(void)o;
	if (!l->n++)
		engine_control("compact");
}

static void on_broken(void *arg, const struct cluster_result *r, const char *revision)
{
	struct broken_list *l = arg;

	ck_assert_str_eq(revision, "");
	l->done = true;
	l->outcome = r->outcome;
}

static bool is_broken(const void *arg)
{
	return ((const struct broken_list *)arg)->done;
}

START_TEST(a_list_can_expire_in_the_middle)
{
	static const struct cluster_list_fns fns = { compact_at_first, on_broken };
	static struct listed l;
	const struct kube_conf small = { .timeout_ms = 30000, .page = 2 };
	struct calls c = open_as("agent", &small);
	struct thing t = { .kind = CLUSTER_NODE };
	struct cluster_selector all = { CLUSTER_NODE, NULL, NULL };
	const char *const names[] = { "middle-a", "middle-b", "middle-c", "middle-d", "middle-e" };
	struct broken_list broken = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		t.name = names[i];
		must_write(&c, WRITE_CREATE, &t);
	}
	ck_assert_ptr_nonnull(c.store->ops->list(c.store, &all, &fns, &broken));
	loop_until(c.base, is_broken, &broken);
	ck_assert_uint_eq(broken.n, 2);
	ck_assert_int_eq(broken.outcome, CLUSTER_EXPIRED);
	all.prefix = "middle-";
	ck_assert_int_eq(do_list(&c, &all, &l), CLUSTER_OK);
	ck_assert_uint_eq(l.n, ARRAY_SIZE(names));
	engine_close(&c);
}
END_TEST

static bool has_revision(const void *arg)
{
	const struct watched *w = arg;

	return *w->revision || w->ended;
}

/* Two seconds before its end a quiet watch gets a bookmark, and it ends in order. */
START_TEST(a_quiet_watch_gets_a_bookmark)
{
	static struct listed l;
	static struct watched w;
	const struct kube_conf brief = { .timeout_ms = 30000, .watch_s = 4 };
	struct calls c = open_as("agent", &brief);
	struct thing t = { .kind = CLUSTER_NODE, .name = "quiet-a", .node = "quiet-a" };
	struct thing other = { .kind = CLUSTER_NODE, .name = "quiet-z" };
	struct cluster_selector which = { CLUSTER_NODE, "quiet-a", NULL };
	char seen[CLUSTER_REVISION_LEN];

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	must_write(&c, WRITE_CREATE, &other);
	/* a busy API server is late for it */
	do {
		start_watch(&c, &which, l.revision, &w);
		loop_until(c.base, has_revision, &w);
		ck_assert_msg(w.outcome == CLUSTER_OK && !w.n, "%u changes, %s", w.n, w.why);
	} while (!*w.revision);
	(void)snprintf(seen, sizeof(seen), "%s", w.revision);
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_OK, "%d: %s", (int)w.outcome, w.why);
	must_write(&c, WRITE_CREATE, &t);
	start_watch(&c, &which, seen, &w);
	wait_watched(&c, &w, 1);
	ck_assert_str_eq(w.text, "quiet-a=0 ");
	engine_close(&c);
}
END_TEST

/* As after a restore of etcd: this node has seen more than there is. */
START_TEST(a_revision_of_the_future_is_expired)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct cluster_selector which = { CLUSTER_NODE, NULL, NULL };

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	testing_append(l.revision, sizeof(l.revision), "000");
	start_watch(&c, &which, l.revision, &w);
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_EXPIRED, "%d: %s", (int)w.outcome, w.why);
	engine_close(&c);
}
END_TEST

int main(void)
{
	static const struct contract_engine engine = { "kubernetes", open_kube, true };
	const TTest *const tests[] = {
		a_heartbeat_is_a_lease,
		people_can_read_a_block,
		fixed_keys_never_change,
		a_version_of_another_state,
		a_missing_type_is_away,
		who_may_not_is_refused,
		a_new_token_is_used,
		a_token_that_ends_is_read_again,
		an_untrusted_server_gets_nothing,
		a_certificate_is_a_user,
		a_busy_server_says_when,
		a_list_can_expire_in_the_middle,
		a_quiet_watch_gets_a_bookmark,
		a_revision_of_the_future_is_expired,
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
