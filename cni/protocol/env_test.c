/* SPDX-License-Identifier: Apache-2.0 */
/* env_test.c: shows which variables each command needs, and which values are refused. */
#include "cni/protocol/env.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

/* The environment that get() shows; NULL: not set. get() has no place for a context. */
static struct {
	const char *container, *netns, *ifname, *path, *args, *override;
} world;

static char *get(const char *name)
{
	const struct {
		const char *name, *value;
	} vars[] = {
		{ "CNI_CONTAINERID", world.container },
		{ "CNI_NETNS", world.netns },
		{ "CNI_IFNAME", world.ifname },
		{ "CNI_PATH", world.path },
		{ "CNI_ARGS", world.args },
		{ "CNI_NETNS_OVERRIDE", world.override },
	};

	for (size_t i = 0; i < ARRAY_SIZE(vars); i++) {
		if (strcmp(name, vars[i].name) == 0)
			return (char *)(uintptr_t)vars[i].value;
	}
	ck_abort_msg("%s is not a documented variable (CNI-178)", name);
	return NULL;
}

static void set_good(void)
{
	world.container = "c1";
	world.netns = "/run/netns/n1";
	world.ifname = "net1";
	world.path = "/opt/cni/bin";
	world.args = NULL;
	world.override = NULL;
}

static const enum cni_command verbs[] = { CNI_ADD, CNI_DEL,    CNI_CHECK,
					  CNI_GC,  CNI_STATUS, CNI_VERSION };
static const char *const names[] = { "ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION" };

static void accepts(enum cni_command v)
{
	struct cni_env env;
	struct err e = { .msg = "" };

	ck_assert_msg(cni_env_load(v, get, &env, &e) == 0, "%s: %s", cni_command_name(v), e.msg);
	ck_assert_int_eq((int)env.cmd, (int)v);
}

/* Refused with code 4 and that message; out stays as it was. */
static struct err refuses(enum cni_command v, const char *msg)
{
	/* as bytes: a failure leaves every one of them alone, padding included */
	unsigned char bytes[sizeof(struct cni_env)], before[sizeof(struct cni_env)];
	struct cni_env env;
	struct err e;

	memset(&env, 0x5a, sizeof(env));
	memcpy(before, &env, sizeof(env));
	ck_assert_msg(cni_env_load(v, get, &env, &e) == -1, "%s accepted: want \"%s\"",
		      cni_command_name(v), msg);
	ck_assert_int_eq((int)e.code, 4);
	ck_assert_str_eq(e.msg, msg);
	memcpy(bytes, &env, sizeof(env));
	ck_assert_int_eq(memcmp(bytes, before, sizeof(bytes)), 0);
	return e;
}

START_TEST(cni_006_commands_are_parsed)
{
	static const char *const wrong[] = { "add", "Add",    " ADD", "ADD ",
					     "",    "UPDATE", "ADDD", "AD" };
	struct err e;
	enum cni_command v;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		ck_assert_int_eq(cni_command_parse(names[i], &v, &e), 0);
		ck_assert_int_eq((int)v, (int)verbs[i]);
		ck_assert_str_eq(cni_command_name(v), names[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		v = CNI_GC;
		ck_assert_int_eq(cni_command_parse(wrong[i], &v, &e), -1);
		ck_assert_int_eq((int)v, CNI_GC);
		ck_assert_int_eq((int)e.code, 4);
	}
	ck_assert_int_eq(cni_command_parse("add", &v, &e), -1);
	ck_assert_str_eq(e.msg, "unknown CNI_COMMAND: add");
}
END_TEST

START_TEST(cni_008_all_that_is_missing_is_told_at_once)
{
	static const char *const missing[] = {
		[CNI_ADD] = "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH",
		[CNI_DEL] = "CNI_CONTAINERID,CNI_IFNAME,CNI_PATH",
		[CNI_CHECK] = "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH",
		[CNI_GC] = "CNI_PATH",
		[CNI_STATUS] = "CNI_PATH",
	};
	char want[200];

	for (size_t v = 0; v < ARRAY_SIZE(missing); v++) {
		for (int empty = 0; empty < 2; empty++) {
			const char *value = empty ? "" : NULL;

			set_good();
			world.container = world.netns = world.ifname = world.path = value;
			(void)snprintf(want, sizeof(want), "required env variables [%s] missing",
				       missing[v]);
			(void)refuses((enum cni_command)v, want);
		}
	}
	world.container = world.netns = world.ifname = world.path = NULL;
	accepts(CNI_VERSION); /* CNI-025 */
}
END_TEST

START_TEST(cni_008_each_missing_one_is_named)
{
	set_good();
	world.container = NULL;
	(void)refuses(CNI_ADD, "required env variables [CNI_CONTAINERID] missing");
	set_good();
	world.netns = NULL;
	(void)refuses(CNI_CHECK, "required env variables [CNI_NETNS] missing");
	accepts(CNI_DEL); /* CNI-047 */
	set_good();
	world.ifname = "";
	(void)refuses(CNI_DEL, "required env variables [CNI_IFNAME] missing");
	set_good();
	world.path = NULL;
	world.ifname = NULL;
	(void)refuses(CNI_ADD, "required env variables [CNI_IFNAME,CNI_PATH] missing");
}
END_TEST

START_TEST(values_come_through)
{
	struct cni_env env;
	struct err e;

	set_good();
	world.args = "IgnoreUnknown=1";
	ck_assert_int_eq(cni_env_load(CNI_ADD, get, &env, &e), 0);
	ck_assert_str_eq(env.container, "c1");
	ck_assert_str_eq(env.netns, "/run/netns/n1");
	ck_assert_str_eq(env.ifname, "net1");
	ck_assert_str_eq(env.path, "/opt/cni/bin");
	ck_assert_str_eq(env.args, "IgnoreUnknown=1");
	ck_assert(!env.netns_override);

	memset(&world, 0, sizeof(world));
	world.path = "/p";
	ck_assert_int_eq(cni_env_load(CNI_GC, get, &env, &e), 0);
	ck_assert_str_eq(env.container, ""); /* never NULL */
	ck_assert_str_eq(env.netns, "");
	ck_assert_str_eq(env.ifname, "");
	ck_assert_str_eq(env.args, "");
	ck_assert_str_eq(env.path, "/p");
}
END_TEST

START_TEST(cni_010_bad_container_ids_are_refused)
{
	static const char *const good[] = {
		"c1",
		"0",
		"A.b_c-D",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	};
	static const char *const bad[] = { "-a",  ".a",  "_a",  "a/b", "../x",      "a b",
					   "a\n", "a:b", "a;b", "a,b", "c\xc3\xa9", "a\\b" };
	static const enum cni_command checked[] = { CNI_ADD, CNI_CHECK, CNI_DEL };

	set_good();
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		world.container = good[i];
		accepts(CNI_ADD);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad) * ARRAY_SIZE(checked); i++) {
		world.container = bad[i / ARRAY_SIZE(checked)];
		struct err e = refuses(checked[i % ARRAY_SIZE(checked)],
				       "invalid characters in containerID");
		if (!strchr(world.container, '\n'))
			ck_assert_ptr_nonnull(strstr(e.detail, world.container));
	}
	world.container = "a/b"; /* none of their business */
	accepts(CNI_GC);
	accepts(CNI_STATUS);
}
END_TEST

/* CNI-156. What was refused by ADD must not keep the runtime from deleting the pod. */
START_TEST(long_container_ids_are_refused)
{
	char id[CNI_ID_MAX + 2];
	struct cni_env env;
	struct err e;

	set_good();
	memset(id, 'a', sizeof(id));
	id[CNI_ID_MAX] = '\0';
	world.container = id;
	accepts(CNI_ADD);
	id[CNI_ID_MAX] = 'a';
	id[CNI_ID_MAX + 1] = '\0';
	ck_assert_int_eq(cni_env_load(CNI_ADD, get, &env, &e), -1);
	ck_assert_int_eq((int)e.code, 4);
	ck_assert_ptr_nonnull(strstr(e.msg, "CNI_CONTAINERID"));
	ck_assert_ptr_nonnull(strstr(e.msg, "201"));
	ck_assert_ptr_nonnull(strstr(e.msg, "200"));
	ck_assert_int_eq(cni_env_load(CNI_CHECK, get, &env, &e), -1);
	accepts(CNI_DEL);
}
END_TEST

/* CNI-012, CNI-155: the messages are those of the skel. */
START_TEST(cni_012_bad_interface_names_are_refused)
{
	static const char *const good[] = { "e",   "net1",      "a,b", "abcdefghijklmno",
					    "...", "n\xc3\xa9t" };
	static const struct {
		const char *name, *msg;
	} bad[] = {
		{ "abcdefghijklmnop", "interface name is too long" },
		{ "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
		  "interface name is too long" }, /* 8 characters, 16 bytes */
		{ ".", "interface name is . or .." },
		{ "..", "interface name is . or .." },
		{ "a/b", "interface name contains / or : or whitespace characters" },
		{ "eth0:1", "interface name contains / or : or whitespace characters" },
		{ "a b", "interface name contains / or : or whitespace characters" },
		{ "a\tb", "interface name contains / or : or whitespace characters" },
		{ "ab\n", "interface name contains / or : or whitespace characters" },
		{ "a\xc2\xa0"
		  "b",
		  "interface name contains / or : or whitespace characters" }, /* U+00A0 */
		{ "a\xe2\x80\x83"
		  "b",
		  "interface name contains / or : or whitespace characters" }, /* U+2003 */
	};
	static const enum cni_command checked[] = { CNI_ADD, CNI_CHECK, CNI_DEL };

	set_good();
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		world.ifname = good[i];
		accepts(CNI_ADD);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad) * ARRAY_SIZE(checked); i++) {
		world.ifname = bad[i / ARRAY_SIZE(checked)].name;
		struct err e =
			refuses(checked[i % ARRAY_SIZE(checked)], bad[i / ARRAY_SIZE(checked)].msg);
		ck_assert_ptr_nonnull(strstr(e.detail, "CNI_IFNAME")); /* CNI-168 */
	}
	world.ifname = "a/b";
	accepts(CNI_GC);
}
END_TEST

/*
 * CNI-155: the kernel would make "net%d" into "net0", so no interface is added by that name. The
 * protocol allows it, so that a DEL of what was never added has to succeed (CNI-120).
 */
START_TEST(cni_155_a_pattern_is_no_name)
{
	static const char *const patterns[] = { "net%d", "%", "%%", "a%sb", "\x01x", "a\x7f" };
	struct cni_env env;
	struct err e;

	set_good();
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		world.ifname = patterns[i];
		ck_assert_int_eq(cni_env_load(CNI_ADD, get, &env, &e), -1);
		ck_assert_int_eq((int)e.code, 4);
		ck_assert_ptr_nonnull(strstr(e.detail, "CNI_IFNAME"));
		accepts(CNI_DEL);
	}
}
END_TEST

START_TEST(text_that_is_not_utf8_is_refused)
{
	static const char *const checked[] = { "CNI_NETNS", "CNI_PATH", "CNI_ARGS",
					       "CNI_CONTAINERID", "CNI_IFNAME" };
	struct cni_env env;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(checked); i++) {
		set_good();
		*(i == 0   ? &world.netns
		  : i == 1 ? &world.path
		  : i == 2 ? &world.args
		  : i == 3 ? &world.container
			   : &world.ifname) = "a\xff";
		ck_assert_int_eq(cni_env_load(CNI_ADD, get, &env, &e), -1);
		ck_assert_int_eq((int)e.code, 4);
		ck_assert_ptr_nonnull(strstr(e.msg, checked[i]));
	}
}
END_TEST

START_TEST(cni_052_the_override_is_read)
{
	static const char *const yes[] = { "1", "true", "TRUE", "True", "tRuE" };
	static const char *const no[] = { "", "0", "false", "yes", "on", "11", " 1", "true " };
	struct cni_env env;
	struct err e;

	set_good();
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		world.override = yes[i];
		ck_assert_int_eq(cni_env_load(CNI_ADD, get, &env, &e), 0);
		ck_assert(env.netns_override);
	}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		world.override = no[i];
		ck_assert_int_eq(cni_env_load(CNI_ADD, get, &env, &e), 0);
		ck_assert(!env.netns_override);
	}
}
END_TEST

/* ---- CNI_ARGS ---- */

static void has(const char *args, const char *key, const char *want)
{
	char buf[16] = "untouched";
	struct err e;

	ck_assert_msg(cni_args_get(args, key, buf, sizeof(buf), &e) == (want ? 1 : 0),
		      "%s in \"%s\"", key, args);
	ck_assert_str_eq(buf, want ? want : "untouched");
}

START_TEST(cni_088_args_are_read_leniently)
{
	has("", "MAC", NULL);
	has("MAC=m", "MAC", "m");
	has("IgnoreUnknown=1;MAC=m;K8S_POD_NAME=p", "MAC", "m");
	has("IgnoreUnknown=1;MAC=m;K8S_POD_NAME=p", "K8S_POD_NAME", "p");
	has("MAC=m;", "MAC", "m");
	has(";;MAC=m;;", "MAC", "m");
	has(";", "MAC", NULL);
	has("FOO=a=b", "FOO", "a=b");
	has("FOO==", "FOO", "=");
	has("FOO", "FOO", NULL); /* no pair */
	has("FOO;BAR=1", "FOO", NULL);
	has("FOO=", "FOO", "");
	has("=x", "FOO", NULL);
	has("FOO=1;FOO=2", "FOO", "2");
	has("FOO=1;FOO=", "FOO", "");
	has("XFOO=1", "FOO", NULL);
	has("FOOX=1", "FOO", NULL);
	has("FO=1", "FOO", NULL);
	has("foo=1", "FOO", NULL);
	has("A=FOO=1", "FOO", NULL);
	has("IP=10.0.0.1/24,b", "IP", "10.0.0.1/24,b");
}
END_TEST

START_TEST(args_that_do_not_fit_are_refused)
{
	char buf[8] = "old";
	struct err e;

	ck_assert_int_eq(cni_args_get("K=1234567", "K", buf, sizeof(buf), &e), 1);
	ck_assert_str_eq(buf, "1234567");
	strcpy(buf, "old");
	ck_assert_int_eq(cni_args_get("K=12345678", "K", buf, sizeof(buf), &e), -1);
	ck_assert_str_eq(buf, "old");
	ck_assert_int_eq((int)e.code, 4);
	ck_assert_ptr_nonnull(strstr(e.msg, "CNI_ARGS"));
	ck_assert_ptr_nonnull(strstr(e.msg, "K"));
	ck_assert_ptr_nonnull(strstr(e.msg, "7 bytes"));
	/* only the one that counts has to fit */
	ck_assert_int_eq(cni_args_get("K=12345678;K=1", "K", buf, sizeof(buf), &e), 1);
	ck_assert_str_eq(buf, "1");
}
END_TEST

#define NS  "K8S_POD_NAMESPACE=train"
#define POD "K8S_POD_NAME=worker-0"

START_TEST(a_pod_has_both_names_or_none)
{
	static const char *const none[] = { "", NS, POD, POD ";K8S_POD_NAMESPACE_=train" };
	char args[400] = NS ";K8S_POD_NAME=";
	struct cni_pod p = cni_args_pod(NS ";K8S_POD_UID=1;" POD);

	ck_assert_str_eq(p.ns, "train");
	ck_assert_str_eq(p.name, "worker-0");
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		p = cni_args_pod(none[i]);
		ck_assert_msg(!*p.ns && !*p.name, "%s", none[i]);
	}
	memset(args + strlen(args), 'x', sizeof(p.name));
	p = cni_args_pod(args);
	ck_assert(!*p.ns && !*p.name);
}
END_TEST

TEST_PROGRAM("cni/protocol/env", cni_006_commands_are_parsed,
	     cni_008_all_that_is_missing_is_told_at_once, cni_008_each_missing_one_is_named,
	     values_come_through, cni_010_bad_container_ids_are_refused,
	     long_container_ids_are_refused, cni_012_bad_interface_names_are_refused,
	     cni_155_a_pattern_is_no_name, text_that_is_not_utf8_is_refused,
	     cni_052_the_override_is_read, cni_088_args_are_read_leniently,
	     args_that_do_not_fit_are_refused, a_pod_has_both_names_or_none)
