/* SPDX-License-Identifier: Apache-2.0 */
/* scenes.c: what is wrong is not one system call but the world around it. */
#include "conformance/faults/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conformance/faults/lane/wrap.h"

struct scene {
	struct world *w;
	enum target target;
	struct text *why;
	struct judgement *j;
};

/* ---- pieces ---- */

static bool ok(struct scene *s, enum cni_command cmd)
{
	return call_ok(s->w, &(struct call){ .cmd = cmd, .target = s->target }, s->why);
}

/* The call may fail, but with a proper error. If it succeeds, its result must be true. */
static bool may_fail(struct scene *s, const struct call *c)
{
	auto_outcome o = { .out = NULL };

	call_run(s->w, c, &o);
	return call_judge(c, &o, false, s->why) && o.status == 0;
}

static bool try_(struct scene *s, enum cni_command cmd)
{
	const struct call c = { .cmd = cmd, .target = s->target };

	return may_fail(s, &c);
}

static void must_fail(struct scene *s, const struct call *c)
{
	if (may_fail(s, c))
		text_add(s->why, "%s succeeds where it cannot\n", cmd_names[c->cmd]);
}

static void note_rest(struct scene *s)
{
	s->j->needed_recovery = !is_clean(s->w, "", NULL);
}

/* The next use recreates the files that the scene removed. */
static void again_with_all(struct scene *s)
{
	world_use_all(s->w);
	(void)whole_cycle(s->w, PLUGIN, s->why);
	world_keep_result(s->w, NULL);
}

/* ---- disks ---- */

#define SMALL WORK "/small"

/* A file system of 640 KiB that has what was in place; free: 4 KiB pages that are left of it. */
static void small_disk(const char *place)
{
	must("mkdir -p " SMALL " && mount -t tmpfs -o size=640k,mode=700 small " SMALL
	     " && cp -a --sparse=always %s/. " SMALL "/ && mount --bind " SMALL " %s",
	     place, place);
}

static void fill(const char *place, unsigned free_pages)
{
	static const char page[4096] = { 'x' };
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/fill", place);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (fd >= 0 && write(fd, page, sizeof(page)) == (ssize_t)sizeof(page))
		;
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	if (size < 0 || ftruncate(fd, size > free_pages * 4096L ? size - free_pages * 4096L : 0))
		die("fill %s", place);
	(void)close(fd);
}

static void large_disk(const char *place)
{
	must("rm -f %s/fill && umount %s && find %s -mindepth 1 -delete && cp -a "
	     "--sparse=always " SMALL "/. %s/ && umount " SMALL " && rmdir " SMALL,
	     place, place, place, place);
}

/* Up to twelve pages are left: it fails at another write each time. */
static void full_add(struct scene *s, const char *place)
{
	for (unsigned free_pages = 0; free_pages < 12; free_pages++) {
		small_disk(place);
		fill(place, free_pages);
		bool added = try_(s, ADD);
		if (added)
			(void)ok(s, CHECK);
		(void)try_(s, DEL);
		large_disk(place);
		(void)ok(s, DEL);
	}
}

static void full_del(struct scene *s, const char *place)
{
	for (unsigned free_pages = 0; free_pages < 12; free_pages++) {
		small_disk(place);
		(void)ok(s, ADD);
		fill(place, free_pages);
		(void)try_(s, DEL);
		(void)try_(s, GC);
		large_disk(place);
		(void)ok(s, DEL);
	}
}

static void full_run_add(struct scene *s)
{
	full_add(s, RUN);
}

static void full_run_del(struct scene *s)
{
	full_del(s, RUN);
}

static void full_state_add(struct scene *s)
{
	full_add(s, STATE);
}

static void full_state_del(struct scene *s)
{
	full_del(s, STATE);
}

static void read_only(const char *place, bool on)
{
	if (on)
		must("mount --bind %s %s && mount -o remount,bind,ro %s", place, place, place);
	else
		must("umount %s", place);
}

static void read_only_add(struct scene *s, const char *place)
{
	read_only(place, true);
	must_fail(s, &(struct call){ .cmd = ADD, .target = s->target });
	(void)try_(s, DEL);
	read_only(place, false);
	note_rest(s);
	(void)ok(s, DEL);
}

static void read_only_del(struct scene *s, const char *place)
{
	(void)ok(s, ADD);
	read_only(place, true);
	(void)try_(s, CHECK);
	(void)try_(s, DEL);
	(void)try_(s, GC);
	read_only(place, false);
	(void)ok(s, DEL);
}

static void read_only_run_add(struct scene *s)
{
	read_only_add(s, RUN);
}

static void read_only_run_del(struct scene *s)
{
	read_only_del(s, RUN);
}

static void read_only_state_add(struct scene *s)
{
	read_only_add(s, STATE);
}

static void read_only_state_del(struct scene *s)
{
	read_only_del(s, STATE);
}

/* ---- clocks: programs of the lane, at a day of our choice ---- */

#define TODAY ((long)(time(NULL) / 86400))

static bool on_day(struct scene *s, enum cni_command cmd, long day)
{
	const struct call c = { .cmd = cmd, .target = s->target };
	struct inject in = { .how = ANSWER, .nr = CALL_CLOCK, .value = day + CLOCK_ZERO };
	auto_outcome o = { .out = NULL };
	auto_text said = { .p = NULL };

	trace_run(s->w, &c, &in, NULL, &o);
	if (!call_judge(&c, &o, false, s->why))
		return false;
	if (!o.reached && cmd != CHECK && !(cmd == DEL && s->w->fixture->chained))
		text_add(s->why, "%s did not ask for the time\n", cmd_names[cmd]);
	if (cmd == ADD && o.status == 0)
		world_keep_result(s->w, o.out);
	if (o.status == 0)
		return true;
	call_said(&o, &said);
	text_add(s->why, "%s on day %ld fails: %s", cmd_names[cmd], day, said.p);
	return false;
}

static void days(struct scene *s, long add, long del)
{
	(void)on_day(s, ADD, add);
	(void)on_day(s, CHECK, del);
	(void)on_day(s, DEL, del);
	(void)on_day(s, ADD, del);
	(void)on_day(s, DEL, add);
	/* Whatever rests until when, the pool must not run dry. */
	for (int i = 0; i < 16; i++) {
		(void)on_day(s, ADD, i % 2 ? add : del);
		(void)on_day(s, DEL, i % 2 ? del : add);
	}
}

static void clock_forward(struct scene *s)
{
	days(s, TODAY, TODAY + 3650);
}

static void clock_back(struct scene *s)
{
	days(s, TODAY, TODAY - 3650);
}

static void clock_epoch(struct scene *s)
{
	days(s, 0, TODAY);
}

/* Before 1970: a broken real-time clock, and a careless subtraction. */
static void clock_negative(struct scene *s)
{
	days(s, -400, TODAY);
}

static void clock_far(struct scene *s)
{
	days(s, TODAY, 90000);
}

/* ---- boots ---- */

static void other_boot(void)
{
	must("echo 01234567-89ab-cdef-0123-456789abcdef >" WORK "/boot && mount --bind " WORK
	     "/boot /proc/sys/kernel/random/boot_id");
}

/* The runtime's DEL comes after the reboot. */
static void reboot_del(struct scene *s)
{
	(void)ok(s, ADD);
	pod_drop(0);
	must("rm -rf " RUN);
	s->w->fixture->reboot();
	other_boot();
	(void)ok(s, DEL);
	must("umount /proc/sys/kernel/random/boot_id");
	pod_make(s->w, 0);
	again_with_all(s);
}

/* No DEL ever comes, but another ADD does. */
static void reboot_add(struct scene *s)
{
	struct call other = { .target = s->target, .container = "other" };

	(void)ok(s, ADD);
	pod_drop(0);
	must("rm -rf " RUN);
	s->w->fixture->reboot();
	other_boot();
	pod_make(s->w, 0);
	(void)call_ok(s->w, &other, s->why);
	other.cmd = DEL;
	(void)call_ok(s->w, &other, s->why);
	note_rest(s);
	must("umount /proc/sys/kernel/random/boot_id");
	again_with_all(s);
}

/* Records and the namespace are there, the boot is another: a restored snapshot of a machine. */
static void boot_changes(struct scene *s)
{
	(void)ok(s, ADD);
	other_boot();
	pod_drop(0);
	pod_make(s->w, 0);
	(void)ok(s, DEL);
	must("umount /proc/sys/kernel/random/boot_id");
	again_with_all(s);
}

static void boot_is_unknown(struct scene *s)
{
	must("mount --bind /dev/null /proc/sys/kernel/random/boot_id");
	must_fail(s, &(struct call){ .cmd = ADD, .target = s->target });
	(void)try_(s, DEL);
	must("umount /proc/sys/kernel/random/boot_id");
	note_rest(s);
	(void)ok(s, DEL);
}

/* ---- things that are gone ---- */

static void no_module(struct scene *s)
{
	if (s->w->has_kind) {
		s->j->verdict = NOT_HERE;
		return;
	}
	must_fail(s, &(struct call){ .cmd = ADD });
	note_rest(s);
	(void)ok(s, DEL);
}

static void no_master(struct scene *s)
{
	s->w->fixture->lose();
	must_fail(s, &(struct call){ .cmd = ADD });
	(void)ok(s, DEL);
}

static void master_gone_between(struct scene *s)
{
	(void)ok(s, ADD);
	s->w->fixture->lose();
	(void)try_(s, CHECK);
	(void)ok(s, DEL);
}

static void master_moved_between(struct scene *s)
{
	(void)ok(s, ADD);
	s->w->fixture->move();
	(void)try_(s, CHECK);
	(void)ok(s, DEL);
}

static void no_netns(struct scene *s)
{
	pod_drop(0);
	must_fail(s, &(struct call){ .cmd = ADD });
	(void)ok(s, DEL);
}

static void netns_gone_between(struct scene *s)
{
	(void)ok(s, ADD);
	pod_drop(0);
	(void)try_(s, CHECK);
	(void)ok(s, DEL);
}

static void netns_gone_gc(struct scene *s)
{
	(void)ok(s, ADD);
	pod_drop(0);
	(void)ok(s, GC);
}

static void netns_gone_add(struct scene *s)
{
	(void)ok(s, ADD);
	pod_drop(0);
	pod_make(s->w, 0);
	(void)ok(s, ADD);
	(void)ok(s, DEL);
}

static void link_gone_between(struct scene *s)
{
	(void)ok(s, ADD);
	s->w->fixture->lose_link();
	(void)try_(s, CHECK);
	(void)ok(s, DEL);
}

static void records_gone_between(struct scene *s)
{
	(void)ok(s, ADD);
	must("rm -rf " RUN);
	(void)ok(s, DEL);
	s->w->fixture->lose_state();
	again_with_all(s);
}

static void store_gone_between(struct scene *s)
{
	(void)ok(s, ADD);
	must("rm -rf " STATE);
	(void)ok(s, DEL);
	again_with_all(s);
}

/* ---- the IPAM is not what it should be ---- */

static const char *fake_ipam(const char *script, int mode)
{
	must("mkdir -p " WORK "/fake && rm -f " WORK "/fake/railhead-ipam");
	if (!script)
		return WORK "/fake";
	int fd = open(WORK "/fake/railhead-ipam", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, script, strlen(script)) < 0 || fchmod(fd, (mode_t)mode))
		die("no fake IPAM");
	(void)close(fd);
	return WORK "/fake";
}

static void fail_with(struct scene *s, struct call *c)
{
	must_fail(s, c);
	c->cmd = DEL;
}

/* What such an IPAM may hold is not known: the record stays, and the next DEL goes by it. */
static void record_stays(struct scene *s)
{
	if (access(RUN "/attachments/testnet/cid,net1", F_OK))
		text_add(s->why, "the IPAM's DEL failed too, and no record has its lease\n");
	s->j->needed_recovery = true;
}

static void dels_with_ipam(struct scene *s, struct call c)
{
	(void)may_fail(s, &c);
	(void)ok(s, DEL);
	(void)ok(s, ADD);
	(void)may_fail(s, &c);
	(void)ok(s, DEL);
}

/* ADD fails by itself and leaves nothing; a DEL with it fails or not, the one after it succeeds. */
static void with_ipam(struct scene *s, const char *script, int mode)
{
	struct call c = { .path = fake_ipam(script, mode), .extra = "\"ipamTimeout\":1," };

	fail_with(s, &c);
	(void)is_clean(s->w, "left by the failed ADD", s->why);
	dels_with_ipam(s, c);
}

/* The same with an IPAM whose DEL fails too. */
static void with_mute_ipam(struct scene *s, const char *script)
{
	struct call c = { .path = fake_ipam(script, 0755), .extra = "\"ipamTimeout\":1," };

	fail_with(s, &c);
	record_stays(s);
	dels_with_ipam(s, c);
}

static void no_ipam(struct scene *s)
{
	with_ipam(s, NULL, 0);
}

static void ipam_not_executable(struct scene *s)
{
	with_ipam(s, "#!/bin/sh\n", 0644);
}

static void ipam_no_program(struct scene *s)
{
	with_ipam(s, "not a program\n\x7f", 0755);
}

static void ipam_hangs(struct scene *s)
{
	with_mute_ipam(s, "#!/bin/sh\nexec sleep 100\n");
}

static void ipam_dies(struct scene *s)
{
	with_mute_ipam(s, "#!/bin/sh\nkill -KILL $$\n");
}

static void ipam_says_nothing(struct scene *s)
{
	with_mute_ipam(s, "#!/bin/sh\nexit 1\n");
}

static void ipam_babbles(struct scene *s)
{
	with_ipam(s, "#!/bin/sh\necho babble\n", 0755);
}

/* No fault at all: what the selftest spoils in its own way. */
static void nothing(struct scene *s)
{
	(void)ok(s, ADD);
	(void)ok(s, CHECK);
	(void)ok(s, DEL);
}

#define BOTH (1 << PLUGIN | 1 << ALONE)
#define ONE  (1 << PLUGIN)

static const struct {
	const char *name;
	void (*run)(struct scene *s);
	unsigned targets;
	enum cni_command cmd; /* that the fault is for */
} scenes[] = {
	{ "nothing", nothing, BOTH, ADD },
	{ "full-run-add", full_run_add, BOTH, ADD },
	{ "full-run-del", full_run_del, BOTH, DEL },
	{ "full-state-add", full_state_add, BOTH, ADD },
	{ "full-state-del", full_state_del, BOTH, DEL },
	{ "read-only-run-add", read_only_run_add, ONE, ADD },
	{ "read-only-run-del", read_only_run_del, BOTH, DEL },
	{ "read-only-state-add", read_only_state_add, BOTH, ADD },
	{ "read-only-state-del", read_only_state_del, BOTH, DEL },
	{ "clock-forward", clock_forward, BOTH, DEL },
	{ "clock-back", clock_back, BOTH, DEL },
	{ "clock-epoch", clock_epoch, BOTH, ADD },
	{ "clock-negative", clock_negative, BOTH, ADD },
	{ "clock-far", clock_far, BOTH, DEL },
	{ "reboot-del", reboot_del, BOTH, DEL },
	{ "reboot-add", reboot_add, BOTH, ADD },
	{ "boot-changes", boot_changes, BOTH, DEL },
	{ "boot-is-unknown", boot_is_unknown, BOTH, ADD },
	{ "no-module", no_module, ONE, ADD },
	{ "no-master", no_master, ONE, ADD },
	{ "master-gone", master_gone_between, ONE, DEL },
	{ "master-moved", master_moved_between, ONE, DEL },
	{ "no-netns", no_netns, ONE, ADD },
	{ "netns-gone", netns_gone_between, ONE, DEL },
	{ "netns-gone-gc", netns_gone_gc, ONE, GC },
	{ "netns-gone-add", netns_gone_add, ONE, ADD },
	{ "link-gone", link_gone_between, ONE, DEL },
	{ "records-gone", records_gone_between, ONE, DEL },
	{ "store-gone", store_gone_between, BOTH, DEL },
	{ "no-ipam", no_ipam, ONE, ADD },
	{ "ipam-not-executable", ipam_not_executable, ONE, ADD },
	{ "ipam-no-program", ipam_no_program, ONE, ADD },
	{ "ipam-hangs", ipam_hangs, ONE, ADD },
	{ "ipam-dies", ipam_dies, ONE, ADD },
	{ "ipam-says-nothing", ipam_says_nothing, ONE, ADD },
	{ "ipam-babbles", ipam_babbles, ONE, ADD },
};

/* The i-th of the table spread over its targets. */
const char *scene_name(size_t i, enum cni_command *cmd, enum target *target)
{
	for (size_t k = 0; k < COUNT(scenes); k++) {
		for (int t = PLUGIN; t <= ALONE; t++) {
			if (!(scenes[k].targets & (1U << t)) || i--)
				continue;
			*cmd = scenes[k].cmd;
			*target = (enum target)t;
			return scenes[k].name;
		}
	}
	return NULL;
}

void scene_run(struct world *w, const struct fault *f, struct judgement *j)
{
	struct scene s = { .w = w, .target = f->target, .why = &j->evidence, .j = j };

	world_keep_result(w, NULL);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		if (strcmp(scenes[i].name, f->what) == 0) {
			scenes[i].run(&s);
			return;
		}
	}
	text_add(&j->evidence, "no such scene: %s\n", f->what);
}
