/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_test.c: opening with good and bad configurations, logging in, a server that nobody started,
 * and memory that ends.
 */
#include "cluster/kube/kube.h"

#include <stdio.h>

#include "cluster/testing/calls.h"
#include "cluster/testing/loop.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

static struct event_base *base;

static void refused(const struct kube_login *login, const char *why)
{
	const struct kube_conf conf = { .login = *login };
	struct cluster_store *s = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(kube_open(base, &conf, &s, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_msg(strstr(e.msg, why), "%s", e.msg);
}

START_TEST(bad_configurations)
{
	static char plain[] = "http://127.0.0.1:1", slash[] = "https://a/", name[] = "a b",
		    t[] = "t";

	base = loop_new();
	refused(&(struct kube_login){ 0 }, "write it as https://");
	refused(&(struct kube_login){ .server = slash }, "without '/'");
	refused(&(struct kube_login){ .server = plain, .token = t }, "use https://");
	refused(&(struct kube_login){ .server = plain, .token_file = t }, "use https://");
	refused(&(struct kube_login){ .server = plain, .cert = t, .key = t }, "use https://");
	refused(&(struct kube_login){ .server = plain, .key = t }, "or neither");
	refused(&(struct kube_login){ .server = plain, .namespace = name }, "namespace \"a b\"");
	loop_free(base);
}
END_TEST

START_TEST(nobody_answers)
{
	static char server[] = "http://127.0.0.1:1";
	const struct kube_conf conf = { .login.server = server };
	struct calls c = { .base = loop_new() };
	struct thing t = { .kind = CLUSTER_HEARTBEAT, .name = "a" };
	static struct listed l;
	static struct watched w;
	struct cluster_selector all = { .kind = CLUSTER_BLOCK };
	struct cluster_selector bad = { .kind = CLUSTER_BLOCK, .prefix = "B" };
	struct ended e;
	struct err err;

	ck_assert_int_eq(kube_open(c.base, &conf, &c.store, &err), 0);
	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), CLUSTER_AWAY);
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &t, &e), CLUSTER_AWAY);
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &t, &e), CLUSTER_AWAY);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	ck_assert_msg(strstr(e.why, "namespaces/railhead/leases/a"), "%s", e.why);
	ck_assert_int_eq(do_list(&c, &all, &l), CLUSTER_AWAY);
	ck_assert_int_eq(do_list(&c, &bad, &l), CLUSTER_REFUSED);
	start_watch(&c, &all, "1", &w);
	wait_watched(&c, &w, 0);
	ck_assert_int_eq(w.outcome, CLUSTER_AWAY);
	c.store->ops->close(c.store);
	loop_free(c.base);
}
END_TEST

static const char kubeconfig[] =
	"clusters: [{name: c, cluster: {server: 'https://a', certificate-authority: ca.pem}}]\n"
	"users: [{name: u, user: {client-certificate-data: Q0VSVA==, client-key: u.key}}]\n"
	"contexts: [{name: x, context: {cluster: c, user: u, namespace: agents}}]\n"
	"current-context: x\n";

static void make_files(char folder[256])
{
	static const char *const files[][2] = { { "config", kubeconfig },
						{ "ca.pem", "CA" },
						{ "u.key", "KEY" },
						{ "ca.crt", "ACCOUNT CA" },
						{ "token", "a token\n" },
						{ "namespace", "agents\n" },
						{ "none", "current-context: x" } };
	char path[300];

	(void)snprintf(folder, 256, "%s", testing_dir());
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, files[i][0]);
		testing_file(path, 0600, files[i][1]);
	}
}

START_TEST(logs_in_with_a_kubeconfig)
{
	char folder[256], path[300];
	struct kube_login l = { 0 };
	struct err e;

	make_files(folder);
	(void)snprintf(path, sizeof(path), "%s/config", folder);
	ck_assert_msg(!kube_login_file(path, NULL, &l, &e), "%s", e.msg);
	ck_assert_str_eq(l.server, "https://a");
	ck_assert_str_eq(l.namespace, "agents");
	ck_assert_str_eq(l.ca, "CA");
	ck_assert_str_eq(l.cert, "CERT");
	ck_assert_str_eq(l.key, "KEY");
	ck_assert(!l.token && !l.token_file);
	kube_login_clear(&l);
	(void)snprintf(path, sizeof(path), "%s/none", folder);
	ck_assert_int_eq(kube_login_file(path, NULL, &l, &e), -1);
	ck_assert_msg(strstr(e.msg, "/none: contexts[\"x\"]"), "%s", e.msg);
	(void)snprintf(path, sizeof(path), "%s/ca.pem", folder);
	ck_assert_int_eq(unlink(path), 0);
	(void)snprintf(path, sizeof(path), "%s/config", folder);
	ck_assert_int_eq(kube_login_file(path, NULL, &l, &e), -1);
	ck_assert_int_eq(kube_login_file("no/such/file", NULL, &l, &e), -1);
}
END_TEST

START_TEST(logs_in_as_an_account)
{
	char folder[256], path[300];
	struct kube_login l = { 0 };
	struct err e;

	make_files(folder);
	ck_assert_int_eq(kube_login_account(folder, "fd00::1", "443", &l, &e), 0);
	ck_assert_str_eq(l.server, "https://[fd00::1]:443");
	ck_assert_str_eq(l.namespace, "agents");
	ck_assert_str_eq(l.ca, "ACCOUNT CA");
	(void)snprintf(path, sizeof(path), "%s/token", folder);
	ck_assert_str_eq(l.token_file, path);
	ck_assert_ptr_null(l.token);
	kube_login_clear(&l);
	ck_assert_int_eq(kube_login_account(folder, NULL, "443", &l, &e), -1);
	ck_assert_msg(strstr(e.msg, "this is not a pod"), "%s", e.msg);
	ck_assert_int_eq(kube_login_account(folder, "a?", "443", &l, &e), -1);
	ck_assert_int_eq(kube_login_account("/no/folder", "a", "443", &l, &e), -1);
	ck_assert_msg(strstr(e.msg, "/no/folder/ca.crt"), "%s", e.msg);
}
END_TEST

static void put(const char *folder, const char *name, const char *text)
{
	char path[300];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	(void)unlink(path);
	if (text)
		testing_file(path, 0600, text);
}

/* Programs that renew certificates replace one file after the other, and may fail in between. */
START_TEST(files_that_change_are_read_again)
{
	char folder[256], path[300];
	struct kube_login l = { 0 };
	struct err e;

	make_files(folder);
	(void)snprintf(path, sizeof(path), "%s/config", folder);
	ck_assert_msg(!kube_login_file(path, NULL, &l, &e), "%s", e.msg);
	ck_assert_int_eq(kube_login_renew(&l, &e), 0);
	put(folder, "u.key", "NEW KEY");
	ck_assert_int_eq(kube_login_renew(&l, &e), 1);
	ck_assert_str_eq(l.key, "NEW KEY");
	ck_assert_str_eq(l.ca, "CA");
	ck_assert_int_eq(kube_login_renew(&l, &e), 0);
	put(folder, "ca.pem", NULL);
	ck_assert_int_eq(kube_login_renew(&l, &e), -1);
	ck_assert_msg(strstr(e.msg, "ca.pem"), "%s", e.msg);
	ck_assert_str_eq(l.ca, "CA");
	ck_assert_int_eq(kube_login_renew(&l, &e), 0);
	put(folder, "ca.pem", "NEW CA");
	ck_assert_int_eq(kube_login_renew(&l, &e), 1);
	ck_assert_str_eq(l.ca, "NEW CA");
	ck_assert_str_eq(l.namespace, "agents");
	kube_login_clear(&l);
	ck_assert_int_eq(kube_login_account(folder, "a", "443", &l, &e), 0);
	put(folder, "ca.crt", "NEW");
	ck_assert_int_eq(kube_login_renew(&l, &e), 1);
	ck_assert_str_eq(l.ca, "NEW");
	put(folder, "ca.crt", NULL);
	ck_assert_int_eq(kube_login_renew(&l, &e), -1);
	kube_login_clear(&l);
}
END_TEST

static int log_in(void *arg, struct err *e)
{
	struct kube_login l = { 0 };

	if (kube_login_file(arg, NULL, &l, e))
		return -1;
	kube_login_clear(&l);
	return 0;
}

static int open_one(void *arg, struct err *e)
{
	static char server[] = "https://127.0.0.1:1", token[] = "t", ca[] = "ca";
	const struct kube_conf conf = { .login = { .server = server, .token = token, .ca = ca } };
	struct cluster_store *s = NULL;

	(void)arg;
	if (kube_open(base, &conf, &s, e))
		return -1;
	s->ops->close(s);
	return 0;
}

START_TEST(no_memory)
{
	char folder[256], path[300];

	make_files(folder);
	(void)snprintf(path, sizeof(path), "%s/config", folder);
	base = loop_new();
	ck_assert_str_eq(alloc_fail_each(log_in, path), "ok");
	ck_assert_str_eq(alloc_fail_each(open_one, NULL), "ok");
}
END_TEST

static void count(void *arg, const struct cluster_result *r)
{
	ck_assert_int_ne(r->outcome, CLUSTER_OK);
	++*(int *)arg;
}

static bool is_reported(const void *arg)
{
	return *(const int *)arg > 0;
}

/* Without memory a call is refused at once, or reports an outcome that promises nothing. */
START_TEST(calls_without_memory)
{
	static char server[] = "http://127.0.0.1:1";
	const struct kube_conf conf = { .login.server = server };
	struct cluster_store *s = NULL;
	auto_json struct json *value = json_new_object();
	const struct cluster_object o = { .name = "a", .node = "n", .value = value };
	struct alloc_count failed = { .failed = true };
	struct err err;

	base = loop_new();
	ck_assert_int_eq(kube_open(base, &conf, &s, &err), 0);
	for (unsigned n = 1; failed.failed; n++) {
		int reported = 0;

		alloc_fail_begin(n);
		bool started = (n % 2 ? s->ops->create : s->ops->update)(s, &o, count, &reported);

		failed = alloc_fail_end();
		if (started)
			loop_until(base, is_reported, &reported);
		loop_turn(base);
		ck_assert_int_eq(reported, started);
	}
	s->ops->close(s);
	loop_free(base);
}
END_TEST

TEST_PROGRAM("kube", bad_configurations, nobody_answers, logs_in_with_a_kubeconfig,
	     logs_in_as_an_account, files_that_change_are_read_again, no_memory,
	     calls_without_memory)
