// SPDX-License-Identifier: Apache-2.0
/* Which accelerators a container got, by the kubelet's checkpoint. */
#include "topo/kubelet/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "topo/testing/kubelet.h"

#define GAUDI "habana.ai/gaudi"
#define DIR   "/dev/accel/accel"

static struct err e;

/* Two Gaudis, a Gaudi of another driver, and another device. */
static struct pod_device held[] = {
	{ .owner = GAUDI, .id = "AM1" },
	{ .owner = GAUDI, .id = "AM2" },
	{ .owner = GAUDI, .id = "AM3", .claimed = true },
	{ .owner = "amd.com/gpu", .id = "AM4" },
};
static const struct pod_devices pod = { .device = held, .n = 4 };

static const char *accels_in(const char *text)
{
	static char out[1024];
	struct checkpoint_accels a;
	char one[16];

	if (checkpoint_accels((struct slice){ text, strlen(text) }, &pod, GAUDI, &a, &e)) {
		(void)snprintf(out, sizeof(out), "error %d: %.900s", (int)e.code, e.msg);
		return out;
	}
	*out = '\0';
	for (size_t i = 0; i < a.n; i++) {
		(void)snprintf(one, sizeof(one), "%s%u", i ? " " : "", a.number[i]);
		testing_append(out, sizeof(out), one);
	}
	return out;
}

static const char *accels(const char *entries)
{
	return accels_in(kubelet_checkpoint(entries));
}

START_TEST(the_files_of_a_container_are_its_accelerators)
{
	ck_assert_str_eq(accels(GAUDI "=AM1,AM2:" DIR "6," DIR "_controlD6,/dev/hl6," DIR "2," DIR
				      "_controlD2"),
			 "6 2");
	/* two containers of the pod, and another pod */
	ck_assert_str_eq(accels(GAUDI "=AM9:" DIR "1 " GAUDI "=AM2:" DIR "4 nvidia.com/gpu=AM1:" DIR
				      "3 " GAUDI "=AM1:" DIR "0," DIR "0"),
			 "4 0");
}
END_TEST

/* The kubelet gives the devices of an init container to later ones, and keeps both entries. */
START_TEST(an_init_container_shares_its_devices)
{
	ck_assert_str_eq(accels(GAUDI "=AM1,AM2:" DIR "6," DIR "2 " GAUDI "=AM1:" DIR "2 " GAUDI
				      "=AM2:" DIR "6"),
			 "6 2");
	ck_assert_str_eq(accels(GAUDI "=AM1:" DIR "2 " GAUDI "=AM1,AM2:" DIR "6," DIR "2"), "2 6");
	/* it had more devices than all others */
	ck_assert_str_eq(accels(GAUDI "=AM1,AM2,AM9:" DIR "0," DIR "1," DIR "2 " GAUDI
				      "=AM1,AM2:" DIR "0," DIR "1"),
			 "0 1");
	/* a device of two NUMA nodes is listed by each */
	ck_assert_str_eq(accels(GAUDI "=AM1,AM1,AM2:" DIR "6," DIR "2"), "6 2");
}
END_TEST

START_TEST(what_is_not_shown_is_not_guessed)
{
	ck_assert_str_eq(accels(""), "error 108: the checkpoint has 0 of 2 devices");
	ck_assert_str_eq(accels(GAUDI "=AM1:" DIR "0"),
			 "error 108: the checkpoint has 1 of 2 devices");
	/* an entry that also has a device of another pod */
	ck_assert_str_eq(accels(GAUDI "=AM1,AM2,AM9:" DIR "0," DIR "1," DIR "2"),
			 "error 108: the checkpoint has 0 of 2 devices");
	/* entries that contradict each other */
	ck_assert_str_eq(accels(GAUDI "=AM1:" DIR "0 " GAUDI "=AM2:" DIR "0"),
			 "error 108: the checkpoint has 1 files /dev/accel/accelN for 2 devices");
	ck_assert_str_eq(accels(GAUDI "=AM1,AM2:" DIR "0," DIR "1 " GAUDI "=AM1:" DIR "2"),
			 "error 108: the checkpoint has 3 files /dev/accel/accelN for 2 devices");
	ck_assert_str_eq(accels(GAUDI "=AM1,AM2:" DIR "0"),
			 "error 108: a container has 2 devices and 1 files /dev/accel/accelN");
	ck_assert_str_eq(accels(GAUDI "=AM1,AM2:" DIR "x," DIR ",/dev/hl1," DIR "99999999999"),
			 "error 108: a container has 2 devices and 0 files /dev/accel/accelN");
}
END_TEST

START_TEST(another_text_is_an_error)
{
	static const char entry[] =
		"{\"Data\":{\"PodDeviceEntries\":[{\"ResourceName\":\"" GAUDI
		"\",\"DeviceIDs\":{\"0\":[\"AM1\",\"AM2\"]},\"AllocResp\":%s}]}}";
	char text[512];

	ck_assert_ptr_nonnull(strstr(accels_in("{"), "error 6: the checkpoint"));
	ck_assert_str_eq(accels_in("[]"), "error 108: the checkpoint has 0 of 2 devices");
	ck_assert_str_eq(accels_in("{\"Data\":{\"PodDeviceEntries\":null}}"),
			 "error 108: the checkpoint has 0 of 2 devices");
	(void)snprintf(text, sizeof(text), entry, "\"====\"");
	ck_assert_str_eq(accels_in(text), "error 6: AllocResp cannot be decoded");
	(void)snprintf(text, sizeof(text), entry, "\"GgP/\"");
	ck_assert_str_eq(accels_in(text), "error 6: AllocResp cannot be decoded");
	(void)snprintf(text, sizeof(text), entry, "7");
	ck_assert_ptr_nonnull(strstr(accels_in(text), "and 0 files"));
}
END_TEST

static int look(void *arg, struct err *err)
{
	const char *text = arg;
	struct checkpoint_accels a;

	return checkpoint_accels((struct slice){ text, strlen(text) }, &pod, GAUDI, &a, err);
}

START_TEST(no_memory_is_an_error)
{
	char text[4096];

	(void)snprintf(text, sizeof(text), "%s",
		       kubelet_checkpoint(GAUDI "=AM1,AM2:" DIR "0," DIR "1"));
	ck_assert_str_eq(alloc_fail_each(look, text), "ok");
}
END_TEST

TEST_PROGRAM("topo/kubelet/checkpoint", the_files_of_a_container_are_its_accelerators,
	     an_init_container_shares_its_devices, what_is_not_shown_is_not_guessed,
	     another_text_is_an_error, no_memory_is_an_error)
