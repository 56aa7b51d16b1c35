/* SPDX-License-Identifier: Apache-2.0 */
/* What DEL, GC and repair do about an attachment, by what its record says. */
#include "sriov/claim/taken.h"

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "sriov/testing/vf.h"
#include "sriov/claim/tier.h"

#define INFO "/mnt/devinfo"

static void ok(int rc, const struct err *e)
{
	ck_assert_msg(rc == 0, "%s (%s)", e->msg, e->detail);
	ck_assert_str_eq(e->msg, "");
}

static struct json *parse(const char *text)
{
	struct json *j = NULL;
	struct err e = { .msg = "" };

	ok(json_parse(text, strlen(text), "test", &j, &e), &e);
	return j;
}

static struct record record_of(const struct claimant *who, const struct json *device)
{
	return (struct record){ .key = who->key,
				.plugin = "sriov",
				.kind = "",
				.netns = who->netns,
				.netns_id = who->netns_id,
				.device = device };
}

static void take(const struct claimant *who, uint32_t n)
{
	struct vf_place place;
	struct err e = { .msg = "" };

	ok(claim_vf(who, testhost_vf(n), &place, &e), &e);
}

static bool is_owned(const struct testhost *w, uint32_t n)
{
	auto_vf_entry struct vf_entry x = testhost_entry(w, n);

	return x.owned;
}

/* ---- what a record keeps ---- */

START_TEST(the_device_of_a_record_round_trips)
{
	const struct vf_place p = {
		.vf = "0000:3b:02.1", .pf = "0000:3b:00.0", .index = 1, .life = 77, .name = "v1"
	};
	auto_json struct json *with = sriov_device(&p, INFO, NULL),
			      *without = sriov_device(&p, NULL, NULL);
	auto_free char *text = json_print(with, false);
	const struct record r = { .device = with };

	ck_assert_str_eq(text, "{\"vf\":\"0000:3b:02.1\",\"pf\":\"0000:3b:00.0\",\"index\":1,"
			       "\"life\":77,\"name\":\"v1\",\"deviceInfo\":\"" INFO "\"}");
	ck_assert_str_eq(sriov_device_vf(&r), "0000:3b:02.1");
	ck_assert_str_eq(sriov_device_info(with), INFO);
	ck_assert_ptr_null(sriov_device_info(without));
}
END_TEST

START_TEST(the_tier_of_a_record_is_read)
{
	const struct vf_place p = { .vf = "0000:3b:02.1", .pf = "0000:3b:00.0", .index = 1 };
	const struct tier t = { "gold", TIER_NOT_SET, 10000, 5, 106 };
	auto_json struct json *with = sriov_device(&p, INFO, &t),
			      *without = sriov_device(&p, NULL, NULL);
	struct tier read;
	struct err e = { .msg = "" };

	ck_assert_msg(sriov_device_tier(with, &read, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(read.name, "gold");
	ck_assert_int_eq(read.traffic_class, 106);
	ck_assert_int_eq(sriov_device_tier(without, &read, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(sriov_device_tier(NULL, &read, &e), -1);
}
END_TEST

START_TEST(a_record_without_a_device_has_no_VF)
{
	static const char *const odd[] = { "{}", "{\"vf\":1,\"deviceInfo\":1}",
					   "{\"deviceInfo\":\"\"}",
					   "{\"deviceInfo\":\"etc/passwd\"}", "[]" };

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		auto_json struct json *device = parse(odd[i]);
		const struct record r = { .device = device };

		ck_assert_ptr_null(sriov_device_vf(&r));
		ck_assert_ptr_null(sriov_device_info(device));
	}
	const struct record none = { .device = NULL };
	ck_assert_ptr_null(sriov_device_vf(&none));
	ck_assert_ptr_null(sriov_device_info(NULL));
}
END_TEST

/* ---- giving back ---- */

START_TEST(restore_frees_the_VF_and_removes_the_file)
{
	auto_testhost struct testhost w = testhost(2);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	const struct vf_place place = { .vf = "0000:3b:02.0", .pf = TESTHOST_PF };
	auto_json struct json *device = sriov_device(&place, INFO, NULL);
	const struct record r = record_of(&who, device);
	struct err e = { .msg = "" };

	take(&who, 0);
	take(&who, 1);
	testing_file(INFO, 0600, "{}");
	ok(sriov_restore(&w.ctx, &r, &e), &e);
	ck_assert(!is_owned(&w, 0));
	ck_assert(is_owned(&w, 1)); /* of another record */
	ck_assert_int_eq(access(INFO, F_OK), -1);
	ok(sriov_restore(&w.ctx, &r, &e), &e);
}
END_TEST

/* An ADD that was killed between the claim and its record, or a record that is lost. */
START_TEST(a_VF_without_a_record_is_found_by_its_entry)
{
	auto_testhost struct testhost w = testhost(3);
	auto_pod struct pod p = pod();
	const struct claimant a = claimant_of(&w, "c1", &p), b = claimant_of(&w, "c2", &p);
	struct record r = record_of(&a, NULL);
	struct err e = { .msg = "" };

	take(&a, 1);
	take(&b, 2);
	r.netns_id = (struct netns_id){ 0 };
	ok(sriov_restore(&w.ctx, &r, &e), &e);
	ck_assert(!is_owned(&w, 1));
	ck_assert(is_owned(&w, 2));
}
END_TEST

/* A late DEL: the VF of its record is somebody else's by now. */
START_TEST(a_VF_of_a_new_pod_is_left_alone)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod(), q = pod();
	const struct claimant old = claimant_of(&w, "c1", &p), new = claimant_of(&w, "c2", &q);
	auto_json struct json *device = parse("{\"vf\":\"0000:3b:02.0\"}");
	const struct record r = record_of(&old, device);
	struct err e = { .msg = "" };

	take(&old, 0);
	pod_clear(&p);
	take(&new, 0);
	w.kernel->vf[0].is.vlan = 77;
	w.kernel->requests = 0;
	ok(sriov_restore(&w.ctx, &r, &e), &e);
	ck_assert(is_owned(&w, 0));
	ck_assert_uint_eq(w.kernel->requests, 0); /* it is not even looked at */
	ck_assert_uint_eq(w.kernel->vf[0].is.vlan, 77);
}
END_TEST

/* The VF first: while it is not back, the record and what it names stay. */
START_TEST(restore_without_memory_keeps_the_VF_owned)
{
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);
	auto_json struct json *device =
		parse("{\"vf\":\"0000:3b:02.0\",\"deviceInfo\":\"" INFO "\"}");
	const struct record r = record_of(&who, device);
	struct err e = { .msg = "" };

	take(&who, 0);
	testing_file(INFO, 0600, "{}");
	alloc_fail_begin(1);
	int rc = sriov_restore(&w.ctx, &r, &e);
	(void)alloc_fail_end();
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq((int)e.code, ERR_NOMEM);
	ck_assert(is_owned(&w, 0));
	ck_assert_int_eq(access(INFO, F_OK), 0);
}
END_TEST

/* An address that is none leads nowhere, also not to files beside the VF state. */
START_TEST(a_record_of_no_VF_changes_nothing)
{
	static const char *const odd[] = { "{\"vf\":\"../attachments\"}", "{\"vf\":\"\"}",
					   "{\"vf\":\"0000:3b:02.0/\"}" };
	auto_testhost struct testhost w = testhost(1);
	auto_pod struct pod p = pod();
	const struct claimant who = claimant_of(&w, "c1", &p);

	take(&who, 0);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		auto_json struct json *device = parse(odd[i]);
		const struct record r = record_of(&who, device);
		struct err e = { .msg = "" };

		(void)!sriov_restore(&w.ctx, &r, &e);
		ck_assert(is_owned(&w, 0));
	}
}
END_TEST

/* ---- memory ---- */

static int keep(void *arg, struct err *e)
{
	const struct tier t = { .name = "gold", .qos = 5 };
	auto_json struct json *device = sriov_device(arg, INFO, &t);

	return device ? 0 : err_nomem(e);
}

START_TEST(survives_each_failing_allocation)
{
	struct vf_place p = { .vf = "0000:3b:02.1", .pf = "0000:3b:00.0", .index = 1 };

	ck_assert_str_eq(alloc_fail_each(keep, &p), "ok");
}
END_TEST

TEST_PROGRAM("sriov/claim/taken", the_device_of_a_record_round_trips, the_tier_of_a_record_is_read,
	     a_record_without_a_device_has_no_VF, restore_frees_the_VF_and_removes_the_file,
	     a_VF_without_a_record_is_found_by_its_entry, a_VF_of_a_new_pod_is_left_alone,
	     restore_without_memory_keeps_the_VF_owned, a_record_of_no_VF_changes_nothing,
	     survives_each_failing_allocation)
