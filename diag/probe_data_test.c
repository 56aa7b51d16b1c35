/* SPDX-License-Identifier: Apache-2.0 */
/* probe_data_test.c: the data read from fake folders of a process, and from a fake sysfs. */
#include "diag/probe_data.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "rdma/testing/pipe.h"
#include "rdma/testing/pod.h"

/* A pod with one VF, and a machine of folders: <dir>/{sys,proc,dev}. */
struct fixture {
	const char *dir;
	struct ctx ctx;
	struct rdma_inventory v;
	struct rails rails;
	char sys[32], proc[32], dev[32];
};

static void put(const char *path, const char *text)
{
	char part[256];

	(void)snprintf(part, sizeof(part), "%s", path);
	for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ck_assert(mkdir(part, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	testing_file(path, 0644, text);
}

static void put_in(const struct fixture *w, const char *path, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", w->dir, path);
	put(full, text);
}

static void set_up(struct fixture *w)
{
	struct err e;

	*w = (struct fixture){ .dir = testing_dir(), .v = pod_new(RDMA_EXCLUSIVE) };
	(void)snprintf(w->sys, sizeof(w->sys), "%s/sys", w->dir);
	(void)snprintf(w->proc, sizeof(w->proc), "%s/proc", w->dir);
	(void)snprintf(w->dev, sizeof(w->dev), "%s/dev", w->dir);
	ctx_init(&w->ctx, "test");
	w->ctx.sysfs = w->sys;
	w->ctx.proc = w->proc;
	w->ctx.dev = w->dev;
	pod_rail(&w->v, 1, "10.1.0.5/16", 3);
	/* The numbers of /dev/null: a device that can be made and opened anywhere. */
	w->v.device[0].uverbs.major = 1;
	w->v.device[0].uverbs.minor = 3;
	ck_assert_int_eq(rails_find(&w->v, &w->rails, &e), 0);
	net_enter_new();
}

static void tear_down(struct fixture *w)
{
	rails_clear(&w->rails);
	rdma_inventory_clear(&w->v);
}
#define auto_fixture auto_clean(tear_down)

static struct probe_data read_data(const struct fixture *w, int pid)
{
	const struct probe_view view = { .ctx = &w->ctx, .pid = pid };
	struct probe_data f;
	struct err e = { 0 };

	ck_assert_msg(probe_data_read(&view, &w->v, &w->rails, &f, &e) == 0, "%s", e.msg);
	return f;
}

/* A device file; false where this user may make none. */
static bool node(const struct fixture *w, const char *path, dev_t dev)
{
	char full[256];

	put_in(w, path, "");
	(void)snprintf(full, sizeof(full), "%s/%s", w->dir, path);
	ck_assert_int_eq(unlink(full), 0);
	if (mknod(full, S_IFCHR | 0600, dev) == 0)
		return true;
	ck_assert_int_eq(errno, EPERM);
	return false;
}

START_TEST(missing_or_wrong_character_devices_are_told_apart)
{
	auto_fixture struct fixture w;

	set_up(&w);
	auto_probe_data struct probe_data f = read_data(&w, 0);
	ck_assert_int_eq(f.device[0].uverbs.access, ACCESS_MISSING);
	ck_assert_str_eq(f.device[0].uverbs.path, "/dev/infiniband/uverbs0");
	ck_assert_int_eq(f.rdma_cm.access, ACCESS_MISSING);

	put_in(&w, "dev/infiniband/rdma_cm", "");
	if (!node(&w, "dev/infiniband/uverbs0", makedev(1, 5)))
		return;
	auto_probe_data struct probe_data g = read_data(&w, 0);
	ck_assert_int_eq(g.device[0].uverbs.access, ACCESS_WRONG);
	ck_assert_uint_eq(g.device[0].uverbs.major, 1);
	ck_assert_uint_eq(g.device[0].uverbs.minor, 5);
	/* A plain file is not a device. */
	ck_assert_int_eq(g.rdma_cm.access, ACCESS_WRONG);
}
END_TEST

/* No driver answers to the number. */
START_TEST(a_denied_character_device_has_its_errno)
{
	auto_fixture struct fixture w;

	set_up(&w);
	if (!node(&w, "dev/infiniband/uverbs0", makedev(1, 3)))
		return;
	auto_probe_data struct probe_data f = read_data(&w, 0);
	ck_assert_int_eq(f.device[0].uverbs.access, ACCESS_OK);
	w.v.device[0].uverbs.minor = 255;
	ck_assert(node(&w, "dev/infiniband/uverbs0", makedev(1, 255)));
	auto_probe_data struct probe_data g = read_data(&w, 0);
	ck_assert_int_eq(g.device[0].uverbs.access, ACCESS_DENIED);
	ck_assert_int_ne(g.device[0].uverbs.errnum, 0);
}
END_TEST

START_TEST(from_outside_access_is_unknown)
{
	auto_fixture struct fixture w;

	set_up(&w);
	auto_probe_data struct probe_data nobody = read_data(&w, -1);
	ck_assert_int_eq(nobody.device[0].uverbs.access, ACCESS_UNKNOWN);
	ck_assert_str_eq(nobody.device[0].uverbs.path, "/dev/infiniband/uverbs0");
	ck_assert(!nobody.has_memlock && !nobody.has_environ);

	auto_probe_data struct probe_data missing = read_data(&w, 77);
	ck_assert_int_eq(missing.device[0].uverbs.access, ACCESS_MISSING);
	if (!node(&w, "proc/77/root/dev/infiniband/uverbs0", makedev(1, 3)))
		return;
	auto_probe_data struct probe_data f = read_data(&w, 77);
	ck_assert_int_eq(f.device[0].uverbs.access, ACCESS_THERE);
	w.v.device[0].uverbs.name[0] = '\0';
	auto_probe_data struct probe_data untold = read_data(&w, 77);
	ck_assert_int_eq(untold.device[0].uverbs.access, ACCESS_UNKNOWN);
	ck_assert_str_eq(untold.device[0].uverbs.path, "");
}
END_TEST

#define LIMITS(soft)                                                                               \
	"Limit                     Soft Limit           Hard Limit           Units     \n"         \
	"Max processes             7                    7                    processes \n"         \
	"Max locked memory         " soft "              unlimited            bytes     \n"

static void has_memlock(const struct fixture *w, const char *limits, bool known, uint64_t bytes)
{
	put_in(w, "proc/self/limits", limits);
	auto_probe_data struct probe_data f = read_data(w, 0);
	ck_assert_int_eq(f.has_memlock, known);
	if (known)
		ck_assert_uint_eq(f.memlock, bytes);
}

START_TEST(the_memlock_limit_is_read)
{
	auto_fixture struct fixture w;

	set_up(&w);
	has_memlock(&w, LIMITS("8388608"), true, 8388608);
	has_memlock(&w, LIMITS("unlimited"), true, MEMLOCK_UNLIMITED);
	has_memlock(&w, LIMITS("much"), false, 0);
	has_memlock(&w, "Max locked memory", false, 0);
	has_memlock(&w, "", false, 0);
}
END_TEST

START_TEST(cap_ipc_lock_is_read)
{
	auto_fixture struct fixture w;

	set_up(&w);
	put_in(&w, "proc/self/status", "Name:\tx\nCapEff:\t0000000000004000\nCapBnd:\t0\n");
	auto_probe_data struct probe_data f = read_data(&w, 0);
	ck_assert(f.ipc_lock);
	put_in(&w, "proc/self/status", "Name:\tx\nCapEff:\t000001ffffffbfff\n");
	auto_probe_data struct probe_data g = read_data(&w, 0);
	ck_assert(!g.ipc_lock);
	put_in(&w, "proc/self/status", "CapEff:\tgarbage4000\n");
	auto_probe_data struct probe_data h = read_data(&w, 0);
	ck_assert(!h.ipc_lock);
}
END_TEST

static void write_environ(const struct fixture *w, const char *text, size_t len)
{
	char path[64];

	put_in(w, "proc/self/environ", "");
	(void)snprintf(path, sizeof(path), "%s/proc/self/environ", w->dir);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(the_environment_is_read)
{
	static const char with[] = "PATH=/bin\0NCCL_IB_TC=106\0HOME=/";
	auto_fixture struct fixture w;

	set_up(&w);
	auto_probe_data struct probe_data none = read_data(&w, 0);
	ck_assert(!none.has_environ && !none.job.var[JOB_NCCL_IB_TC].set);
	write_environ(&w, with, sizeof(with));
	auto_probe_data struct probe_data f = read_data(&w, 0);
	ck_assert(f.has_environ);
	ck_assert_str_eq(f.job.var[JOB_NCCL_IB_TC].text, "106");
	ck_assert(!f.nccl_from && f.nccl.minor == NCCL_VERSION_NEWEST.minor);
	put_in(&w, "proc/self/maps", "7f04-7f05 r-xp 0 08:01 7 /usr/lib/libnccl.so.2.24.3\n");
	auto_probe_data struct probe_data g = read_data(&w, 0);
	ck_assert(g.nccl_from && g.nccl.minor == 24);

	const struct lib_version asked = { 2, 22, 3 };
	const struct probe_view view = { .ctx = &w.ctx, .nccl = &asked };
	auto_probe_data struct probe_data h = { 0 };
	struct err e;

	ck_assert_int_eq(probe_data_read(&view, &w.v, &w.rails, &h, &e), 0);
	ck_assert_int_eq(h.nccl_from, JOB_NCCL_ASKED);
	ck_assert_uint_eq(h.nccl.minor, 22);
}
END_TEST

#define PORT "class/infiniband/mlx5_1/ports/1/"

/* The kernel counts on while it is waited. */
static void count_on(int64_t ms, void *arg)
{
	const struct fixture *w = arg;

	ck_assert_int_eq(ms, 2000);
	put_in(w, "sys/" PORT "hw_counters/out_of_sequence", "12\n");
	put_in(w, "host/" PORT "hw_counters/out_of_sequence", "112\n");
}

START_TEST(counters_are_read_twice)
{
	auto_fixture struct fixture w;
	struct probe_view view = {
		.ctx = &w.ctx, .watch_ms = 2000, .wait = count_on, .wait_arg = &w
	};
	struct err e;
	char host[64];

	set_up(&w);
	put_in(&w, "sys/" PORT "hw_counters/out_of_sequence", "7\n");
	put_in(&w, "host/" PORT "hw_counters/out_of_sequence", "100\n");
	put_in(&w, "host/class/net/ens1f0/carrier_down_count", "4\n");
	auto_probe_data struct probe_data f = { 0 };
	ck_assert_int_eq(probe_data_read(&view, &w.v, &w.rails, &f, &e), 0);
	ck_assert_int_eq(f.watched_ms, 2000);
	ck_assert_uint_eq(f.device[0].port[0].first.value[COUNT_SEQUENCE], 7);
	ck_assert_uint_eq(f.device[0].port[0].last.value[COUNT_SEQUENCE], 12);

	/* Of a pod in mode shared the host shows them, and the link of the card. */
	(void)snprintf(host, sizeof(host), "%s/host", w.dir);
	view.host_sysfs = host;
	w.v.device[0].port[0].netdev[0] = '\0';
	(void)snprintf(w.v.netdev[1].below, sizeof(w.v.netdev[1].below), "ens1f0");
	put_in(&w, "host/" PORT "hw_counters/out_of_sequence", "100\n");
	auto_probe_data struct probe_data g = { 0 };
	ck_assert_int_eq(probe_data_read(&view, &w.v, &w.rails, &g, &e), 0);
	ck_assert_uint_eq(g.device[0].port[0].first.value[COUNT_SEQUENCE], 100);
	ck_assert_uint_eq(g.device[0].port[0].last.value[COUNT_SEQUENCE], 112);
	ck_assert_uint_eq(g.device[0].port[0].last.value[COUNT_LINK_DOWN], 4);

	auto_probe_data struct probe_data once = read_data(&w, 0);
	ck_assert_int_eq(once.watched_ms, 0);
	ck_assert_uint_eq(once.device[0].port[0].first.value[COUNT_SEQUENCE], 12);
}
END_TEST

/* net2 is IPoIB of mlx5_9, in partition 1; the caller asks for another one. */
static void add_ipoib(struct fixture *w)
{
	struct inv_port *p = pod_port(&w->v, "mlx5_9", "0000:19:00.0", 0);
	struct err e;

	pod_ib(p, 7, "02:00:00:00:00:00:00:07");
	(void)pod_ipoib(&w->v, "net2", p, 5);
	rails_clear(&w->rails);
	ck_assert_int_eq(rails_find(&w->v, &w->rails, &e), 0);
	w->v.netdev[w->v.n_netdevs - 1].pkey = 0x8001;
}

START_TEST(partitions_of_interfaces_and_of_the_caller_are_read)
{
	static const struct pkey_asked asked[] = {
		{ 0x7fff, "--pkey", NULL },
		{ 0x8005, "attachment net7", "0000:19:00.0" },
		{ 0x8006, "attachment net8", "0000:99:00.0" }, /* not visible */
		{ 0x8007, "attachment net9", "0000:01:00.2" }, /* Ethernet */
	};
	auto_fixture struct fixture w;
	auto_probe_data struct probe_data f = { 0 };
	struct err e = { 0 };

	set_up(&w);
	add_ipoib(&w);
	const struct probe_view view = { .ctx = &w.ctx,
					 .pkeys = asked,
					 .n_pkeys = ARRAY_SIZE(asked) };
	ck_assert_msg(probe_data_read(&view, &w.v, &w.rails, &f, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(f.n_pkeys, 3);
	ck_assert_ptr_null(f.pkey[0].port);
	ck_assert_uint_eq(f.pkey[0].pkey, 0x7fff);
	ck_assert_str_eq(f.pkey[0].from, "--pkey");
	ck_assert_ptr_eq(f.pkey[1].port, &w.v.device[1].port[0]);
	ck_assert_uint_eq(f.pkey[1].pkey, 0x8005);
	ck_assert_str_eq(f.pkey[1].from, "attachment net7");
	ck_assert_ptr_eq(f.pkey[2].port, &w.v.device[1].port[0]);
	ck_assert_uint_eq(f.pkey[2].pkey, 0x8001);
	ck_assert_str_eq(f.pkey[2].from, "interface net2");
	/* The partition of the interface is not known. */
	w.v.netdev[w.v.n_netdevs - 1].pkey = 0;
	auto_probe_data struct probe_data g = read_data(&w, 0);
	ck_assert_uint_eq(g.n_pkeys, 0);
}
END_TEST

static int read_all(void *arg, struct err *e)
{
	const struct fixture *w = arg;
	const struct probe_view view = { .ctx = &w->ctx };
	auto_probe_data struct probe_data f = { 0 };

	return probe_data_read(&view, &w->v, &w->rails, &f, e);
}

START_TEST(allocations_may_fail)
{
	auto_fixture struct fixture w;

	set_up(&w);
	put_in(&w, "proc/self/limits", LIMITS("8388608"));
	put_in(&w, "proc/self/status", "CapEff:\t0\n");
	put_in(&w, "proc/self/environ", "A=b");
	add_ipoib(&w);
	ck_assert_str_eq(alloc_fail_each(read_all, &w), "ok");
}
END_TEST

START_TEST(files_of_settings_are_those_of_the_process)
{
	static const char env[] = "HOME=/elsewhere\0";
	static const char named[] = "NCCL_CONF_FILE=/opt/nccl.conf\0";
	auto_fixture struct fixture w;
	char from[64], to[64];

	set_up(&w);
	write_environ(&w, env, sizeof(env) - 1);
	put_in(&w, "proc/self/status", "Uid:\t1000\t0\t0\t0\nCapEff:\t0\n");
	put_in(&w, "proc/self/root/etc/passwd",
	       "root:x:0:0::/root:/bin/sh\nu:x:1000:1::/home/u:/bin/sh\n");
	put_in(&w, "proc/self/root/home/u/.nccl.conf", "NCCL_IB_TC=106\n");
	put_in(&w, "proc/self/root/etc/nccl.conf", "NCCL_IB_TC=96\nNCCL_IB_HCA=mlx5\n");
	put_in(&w, "proc/self/root/opt/nccl.conf", "NCCL_IB_TC=40\n");
	auto_probe_data struct probe_data f = read_data(&w, 0);
	ck_assert_str_eq(f.job.var[JOB_NCCL_IB_TC].text, "106");
	ck_assert_str_eq(f.job.var[JOB_NCCL_IB_TC].from, "/home/u/.nccl.conf");
	ck_assert_str_eq(f.job.var[JOB_NCCL_IB_HCA].from, "/etc/nccl.conf");
	write_environ(&w, named, sizeof(named) - 1);
	auto_probe_data struct probe_data g = read_data(&w, 0);
	ck_assert_str_eq(g.job.var[JOB_NCCL_IB_TC].text, "40");
	/* Before 2.23 that variable has no meaning. */
	put_in(&w, "proc/self/maps", "7f04-7f05 r-xp 0 08:01 7 /usr/lib/libnccl.so.2.22.3\n");
	auto_probe_data struct probe_data h = read_data(&w, 0);
	ck_assert_str_eq(h.job.var[JOB_NCCL_IB_TC].text, "106");
	/* A link of the pod leads to its own files, and a pipe is not waited for. */
	(void)snprintf(from, sizeof(from), "%s/proc/self/root/etc/nccl.conf", w.dir);
	(void)snprintf(to, sizeof(to), "%s/proc/self/root/home/u/.nccl.conf", w.dir);
	ck_assert_int_eq(unlink(to), 0);
	ck_assert_int_eq(symlink("/opt/nccl.conf", to), 0);
	ck_assert_int_eq(unlink(from), 0);
	ck_assert_int_eq(mkfifo(from, 0600), 0);
	auto_probe_data struct probe_data i = read_data(&w, 0);
	ck_assert_str_eq(i.job.var[JOB_NCCL_IB_TC].text, "40");
	ck_assert(!i.job.var[JOB_NCCL_IB_HCA].set);
}
END_TEST

/* To open a device can start it: a watchdog, a tape. A pipe tells whether it was opened. */
START_TEST(no_special_file_of_the_process_is_opened)
{
	static const char *const paths[] = { "etc/passwd", "etc/nccl.conf", "opt/nccl.conf" };
	static const char env[] = "NCCL_CONF_FILE=/opt/nccl.conf";
	auto_fixture struct fixture w;
	char path[128];

	set_up(&w);
	put_in(&w, "proc/self/status", "Uid:\t1000\t0\t0\t0\nCapEff:\t0\n");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		write_environ(&w, env, strncmp(paths[i], "opt", 3) == 0 ? sizeof(env) : 0);
		(void)snprintf(path, sizeof(path), "proc/self/root/%s", paths[i]);
		put_in(&w, path, "");
		(void)snprintf(path, sizeof(path), "%s/proc/self/root/%s", w.dir, paths[i]);
		ck_assert_int_eq(unlink(path), 0);

		pid_t watcher = pipe_watch(path);
		struct probe_data f = read_data(&w, 0);

		probe_data_clear(&f);
		ck_assert_msg(!pipe_was_opened(watcher), "%s was opened", paths[i]);
	}
}
END_TEST

START_TEST(the_library_is_found_without_other_files)
{
	auto_fixture struct fixture w;
	auto_free struct job_vars *job = calloc(1, sizeof(*job));
	const struct probe_view view = { .ctx = &w.ctx };
	struct err e;

	ck_assert_ptr_nonnull(job);
	set_up(&w);
	put_in(&w, "proc/self/environ", "NCCL_IB_TC=106");
	put_in(&w, "proc/self/root/etc/nccl.conf", "NCCL_IB_HCA=mlx5\n");
	put_in(&w, "proc/self/maps", "7f04-7f05 r-xp 0 08:01 7 /usr/lib/libnccl.so.2.24.3\n");
	ck_assert_int_eq(probe_read_library(&view, job, &e), 0);
	ck_assert_int_eq(job->library.is, JOB_LIBRARY_NAMED);
	ck_assert_uint_eq(job->library.version.minor, 24);
	ck_assert(!job->var[JOB_NCCL_IB_TC].set && !job->var[JOB_NCCL_IB_HCA].set);
}
END_TEST

TEST_PROGRAM("probe_data", no_special_file_of_the_process_is_opened,
	     the_library_is_found_without_other_files, files_of_settings_are_those_of_the_process,
	     missing_or_wrong_character_devices_are_told_apart,
	     a_denied_character_device_has_its_errno, from_outside_access_is_unknown,
	     the_memlock_limit_is_read, cap_ipc_lock_is_read, the_environment_is_read,
	     counters_are_read_twice, partitions_of_interfaces_and_of_the_caller_are_read,
	     allocations_may_fail)
