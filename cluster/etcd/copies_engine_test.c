/* SPDX-License-Identifier: Apache-2.0 */
/* copies_engine_test.c: of the two keys of a block, a person has changed one. A real etcd. */
#include "cluster/testing/etcd_engine.h"

struct compared {
	struct ended end;
	char wrong[2048];
};

static void on_wrong(void *arg, const struct err *why)
{
	struct compared *w = arg;

	testing_append(w->wrong, sizeof(w->wrong), why->msg);
	testing_append(w->wrong, sizeof(w->wrong), "\n");
}

static void on_compared(void *arg, const struct cluster_result *r)
{
	struct compared *w = arg;

	w->end.done = true;
	w->end.outcome = r->outcome;
}

static void compare_copies(struct calls *c, struct compared *w)
{
	static const struct cluster_copies_fns fns = { on_wrong, on_compared };
	static const struct cluster_selector which = { .kind = CLUSTER_BLOCK, .node = "copies-n" };

	*w = (struct compared){ .end.done = false };
	ck_assert_ptr_nonnull(c->store->ops->drop_copies(c->store, &which, &fns, w));
	wait_ended(c, &w->end);
	ck_assert_int_eq(w->end.outcome, CLUSTER_OK);
}

/* Below this prefix the copies of the node are objects, so that a test can write one key alone. */
static struct calls open_copies(void)
{
	const char *const endpoints[] = { getenv("ETCD_ENDPOINT"), NULL };
	struct etcd_conf conf = conf_of(endpoints, 30000);

	conf.prefix = "/contract/by-node/copies-n/";
	return open_with(&conf);
}

/* As an operator with etcdctl does. */
START_TEST(a_copy_without_its_object_is_deleted)
{
	static struct listed l;
	static struct watched w;
	static struct compared found;
	struct calls c = engine_open(), copies = open_copies();
	struct thing a = { .kind = CLUSTER_BLOCK, .name = "copies-a", .node = "copies-n" };
	struct thing b = { .kind = CLUSTER_BLOCK, .name = "copies-b", .node = "copies-n" };
	struct thing alone = { .kind = CLUSTER_BLOCK, .name = "copies-c" };
	struct cluster_selector which = { .kind = CLUSTER_BLOCK, .node = "copies-n" };

	must_write(&c, WRITE_CREATE, &a);
	must_write(&c, WRITE_CREATE, &b);
	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	compare_copies(&c, &found);
	ck_assert_str_eq(found.wrong, "");
	must_write(&copies, WRITE_CREATE, &alone);
	wait_watched(&c, &w, 1);
	alone = b;
	must_write(&copies, WRITE_UPDATE, &alone);
	wait_watched(&c, &w, 2);
	compare_copies(&c, &found);
	ck_assert_str_eq(found.wrong,
			 "etcd: keys /contract/blocks/copies-b and "
			 "/contract/by-node/copies-n/blocks/copies-b were written one without the "
			 "other\n"
			 "etcd: key /contract/blocks/copies-c is missing, and its copy "
			 "/contract/by-node/copies-n/blocks/copies-c was there\n");
	wait_watched(&c, &w, 4);
	ck_assert_str_eq(w.text, "copies-c=0 copies-b=0 -copies-b -copies-c ");
	c.store->ops->cancel(w.call);
	/* the object is there, and brings its copy back */
	must_write(&c, WRITE_UPDATE, &b);
	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, "copies-a=0@copies-n copies-b=0@copies-n ");
	compare_copies(&c, &found);
	ck_assert_str_eq(found.wrong, "");
	must_write(&c, WRITE_REMOVE, &a);
	must_write(&c, WRITE_REMOVE, &b);
	engine_close(&copies);
	engine_close(&c);
}
END_TEST

/* More than one page. */
START_TEST(many_copies_are_compared)
{
	static struct compared found;
	struct calls c = engine_open(), copies = open_copies();
	size_t lines = 0;
	char name[32];

	for (int i = 0; i < 205; i++) {
		struct thing t = { .kind = CLUSTER_BLOCK, .name = name, .node = "copies-n" };
		bool whole = i % 50 != 0;

		(void)snprintf(name, sizeof(name), "copies-%03d", i);
		t.node = whole ? "copies-n" : NULL;
		must_write(whole ? &c : &copies, WRITE_CREATE, &t);
	}
	compare_copies(&c, &found);
	for (const char *at = found.wrong; (at = strchr(at, '\n')); at++)
		lines++;
	ck_assert_uint_eq(lines, 5);
	ck_assert_ptr_nonnull(strstr(found.wrong, "/blocks/copies-200 is missing"));
	compare_copies(&c, &found);
	ck_assert_str_eq(found.wrong, "");
	engine_close(&copies);
	engine_close(&c);
}
END_TEST

int main(void)
{
	static const struct contract_engine engine = { "etcd", open_etcd, false };
	Suite *suite = suite_create("etcd_copies");
	SRunner *runner;
	int failed;

	etcd_read_files();
	contract_engine = &engine;
	contract_test(suite, a_copy_without_its_object_is_deleted);
	contract_test(suite, many_copies_are_compared);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
