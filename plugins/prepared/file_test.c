/* SPDX-License-Identifier: Apache-2.0 */
/* file_test.c: which files of prepared claims are read, and what stays and goes with them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "plugins/prepared/prepared_priv.h"

#define POD           "0b8d-pod"
#define CLAIM         "11aa-claim"
#define ID(uid, name) "{\"uid\":\"" uid "\",\"namespace\":\"jobs\",\"name\":\"" name "\"}"
#define NETWORK       "{\"name\":\"railhead-claims\",\"type\":\"rails\",\"kind\":\"macvlan\"}"
#define FILE_OF(pod, claim, networks)                                                              \
	"{\"version\":1,\"pod\":" pod ",\"claim\":" claim ",\"networks\":" networks "}"
#define WHOLE FILE_OF(ID(POD, "train-0"), ID(CLAIM, "rails"), "[" NETWORK "]")

static struct ctx make_ctx(void)
{
	static char run[80];

	(void)snprintf(run, sizeof(run), "%s/run", testing_dir());
	return (struct ctx){ .proc = "/proc",
			     .run_dir = run,
			     .log = { .fd = -1, .level = LOG_LEVEL_INFO, .tag = "test" } };
}

static struct prepared decoded(const char *text)
{
	struct prepared p;
	struct err e = { .msg = "" };

	ck_assert_msg(prepared_decode(text, strlen(text), &p, &e) == 0, "%s", e.msg);
	return p;
}

static void put(const struct ctx *ctx, const char *text)
{
	auto_prepared struct prepared p = decoded(text);
	struct err e = { .msg = "" };

	ck_assert_msg(prepared_put(ctx, &p, &e) == 0, "%s", e.msg);
}

static const char *path_of(const struct ctx *ctx, const char *below)
{
	static char path[300];

	(void)snprintf(path, sizeof(path), "%s/" PREPARED_FOLDER "/%s", ctx->run_dir, below);
	return path;
}

struct seen {
	char text[400];
	size_t stop_after;
};

static int note(const struct prepared_entry *x, void *arg)
{
	struct seen *s = arg;

	testing_append(s->text, sizeof(s->text), x->pod_uid);
	testing_append(s->text, sizeof(s->text), "/");
	testing_append(s->text, sizeof(s->text), x->claim_uid);
	testing_append(s->text, sizeof(s->text), x->claim ? " " : "! ");
	ck_assert(!x->claim == !!x->why);
	return s->stop_after && --s->stop_after == 0;
}

START_TEST(a_claim_is_read_as_it_was_written)
{
	auto_prepared struct prepared p = decoded(WHOLE);
	auto_free char *text = prepared_print(&p);

	ck_assert_str_eq(text, WHOLE);
	ck_assert_str_eq(p.pod.name, "train-0");
	ck_assert_str_eq(p.claim.ns, "jobs");
	ck_assert_str_eq(json_text(json_first(p.networks), "kind"), "macvlan");
	ck_assert(!p.memlock);
	p.memlock = true;
	p.variables = 2;
	auto_free char *more = prepared_print(&p);
	auto_prepared struct prepared q = decoded(more);
	ck_assert(q.memlock && q.variables == 2);
}
END_TEST

START_TEST(a_damaged_file_is_refused)
{
	static const char *const damaged[] = {
		"",
		"{}",
		"{\"version\":2}",
		FILE_OF(ID("../x", "p"), ID(CLAIM, "c"), "[" NETWORK "]"),
		FILE_OF(ID(POD, "p;A=B"), ID(CLAIM, "c"), "[" NETWORK "]"),
		FILE_OF(ID(POD, "p"), ID("", "c"), "[" NETWORK "]"),
		FILE_OF(ID(POD, "p"), "{\"uid\":\"" CLAIM "\"}", "[" NETWORK "]"),
		FILE_OF(ID(POD, "p"), ID(CLAIM, "c"), "[]"),
		FILE_OF(ID(POD, "p"), ID(CLAIM, "c"), "{}"),
		FILE_OF(ID(POD, "p"), ID(CLAIM, "c"), "[1]"),
		FILE_OF(ID(POD, "p"), ID(CLAIM, "c"), "[{\"type\":\"rails\"}]"),
		FILE_OF(ID(POD, "p"), ID(CLAIM, "c"), "[{\"name\":\"n\",\"type\":\"sriov\"}]"),
		FILE_OF(ID(POD, "p"), ID(CLAIM, "c"),
			"[" NETWORK "," NETWORK "," NETWORK "," NETWORK "," NETWORK "," NETWORK
			"," NETWORK "," NETWORK "," NETWORK "]"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		struct prepared p;
		struct err e;

		ck_assert_msg(prepared_decode(damaged[i], strlen(damaged[i]), &p, &e) == -1, "%s",
			      damaged[i]);
		ck_assert_int_eq(e.code, ERR_DECODE);
	}
}
END_TEST

static int decode_and_print(void *arg, struct err *e)
{
	auto_prepared struct prepared p = { .networks = NULL };

	if (prepared_decode(arg, strlen(arg), &p, e))
		return -1;
	auto_free char *text = prepared_print(&p);
	return text ? 0 : err_nomem(e);
}

START_TEST(survives_each_failing_allocation)
{
	ck_assert_str_eq(alloc_fail_each(decode_and_print, WHOLE), "ok");
}
END_TEST

START_TEST(without_a_folder_there_is_no_claim)
{
	const struct ctx ctx = make_ctx();
	struct prepared_pod pod = PREPARED_CLOSED;
	struct seen s = { .text = "" };
	struct prepared p;
	struct err e;

	ck_assert_int_eq(prepared_read(&ctx, POD, CLAIM, &p, &e), 0);
	ck_assert_int_eq(prepared_open(&ctx, POD, false, &pod, &e), 0);
	ck_assert_int_eq(prepared_each(&ctx, NULL, note, &s, &e), 0);
	ck_assert_int_eq(prepared_each(&ctx, POD, note, &s, &e), 0);
	ck_assert_str_eq(s.text, "");
	ck_assert_int_eq(access(ctx.run_dir, F_OK), -1);
	ck_assert_int_eq(prepared_read(&ctx, "../a", CLAIM, &p, &e), -1);
	ck_assert_int_eq(prepared_read(&ctx, POD, "a/b", &p, &e), -1);
}
END_TEST

START_TEST(a_claim_that_is_put_is_read)
{
	const struct ctx ctx = make_ctx();
	struct prepared p = { .networks = NULL };
	struct stat st;
	struct err e;

	put(&ctx, WHOLE);
	put(&ctx, WHOLE);
	ck_assert_int_eq(prepared_read(&ctx, POD, CLAIM, &p, &e), 1);
	ck_assert_str_eq(p.claim.name, "rails");
	prepared_clear(&p);
	ck_assert_int_eq(prepared_read(&ctx, POD, "other", &p, &e), 0);
	ck_assert_int_eq(stat(path_of(&ctx, POD), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(path_of(&ctx, POD "/" CLAIM ".json"), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(path_of(&ctx, POD "/" PREPARED_PUBLIC), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0755);
}
END_TEST

START_TEST(an_attached_claim_keeps_its_networks)
{
	const struct ctx ctx = make_ctx();
	auto_prepared struct prepared other = decoded(
		FILE_OF(ID(POD, "train-0"), ID(CLAIM, "rails"), "[" NETWORK "," NETWORK "]"));
	struct err e = { .msg = "" };

	put(&ctx, WHOLE);
	testing_file(path_of(&ctx, POD "/" CLAIM PREPARED_RESULT), 0600, "{}");
	ck_assert_int_eq(prepared_put(&ctx, &other, &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	put(&ctx, WHOLE);
	ck_assert_int_eq(unlink(path_of(&ctx, POD "/" CLAIM PREPARED_RESULT)), 0);
	ck_assert_int_eq(prepared_put(&ctx, &other, &e), 0);
}
END_TEST

START_TEST(a_walk_reports_damaged_files)
{
	const struct ctx ctx = make_ctx();
	struct seen all = { .text = "" }, one = { .text = "" }, first = { .stop_after = 1 };
	char name[PREPARED_NAME_LEN];
	struct prepared p;
	struct err e;

	put(&ctx, WHOLE);
	put(&ctx, FILE_OF(ID(POD, "train-0"), ID("22bb", "more"), "[" NETWORK "]"));
	put(&ctx, FILE_OF(ID("pod-b", "b"), ID("33cc", "c"), "[" NETWORK "]"));
	testing_file(path_of(&ctx, POD "/1234.json"), 0600, "nonsense");
	testing_file(path_of(&ctx, POD "/copied.json"), 0600, WHOLE);
	testing_file(path_of(&ctx, POD "/22bb" PREPARED_RESULT), 0600, "{}");
	testing_file(path_of(&ctx, "stray.json"), 0600, "{}");
	ck_assert_int_eq(prepared_each(&ctx, NULL, note, &all, &e), 0);
	ck_assert_str_eq(all.text,
			 POD "/" CLAIM " " POD "/1234! " POD "/22bb " POD "/copied! pod-b/33cc ");
	ck_assert_int_eq(prepared_each(&ctx, "pod-b", note, &one, &e), 0);
	ck_assert_str_eq(one.text, "pod-b/33cc ");
	ck_assert_int_eq(prepared_each(&ctx, NULL, note, &first, &e), 0);
	ck_assert_str_eq(first.text, POD "/" CLAIM " ");
	ck_assert_str_eq(prepared_claim_name(&ctx, NULL, CLAIM, name), "rails");
	ck_assert_str_eq(prepared_claim_name(&ctx, "pod-b", CLAIM, name), "");
	ck_assert_str_eq(prepared_claim_name(&ctx, POD, "1234", name), "");
	ck_assert_int_eq(prepared_read(&ctx, POD, "copied", &p, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_int_eq(chmod(path_of(&ctx, POD "/" CLAIM ".json"), 0666), 0);
	ck_assert_int_eq(prepared_read(&ctx, POD, CLAIM, &p, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
}
END_TEST

START_TEST(an_empty_folder_goes_with_its_lock)
{
	const struct ctx ctx = make_ctx();
	struct prepared_pod pod = PREPARED_CLOSED;
	struct err e;

	put(&ctx, WHOLE);
	ck_assert_int_eq(prepared_open(&ctx, POD, false, &pod, &e), 1);
	ck_assert_int_eq(unlinkat(pod.dir, CLAIM ".json", 0), 0);
	ck_assert_int_eq(unlinkat(pod.dir, PREPARED_PUBLIC, AT_REMOVEDIR), 0);
	prepared_close(&pod, POD);
	ck_assert_int_eq(access(path_of(&ctx, POD), F_OK), -1);
	ck_assert_int_eq(prepared_open(&ctx, POD, false, &pod, &e), 0);
}
END_TEST

TEST_PROGRAM("prepared_file", a_claim_is_read_as_it_was_written, a_damaged_file_is_refused,
	     survives_each_failing_allocation, without_a_folder_there_is_no_claim,
	     a_claim_that_is_put_is_read, an_attached_claim_keeps_its_networks,
	     a_walk_reports_damaged_files, an_empty_folder_goes_with_its_lock)
