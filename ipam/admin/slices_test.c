/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices_test.c: nodes that share a pool by slices, and the changes of pool and number that living
 * leases allow.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ipam/admin/node.h"
#include "ipam/conf/pool.h"
#include "ipam/conf/pool_slice.h"
#include "ipam/testing/ipam.h"

#define POOL   "{\"pool\":\"rail0\"}"
#define SLICED "{\"subnet\":\"10.0.0.0/24\",\"slice\":{\"size\":16}}"

/* An IPAM whose node has this number; negative: none. */
static void open_node(struct fixture *w, int number)
{
	char text[64];

	fixture_open(w);
	w->ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	(void)snprintf(text, sizeof(text), "{\"number\":%d}", number);
	if (number >= 0)
		testing_file("/mnt/etc/node.json", 0600, text);
}

/* pool apply of one pool: 0, or the error's code. */
static int apply(struct fixture *w, const char *def, bool force)
{
	auto_json struct json *j = NULL;
	struct admin_pool p = { .name = "rail0", .apply = true, .force = force };

	ck_assert_msg(json_parse(def, strlen(def), "test", &j, &w->e) == 0, "%s", def);
	p.definition = j;
	p.refuse_whole = true;
	return admin_pool_put(&w->m, &p, &w->e) ? (int)w->e.code : 0;
}

static int set_number(struct fixture *w, uint32_t number, bool force)
{
	auto_json struct json *o = json_new_object();
	struct admin_node n = { o, force, 0 };

	ck_assert_int_eq(json_add_int(o, "number", number), 0);
	return admin_node_set(&w->m, &n, &w->e) ? (int)w->e.code : 0;
}

static void said(const struct fixture *w, const char *what)
{
	ck_assert_msg(strstr(w->e.msg, what) || strstr(w->e.detail, what), "%s; %s", w->e.msg,
		      w->e.detail);
}

START_TEST(each_number_gets_addresses_of_its_slice)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_node(&w, 2);
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.32");
	for (int i = 33; i < 48; i++) {
		char id[16], want[16];

		(void)snprintf(id, sizeof(id), "c%d", i);
		(void)snprintf(want, sizeof(want), "10.0.0.%d", i);
		ck_assert_str_eq(w_add(&w, POOL, id, ""), want);
	}
	ck_assert_str_eq(w_add(&w, POOL, "c99", ""),
			 "!101 no address is left in pool rail0, slice 2 (16 addresses)");
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.32");
	w_sound(&w);
}
END_TEST

START_TEST(without_a_number_add_says_what_to_type)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_node(&w, -1);
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c1", ""), "!7 pool rail0: node ", 20), 0);
	said(&w, "railctl ipam node set");
	ck_assert_int_eq(strncmp(w_status(&w, POOL), "!7 ", 3), 0);
	ck_assert_int_eq(set_number(&w, 16, false), ERR_CONFIG);
	said(&w, "highest number that fits is 15");
	ck_assert_int_eq(set_number(&w, 16, true), 0);
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c1", ""), "!7 pool rail0: the node", 23), 0);
	ck_assert_int_eq(set_number(&w, 15, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.240");
	testing_file("/mnt/etc/node.json", 0666, "{\"number\":15}");
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c2", ""), "!106 pool rail0: ", 17), 0);
}
END_TEST

/* The address stays with its pod, and DEL, CHECK and GC know it. */
START_TEST(leases_outside_of_the_slice_are_checked_and_released)
{
	auto_fixture struct fixture w = { .now = 0 };
	const struct owner c1 = { "net", "c1", "net1", "", "", "" };
	const struct alloc_check check = { &c1, NULL, 0 };

	open_node(&w, 2);
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.32");
	testing_file("/mnt/etc/node.json", 0600, "{\"number\":3}");
	ck_assert_msg(alloc_check(&w.m, &check, &w.e) == 0, "%s", w.e.msg);
	ck_assert_str_eq(w_add(&w, POOL, "c2", ""), "10.0.0.48");
	ck_assert_int_eq(unlink("/mnt/etc/node.json"), 0);
	ck_assert_msg(alloc_check(&w.m, &check, &w.e) == 0, "%s", w.e.msg);
	w_sound(&w);
	w_del(&w, "c1");
	w_del(&w, "c2");
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), -1);
	w_sound(&w);
}
END_TEST

START_TEST(a_number_does_not_change_under_leases)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_node(&w, 2);
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", "K8S_POD_NAMESPACE=a;K8S_POD_NAME=web"),
			 "10.0.0.32");
	ck_assert_int_eq(set_number(&w, 3, false), ERR_BUSY);
	said(&w, "10.0.0.32 (a/web)");
	ck_assert_int_eq(set_number(&w, 3, true), ERR_BUSY);
	ck_assert_int_eq(set_number(&w, 99, true), ERR_BUSY);
	ck_assert_int_eq(set_number(&w, 2, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c2", ""), "10.0.0.33");
	w_del(&w, "c1");
	w_del(&w, "c2");
	ck_assert_int_eq(set_number(&w, 3, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.48");
}
END_TEST

/* A process with the store open, which sets the number when told so. */
struct setter {
	struct fixture *w;
	int fd; /* of the socket to it */
	pid_t pid;
	bool ended;
	int status;
};

static void set_when_told(struct setter *s)
{
	int both[2];
	char c = 'x';

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
	s->fd = both[0];
	s->pid = fork();
	ck_assert_int_ge(s->pid, 0);
	if (s->pid) {
		ck_assert_int_eq(read(s->fd, &c, 1), 1);
		return;
	}
	if (ipam_open(&s->w->ctx, NULL, false, &s->w->m, &s->w->e) || write(both[1], &c, 1) != 1 ||
	    read(both[1], &c, 1) != 1)
		_exit(255);
	_exit(set_number(s->w, 3, false));
}

/* Within an ADD: let the other process run until it ends or waits for us, then assign. */
static int assign_slowly(struct lease_db *l, void *arg, struct err *e)
{
	static const struct owner c1 = { "net", "c1", "net1", "", "", "" };
	const struct timespec pause = { 0, 10 * 1000000 };
	auto_clean(source_clear) struct source source = { .label = "" };
	auto_json struct json *def = NULL;
	struct setter *s = arg;

	ck_assert_int_eq(write(s->fd, "x", 1), 1);
	for (int i = 0; i < 30 && !s->ended; i++) {
		s->ended = waitpid(s->pid, &s->status, WNOHANG) == s->pid;
		(void)nanosleep(&pause, NULL);
	}
	if (json_parse(SLICED, strlen(SLICED), "t", &def, e) ||
	    pool_decode("rail0", def, &source, e) || pool_slice_cut(&source, 2, e))
		return -1;
	struct ip first = source.usable.items[0].first;
	const struct addr_choice choice = { .source = &source, .ip = first, .next = first };
	return lease_db_assign(l, &choice, &c1, e);
}

START_TEST(a_number_does_not_change_during_an_add)
{
	auto_fixture struct fixture w = { .now = 0 };
	struct setter s = { .w = &w };
	struct ipam_job job = { STORE_WRITE, "ADD", assign_slowly, &s, NULL };

	open_node(&w, 2);
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ipam_close(&w.m);
	set_when_told(&s);
	ck_assert_int_eq(ipam_open(&w.ctx, NULL, false, &w.m, &w.e), 0);
	ck_assert_msg(ipam_run(&w.m, &job, &w.e) == 0, "%s", w.e.msg);
	if (!s.ended)
		ck_assert_int_eq(waitpid(s.pid, &s.status, 0), s.pid);
	ck_assert(WIFEXITED(s.status));
	ck_assert_int_eq(WEXITSTATUS(s.status), ERR_BUSY);
	ck_assert_str_eq(w_add(&w, POOL, "c2", ""), "10.0.0.33");
}
END_TEST

START_TEST(an_excluded_lease_holds_a_number_too)
{
	auto_fixture struct fixture w = { .now = 0 };
	static const char def[] = "{\"subnet\":\"10.0.0.0/24\",\"slice\":{\"size\":16},"
				  "\"excludes\":[\"10.0.0.32\"]}";

	open_node(&w, 2);
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.32");
	ck_assert_int_eq(apply(&w, def, false), ERR_BUSY);
	said(&w, "10.0.0.32 (container c1)");
	said(&w, "--force");
	ck_assert_int_eq(apply(&w, def, true), 0);
	/* again: nothing changes, so nothing is refused */
	ck_assert_int_eq(apply(&w, def, false), 0);
	/* the mask may go again, and then node 2 would assign the address */
	ck_assert_int_eq(set_number(&w, 3, false), ERR_BUSY);
	ck_assert_int_eq(set_number(&w, 3, true), ERR_BUSY);
	said(&w, "10.0.0.32 (container c1)");
	w_sound(&w);
}
END_TEST

/* Nothing of the slice is usable any more, but the number does not change. */
START_TEST(a_masked_slice_keeps_its_number)
{
	auto_fixture struct fixture w = { .now = 0 };
	static const char none[] = "{\"sliced\":{\"subnet\":\"10.0.0.0/24\","
				   "\"slice\":{\"size\":16},\"excludes\":[\"10.0.0.32/28\"]}}";

	open_node(&w, 2);
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.32");
	w_scribble(&w, "d/rail0", none);
	ck_assert_int_eq(set_number(&w, 2, false), ERR_CONFIG);
	ck_assert_int_eq(set_number(&w, 2, true), 0);
	ck_assert_int_eq(set_number(&w, 3, true), ERR_BUSY);
	said(&w, "10.0.0.32 (container c1)");
}
END_TEST

START_TEST(a_range_by_hand_becomes_slices_where_nobody_overlaps)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_node(&w, 2);
	ck_assert_int_eq(apply(&w,
			       "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.32-10.0.0.63\"]}",
			       false),
			 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.32");
	/* slice 2 of 16 is inside the range of this node */
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c2", ""), "10.0.0.33");
	/* slice 2 of 8 is not, and the leases are in slices of the nodes 4 and others */
	static const char small[] = "{\"subnet\":\"10.0.0.0/24\",\"slice\":{\"size\":8}}";
	ck_assert_int_eq(apply(&w, small, false), ERR_BUSY);
	ck_assert_int_eq(apply(&w, small, true), ERR_BUSY);
	said(&w, "2 leased addresses would be in the slice of another node");
	w_del(&w, "c1");
	w_del(&w, "c2");
	ck_assert_int_eq(apply(&w, small, false), ERR_BUSY);
	said(&w, "did not have, in 10.0.0.16-10.0.0.23");
	ck_assert_int_eq(apply(&w, small, true), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c3", ""), "10.0.0.16");
	/* and back, only inside of the slice */
	ck_assert_int_eq(apply(&w,
			       "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.16-10.0.0.31\"]}",
			       false),
			 ERR_BUSY);
	ck_assert_int_eq(apply(&w,
			       "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.16-10.0.0.23\"]}",
			       false),
			 0);
	ck_assert_str_eq(w_add(&w, POOL, "c4", ""), "10.0.0.17");
	w_sound(&w);
}
END_TEST

START_TEST(a_pool_of_one_node_becomes_slices)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_node(&w, 0);
	ck_assert_int_eq(
		apply(&w,
		      "{\"subnet\":\"10.0.0.0/24\",\"thisNodeOnly\":true,\"gateway\":\"10.0.0.1\"}",
		      false),
		0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.2");
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_int_eq(apply(&w, "{\"subnet\":\"10.0.0.0/24\",\"thisNodeOnly\":true}", false),
			 ERR_BUSY);
	/* the grid stays if only the subnet grows */
	ck_assert_int_eq(apply(&w, "{\"subnet\":\"10.0.0.0/16\",\"slice\":{\"prefix\":28}}", false),
			 0);
	ck_assert_int_eq(unlink("/mnt/etc/node.json"), 0);
	/* without a number: what moves no slice is harmless */
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_int_eq(apply(&w, "{\"subnet\":\"10.0.0.0/24\",\"slice\":{\"size\":8}}", true),
			 ERR_CONFIG);
	said(&w, "railctl ipam node set");
}
END_TEST

START_TEST(the_pools_of_a_file_are_changed_together)
{
	auto_fixture struct fixture w = { .now = 0 };
	auto_json struct json *a = NULL, *b = NULL;
	static const char
		low[] = "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.1-10.0.0.9\"]}",
		high[] = "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.9-10.0.0.20\"]}";
	struct admin_pool pools[2] = { { .name = "a", .apply = true },
				       { .name = "b", .apply = true } };

	open_node(&w, 0);
	ck_assert_int_eq(json_parse(low, strlen(low), "t", &a, &w.e), 0);
	ck_assert_int_eq(json_parse(high, strlen(high), "t", &b, &w.e), 0);
	pools[0].definition = a;
	pools[1].definition = b;
	ck_assert_int_eq(admin_pools_put(&w.m, pools, 2, &w.e), -1);
	said(&w, "overlaps with pool b in 10.0.0.9-10.0.0.9");
	ck_assert_ptr_nonnull(
		strstr(w_add(&w, "{\"pool\":\"a\"}", "c1", ""), "pool a does not exist"));
	ck_assert_int_eq(admin_pools_put(&w.m, pools, 1, &w.e), 0);
	ck_assert_int_eq(pools[0].done, ADMIN_ADDED);
	ck_assert_int_eq(admin_pools_put(&w.m, pools, 1, &w.e), 0);
	ck_assert_int_eq(pools[0].done, ADMIN_UNCHANGED);
	pools[1].name = "a";
	ck_assert_int_eq(admin_pools_put(&w.m, pools, 2, &w.e), -1);
	said(&w, "given twice");
}
END_TEST

START_TEST(a_list_shows_the_slice_of_the_node)
{
	auto_fixture struct fixture w = { .now = 0 };
	auto_json struct json *list = NULL, *table = NULL;
	const struct admin_slices s = { "rail0", NULL, 3 };

	open_node(&w, 2);
	ck_assert_int_eq(apply(&w, SLICED, false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.32");
	ck_assert_int_eq(admin_pools(&w.m, "rail0", &list, &w.e), 0);
	auto_free char *text = json_print(list, false);
	ck_assert_str_eq(
		text, "[{\"name\":\"rail0\",\"definition\":" SLICED
		      ",\"from\":\"node\",\"slice\":{\"number\":2,\"first\":\"10.0.0.32\",\"last\":"
		      "\"10.0.0.47\",\"slices\":16,\"leasesOutside\":0,"
		      "\"leasesInOtherSlices\":0},\"capacity\":16,"
		      "\"used\":1,\"resting\":0}]");
	struct admin_slices all = s;
	all.definition = json_get(json_first(list), "definition");
	ck_assert_int_eq(admin_slices(&all, &table, &w.e), 0);
	auto_free char *rows = json_print(table, false);
	ck_assert_str_eq(
		rows,
		"[{\"number\":0,\"first\":\"10.0.0.0\",\"last\":\"10.0.0.15\",\"addresses\":15},"
		"{\"number\":1,\"first\":\"10.0.0.16\",\"last\":\"10.0.0.31\",\"addresses\":16},"
		"{\"number\":2,\"first\":\"10.0.0.32\",\"last\":\"10.0.0.47\",\"addresses\":16}]");
	all.n = 17;
	ck_assert_int_eq(admin_slices(&all, &table, &w.e), -1);
	said(&w, "too few for 17 nodes: the highest number that fits is 15");
	testing_file("/mnt/etc/node.json", 0600, "{\"number\":3}");
	json_free(TAKE_PTR(list));
	ck_assert_int_eq(admin_pools(&w.m, "rail0", &list, &w.e), 0);
	const struct json *own = json_get(json_first(list), "slice");
	ck_assert(json_num(json_get(own, "leasesInOtherSlices")) == 1);
}
END_TEST

TEST_PROGRAM("slices", each_number_gets_addresses_of_its_slice,
	     without_a_number_add_says_what_to_type,
	     leases_outside_of_the_slice_are_checked_and_released,
	     a_number_does_not_change_under_leases, a_number_does_not_change_during_an_add,
	     an_excluded_lease_holds_a_number_too, a_masked_slice_keeps_its_number,
	     a_range_by_hand_becomes_slices_where_nobody_overlaps,
	     a_pool_of_one_node_becomes_slices, the_pools_of_a_file_are_changed_together,
	     a_list_shows_the_slice_of_the_node)
