/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_test.c: shows the engine with the fake plugins of cni/testing/fakes.h: one that makes,
 * one that moves and one that follows an interface.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "cni/engine/attach.h"
#include "cni/testing/call.h"
#include "cni/testing/fakes.h"
#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define RUN "/mnt/run"
#define OUT "/mnt/out"

/* ---- a host and a pod ---- */

static struct testing_world world(void)
{
	struct testing_world w = testing_world(RUN);

	net_veth("dev", "dev-peer", NULL);
	return w;
}

static int call(const struct testing_world *w, const struct attach_type *type, enum cni_command cmd,
		const char *keys, struct err *e)
{
	bool pod = cmd != CNI_GC && cmd != CNI_STATUS;
	struct cni_call c = {
		.ctx = w->ctx,
		.env = { .cmd = cmd,
			 .container = pod ? "c1" : "",
			 .netns = pod && w->pod.fd >= 0 ? w->netns : "",
			 .ifname = pod ? "net1" : "",
			 .path = "",
			 .args = "" },
	};
	char *conf;

	ck_assert_int_gt(asprintf(&conf,
				  "{\"cniVersion\":\"1.1.0\",\"name\":\"net\",\"type\":\"%s\"%s%s}",
				  type->name, *keys ? "," : "", keys),
			 0);
	(void)unlink(FAKE_TRACE);
	fakes.call = &c;
	int rc = testing_call(type, &c, conf, OUT, e);
	ck_assert_int_eq(fakes.states, 0);
	return rc;
}

static void traced(const char *want)
{
	auto_free char *text = fake_has(FAKE_TRACE) ? testing_printed(FAKE_TRACE) : strdup("");

	ck_assert_str_eq(text, want);
}

static bool in_pod(const struct testing_world *w)
{
	auto_nl struct nl *nl = net_socket_in(&w->pod);
	struct link_info link;
	struct err e;

	return nl_link_by_name(nl, "net1", &link, &e) == 0;
}

static bool on_host(const char *name)
{
	auto_nl struct nl *nl = net_socket();
	struct link_info link;
	struct err e;

	return nl_link_by_name(nl, name, &link, &e) == 0;
}

/* Nothing of any fake is left. */
static void nothing_is_left(const struct testing_world *w)
{
	ck_assert(!in_pod(w) && on_host("dev") && !fake_has(FAKE_TAKEN) &&
		  !fake_has(FAKE_FOLLOWED));
	ck_assert_uint_eq(testing_records(&w->ctx, NULL), 0);
	ck_assert_uint_eq(testing_records(&w->ctx, "follower"), 0);
}

#define MASTER "\"master\":\"up\""
#define PREV                                                                                       \
	"\"prevResult\":{\"cniVersion\":\"1.1.0\",\"interfaces\":[{\"name\":\"net1\",\"sandbox\":" \
	"\"%s\"}]}"

static const char *with_prev(const struct testing_world *w)
{
	static char text[256];

	(void)snprintf(text, sizeof(text), PREV, w->netns);
	return text;
}

static const char *keys_of(const struct testing_world *w, const struct attach_type *type)
{
	return type == &fake_maker ? MASTER : type == &fake_follower ? with_prev(w) : "";
}

/* ---- the order of steps, and what is on record at each ---- */

START_TEST(a_plugin_that_makes)
{
	struct testing_world w = world();
	struct err e = { 0 };

	good(call(&w, &fake_maker, CNI_ADD, MASTER, &e), &e);
	traced("create[adding] ");
	ck_assert(in_pod(&w));
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 1);
	fails(call(&w, &fake_maker, CNI_ADD, MASTER, &e), &e, ERR_BUSY, "run DEL");
	good(call(&w, &fake_maker, CNI_DEL, MASTER, &e), &e);
	nothing_is_left(&w);
	good(call(&w, &fake_maker, CNI_DEL, MASTER, &e), &e);
}
END_TEST

START_TEST(a_plugin_that_moves)
{
	struct testing_world w = world();
	struct err e = { 0 };

	good(call(&w, &fake_mover, CNI_ADD, "", &e), &e);
	traced("find claim[adding] create[adding,device] ");
	ck_assert(in_pod(&w) && !on_host("dev"));
	auto_free char *text = testing_printed(OUT);
	ck_assert_ptr_nonnull(strstr(text, "\"name\": \"net1\""));
	fails(call(&w, &fake_mover, CNI_ADD, "", &e), &e, ERR_BUSY, "run DEL");
	good(call(&w, &fake_mover, CNI_DEL, "", &e), &e);
	traced("restore[deleting,device] release-recorded[deleting,device] ");
	nothing_is_left(&w);
	good(call(&w, &fake_mover, CNI_DEL, "", &e), &e);
	traced("release ");
}
END_TEST

START_TEST(a_plugin_that_follows)
{
	struct testing_world w = world();
	struct err e = { 0 };

	good(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e), &e);
	traced("find prepare create[adding,device] result[adding,device] ");
	ck_assert_uint_eq(testing_records(&w.ctx, "follower"), 1);
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
	auto_free char *text = testing_printed(OUT);
	ck_assert_ptr_nonnull(strstr(text, "\"follower\": \"was here\""));
	good(call(&w, &fake_follower, CNI_CHECK, with_prev(&w), &e), &e);
	traced("find[,device] check[,device] ");
	good(call(&w, &fake_follower, CNI_DEL, "", &e), &e);
	traced("restore[deleting,device] release-recorded[deleting,device] ");
	nothing_is_left(&w);
	good(call(&w, &fake_follower, CNI_DEL, "", &e), &e);
	traced("release ");
}
END_TEST

/* One record, when all is done. */
START_TEST(follows_and_changes_nothing)
{
	struct testing_world w = world();
	char keys[300];
	struct err e = { 0 };

	(void)snprintf(keys, sizeof(keys), "%s,\"harmless\":true", with_prev(&w));
	good(call(&w, &fake_follower, CNI_ADD, keys, &e), &e);
	traced("find prepare create result ");
	ck_assert_uint_eq(testing_records(&w.ctx, "follower"), 1);
	good(call(&w, &fake_follower, CNI_DEL, "", &e), &e);
	nothing_is_left(&w);
}
END_TEST

/* Those keys belong to the plugin before it. */
START_TEST(follows_without_common_keys_and_IPAM)
{
	struct testing_world w = world();
	char keys[300];
	struct err e = { 0 };

	(void)snprintf(keys, sizeof(keys), "%s,\"mtu\":\"x\",\"ipam\":{\"type\":\"no-such-ipam\"}",
		       with_prev(&w));
	good(call(&w, &fake_follower, CNI_ADD, keys, &e), &e);
	good(call(&w, &fake_follower, CNI_STATUS, keys, &e), &e);
	good(call(&w, &fake_follower, CNI_DEL, keys, &e), &e);
	nothing_is_left(&w);
	fails(call(&w, &fake_maker, CNI_ADD, MASTER ",\"mtu\":\"x\"", &e), &e, ERR_DECODE, "mtu");
	fails(call(&w, &fake_maker, CNI_ADD, MASTER ",\"ipam\":{\"type\":\"no-such-ipam\"}", &e),
	      &e, ERR_DELEGATE, "no-such-ipam");
	nothing_is_left(&w);
}
END_TEST

/* ---- what goes wrong ---- */

static const struct attach_type *const plugins[] = { &fake_maker, &fake_mover, &fake_follower };
static const char *const hooks[] = { "find", "prepare", "claim", "create", "result" };

START_TEST(a_failing_hook_leaves_nothing)
{
	struct testing_world w = world();
	unsigned failed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(plugins) * ARRAY_SIZE(hooks); i++) {
		const struct attach_type *type = plugins[i / ARRAY_SIZE(hooks)];
		struct err e = { 0 };

		fakes.fails_at = hooks[i % ARRAY_SIZE(hooks)];
		int rc = call(&w, type, CNI_ADD, keys_of(&w, type), &e);
		failed += rc != 0;
		if (rc == 0)
			good(call(&w, type, CNI_DEL, "", &e), &e);
		else
			fails(rc, &e, ERR_KERNEL, fakes.fails_at);
		nothing_is_left(&w);
	}
	/* create of the first; find, claim, create; find, prepare, create, result */
	ck_assert_uint_eq(failed, 8);
}
END_TEST

START_TEST(a_killed_ADD_is_undone_by_DEL)
{
	struct testing_world w = world();

	for (size_t i = 0; i < ARRAY_SIZE(plugins) * ARRAY_SIZE(hooks); i++) {
		const struct attach_type *type = plugins[i / ARRAY_SIZE(hooks)];
		struct err e = { 0 };
		int status;

		fakes.killed_at = hooks[i % ARRAY_SIZE(hooks)];
		pid_t child = fork();
		if (child == 0)
			_exit(call(&w, type, CNI_ADD, keys_of(&w, type), &e) ? 1 : 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
		fakes.killed_at = NULL;
		good(call(&w, type, CNI_DEL, "", &e), &e);
		nothing_is_left(&w);
	}
}
END_TEST

START_TEST(a_failed_ADD_is_undone_under_its_own_locks)
{
	struct testing_world w = world();
	struct err e = { 0 };

	fakes.fails_at = "create";
	fails(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e), &e, ERR_KERNEL, "create fails");
	traced("find prepare create[adding,device] undo[adding,device] ");
	fails(call(&w, &fake_mover, CNI_ADD, "", &e), &e, ERR_KERNEL, "move device into the pod");
	traced("find claim[adding] create[adding,device] restore[adding,device] "
	       "restore[adding,device] ");
	fails(call(&w, &fake_maker, CNI_ADD, MASTER, &e), &e, ERR_KERNEL,
	      "create macvlan net1 on up");
	nothing_is_left(&w);
}
END_TEST

static int cannot_undo(const struct attach *a, const struct record *r, struct err *e)
{
	(void)a;
	(void)r;
	return err_set(e, ERR_KERNEL, 0, "stuck");
}

START_TEST(what_cannot_be_undone_keeps_its_record)
{
	struct testing_world w = world();
	struct attach_type stuck = fake_follower;
	struct err e = { 0 };

	stuck.undo = cannot_undo;
	fakes.fails_at = "result";
	fails(call(&w, &stuck, CNI_ADD, with_prev(&w), &e), &e, ERR_KERNEL, "result fails");
	ck_assert_uint_eq(testing_records(&w.ctx, "follower"), 1);
	fakes.fails_at = "restore";
	fails(call(&w, &fake_follower, CNI_DEL, "", &e), &e, ERR_KERNEL, "restore fails");
	ck_assert(fake_has(FAKE_FOLLOWED));
	ck_assert_uint_eq(testing_records(&w.ctx, "follower"), 1);
	fakes.fails_at = NULL;
	good(call(&w, &fake_follower, CNI_DEL, "", &e), &e);
	nothing_is_left(&w);
}
END_TEST

static struct {
	struct netns host;
	const struct netns *pod;
	unsigned begun; /* inverses that began on the host */
} astray;

/* An inverse that fails, and whose way back from the pod fails, too. */
static int go_astray(const struct ctx *ctx, const struct record *r, struct err *e)
{
	auto_netns struct netns here = net_self();
	struct err none = { 0 };

	(void)ctx;
	(void)r;
	astray.begun += netns_same(here.id, astray.host.id);
	good(netns_enter(astray.pod, &none), &none);
	return err_set(e, ERR_KERNEL, 0, "inverse %u fails", astray.begun);
}

static int create_goes_astray(struct attach *a, struct err *e)
{
	return go_astray(&a->call->ctx, NULL, e);
}

START_TEST(each_inverse_begins_on_the_host)
{
	struct testing_world w = world();
	auto_json struct json *parts = json_new_array();
	const struct attach_restore_type others[] = { { "astray", go_astray }, { 0 } };
	const struct record part = { .key.ifname = "net1", .plugin = "astray", .master = "" };
	struct record r = { .key = { "net", "c1", "net1" },
			    .plugin = "several",
			    .netns = w.netns,
			    .netns_id = w.pod.id,
			    .deleting = true,
			    .parts = parts };
	struct attach_type mover = fake_mover;
	struct err e = { 0 };

	astray.host = net_self();
	astray.pod = &w.pod;
	good(ctx_boot_id(&w.ctx, r.boot, &e), &e);
	ck_assert_int_eq(record_add_part(parts, &part) | record_add_part(parts, &part), 0);
	fails(attach_restore(&w.ctx, &r, others, &e), &e, ERR_KERNEL, "inverse 1 fails");
	ck_assert_uint_eq(astray.begun, 2);
	/* GC goes on with the next record. */
	mover.restore = go_astray;
	astray.begun = 0;
	for (size_t i = 0; i < 2; i++) {
		struct record stale = { .key = { "net", i ? "c2" : "c1", "net1" },
					.plugin = mover.name,
					.kind = "",
					.netns = w.netns,
					.netns_id = w.pod.id,
					.master = "",
					.cni_path = "",
					.args = "" };
		memcpy(stale.boot, r.boot, sizeof(stale.boot));
		good(record_write(&w.ctx, &stale, &e), &e);
	}
	fails(call(&w, &mover, CNI_GC, "\"cni.dev/valid-attachments\":[]", &e), &e, ERR_KERNEL,
	      "inverse 1 fails");
	ck_assert_uint_eq(astray.begun, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct record_key gone = { "net", i ? "c2" : "c1", "net1" };

		good(record_remove(&w.ctx, &gone, &e), &e);
	}
	mover.create = create_goes_astray;
	fails(call(&w, &mover, CNI_ADD, "", &e), &e, ERR_KERNEL, "inverse 3 fails");
	/* create, and the inverses of creation and claim */
	ck_assert_uint_eq(astray.begun, 5);
	good(netns_enter(&astray.host, &e), &e);
	netns_close(&astray.host);
}
END_TEST

/* ---- an ADD without the DEL before ---- */

START_TEST(a_second_ADD_of_one_that_follows)
{
	struct testing_world w = world();
	struct err e = { 0 };

	good(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e), &e);
	fails(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e), &e, ERR_BUSY, "c1 has it");
	ck_assert_uint_eq(testing_records(&w.ctx, "follower"), 1);
	/* The pod has lost it: what is on record is restored first. */
	ck_assert_int_eq(unlink(FAKE_FOLLOWED), 0);
	good(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e), &e);
	traced("find[,device] check_earlier[,device] restore[deleting,device] prepare "
	       "create[adding,device] result[adding,device] ");
	good(call(&w, &fake_follower, CNI_DEL, "", &e), &e);
	nothing_is_left(&w);
}
END_TEST

/* The one that was killed may have an address, of which only a record tells repair. */
START_TEST(a_failed_ADD_after_one_that_was_killed_keeps_a_record)
{
	static const char ipam[] = "\"ipam\":{\"type\":\"no-such-ipam\"}";
	struct testing_world w = world();
	struct err e = { 0 };
	int status;

	fakes.killed_at = "claim";
	pid_t child = fork();
	if (child == 0)
		_exit(call(&w, &fake_mover, CNI_ADD, ipam, &e) ? 1 : 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	fakes.killed_at = NULL;
	fails(call(&w, &fake_mover, CNI_ADD, ipam, &e), &e, ERR_DELEGATE, "no-such-ipam");
	ck_assert(!in_pod(&w) && !fake_has(FAKE_TAKEN));
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 1);
	fails(call(&w, &fake_mover, CNI_DEL, ipam, &e), &e, ERR_DELEGATE, "no-such-ipam");
	fails(call(&w, &fake_mover, CNI_DEL, "", &e), &e, ERR_DELEGATE, "no-such-ipam");
	/* the address of another IPAM is released before ADD */
	fails(call(&w, &fake_mover, CNI_ADD, "", &e), &e, ERR_DELEGATE, "no-such-ipam");
	good(record_remove(&w.ctx, &(struct record_key){ "net", "c1", "net1" }, &e), &e);
	nothing_is_left(&w);
	fails(call(&w, &fake_mover, CNI_ADD, ipam, &e), &e, ERR_DELEGATE, "no-such-ipam");
	nothing_is_left(&w);
}
END_TEST

START_TEST(an_ADD_after_one_that_was_killed)
{
	struct testing_world w = world();
	struct err e = { 0 };
	int status;

	fakes.killed_at = "create";
	pid_t child = fork();
	if (child == 0)
		_exit(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e) ? 1 : 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	fakes.killed_at = NULL;
	ck_assert(fake_has(FAKE_FOLLOWED));
	good(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e), &e);
	traced("find[adding,device] restore[addingdeleting,device] prepare create[adding,device] "
	       "result[adding,device] ");
}
END_TEST

static void kill_add(const struct testing_world *w, const char *at)
{
	struct err e = { 0 };
	int status;

	fakes.killed_at = at;
	pid_t child = fork();
	if (child == 0)
		_exit(call(w, &fake_mover, CNI_ADD, "", &e) ? 1 : 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	fakes.killed_at = NULL;
}

/* The new record will not have the device of the first one. */
START_TEST(an_ADD_after_a_killed_one_that_moves)
{
	struct testing_world w = world();
	struct err e = { 0 };

	kill_add(&w, "claim");
	good(call(&w, &fake_mover, CNI_ADD, "", &e), &e);
	traced("find[adding] restore[addingdeleting] claim[adding] create[adding,device] ");
	good(call(&w, &fake_mover, CNI_DEL, "", &e), &e);
	nothing_is_left(&w);
	/* The interface is in the pod: only a DEL may take it. */
	kill_add(&w, "create");
	fails(call(&w, &fake_mover, CNI_ADD, "", &e), &e, ERR_BUSY, "run DEL");
	traced("find[adding,device] ");
	ck_assert(in_pod(&w));
	good(call(&w, &fake_mover, CNI_DEL, "", &e), &e);
	nothing_is_left(&w);
	fakes.fails_at = "restore";
	kill_add(&w, "claim");
	fails(call(&w, &fake_mover, CNI_ADD, "", &e), &e, ERR_KERNEL, "restore fails");
	fakes.fails_at = NULL;
	good(call(&w, &fake_mover, CNI_DEL, "", &e), &e);
	nothing_is_left(&w);
}
END_TEST

/* The pod may have put its device elsewhere: not seen is not gone. */
START_TEST(an_ADD_after_a_whole_one_that_moves)
{
	struct testing_world w = world();
	auto_nl struct nl *nl = net_socket_in(&w.pod);
	struct netns other = net_another();
	struct link_info link;
	struct err e = { 0 };

	good(call(&w, &fake_mover, CNI_ADD, "", &e), &e);
	good(nl_link_by_name(nl, "net1", &link, &e), &e);
	good(nl_link_move(nl, link.ifindex, &other, "net1", &e), &e);
	fakes.fails_at = "claim";
	fails(call(&w, &fake_mover, CNI_ADD, "", &e), &e, ERR_KERNEL, "claim fails");
	traced("find[,device] claim[adding] restore[adding] ");
	netns_close(&other);
}
END_TEST

/* ---- DEL ---- */

START_TEST(DEL_without_a_record)
{
	struct testing_world w = world();
	struct err e = { 0 };

	/* The maker's kind goes, for it may be of the plugin that it replaces. */
	good(call(&w, &fake_maker, CNI_ADD, MASTER, &e), &e);
	ck_assert_int_eq(rename(RUN, "/mnt/lost"), 0);
	good(call(&w, &fake_mover, CNI_DEL, "", &e), &e);
	traced("release ");
	good(call(&w, &fake_follower, CNI_DEL, "", &e), &e);
	traced("release ");
	ck_assert(in_pod(&w));
	good(call(&w, &fake_maker, CNI_DEL, "", &e), &e);
	ck_assert(!in_pod(&w));
}
END_TEST

START_TEST(DEL_after_the_namespace_has_gone)
{
	struct testing_world w = world();
	struct err e = { 0 };

	good(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e), &e);
	good(call(&w, &fake_maker, CNI_ADD, MASTER, &e), &e);
	netns_close(&w.pod);
	good(call(&w, &fake_follower, CNI_DEL, "", &e), &e);
	traced("restore[deleting,device] release-recorded[deleting,device] ");
	good(call(&w, &fake_maker, CNI_DEL, "", &e), &e);
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 0);
	ck_assert_uint_eq(testing_records(&w.ctx, "follower"), 0);
}
END_TEST

/* ---- GC and STATUS ---- */

#define NONE_VALID "\"cni.dev/valid-attachments\":[]"
#define C1_VALID   "\"cni.dev/valid-attachments\":[{\"containerID\":\"c1\",\"ifname\":\"net1\"}]"

START_TEST(GC_of_each)
{
	struct testing_world w = world();
	struct err e = { 0 };

	good(call(&w, &fake_mover, CNI_ADD, "", &e), &e);
	good(call(&w, &fake_follower, CNI_ADD, with_prev(&w), &e), &e);
	good(call(&w, &fake_mover, CNI_GC, C1_VALID, &e), &e);
	good(call(&w, &fake_maker, CNI_GC, NONE_VALID, &e), &e); /* none is its own */
	good(call(&w, &fake_follower, CNI_GC, "", &e), &e);      /* no list */
	ck_assert(in_pod(&w) && fake_has(FAKE_FOLLOWED));
	good(call(&w, &fake_follower, CNI_GC, NONE_VALID, &e), &e);
	traced("restore ");
	ck_assert(in_pod(&w) && !fake_has(FAKE_FOLLOWED));
	fakes.fails_at = "restore";
	fails(call(&w, &fake_mover, CNI_GC, NONE_VALID, &e), &e, ERR_KERNEL, "attachment c1/net1");
	ck_assert_uint_eq(testing_records(&w.ctx, NULL), 1);
	fakes.fails_at = NULL;
	good(call(&w, &fake_mover, CNI_GC, NONE_VALID, &e), &e);
	nothing_is_left(&w);
}
END_TEST

START_TEST(STATUS_and_CHECK)
{
	struct testing_world w = world();
	struct err e = { 0 };

	good(call(&w, &fake_follower, CNI_STATUS, "", &e), &e);
	good(call(&w, &fake_mover, CNI_STATUS, "", &e), &e);
	fakes.fails_at = "find";
	fails(call(&w, &fake_follower, CNI_STATUS, "", &e), &e, ERR_UNAVAILABLE, "find fails");
	fails(call(&w, &fake_mover, CNI_STATUS, "", &e), &e, ERR_UNAVAILABLE, "find fails");
	fakes.fails_at = NULL;
	fails(call(&w, &fake_follower, CNI_CHECK, "", &e), &e, ERR_CONFIG, "prevResult");
	fakes.fails_at = "check";
	fails(call(&w, &fake_follower, CNI_CHECK, with_prev(&w), &e), &e, ERR_KERNEL,
	      "check fails");
	traced("find check ");
}
END_TEST

TEST_PROGRAM("cni/engine/attach", a_plugin_that_makes, a_plugin_that_moves, a_plugin_that_follows,
	     follows_and_changes_nothing, follows_without_common_keys_and_IPAM,
	     a_failing_hook_leaves_nothing, a_killed_ADD_is_undone_by_DEL,
	     a_failed_ADD_is_undone_under_its_own_locks, what_cannot_be_undone_keeps_its_record,
	     each_inverse_begins_on_the_host, a_second_ADD_of_one_that_follows,
	     an_ADD_after_one_that_was_killed,
	     a_failed_ADD_after_one_that_was_killed_keeps_a_record,
	     an_ADD_after_a_killed_one_that_moves, an_ADD_after_a_whole_one_that_moves,
	     DEL_without_a_record, DEL_after_the_namespace_has_gone, GC_of_each, STATUS_and_CHECK)
