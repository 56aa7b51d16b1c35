/* SPDX-License-Identifier: Apache-2.0 */
/* A glance says what reading says, of every entry that we write, and nothing of what is not an
 * entry.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "sriov/vf/state.h"

#define VF   "0000:3b:02.1"
#define RUN  "/mnt/run"
#define FILE RUN "/vf/" VF

static struct ctx here(void)
{
	struct ctx ctx;

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.run_dir = RUN;
	return ctx;
}

static struct vf_entry entry(bool owned)
{
	struct vf_entry x = { .vf = VF, .pf = "0000:3b:00.0", .index = 1, .boot = "b", .life = 7 };

	x.base.has_netdev = true;
	(void)snprintf(x.base.name, sizeof(x.base.name), "eth0");
	x.owned = owned;
	x.owner.key = (struct record_key){ "net", "container", "net1" };
	x.owner.netns = "/run/netns/a";
	return x;
}

static bool glance_at(const struct ctx *ctx, const struct vf_entry *x)
{
	struct vf_entry back = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(vf_state_write(ctx, x, &e) == 0, "%s", e.msg);
	ck_assert_msg(vf_state_read(ctx, VF, &back, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(back.owned, x->owned);
	vf_entry_clear(&back);
	auto_fd int folder = vf_state_open_dir(ctx);
	ck_assert_int_ge(folder, 0);
	return vf_state_looks_owned(folder, VF);
}

START_TEST(says_who_has_an_owner)
{
	struct ctx ctx = here();
	struct vf_entry x = entry(true);

	ck_assert(glance_at(&ctx, &x));
	x = entry(false);
	ck_assert(!glance_at(&ctx, &x));
}
END_TEST

START_TEST(is_not_fooled_by_names)
{
	struct ctx ctx = here();
	struct vf_entry x = entry(false);

	(void)snprintf(x.base.altnames[0], VF_ALTNAME_LEN, "%s", "a\"owner\":{");
	(void)snprintf(x.base.altnames[1], VF_ALTNAME_LEN, "%s", "\"owner\":");
	ck_assert(!glance_at(&ctx, &x));
}
END_TEST

/* The longest names and the longest path do not push the owner out of what is looked at. */
START_TEST(sees_all_of_a_long_entry)
{
	struct ctx ctx = here();
	struct vf_entry x = entry(true);
	char name[VF_ALTNAME_LEN], netns[4096];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(netns, '/', sizeof(netns) - 1);
	netns[sizeof(netns) - 1] = '\0';
	for (size_t i = 0; i < VF_ALTNAMES_MAX; i++)
		memcpy(x.base.altnames[i], name, sizeof(name));
	x.owner.netns = netns;
	ck_assert(glance_at(&ctx, &x));
}
END_TEST

START_TEST(what_is_no_entry_looks_free)
{
	struct ctx ctx = here();

	ck_assert_int_eq(vf_state_open_dir(&ctx), -1);
	ck_assert(!vf_state_looks_owned(-1, VF));
	ck_assert_int_eq(mkdir(RUN, 0700), 0);
	ck_assert_int_eq(mkdir(RUN "/vf", 0700), 0);
	auto_fd int folder = vf_state_open_dir(&ctx);
	ck_assert(!vf_state_looks_owned(folder, VF));
	testing_file("/mnt/elsewhere", 0600, "{\"owner\":{}}");
	ck_assert_int_eq(symlink("/mnt/elsewhere", FILE), 0);
	ck_assert(!vf_state_looks_owned(folder, VF));
	ck_assert_int_eq(unlink(FILE), 0);
	ck_assert_int_eq(mkfifo(FILE, 0600), 0);
	ck_assert(!vf_state_looks_owned(folder, VF));
	ck_assert_int_eq(unlink(FILE), 0);
	ck_assert_int_eq(mkdir(FILE, 0700), 0);
	ck_assert(!vf_state_looks_owned(folder, VF));
}
END_TEST

TEST_PROGRAM("vf_state_glance", says_who_has_an_owner, is_not_fooled_by_names,
	     sees_all_of_a_long_entry, what_is_no_entry_looks_free)
