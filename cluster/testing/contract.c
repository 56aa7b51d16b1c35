/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract.c: one test for each promise of cluster_store.h. Tests share one engine, so each
 * has names and nodes of its own.
 */
#include "cluster/testing/contract.h"

#include <stdio.h>

#include "cluster/testing/loop.h"
#include "lib/testing/testing.h"

const struct contract_engine *contract_engine;

struct calls engine_open_within(unsigned timeout_ms)
{
	struct calls c = { .base = loop_new() };
	struct err e;

	ck_assert_msg(contract_engine->open(c.base, timeout_ms, &c.store, &e) == 0, "%s", e.msg);
	return c;
}

struct calls engine_open(void)
{
	return engine_open_within(30000);
}

void engine_close(struct calls *c)
{
	c->store->ops->close(c->store);
	loop_turn(c->base);
	loop_free(c->base);
}

void engine_control(const char *word)
{
	const char *program = getenv("CLUSTER_CONTROL");
	char command[512];

	ck_assert_ptr_nonnull(program);
	(void)snprintf(command, sizeof(command), "%s %s", program, word);
	ck_assert_int_eq(system(command), 0); // NOLINT(cert-env33-c): our own script
}

/* ---- single objects ---- */

START_TEST(creates_if_absent)
{
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "create-a", .number = 1 };
	struct ended e, again;

	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_NOT_FOUND);
	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), CLUSTER_OK);
	ck_assert_str_eq(e.object.name, "create-a");
	ck_assert(*e.object.at.uid && *e.object.at.version && e.number == 1);
	t.number = 2;
	ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &again), CLUSTER_EXISTS);
	ck_assert_int_eq(do_get(&c, &t, &again), CLUSTER_OK);
	ck_assert_int_eq(again.number, 1);
	ck_assert_str_eq(again.object.at.uid, e.object.at.uid);
	ck_assert_str_eq(again.object.at.version, e.object.at.version);
	t.kind = CLUSTER_NODE;
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_NOT_FOUND);
	engine_close(&c);
}
END_TEST

START_TEST(updates_one_version)
{
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_BLOCK, .name = "update-a", .node = "update-n" }, old;
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	old = t;
	t.number = 5;
	must_write(&c, WRITE_UPDATE, &t);
	ck_assert_str_eq(t.at.uid, old.at.uid);
	ck_assert_str_ne(t.at.version, old.at.version);
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &old, &e), CLUSTER_CONFLICT);
	old.at = t.at;
	old.at.uid[0] = t.at.uid[0] == 'a' ? 'b' : 'a';
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &old, &e), CLUSTER_NOT_FOUND);
	old.name = "update-none";
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &old, &e), CLUSTER_NOT_FOUND);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_OK);
	ck_assert(e.number == 5 && e.object.generation == 2);
	ck_assert_str_eq(e.object.node, "update-n");
	ck_assert_str_eq(e.object.at.version, t.at.version);
	t.number = 6;
	must_write(&c, WRITE_UPDATE, &t);
	engine_close(&c);
}
END_TEST

START_TEST(removes_one_version)
{
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_NODE, .name = "remove-a", .node = "remove-n" }, old;
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	old = t;
	t.number = 1;
	must_write(&c, WRITE_UPDATE, &t);
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &old, &e), CLUSTER_CONFLICT);
	old.at = t.at;
	old.at.uid[0] = t.at.uid[0] == 'a' ? 'b' : 'a';
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &old, &e), CLUSTER_NOT_FOUND);
	old = t;
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &t, &e), CLUSTER_OK);
	ck_assert_int_eq(do_write(&c, WRITE_REMOVE, &t, &e), CLUSTER_NOT_FOUND);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_NOT_FOUND);
	must_write(&c, WRITE_CREATE, &t);
	ck_assert_str_ne(t.at.uid, old.at.uid);
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &old, &e), CLUSTER_NOT_FOUND);
	engine_close(&c);
}
END_TEST

START_TEST(refuses_bad_names)
{
	static const char *const bad[] = { "", "Upper", "a/b", "a_b", ".a", "a-", "a b", "../a" };
	struct calls c = engine_open();
	struct ended e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct thing t = { .kind = CLUSTER_POOL, .name = bad[i] };

		ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), CLUSTER_REFUSED);
		ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_REFUSED);
		t = (struct thing){ .kind = CLUSTER_BLOCK, .name = "good", .node = bad[i] };
		if (*bad[i])
			ck_assert_int_eq(do_write(&c, WRITE_CREATE, &t, &e), CLUSTER_REFUSED);
	}
	engine_close(&c);
}
END_TEST

/* ---- many at once ---- */

#define MANY 64

START_TEST(one_of_many_creates)
{
	static struct ended e[MANY];
	struct calls c = engine_open();
	int ok = 0, exists = 0, winner = -1;
	struct thing t = { .kind = CLUSTER_BLOCK, .name = "many-creates", .node = "many-n" };

	for (t.number = 0; t.number < MANY; t.number++)
		start_write(&c, WRITE_CREATE, &t, &e[t.number]);
	for (int i = 0; i < MANY; i++) {
		wait_ended(&c, &e[i]);
		ok += e[i].outcome == CLUSTER_OK;
		exists += e[i].outcome == CLUSTER_EXISTS;
		winner = e[i].outcome == CLUSTER_OK ? i : winner;
	}
	ck_assert_int_eq(ok, 1);
	ck_assert_int_eq(exists, MANY - 1);
	ck_assert_int_eq(do_get(&c, &t, &e[0]), CLUSTER_OK);
	ck_assert_int_eq(e[0].number, winner);
	engine_close(&c);
}
END_TEST

START_TEST(one_of_many_updates)
{
	static struct ended e[MANY];
	struct calls c = engine_open();
	int ok = 0, conflict = 0;
	struct thing t = { .kind = CLUSTER_BLOCK, .name = "many-updates", .node = "many-n" };

	t.number = -1;
	must_write(&c, WRITE_CREATE, &t);
	for (t.number = 0; t.number < MANY; t.number++)
		start_write(&c, WRITE_UPDATE, &t, &e[t.number]);
	for (int i = 0; i < MANY; i++) {
		wait_ended(&c, &e[i]);
		ok += e[i].outcome == CLUSTER_OK;
		conflict += e[i].outcome == CLUSTER_CONFLICT;
	}
	ck_assert_int_eq(ok, 1);
	ck_assert_int_eq(conflict, MANY - 1);
	engine_close(&c);
}
END_TEST

/* ---- lists ---- */

START_TEST(lists_what_is_selected)
{
	static struct listed l;
	struct calls c = engine_open();
	struct thing a = { .kind = CLUSTER_NODE, .name = "list-a", .node = "list-n1", .number = 1 };
	struct thing b = { .kind = CLUSTER_NODE, .name = "list-b", .node = "list-n2", .number = 2 };
	struct thing d = { .kind = CLUSTER_NODE, .name = "listen", .node = "list-n1", .number = 3 };
	struct thing n = { .kind = CLUSTER_BLOCK, .name = "list-n1", .node = "list-n1" };
	struct cluster_selector by_name = { .kind = CLUSTER_NODE, .prefix = "list-" };
	struct cluster_selector by_node = { .kind = CLUSTER_NODE, .node = "list-n1" };
	struct cluster_selector by_both = { .kind = CLUSTER_NODE,
					    .node = "list-n1",
					    .prefix = "list-" };
	struct cluster_selector none = { .kind = CLUSTER_NODE, .node = "list-n" };

	must_write(&c, WRITE_CREATE, &a);
	must_write(&c, WRITE_CREATE, &b);
	must_write(&c, WRITE_CREATE, &d);
	must_write(&c, WRITE_CREATE, &n);
	ck_assert_msg(do_list(&c, &by_name, &l) == CLUSTER_OK, "%s", l.why);
	ck_assert_str_eq(l.text, "list-a=1@list-n1 list-b=2@list-n2 ");
	ck_assert_int_eq(do_list(&c, &by_node, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, "list-a=1@list-n1 listen=3@list-n1 ");
	ck_assert_int_eq(do_list(&c, &by_both, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, "list-a=1@list-n1 ");
	/* the version is good for an update */
	ck_assert_str_eq(l.last.at.uid, a.at.uid);
	ck_assert_str_eq(l.last.at.version, a.at.version);
	a.at = l.last.at;
	a.node = "list-n2";
	must_write(&c, WRITE_UPDATE, &a);
	ck_assert_int_eq(do_list(&c, &by_both, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, "");
	ck_assert_int_eq(do_list(&c, &none, &l), CLUSTER_OK);
	ck_assert_uint_eq(l.n, 0);
	engine_close(&c);
}
END_TEST

#define START(digits) "00000000000000000000000000000" digits

START_TEST(lists_the_blocks_of_a_pool)
{
	static const char *const names[] = { "pool-" START("a00"), "pool-" START("a08"),
					     "pool-b-" START("a00"), "poolb-" START("a00") };
	static const char want[] =
		"pool-" START("a00") "=0@pool-n1 pool-" START("a08") "=1@pool-n1 ";
	static struct listed l;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_BLOCK, .node = "pool-n1" };
	struct cluster_selector of = { .kind = CLUSTER_BLOCK, .prefix = "pool-" };
	struct cluster_selector long_of = { .kind = CLUSTER_BLOCK, .prefix = "pool-b-" };
	struct cluster_selector some = { .kind = CLUSTER_BLOCK,
					 .node = "pool-n1",
					 .prefix = "pool-" START("a0") };

	for (; t.number < (int)ARRAY_SIZE(names); t.number++) {
		t.name = names[t.number];
		must_write(&c, WRITE_CREATE, &t);
	}
	ck_assert_msg(do_list(&c, &of, &l) == CLUSTER_OK, "%s", l.why);
	ck_assert(strstr(l.text, want) == l.text && !strstr(l.text, "poolb-"));
	ck_assert_int_eq(do_list(&c, &long_of, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, "pool-b-" START("a00") "=2@pool-n1 ");
	ck_assert_int_eq(do_list(&c, &some, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, want);
	engine_close(&c);
}
END_TEST

#define PAGES 1200

/* Create objects NAME-0000 to PAGES, 64 at a time. */
static void create_many(struct calls *c, const char *name, int n)
{
	static struct ended e[MANY];
	char names[MANY][32];

	for (int i = 0; i < n; i++) {
		struct thing t = { .kind = CLUSTER_NODE, .node = "pages-n", .number = i };

		if (i >= MANY)
			wait_ended(c, &e[i % MANY]);
		if (i >= MANY)
			ck_assert_msg(!e[i % MANY].outcome, "%s", e[i % MANY].why);
		(void)snprintf(names[i % MANY], sizeof(names[0]), "%s-%04d", name, i);
		t.name = names[i % MANY];
		start_write(c, WRITE_CREATE, &t, &e[i % MANY]);
	}
	for (int i = 0; i < MANY && i < n; i++) {
		wait_ended(c, &e[i]);
		ck_assert_msg(!e[i].outcome, "%s", e[i].why);
	}
}

START_TEST(lists_in_pages)
{
	static struct listed l, before;
	static struct watched w;
	static char want[sizeof(l.text)];
	struct calls c = engine_open();
	struct cluster_selector all = { .kind = CLUSTER_NODE, .prefix = "pages-" };
	char text[64];

	ck_assert_int_eq(do_list(&c, &all, &before), CLUSTER_OK);
	create_many(&c, "pages", PAGES);
	ck_assert_msg(do_list(&c, &all, &l) == CLUSTER_OK, "%s", l.why);
	ck_assert_uint_eq(l.n, PAGES);
	for (int i = 0; i < PAGES; i++) {
		(void)snprintf(text, sizeof(text), "pages-%04d=%d@pages-n ", i, i);
		testing_append(want, sizeof(want), text);
	}
	ck_assert_str_eq(l.text, want);
	/* a watch from before them catches up with all of them */
	start_watch(&c, &all, before.revision, &w);
	wait_watched(&c, &w, PAGES);
	loop_turn(c.base);
	ck_assert_uint_eq(w.n, PAGES);
	engine_close(&c);
}
END_TEST

/* Whoever asks in parts reads each page once. */
START_TEST(a_list_goes_on_where_one_ended)
{
	static struct listed all, page;
	static char text[sizeof(all.text)], from[sizeof(page.next)];
	struct calls c = engine_open();
	struct cluster_selector which = { .kind = CLUSTER_NODE, .prefix = "parts-" };
	unsigned pages = 0;

	create_many(&c, "parts", PAGES / 2);
	ck_assert_msg(do_list(&c, &which, &all) == CLUSTER_OK, "%s", all.why);
	do {
		which.from = from;
		ck_assert_msg(do_list_page(&c, &which, &page) == CLUSTER_OK, "%s", page.why);
		testing_append(text, sizeof(text), page.text);
		memcpy(from, page.next, sizeof(from));
		pages++;
	} while (*from);
	ck_assert_str_eq(text, all.text);
	ck_assert_uint_gt(pages, 1);
	which.from = "elsewhere";
	ck_assert_int_ne(do_list_page(&c, &which, &page), CLUSTER_OK);
	engine_close(&c);
}
END_TEST

/* ---- watches ---- */

START_TEST(watches_each_change_once)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open(), other = engine_open();
	struct thing t = { .kind = CLUSTER_NODE, .name = "watch-a", .node = "watch-n" };
	struct thing last = { .kind = CLUSTER_NODE, .name = "watch-z" };
	struct cluster_selector which = { .kind = CLUSTER_NODE, .prefix = "watch-" };
	static char want[4096];
	char text[64];

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	for (int i = 0; i < 60; i++) {
		t.number = i;
		must_write(&other,
			   i % 3 ? (i % 3 == 1 ? WRITE_UPDATE : WRITE_REMOVE) : WRITE_CREATE, &t);
		(void)snprintf(text, sizeof(text), i % 3 == 2 ? "-watch-a " : "watch-a=%d ", i);
		testing_append(want, sizeof(want), text);
	}
	must_write(&other, WRITE_CREATE, &last);
	testing_append(want, sizeof(want), "watch-z=0 ");
	wait_watched(&c, &w, 61);
	ck_assert_str_eq(w.text, want);
	ck_assert_str_ne(w.revision, "");
	engine_close(&other);
	engine_close(&c);
}
END_TEST

START_TEST(a_watch_goes_on_where_it_was)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "resume-a" };
	struct cluster_selector which = { .kind = CLUSTER_POOL, .prefix = "resume-" };
	char seen[CLUSTER_REVISION_LEN];

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	must_write(&c, WRITE_CREATE, &t);
	wait_watched(&c, &w, 1);
	while (!*w.revision)
		loop_turn(c.base);
	(void)snprintf(seen, sizeof(seen), "%s", w.revision);
	c.store->ops->cancel(w.call);
	t.number = 1;
	must_write(&c, WRITE_UPDATE, &t);
	t.number = 2;
	must_write(&c, WRITE_UPDATE, &t);
	start_watch(&c, &which, seen, &w);
	t.number = 3;
	must_write(&c, WRITE_UPDATE, &t);
	wait_watched(&c, &w, 3);
	ck_assert_str_eq(w.text, "resume-a=1 resume-a=2 resume-a=3 ");
	engine_close(&c);
}
END_TEST

START_TEST(a_node_sees_what_it_has)
{
	static struct listed l;
	static struct watched one, two;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_BLOCK, .name = "move-a", .node = "move-n1" };
	struct thing z1 = { .kind = CLUSTER_BLOCK, .name = "move-z1", .node = "move-n1" };
	struct thing z2 = { .kind = CLUSTER_BLOCK, .name = "move-z2", .node = "move-n2" };
	struct cluster_selector n1 = { .kind = CLUSTER_BLOCK, .node = "move-n1" };
	struct cluster_selector n2 = { .kind = CLUSTER_BLOCK, .node = "move-n2" };

	ck_assert_int_eq(do_list(&c, &n1, &l), CLUSTER_OK);
	start_watch(&c, &n1, l.revision, &one);
	start_watch(&c, &n2, l.revision, &two);
	must_write(&c, WRITE_CREATE, &t);
	t.node = "move-n2";
	t.number = 1;
	must_write(&c, WRITE_UPDATE, &t);
	t.number = 2;
	must_write(&c, WRITE_UPDATE, &t);
	t.node = NULL;
	must_write(&c, WRITE_UPDATE, &t);
	t.node = "move-n1";
	t.number = 3;
	must_write(&c, WRITE_UPDATE, &t);
	must_write(&c, WRITE_REMOVE, &t);
	must_write(&c, WRITE_CREATE, &z1);
	must_write(&c, WRITE_CREATE, &z2);
	wait_watched(&c, &one, 5);
	wait_watched(&c, &two, 4);
	ck_assert_str_eq(one.text, "move-a=0 -move-a move-a=3 -move-a move-z1=0 ");
	ck_assert_str_eq(two.text, "move-a=1 move-a=2 -move-a move-z2=0 ");
	engine_close(&c);
}
END_TEST

START_TEST(an_old_revision_is_expired)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "expired-a" };
	struct cluster_selector which = { .kind = CLUSTER_POOL, .prefix = "expired-" };

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	must_write(&c, WRITE_CREATE, &t);
	t.number = 1;
	must_write(&c, WRITE_UPDATE, &t);
	engine_control("compact");
	start_watch(&c, &which, l.revision, &w);
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_EXPIRED, "%d: %s", (int)w.outcome, w.why);
	start_watch(&c, &which, "no-revision", &w);
	wait_watched(&c, &w, 0);
	ck_assert_int_eq(w.outcome, CLUSTER_EXPIRED);
	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	t.number = 2;
	must_write(&c, WRITE_UPDATE, &t);
	wait_watched(&c, &w, 1);
	engine_close(&c);
}
END_TEST

/* ---- cancel and close ---- */

START_TEST(nothing_after_cancel)
{
	static struct watched w;
	static struct listed l;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "cancel-a" };
	struct thing b = { .kind = CLUSTER_POOL, .name = "cancel-b" };
	struct cluster_selector which = { .kind = CLUSTER_POOL, .prefix = "cancel-" };
	struct ended e, get;

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	must_write(&c, WRITE_CREATE, &b);
	wait_watched(&c, &w, 1);
	start_write(&c, WRITE_CREATE, &t, &e);
	start_get(&c, &t, &get);
	c.store->ops->cancel(e.call);
	c.store->ops->cancel(get.call);
	c.store->ops->cancel(w.call);
	must_write(&c, WRITE_UPDATE, &b);
	ck_assert(!e.done && !get.done && !w.ended);
	ck_assert_uint_eq(w.n, 1);
	start_get(&c, &t, &get);
	start_watch(&c, &which, l.revision, &w);
	engine_close(&c);
	ck_assert(!get.done && !w.ended);
}
END_TEST

static void close_it(void *arg, const struct cluster_result *r)
{
	struct calls *c = arg;

	(void)r;
	c->store->ops->close(c->store);
	c->store = NULL;
}

static bool is_closed(const void *arg)
{
	return !((const struct calls *)arg)->store;
}

START_TEST(closes_in_a_callback)
{
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "close-a" };
	struct ended e;

	start_get(&c, &t, &e);
	ck_assert_ptr_nonnull(c.store->ops->get(c.store, CLUSTER_POOL, "close-a", close_it, &c));
	loop_until(c.base, is_closed, &c);
	loop_turn(c.base);
	loop_free(c.base);
}
END_TEST

/* ---- an engine that is away ---- */

START_TEST(a_stopped_engine_is_away)
{
	struct calls c = engine_open_within(1000), other = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "stopped-a" };
	struct thing b = { .kind = CLUSTER_POOL, .name = "stopped-b" };
	struct ended get, create;

	must_write(&other, WRITE_CREATE, &t);
	engine_close(&other);
	engine_control("stop");
	start_get(&c, &t, &get);
	start_write(&c, WRITE_CREATE, &b, &create);
	wait_ended(&c, &get);
	wait_ended(&c, &create);
	engine_control("cont");
	ck_assert_int_eq(get.outcome, CLUSTER_AWAY);
	ck_assert_int_eq(create.outcome, CLUSTER_AWAY);
	while (do_get(&c, &t, &get) == CLUSTER_AWAY)
		loop_turn(c.base);
	ck_assert_int_eq(get.outcome, CLUSTER_OK);
	/* the write may have been executed; what is there, then, is ours */
	engine_close(&c);
	c = engine_open();
	if (do_get(&c, &b, &get) == CLUSTER_OK)
		ck_assert_int_eq(do_write(&c, WRITE_CREATE, &b, &create), CLUSTER_EXISTS);
	else
		ck_assert_int_eq(get.outcome, CLUSTER_NOT_FOUND);
	engine_close(&c);
}
END_TEST

START_TEST(a_killed_engine_comes_back)
{
	static struct watched w;
	static struct listed l;
	struct calls c = engine_open();
	struct thing t = { .kind = CLUSTER_POOL, .name = "killed-a", .number = 7 };
	struct cluster_selector which = { .kind = CLUSTER_POOL, .prefix = "killed-" };
	char seen[CLUSTER_REVISION_LEN];
	struct ended e;

	must_write(&c, WRITE_CREATE, &t);
	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	t.number = 8;
	must_write(&c, WRITE_UPDATE, &t);
	wait_watched(&c, &w, 1);
	engine_control("kill");
	wait_watched(&c, &w, 0);
	ck_assert_int_ne(w.outcome, CLUSTER_EXPIRED);
	ck_assert_int_eq(do_get(&c, &t, &e), CLUSTER_AWAY);
	ck_assert_int_eq(do_write(&c, WRITE_UPDATE, &t, &e), CLUSTER_AWAY);
	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_AWAY);
	engine_control("start");
	ck_assert_msg(do_get(&c, &t, &e) == CLUSTER_OK, "%s", e.why);
	ck_assert_int_eq(e.number, 8);
	(void)snprintf(seen, sizeof(seen), "%s", w.revision);
	start_watch(&c, &which, seen, &w);
	if (contract_engine->forgets) {
		wait_watched(&c, &w, 0);
		ck_assert_msg(w.outcome == CLUSTER_EXPIRED, "%d: %s", (int)w.outcome, w.why);
		ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
		start_watch(&c, &which, l.revision, &w);
	}
	t.number = 9;
	must_write(&c, WRITE_UPDATE, &t);
	wait_watched(&c, &w, 1);
	ck_assert_str_eq(w.text, "killed-a=9 ");
	engine_close(&c);
}
END_TEST

void contract_test(Suite *suite, const TTest *test)
{
	TCase *tc = tcase_create(test->name);

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test);
	suite_add_tcase(suite, tc);
}

void contract_add(Suite *suite)
{
	const TTest *const tests[] = {
		creates_if_absent,        updates_one_version,
		removes_one_version,      refuses_bad_names,
		one_of_many_creates,      one_of_many_updates,
		lists_what_is_selected,   lists_the_blocks_of_a_pool,
		lists_in_pages,           a_list_goes_on_where_one_ended,
		watches_each_change_once, a_watch_goes_on_where_it_was,
		a_node_sees_what_it_has,  an_old_revision_is_expired,
		nothing_after_cancel,     closes_in_a_callback,
		a_stopped_engine_is_away, a_killed_engine_comes_back,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		contract_test(suite, tests[i]);
}
