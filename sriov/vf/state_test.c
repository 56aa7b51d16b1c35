/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the VF state, and whether owners live; state_text_test.c has what is in them. */
#include "sriov/vf/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "lib/testing/pci.h"
#include "lib/testing/syscall.h"
#include "lib/testing/time.h"

#define VF   "0000:3b:02.1"
#define RUN  "/mnt/run"
#define FILE RUN "/vf/" VF

static struct ctx here(void)
{
	struct ctx ctx;

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.run_dir = RUN;
	ctx.sysfs = "/mnt/sys";
	return ctx;
}

static struct vf_entry entry(const char *vf)
{
	struct vf_entry x = { .pf = "0000:3b:00.0", .index = 1, .boot = "b", .life = 7 };

	(void)snprintf(x.vf, sizeof(x.vf), "%s", vf);
	return x;
}

static void put(const struct ctx *ctx, const char *vf)
{
	const struct vf_entry x = entry(vf);
	struct err e = { .msg = "" };

	ck_assert_msg(vf_state_write(ctx, &x, &e) == 0, "%s", e.msg);
}

static struct err unreadable(const struct ctx *ctx)
{
	struct vf_entry x;
	struct err e = { .msg = "" };

	ck_assert_int_eq(vf_state_read(ctx, VF, &x, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, FILE));
	return e;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(lstat(path, &st), 0);
	return st.st_mode & (S_IFMT | 07777);
}

/* ---- files ---- */

START_TEST(an_entry_is_written_read_and_removed)
{
	struct ctx ctx = here();
	struct err e = { .msg = "" };
	auto_vf_entry struct vf_entry x = { 0 };

	put(&ctx, VF);
	ck_assert_int_eq(vf_state_read(&ctx, VF, &x, &e), 0);
	ck_assert_str_eq(x.vf, VF);
	ck_assert_uint_eq(x.life, 7);
	ck_assert_uint_eq(mode_of(FILE), S_IFREG | 0600);
	ck_assert_uint_eq(mode_of(RUN "/vf"), S_IFDIR | 0700);
	ck_assert_int_eq(vf_state_remove(&ctx, VF, &e), 0);
	ck_assert_int_eq(vf_state_remove(&ctx, VF, &e), 0);
	ck_assert_int_eq((int)unreadable(&ctx).code, ERR_NOTFOUND);
}
END_TEST

START_TEST(without_a_folder_nothing_is_found)
{
	struct ctx ctx = here();
	struct err e = unreadable(&ctx);

	ck_assert_int_eq((int)e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(vf_state_remove(&ctx, VF, &e), 0);
	ck_assert_int_eq(access(RUN, F_OK), -1); /* reading makes nothing */
}
END_TEST

/* What can never be read is damaged: whoever claims the VF starts a new entry. */
START_TEST(other_files_are_refused)
{
	static char large[70000];
	struct ctx ctx = here();

	put(&ctx, VF);
	testing_file(FILE, 0600, "{");
	ck_assert_int_eq((int)unreadable(&ctx).code, ERR_DECODE);
	memset(large, ' ', sizeof(large) - 1);
	testing_file(FILE, 0600, large);
	ck_assert_int_eq((int)unreadable(&ctx).code, ERR_DECODE);
	ck_assert_int_eq(unlink(FILE), 0);
	ck_assert_int_eq(mkdir(FILE, 0700), 0);
	ck_assert_int_eq((int)unreadable(&ctx).code, ERR_DECODE);
}
END_TEST

START_TEST(links_are_not_followed)
{
	struct ctx ctx = here();
	struct err e = { .msg = "" };

	put(&ctx, VF);
	ck_assert_int_eq(rename(FILE, "/mnt/elsewhere"), 0);
	ck_assert_int_eq(symlink("/mnt/elsewhere", FILE), 0);
	ck_assert_int_eq((int)unreadable(&ctx).code, ERR_DECODE);
	put(&ctx, VF);
	ck_assert_uint_eq(mode_of(FILE), S_IFREG | 0600);
	ck_assert_int_eq(unlink(FILE), 0);
	ck_assert_int_eq(symlink("/mnt/elsewhere", FILE), 0);
	ck_assert_int_eq(vf_state_remove(&ctx, VF, &e), 0);
	ck_assert_int_eq(access("/mnt/elsewhere", F_OK), 0);
}
END_TEST

START_TEST(an_entry_under_anothers_name_is_refused)
{
	struct ctx ctx = here();
	struct err e;

	put(&ctx, "0000:3b:02.3");
	ck_assert_int_eq(rename(RUN "/vf/0000:3b:02.3", FILE), 0);
	e = unreadable(&ctx);
	ck_assert_int_eq((int)e.code, ERR_DECODE);
	ck_assert_ptr_nonnull(strstr(e.msg, "0000:3b:02.3"));
}
END_TEST

START_TEST(a_file_in_place_of_the_folder_is_an_error)
{
	struct ctx ctx = here();
	struct vf_entry x = entry(VF);
	struct err e = { .msg = "" };

	ck_assert_int_eq(mkdir(RUN, 0700), 0);
	testing_file(RUN "/vf", 0600, "");
	ck_assert_int_eq((int)unreadable(&ctx).code, ERR_NOTFOUND);
	ck_assert_int_eq(vf_state_write(&ctx, &x, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(e.msg, FILE));
}
END_TEST

/* ---- all of them ---- */

static int see(const struct vf_entry *x, void *arg)
{
	testing_append(arg, 256, x->vf);
	testing_append(arg, 256, *x->boot ? " " : "? ");
	return strcmp(x->vf, "0000:3b:02.7") == 0;
}

static const char *all(const struct ctx *ctx)
{
	static char seen[256];
	struct err e = { .msg = "" };

	seen[0] = '\0';
	ck_assert_msg(vf_state_each(ctx, see, seen, &e) == 0, "%s", e.msg);
	return seen;
}

START_TEST(entries_are_visited_in_order)
{
	struct ctx ctx = here();

	ck_assert_str_eq(all(&ctx), "");
	put(&ctx, "0000:3b:02.3");
	put(&ctx, VF);
	testing_file(RUN "/vf/0000:3b:02.2", 0600, "[]");
	testing_file(RUN "/vf/.0000:3b:02.4.tmp", 0600, "{}");
	testing_file(RUN "/vf/notes", 0600, "{}");
	ck_assert_str_eq(all(&ctx), "0000:3b:02.1 0000:3b:02.2? 0000:3b:02.3 ");
	put(&ctx, "0000:3b:02.7");
	put(&ctx, "0000:3c:02.7");
	ck_assert_str_eq(all(&ctx), "0000:3b:02.1 0000:3b:02.2? 0000:3b:02.3 0000:3b:02.7 ");
}
END_TEST

static int count(const struct vf_entry *x, void *arg)
{
	*(int *)arg += *x->boot != '\0';
	return 0;
}

/* Not to be able to look is not to know: DEL must not believe that it has no VF. */
START_TEST(an_unreadable_entry_is_passed_over)
{
	struct ctx ctx = here();
	struct err e;
	bool failed = true, passed_over = false;

	put(&ctx, VF);
	put(&ctx, "0000:3b:02.3");
	for (unsigned n = 1; failed; n++) {
		int seen = 0;

		alloc_fail_begin(n);
		int rc = vf_state_each(&ctx, count, &seen, &e);
		failed = alloc_fail_end().failed;
		ck_assert_int_eq(rc, failed ? -1 : 0);
		/* 0: the list itself failed */
		ck_assert(failed ? seen <= 1 : seen == 2);
		ck_assert(!failed || e.code == ERR_NOMEM);
		passed_over = passed_over || (failed && seen == 1);
	}
	ck_assert(passed_over);
}
END_TEST

/* ---- locks ---- */

START_TEST(a_lock_excludes_others)
{
	struct ctx ctx = here();
	struct err e = { .msg = "" };
	int first = vf_state_lock(&ctx, VF, VF_STATE_LOCK_MS, &e);

	ck_assert_int_ge(first, 0);
	ck_assert_int_ne(fcntl(first, F_GETFD) & FD_CLOEXEC, 0);
	faketime_begin(NULL);
	ck_assert_int_eq(vf_state_lock(&ctx, VF, VF_STATE_LOCK_MS, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(e.msg, VF));
	ck_assert_int_ge(faketime_gone(), VF_STATE_LOCK_MS);
	ck_assert_int_lt(faketime_gone(), VF_STATE_LOCK_MS + 100);
	auto_fd int other = vf_state_lock(&ctx, "0000:3b:02.3", 0, &e);
	ck_assert_int_ge(other, 0);
	(void)close(first);
	auto_fd int again = vf_state_lock(&ctx, VF, 0, &e);
	ck_assert_int_ge(again, 0);
}
END_TEST

START_TEST(without_a_place_for_locks_it_fails)
{
	struct ctx ctx = here();
	struct err e = { .msg = "" };

	testing_file(RUN, 0600, "");
	ck_assert_int_eq(vf_state_lock(&ctx, VF, 0, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
}
END_TEST

/* ---- lives and owners ---- */

START_TEST(a_recreated_VF_has_another_life)
{
	struct ctx ctx = here();
	struct err e = { .msg = "" };
	uint64_t a, b;

	fakepci_function(ctx.sysfs, VF);
	ck_assert_int_eq(vf_life(&ctx, VF, &a, &e), 0);
	ck_assert_int_eq(vf_life(&ctx, VF, &b, &e), 0);
	ck_assert_uint_eq(a, b);
	ck_assert_uint_lt(a, UINT64_C(1) << 53);
	ck_assert_int_eq(rename("/mnt/sys/devices/pci/" VF, "/mnt/gone"), 0);
	ck_assert_int_eq(unlink("/mnt/sys/bus/pci/devices/" VF), 0);
	ck_assert_int_eq(vf_life(&ctx, VF, &b, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.msg, VF));
	fakepci_function(ctx.sysfs, VF);
	ck_assert_int_eq(vf_life(&ctx, VF, &b, &e), 0);
	ck_assert_uint_ne(a, b);
}
END_TEST

/* One look that sees nothing does not make it gone. */
START_TEST(a_VF_that_is_not_seen_is_not_gone)
{
	struct ctx ctx = here();
	struct err e = { .msg = "" };
	uint64_t life;

	fakepci_function(ctx.sysfs, VF);
	ck_assert_int_eq(rename("/mnt/sys/devices/pci/" VF, "/mnt/hidden"), 0);
	ck_assert_int_eq(vf_life(&ctx, VF, &life, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(e.msg, VF));
	ck_assert_int_eq(rename("/mnt/sys", "/mnt/hidden-sys"), 0);
	ck_assert_int_eq(vf_life(&ctx, VF, &life, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(e.msg, VF));
}
END_TEST

START_TEST(the_owner_is_compared)
{
	const struct record_key key = { "net", "c1", "net1" };
	const struct netns_id id = { 4, 26, 7 }, any = { 4, 0, 0 }, dev = { 5, 26, 7 };
	const struct netns_id ino = { 4, 27, 7 }, later = { 4, 26, 8 }, old = { 4, 26, 0 };
	struct vf_entry x = { .owned = true, .owner = { .key = key, .netns_id = id } };

	ck_assert(vf_owner_is(&x, &key, id) && vf_owner_is(&x, &key, any));
	ck_assert(!vf_owner_is(&x, &key, dev) && !vf_owner_is(&x, &key, ino));
	ck_assert(!vf_owner_is(&x, &key, later) && vf_owner_is(&x, &key, old));
	ck_assert(!vf_owner_is(&x, &(struct record_key){ "ne", "c1", "net1" }, id));
	ck_assert(!vf_owner_is(&x, &(struct record_key){ "net", "c2", "net1" }, id));
	ck_assert(!vf_owner_is(&x, &(struct record_key){ "net", "c1", "net2" }, any));
	x.owned = false;
	ck_assert(!vf_owner_is(&x, &key, id));
}
END_TEST

/* Gone is what is proved gone: a path that does not lead there proves nothing. */
START_TEST(a_living_owner_is_recognised)
{
	struct ctx ctx;

	ctx_init(&ctx, "test");
	net_enter_new();

	struct netns pod = net_another();
	struct vf_entry x = {
		.owned = true,
		.owner = { .netns = "/mnt/none", .netns_id = pod.id, .from = netns_view_self(&ctx) }
	};

	ck_assert(vf_owner_lives(&ctx, &x)); /* this process has it open */
	x.owner.netns = "/proc/self/ns/uts";
	ck_assert(vf_owner_lives(&ctx, &x));
	x.owned = false;
	ck_assert(!vf_owner_lives(&ctx, &x));
	x.owned = true;
	netns_close(&pod);
	ck_assert(!vf_owner_lives(&ctx, &x));
	x.owner.netns = "/proc/self/ns/net"; /* another one's */
	ck_assert(!vf_owner_lives(&ctx, &x));
	x.owner.from.mnt_ns++;
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert(vf_owner_lives(&ctx, &x)); /* it cannot be told from here */
}
END_TEST

/* ---- memory ---- */

static int write_and_read(void *arg, struct err *e)
{
	const struct vf_entry x = entry(VF);
	auto_vf_entry struct vf_entry y = { 0 };

	return vf_state_write(arg, &x, e) || vf_state_read(arg, VF, &y, e) ? -1 : 0;
}

START_TEST(survives_each_failing_allocation)
{
	struct ctx ctx = here();

	ck_assert_str_eq(alloc_fail_each(write_and_read, &ctx), "ok");
}
END_TEST

static struct ctx lied_to;

static int remove_it(struct err *e)
{
	return vf_state_remove(&lied_to, VF, e);
}

static int visit_nothing(const struct vf_entry *x, void *arg)
{
	(void)x;
	(void)arg;
	return 0;
}

static int visit_all(struct err *e)
{
	return vf_state_each(&lied_to, visit_nothing, NULL, e);
}

/* One ENOENT about an entry that is there: its VF is not like a new one. */
START_TEST(not_seen_is_not_gone)
{
	struct err e;

	lied_to = here();
	put(&lied_to, VF);
	ck_assert(!testing_fail_syscall(SYS_openat, ENOENT, remove_it));
	ck_assert(!testing_fail_syscall(SYS_unlinkat, ENOENT, remove_it));
	ck_assert(!testing_fail_syscall(SYS_openat, ENOENT, visit_all));
	ck_assert(!testing_fail_syscall(SYS_read, ENOENT, visit_all));
	ck_assert(remove_it(&e) == 0 && remove_it(&e) == 0 && visit_all(&e) == 0);
}
END_TEST

TEST_PROGRAM("sriov/vf/state", an_entry_is_written_read_and_removed,
	     without_a_folder_nothing_is_found, other_files_are_refused, links_are_not_followed,
	     an_entry_under_anothers_name_is_refused, a_file_in_place_of_the_folder_is_an_error,
	     entries_are_visited_in_order, an_unreadable_entry_is_passed_over,
	     a_lock_excludes_others, without_a_place_for_locks_it_fails,
	     a_recreated_VF_has_another_life, a_VF_that_is_not_seen_is_not_gone,
	     not_seen_is_not_gone, the_owner_is_compared, a_living_owner_is_recognised,
	     survives_each_failing_allocation)
