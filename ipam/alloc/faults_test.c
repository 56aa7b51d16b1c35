/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults_test.c: every store call fails once, every allocation fails once: a verb then has done all
 * of its work or nothing.
 */
#include <sys/wait.h>

#include "ipam/admin/node.h"
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"
#include "lib/testing/alloc.h"

#define POOLS_KEY "\"pools\":[\"rail0\",\"six\"]"
#define POOLS     "{" POOLS_KEY "}"
#define POD_A     "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a"
#define POD_B     "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=b"
#define POD_Z     "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=z"

/* ---- a store whose n-th call fails, over another store ---- */

struct faulty {
	struct store base;
	struct store *under;
	int fail_at; /* the call that fails, counted from 1; 0: none */
	int calls;
};

struct faulty_txn {
	struct store_txn base;
	struct store_txn *under;
};

static struct faulty *faulty_of(struct store *s)
{
	return (struct faulty *)(void *)s;
}

static struct store_txn *under(struct store_txn *t)
{
	return ((struct faulty_txn *)(void *)t)->under;
}

static int fault(struct store *s, struct err *e)
{
	struct faulty *f = faulty_of(s);

	return ++f->calls == f->fail_at ? err_set(e, ERR_STORE, 0, "injected") : 0;
}

static int f_begin(struct store *s, enum store_mode mode, struct store_txn **out, struct err *e)
{
	struct store *real = faulty_of(s)->under;
	struct faulty_txn *t = calloc(1, sizeof(*t));

	if (!t || fault(s, e) || real->ops->begin(real, mode, &t->under, e)) {
		free(t);
		return -1;
	}
	t->base.store = s;
	*out = &t->base;
	return 0;
}

static int f_get(struct store_txn *t, const char *key, const char **value, struct err *e)
{
	return fault(t->store, e) ? -1 : under(t)->store->ops->get(under(t), key, value, e);
}

static int f_put(struct store_txn *t, const char *key, const char *value, struct err *e)
{
	return fault(t->store, e) ? -1 : under(t)->store->ops->put(under(t), key, value, e);
}

static int f_del(struct store_txn *t, const char *key, struct err *e)
{
	return fault(t->store, e) ? -1 : under(t)->store->ops->del(under(t), key, e);
}

static int f_scan(struct store_txn *t, struct store_span span, store_fn fn, void *arg,
		  struct err *e)
{
	if (fault(t->store, e))
		return -1;
	return under(t)->store->ops->scan(under(t), span, fn, arg, e);
}

static void f_keep(struct store_txn *t)
{
	under(t)->store->ops->keep(under(t));
}

static void f_abort(struct store_txn *t)
{
	if (!t)
		return;
	under(t)->store->ops->abort(under(t));
	free(t);
}

static int f_commit(struct store_txn *t, struct err *e)
{
	struct store_txn *real = under(t);

	if (fault(t->store, e)) {
		f_abort(t);
		return -1;
	}
	free(t);
	return real->store->ops->commit(real, e);
}

static void f_close(struct store *s)
{
	store_close(faulty_of(s)->under);
}

static const struct store_ops faulty_ops = { f_close, f_begin, f_get,    f_put,  f_del,
					     f_scan,  f_keep,  f_commit, f_abort };

static void make_faulty(struct fixture *w, struct faulty *f)
{
	*f = (struct faulty){ .base = { &faulty_ops }, .under = w->m.store };
	w->m.store = &f->base;
}

/* ---- what is tried ---- */

static uint64_t marked(const struct ctx *ctx, const struct owner *o)
{
	(void)ctx;
	return strcmp(o->container, "gone") == 0 ? 7 : 0;
}

static void look(const struct ctx *ctx, const struct owner *o, struct holder_view *out)
{
	out->mark = marked(ctx, o);
	out->state = out->mark ? HOLDER_GONE : HOLDER_UNRECORDED;
}

static const struct holder_ops holders = { look, marked };

#define SHARED "{\"subnet\":\"10.9.0.0/24\",\"blockSize\":4"

/*
 * c1 holds, c2 released, c3 (pod a) released; the six pool has slices and is fresh; a sandbox of
 * pod z is gone without a DEL. The pool shared has two blocks, and c9 has an address of one.
 */
static void furnish(struct fixture *w)
{
	fixture_open(w);
	w->ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	testing_file("/mnt/etc/node.json", 0600, "{\"number\":0}");
	ck_assert_int_eq(
		w_pool(w, "rail0",
		       "{\"subnet\":\"10.0.0.0/"
		       "29\",\"sticky\":true,\"quota\":9,\"ranges\":[\"10.0.0.1-10.0.0.3\"]}",
		       false),
		0);
	ck_assert_int_eq(
		w_pool(w, "six", "{\"subnet\":\"fd00::/64\",\"slice\":{\"size\":16}}", false), 0);
	ck_assert_int_eq(w_add(w, "{\"pool\":\"rail0\"}", "c1", "")[0], '1');
	ck_assert_int_eq(w_add(w, "{\"pool\":\"rail0\"}", "c2", POD_B)[0], '1');
	ck_assert_int_eq(w_add(w, "{\"pool\":\"rail0\"}", "c3", POD_A)[0], '1');
	w_del(w, "c2");
	w_del(w, "c3");
	ck_assert_int_eq(w_shared(w, "shared", "u1", SHARED "}"), 0);
	w_node(w, 1, INT64_MAX);
	ck_assert_int_eq(w_block(w, "shared", "10.9.0.4", BLOCK_GRANTED, 1), 0);
	ck_assert_int_eq(w_block(w, "shared", "10.9.0.8", BLOCK_GRANTED, 1), 0);
	ck_assert_int_eq(w_add(w, "{\"pool\":\"shared\"}", "c9", "")[0], '1');
	w->m.holders = &holders;
	ck_assert_int_eq(w_add(w, "{\"subnet\":\"10.7.0.0/30\"}", "gone", POD_Z)[0], '1');
}

typedef int (*verb_fn)(struct fixture *w);

static int v_add(struct fixture *w)
{
	return w_add(w, POOLS, "new", POD_A)[0] == '!' ? -1 : 0;
}

static int v_add_other(struct fixture *w)
{
	return w_add(w, POOLS, "new", "")[0] == '!' ? -1 : 0;
}

static int v_add_asked(struct fixture *w)
{
	return w_add(w, POOLS, "new", "IP=10.0.0.2,fd00::9")[0] == '!' ? -1 : 0;
}

static int v_add_again(struct fixture *w)
{
	return w_add(w, "{\"pool\":\"rail0\"}", "c1", "")[0] == '!' ? -1 : 0;
}

static int v_take_over(struct fixture *w)
{
	return w_add(w, "{\"subnet\":\"10.7.0.0/30\"}", "new", POD_Z)[0] == '!' ? -1 : 0;
}

static int v_del(struct fixture *w)
{
	const struct owner o = w_owner(w, "c1");

	return alloc_del(&w->m, &o, NULL, &w->e);
}

static int v_check(struct fixture *w)
{
	const struct owner o = w_owner(w, "c1");
	const struct alloc_check c = { &o, NULL, 0 };

	return alloc_check(&w->m, &c, &w->e);
}

static int v_status(struct fixture *w)
{
	return w_status(w, "{\"statusWhenFull\":true," POOLS_KEY "}")[0] == '!' ? -1 : 0;
}

static bool keep_none(const char *container, const char *ifname, const void *arg)
{
	(void)container;
	(void)ifname;
	(void)arg;
	return false;
}

static int v_gc(struct fixture *w)
{
	const struct alloc_gc gc = { "net", keep_none, NULL };
	struct json *journal = NULL;
	int rc = alloc_gc(&w->m, &gc, &journal, &w->e);

	json_free(journal);
	return rc;
}

static int v_pool_set(struct fixture *w)
{
	return w_pool(w, "rail0", "{\"subnet\":\"10.0.0.0/29\"}", true) ? -1 : 0;
}

static int v_slice_set(struct fixture *w)
{
	return w_pool(w, "six", "{\"subnet\":\"fd00::/64\",\"slice\":{\"size\":8}}", true) ? -1 : 0;
}

static int v_node_set(struct fixture *w)
{
	auto_json struct json *o = json_new_object();
	struct admin_node n = { o, false, 0 };

	if (!o || json_add_int(o, "number", 3))
		return err_nomem(&w->e);
	return admin_node_set(&w->m, &n, &w->e);
}

static int v_pool_delete(struct fixture *w)
{
	const struct admin_delete d = { "rail0", true };

	return admin_pool_delete(&w->m, &d, NULL, &w->e);
}

static int v_block_add(struct fixture *w)
{
	return w_add(w, "{\"pool\":\"shared\"}", "new", POD_A)[0] == '!' ? -1 : 0;
}

/* Without assertions: they allocate. */
static const struct block_key empty_block = { "shared", { IP_V4, 0x0a090008 }, 0 };

static int v_block_put(struct fixture *w)
{
	const struct block_record r = { .key = { .pool = "shared", .start = { IP_V4, 0x0a09000c } },
					.state = BLOCK_GRANTED,
					.epoch = 1 };

	return blocks_put(&w->m, &r, &w->e);
}

static int v_block_retire(struct fixture *w)
{
	return blocks_retire(&w->m, &empty_block, &w->e);
}

static int v_block_drop(struct fixture *w)
{
	return blocks_drop(&w->m, &empty_block, &w->e);
}

static int v_share(struct fixture *w)
{
	return w_shared(w, "shared", "u1", SHARED ",\"excludes\":[\"10.9.0.5\"]}") ? -1 : 0;
}

static int v_block_lists(struct fixture *w)
{
	auto_json struct json *a = NULL, *b = NULL;
	struct agent_memory memory = { .n = 0 };
	uint64_t spare;
	int rc = admin_blocks(&w->m, NULL, &a, &w->e) || shared_pool_list(&w->m, &b, &w->e) ||
				 blocks_spare(&w->m, "shared", &spare, &w->e) ||
				 blocks_load(&w->m, &memory, &w->e)
			 ? -1
			 : 0;

	blocks_clear(&memory);
	return rc;
}

static int v_lists(struct fixture *w)
{
	auto_json struct json *a = NULL, *b = NULL, *c = NULL;
	const struct lease_filter all = { .resting = true };

	return admin_pools(&w->m, NULL, &a, &w->e) || admin_networks(&w->m, &b, &w->e) ||
			       admin_leases(&w->m, &all, &c, &w->e)
		       ? -1
		       : 0;
}

static int v_release(struct fixture *w)
{
	const struct lease_filter f = { .container = "c1" };
	uint64_t n;

	return admin_release(&w->m, &f, &n, NULL, &w->e);
}

static int v_verify(struct fixture *w)
{
	struct verify v = { .repair = true };

	return ipam_verify(&w->m, &v, &w->e);
}

static int v_boot(struct fixture *w)
{
	(void)snprintf(w->m.boot, sizeof(w->m.boot), "%s", BOOT_2);
	return v_add(w);
}

static const struct {
	const char *name;
	verb_fn fn;
} verbs[] = {
	{ "add", v_add },
	{ "add other", v_add_other },
	{ "add asked", v_add_asked },
	{ "add again", v_add_again },
	{ "take over", v_take_over },
	{ "del", v_del },
	{ "check", v_check },
	{ "status", v_status },
	{ "gc", v_gc },
	{ "pool set", v_pool_set },
	{ "slice set", v_slice_set },
	{ "node set", v_node_set },
	{ "pool delete", v_pool_delete },
	{ "lists", v_lists },
	{ "block add", v_block_add },
	{ "block put", v_block_put },
	{ "block retire", v_block_retire },
	{ "block drop", v_block_drop },
	{ "block lists", v_block_lists },
	{ "share", v_share },
	{ "release", v_release },
	{ "verify", v_verify },
	{ "boot", v_boot },
};

struct dump {
	char text[16384];
};

static int note(const char *key, const char *value, void *arg)
{
	struct dump *d = arg;

	testing_append(d->text, sizeof(d->text), key);
	testing_append(d->text, sizeof(d->text), value);
	return 0;
}

static void dump(struct store *s, struct dump *out)
{
	struct store_txn *t;
	struct err e;

	out->text[0] = '\0';
	ck_assert_int_eq(s->ops->begin(s, STORE_READ, &t, &e), 0);
	ck_assert_int_eq(s->ops->scan(t, (struct store_span){ "", NULL }, note, out, &e), 0);
	s->ops->abort(t);
}

/* Fail call after call until the verb gets through; before that it may change nothing. */
static void fail_each_call(struct fixture *w, const char *name, verb_fn fn)
{
	static struct dump before, after;
	struct faulty f;

	make_faulty(w, &f);
	dump(f.under, &before);
	for (int n = 1;; n++) {
		ck_assert_int_lt(n, 5000);
		f.calls = 0;
		f.fail_at = n;
		int rc = fn(w);
		f.fail_at = 0;
		if (rc == 0 && f.calls < n)
			break;
		/* a boot repairs what went wrong, and that was it */
		if (rc == 0 && fn == v_boot)
			break;
		/* a collection has a second transaction, which does what the first one could not */
		if (rc == 0 && fn == v_gc)
			continue;
		ck_assert_msg(rc != 0, "%s, call %d", name, n);
		ck_assert_msg(w->e.code == ERR_STORE, "%s, call %d: %s", name, n, w->e.msg);
		/* a collection goes on with the next container */
		if (fn == v_gc)
			continue;
		dump(f.under, &after);
		ck_assert_msg(strcmp(before.text, after.text) == 0, "%s, call %d", name, n);
	}
	w->m.store = f.under;
}

START_TEST(every_store_call_fails_once)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			auto_fixture struct fixture w = { .now = 0 };

			furnish(&w);
			fail_each_call(&w, verbs[i].name, verbs[i].fn);
			if (verbs[i].fn != v_gc)
				w_sound(&w);
			exit(0);
		}
		int status;
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(status == 0, "%s", verbs[i].name);
	}
}
END_TEST

struct one_verb {
	struct fixture *w;
	verb_fn fn;
};

/* An ADD whose configuration was read before. */
struct prepared {
	struct fixture *w;
	struct alloc_add add;
};

static int run_add(void *arg, struct err *e)
{
	struct prepared *p = arg;
	auto_alloc struct alloc_result out = { .n = 0 };
	auto_json struct json *journal = NULL;

	return alloc_add(&p->w->m, &p->add, &out, &journal, e);
}

static void fail_allocations_of_add(struct fixture *w)
{
	const struct cni_env env = {
		.cmd = CNI_ADD, .container = "new", .ifname = "net1", .args = POD_A
	};
	auto_ipam_conf struct ipam_conf ic = { .n_pools = 0 };
	struct cni_conf conf;
	struct request r;
	struct prepared p = { w, { .conf = &ic, .request = &r } };

	w_conf(w, POOLS, &conf);
	ck_assert_int_eq(ipam_conf_decode(&conf, &ic, &w->e), 0);
	ck_assert_int_eq(request_load(&env, &conf, &r, &w->e), 0);
	ck_assert_str_eq(alloc_fail_each(run_add, &p), "ok");
	/* and the boot with all it repairs */
	(void)snprintf(w->m.boot, sizeof(w->m.boot), "%s", BOOT_2);
	ck_assert_str_eq(alloc_fail_each(run_add, &p), "ok");
	cni_conf_clear(&conf);
}

static int run_verb(void *arg, struct err *e)
{
	struct one_verb *v = arg;

	if (v->fn(v->w) == 0)
		return 0;
	return err_pass(e, &v->w->e);
}

START_TEST(every_allocation_fails_once)
{
	static const verb_fn fns[] = { NULL,        v_check,      v_lists,        v_verify,
				       v_del,       v_release,    v_gc,           v_node_set,
				       v_block_put, v_block_drop, v_block_retire, v_block_lists };

	for (size_t i = 0; i < ARRAY_SIZE(fns); i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			auto_fixture struct fixture w = { .now = 0 };
			struct one_verb v = { &w, fns[i] };

			furnish(&w);
			if (i == 0)
				fail_allocations_of_add(&w);
			else
				ck_assert_str_eq(alloc_fail_each(run_verb, &v), "ok");
			w_sound(&w);
			exit(0);
		}
		int status;
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(status == 0, "verb %zu", i);
	}
}
END_TEST

TEST_PROGRAM("faults", every_store_call_fails_once, every_allocation_fails_once)
