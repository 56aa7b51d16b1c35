/* SPDX-License-Identifier: Apache-2.0 */
/* cached_test.c: attachments that only libcni's cache knows, and files that do not say. */
#include "install/cached.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/base64.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define RUNTIME "/mnt/results/"
#define MULTUS  "/mnt/multus/results/"

static const struct ctx ctx = { .cni_dir = "/mnt" };
static struct receipt ours;
static const struct recorded none;

static void begin(void)
{
	static const char *const names[] = { "railhead-ipam", "rh-macvlan", "rh-rdma" };
	static const char sha256[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/results", 0700) | mkdir("/mnt/multus", 0700) |
				 mkdir("/mnt/multus/results", 0700),
			 0);
	ours = (struct receipt){ .version = "0.1.0", .build = "0a1b" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_int_eq(receipt_add(&ours, names[i], sha256, &e), 0);
}

/* As libcni writes it: the configuration in base64. */
static void put(const char *path, const char *container, const char *config)
{
	char coded[1024], text[2048];

	ck_assert_uint_lt(BASE64_CHARS(strlen(config)), sizeof(coded));
	(void)snprintf(
		text, sizeof(text),
		"{\"kind\":\"cniCacheV1\",\"containerId\":\"%s\",\"config\":\"%s\",\"ifName\":"
		"\"net1\",\"networkName\":\"n\",\"netns\":\"/run/netns/x\",\"result\":{}}",
		container, base64_encode(config, strlen(config), coded));
	testing_file(path, 0600, text);
}

static struct needed load(const struct recorded *recorded)
{
	struct needed x = { .n = 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(cached_load(&ctx, &ours, recorded, &x, &e) == 0, "%s", e.msg);
	return x;
}

START_TEST(programs_of_other_projects_do_not_count)
{
	begin();
	put(RUNTIME "cbr0-c1-eth0", "c1", "{\"plugins\":[{\"type\":\"calico\",\"ipam\":{}},{}]}");
	put(MULTUS "n-c1-net1", "c1", "{\"type\":\"macvlan\",\"ipam\":{\"type\":\"host-local\"}}");
	struct needed x = load(&none);
	ck_assert(x.attachments == 0 && x.n == 0 && !x.all && !x.no_cache);
}
END_TEST

START_TEST(plugin_IPAM_and_delegates_are_found)
{
	begin();
	put(MULTUS "n-c1-net1", "c1",
	    "{\"type\":\"macvlan\",\"ipam\":{\"type\":\"railhead-ipam\"}}");
	struct needed x = load(&none);
	ck_assert(needed_has(&x, "railhead-ipam") && !needed_has(&x, "rh-macvlan"));
	ck_assert_str_eq(x.examples, "multus/results/n-c1-net1");
	ck_assert_uint_eq(x.cached, 1);
	put(RUNTIME "n-c2-net1", "c2",
	    "{\"plugins\":[{\"type\":\"sriov\"},{\"type\":\"rh-rdma\"}]}");
	x = load(&none);
	ck_assert(needed_has(&x, "rh-rdma") && !needed_has(&x, "rh-macvlan"));
	ck_assert_uint_eq(x.attachments, 2);
	put(RUNTIME "m-c3-eth0", "c3",
	    "{\"type\":\"multus\",\"delegates\":[{\"plugins\":[{\"type\":\"rh-macvlan\"}]}]}");
	x = load(&none);
	ck_assert(needed_has(&x, "rh-macvlan") && !x.all);
	ck_assert_int_eq(unlink(RUNTIME "m-c3-eth0"), 0);
	/* flannel, and what another plugin may do */
	put(RUNTIME "m-c3-eth0", "c3",
	    "{\"plugins\":[{\"type\":\"flannel\",\"delegate\":{\"type\":\"rh-macvlan\"}}]}");
	x = load(&none);
	ck_assert(needed_has(&x, "rh-macvlan") && !x.all);
	put(RUNTIME "m-c3-eth0", "c3",
	    "{\"type\":\"x\",\"a\":{\"b\":[[{\"c\":{\"type\":\"rh-macvlan\"}}]]}}");
	x = load(&none);
	ck_assert(needed_has(&x, "rh-macvlan") && !x.all);
	ck_assert_int_eq(unlink(RUNTIME "m-c3-eth0"), 0);
	put(RUNTIME "m-c4-eth0", "c4",
	    "{\"plugins\":[{\"type\":\"multus\",\"delegates\":[{\"type\":\"rh-macvlan\"}]}]}");
	x = load(&none);
	ck_assert(needed_has(&x, "rh-macvlan") && !x.all);
}
END_TEST

/* It is counted once; its programs are needed all the same. */
START_TEST(an_attachment_with_a_record_is_not_counted_again)
{
	const struct record_key key = { "n", "c1", "net1" }, other = { "n", "c1", "net2" };
	uint64_t is = recorded_key(&key);

	begin();
	put(MULTUS "n-c1-net1", "c1", "{\"type\":\"rh-macvlan\"}");
	struct needed x = load(&(struct recorded){ &is, 1 });
	ck_assert(x.attachments == 0 && needed_has(&x, "rh-macvlan"));
	is = recorded_key(&other);
	x = load(&(struct recorded){ &is, 1 });
	ck_assert_uint_eq(x.attachments, 1);
}
END_TEST

START_TEST(a_file_that_does_not_say_needs_all)
{
	static const char *const texts[] = {
		"",
		"{",
		"{\"cniVersion\":\"0.4.0\",\"ips\":[]}",
		"{\"kind\":\"cniCacheV1\",\"config\":\"!\"}",
		"{\"kind\":\"cniCacheV1\",\"config\":\"W10=\"}",
	};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		testing_file(RUNTIME "n-c1-net1", 0600, texts[i]);
		struct needed x = load(&none);
		ck_assert(x.all && x.attachments == 1);
		ck_assert(strncmp(x.examples, "results/n-c1-net1 (", 19) == 0);
		ck_assert(strncmp(x.all_for, "results/n-c1-net1 (", 19) == 0);
		struct err e = { .msg = "" };
		ck_assert_int_eq(needed_refuse(&x, &e), -1);
		ck_assert_ptr_nonnull(strstr(e.detail, "files of libcni in /mnt: 1"));
	}
}
END_TEST

/* A folder stands for what cannot be read, because root can read any file. */
START_TEST(a_file_that_cannot_be_read_needs_all)
{
	begin();
	ck_assert_int_eq(mkdir(MULTUS "n-c1-net1", 0700), 0);
	struct needed x = load(&none);
	ck_assert(x.all && x.cached == 1);
	ck_assert_ptr_nonnull(strstr(x.examples, "multus/results/n-c1-net1 ("));
	ck_assert_int_eq(rmdir(MULTUS "n-c1-net1"), 0);
	/* libcni writes no links. */
	ck_assert_int_eq(symlink("gone", RUNTIME "n-c2-net1"), 0);
	x = load(&none);
	ck_assert(x.all && x.attachments == 1);
}
END_TEST

START_TEST(a_folder_that_cannot_be_read_is_an_error)
{
	struct needed x = { .n = 0 };
	struct err e = { .msg = "" };

	begin();
	ck_assert_int_eq(rmdir("/mnt/multus/results"), 0);
	testing_file("/mnt/multus/results", 0600, "");
	ck_assert_int_eq(cached_load(&ctx, &ours, &none, &x, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "/mnt/multus/results"));
}
END_TEST

START_TEST(without_folders_that_is_said)
{
	begin();
	ck_assert_int_eq(rmdir("/mnt/results"), 0);
	ck_assert(!load(&none).no_cache);
	ck_assert_int_eq(rmdir("/mnt/multus/results"), 0);
	ck_assert(load(&none).no_cache);
}
END_TEST

/* Either an error, or the program is needed. */
START_TEST(memory_may_end_anywhere)
{
	bool failed = true;

	begin();
	put(RUNTIME "n-c1-net1", "c1", "{\"type\":\"rh-macvlan\"}");
	for (unsigned n = 1; failed; n++) {
		struct needed x = { .n = 0 };
		struct err e = { .msg = "" };

		alloc_fail_begin(n);
		int rc = cached_load(&ctx, &ours, &none, &x, &e);
		const struct alloc_count c = alloc_fail_end();
		failed = c.failed;
		ck_assert_uint_eq(c.live, 0);
		ck_assert(rc == -1 ? (failed && e.code == ERR_NOMEM)
				   : needed_has(&x, "rh-macvlan"));
	}
}
END_TEST

TEST_PROGRAM("install/cached", programs_of_other_projects_do_not_count,
	     plugin_IPAM_and_delegates_are_found, an_attachment_with_a_record_is_not_counted_again,
	     a_file_that_does_not_say_needs_all, a_file_that_cannot_be_read_needs_all,
	     a_folder_that_cannot_be_read_is_an_error, without_folders_that_is_said,
	     memory_may_end_anywhere)
