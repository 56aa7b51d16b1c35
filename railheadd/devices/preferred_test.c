/* SPDX-License-Identifier: Apache-2.0 */
/* preferred_test.c: rails are kept apart, must-include is kept, and the order of ids is no matter.
 */
#include "railheadd/devices/preferred.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define MOST 64

/* A machine: PFs at buses 0x10, 0x20, ..., with VFs .1, .2, ...; two PFs share a switch. */
struct machine {
	struct resource_device device[MOST];
	struct resource_devices d;
	const char *id[MOST];
};

static void add(struct machine *m, unsigned pf, unsigned vf, uint32_t distance)
{
	struct resource_device *x = &m->device[m->d.n];

	m->d.device = m->device;
	*x = (struct resource_device){ .healthy = true, .gpu_distance = distance };
	(void)snprintf(x->id, sizeof(x->id), "0000:%u0:00.%u", pf, vf);
	(void)snprintf(x->pf, sizeof(x->pf), "0000:%u0:00.0", pf);
	(void)snprintf(x->bridge, sizeof(x->bridge), "0000:0%u:00.0", (pf - 1) / 2);
	m->id[m->d.n++] = x->id;
}

/* The machine of this test's process. */
static struct machine *machine(unsigned pfs, unsigned vfs)
{
	static struct machine m;

	m = (struct machine){ .d = { .n = 0 } };
	for (unsigned p = 1; p <= pfs; p++) {
		for (unsigned v = 1; v <= vfs; v++)
			add(&m, p, v, 5);
	}
	return &m;
}

/* The chosen ids as one text, "10.1 20.1". */
static const char *chosen(const struct machine *m, const struct resource_preference *q)
{
	static char list[1024];
	const char *out[MOST];
	struct err e = { .msg = "" };
	size_t n = 99;

	ck_assert_msg(resource_preferred(&m->d, q, out, &n, &e) == 0, "%s", e.msg);
	ck_assert_uint_le(n, q->size);
	*list = '\0';
	for (size_t i = 0; i < n; i++) {
		const char *bus = strlen(out[i]) == 12 ? out[i] + 5 : out[i];
		char short_id[80];

		(void)snprintf(short_id, sizeof(short_id), "%s%.2s%s", i ? " " : "", bus,
			       bus == out[i] ? "" : out[i] + 10);
		testing_append(list, sizeof(list), short_id);
	}
	return list;
}

static const char *of_all(const struct machine *m, size_t size)
{
	return chosen(m, &(struct resource_preference){
				 .available = m->id, .n_available = m->d.n, .size = size });
}

START_TEST(each_pf_is_used_once_before_any_twice)
{
	struct machine *m = machine(4, 3);

	/* First one of each switch, then the other PF of each switch, then second VFs. */
	ck_assert_str_eq(of_all(m, 1), "10.1");
	ck_assert_str_eq(of_all(m, 2), "10.1 30.1");
	ck_assert_str_eq(of_all(m, 4), "10.1 30.1 20.1 40.1");
	ck_assert_str_eq(of_all(m, 6), "10.1 30.1 20.1 40.1 10.2 30.2");
}
END_TEST

START_TEST(the_nearest_to_a_gpu_comes_first_among_equals)
{
	struct machine *m = machine(4, 2);

	for (size_t i = 0; i < m->d.n; i++)
		m->device[i].gpu_distance = i / 2 == 3 ? 1 : i / 2 == 1 ? 2 : 9;
	ck_assert_str_eq(of_all(m, 1), "40.1");
	ck_assert_str_eq(of_all(m, 2), "40.1 20.1");
	ck_assert_str_eq(of_all(m, 3), "40.1 20.1 10.1");
}
END_TEST

START_TEST(the_pf_with_the_fewest_in_use_comes_first_among_equals)
{
	struct machine *m = machine(2, 3);
	const char *available[] = { m->id[1], m->id[2], m->id[3], m->id[4], m->id[5] };
	struct resource_preference q = { .available = available, .n_available = 5, .size = 1 };

	ck_assert_str_eq(chosen(m, &q), "20.1");
	q.n_available = 3; /* now 20.2 and 20.3 are in use, too */
	ck_assert_str_eq(chosen(m, &q), "10.2");
}
END_TEST

START_TEST(must_include_is_kept_and_counts)
{
	struct machine *m = machine(4, 2);
	const char *must[] = { m->id[0], m->id[4], m->id[0] };
	struct resource_preference q = {
		.available = m->id, .n_available = m->d.n, .must = must, .n_must = 2, .size = 4
	};

	ck_assert_str_eq(chosen(m, &q), "10.1 30.1 20.1 40.1");
	must[0] = m->id[7];
	ck_assert_str_eq(chosen(m, &q), "40.2 30.1 10.1 20.1");
	must[0] = m->id[0];
	q.n_must = 3;
	ck_assert_str_eq(chosen(m, &q), "10.1 30.1 20.1 40.1");
	must[1] = "0000:77:00.0";
	q.n_must = 2;
	q.size = 2;
	ck_assert_str_eq(chosen(m, &q), "10.1 77.0");
}
END_TEST

START_TEST(more_must_than_size_is_refused)
{
	struct machine *m = machine(1, 2);
	const struct resource_preference q = { .must = m->id, .n_must = 2, .size = 1 };
	const char *out[1];
	struct err e = { .msg = "" };
	size_t n = 7;

	ck_assert_int_eq(resource_preferred(&m->d, &q, out, &n, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	ck_assert_uint_eq(n, 7);
}
END_TEST

START_TEST(the_order_of_ids_does_not_matter)
{
	struct machine *m = machine(4, 3);
	const char *turned[MOST];
	struct resource_preference q = { .available = turned, .n_available = m->d.n, .size = 5 };
	char first[256];

	(void)snprintf(first, sizeof(first), "%s", of_all(m, 5));
	for (size_t shift = 0; shift < m->d.n; shift++) {
		for (size_t i = 0; i < m->d.n; i++)
			turned[i] = m->id[(i * 7 + shift) % m->d.n];
		ck_assert_str_eq(chosen(m, &q), first);
	}
	for (size_t i = 0; i < m->d.n / 2; i++) {
		struct resource_device x = m->device[i];

		m->device[i] = m->device[m->d.n - 1 - i];
		m->device[m->d.n - 1 - i] = x;
	}
	ck_assert_str_eq(chosen(m, &q), first);
}
END_TEST

START_TEST(unknown_ids_come_last_and_too_few_are_all)
{
	struct machine *m = machine(1, 2);
	const char *available[] = { "0000:05:00.0", m->id[1], m->id[1],
				    m->id[0],       "7",      "0000:04:00.0" };
	const struct resource_preference q = { .available = available,
					       .n_available = 6,
					       .size = 9 };

	ck_assert_str_eq(chosen(m, &q), "10.1 10.2 04.0 05.0 7");
	ck_assert_str_eq(chosen(m, &(struct resource_preference){ .size = 3 }), "");
	ck_assert_str_eq(chosen(m, &(struct resource_preference){ .size = 0 }), "");
}
END_TEST

START_TEST(copies_are_chosen_by_number)
{
	struct machine m = { .d = { .n = 12, .device = m.device } };

	for (size_t i = 0; i < m.d.n; i++) {
		m.device[i] = (struct resource_device){ .healthy = true };
		(void)snprintf(m.device[i].id, RESOURCE_ID_LEN, "%zu", 11 - i);
		m.id[i] = m.device[i].id;
	}
	ck_assert_str_eq(of_all(&m, 12), "0 1 2 3 4 5 6 7 8 9 10 11");
	/* Those of a shared resource are not compared with each other. */
	const char *must[] = { "5" }, *some[] = { "7", "01", "5", "11", "6" };
	const struct resource_preference q = { some, 5, must, 1, 4 };
	m.d.n_hcas = 1;
	ck_assert_str_eq(of_all(&m, 12), "0 1 2 3 4 5 6 7 8 9 10 11");
	ck_assert_str_eq(chosen(&m, &q), "5 6 7 11");
	ck_assert_str_eq(chosen(&m, &(struct resource_preference){ some, 5, must, 1, 5 }),
			 "5 6 7 11 01");
}
END_TEST

static int choose_some(void *arg, struct err *e)
{
	const struct machine *m = arg;
	const struct resource_preference q = { .available = m->id,
					       .n_available = m->d.n,
					       .size = 3 };
	const char *out[3];
	size_t n;

	return resource_preferred(&m->d, &q, out, &n, e);
}

START_TEST(a_choice_without_memory_leaks_nothing)
{
	struct machine *m = machine(2, 2);

	ck_assert_str_eq(alloc_fail_each(choose_some, m), "ok");
}
END_TEST

TEST_PROGRAM("preferred", each_pf_is_used_once_before_any_twice,
	     the_nearest_to_a_gpu_comes_first_among_equals,
	     the_pf_with_the_fewest_in_use_comes_first_among_equals,
	     must_include_is_kept_and_counts, more_must_than_size_is_refused,
	     the_order_of_ids_does_not_matter, unknown_ids_come_last_and_too_few_are_all,
	     copies_are_chosen_by_number, a_choice_without_memory_leaks_nothing)
