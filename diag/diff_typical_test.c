// SPDX-License-Identifier: Apache-2.0
/* The typical machine of a cluster is the one that most others equal. */
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "diag/diff.h"

#define HCA(rate)                                                                                  \
	"{\"version\": 1, \"gpus\": [], \"hcas\": [{\"name\": \"mlx5_0\", \"kind\": \"pf\", "      \
	"\"bdf\": \"0000:01:00.0\", \"ports\": [{\"port\": 1" rate "}]}]}"

/* Machines by letter: a and b have ports of other rates, u does not know the rate, x is damaged. */
static const char *document(char letter)
{
	switch (letter) {
	case 'a':
		return HCA(", \"rate_mbps\": 400000");
	case 'b':
		return HCA(", \"rate_mbps\": 100000");
	case 'u':
		return HCA(", \"rate_mbps\": null");
	default:
		return "{\"version\": 2}";
	}
}

struct cluster {
	struct json *machine[TOPO_DIFF_MACHINES_MAX + 1];
	size_t n;
};

static void cluster_clear(struct cluster *c)
{
	for (size_t i = 0; i < c->n; i++)
		json_free(c->machine[i]);
}
#define auto_cluster auto_clean(cluster_clear)

static void make(struct cluster *c, const char *letters)
{
	struct err e = { 0 };

	for (c->n = 0; letters[c->n]; c->n++) {
		const char *text = document(letters[c->n]);
		ck_assert_int_eq(json_parse(text, strlen(text), "test", &c->machine[c->n], &e), 0);
	}
}

static int typical(void *arg, struct err *e)
{
	const struct cluster *c = arg;
	size_t out;

	return topo_diff_typical(c->machine, c->n, &out, e) ? -1 : (int)out;
}

START_TEST(most_machines_decide)
{
	static const struct {
		const char *letters;
		int typical;
	} list[] = {
		{ "a", 0 },     { "ab", 0 },      { "baa", 1 }, { "aab", 0 },
		{ "babab", 0 }, { "abbaabb", 1 }, { "bua", 0 } /* what is unknown differs from
								  nothing */
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		auto_cluster struct cluster c = { 0 };
		struct err e = { 0 };

		make(&c, list[i].letters);
		ck_assert_msg(typical(&c, &e) == list[i].typical, "%s", list[i].letters);
	}
}
END_TEST

START_TEST(damage_and_too_many_machines_are_refused)
{
	auto_cluster struct cluster damaged = { 0 }, many = { 0 };
	char letters[TOPO_DIFF_MACHINES_MAX + 2] = "";
	struct err e = { 0 };

	make(&damaged, "ax");
	ck_assert_int_eq(typical(&damaged, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	memset(letters, 'a', TOPO_DIFF_MACHINES_MAX + 1);
	make(&many, letters);
	ck_assert_int_eq(typical(&many, &e), -1);
	ck_assert_int_eq(e.code, ERR_EXHAUSTED);
	json_free(many.machine[--many.n]);
	ck_assert_int_eq(typical(&many, &e), 0);
}
END_TEST

START_TEST(each_failed_allocation_is_an_error)
{
	auto_cluster struct cluster c = { 0 };

	make(&c, "ab");
	ck_assert_str_eq(alloc_fail_each(typical, &c), "ok");
}
END_TEST

TEST_PROGRAM("diff_typical", most_machines_decide, damage_and_too_many_machines_are_refused,
	     each_failed_allocation_is_an_error)
