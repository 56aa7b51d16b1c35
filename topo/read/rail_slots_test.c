/* SPDX-License-Identifier: Apache-2.0 */
/* rail_slots_test.c: numbers stay with their slots, whatever happens to cards and buses. */
#include "topo/read/rail_slots.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "topo/read/rail_list.h"
#include "topo/read/rail_survey.h"
#include "topo/testing/tree.h"

#define CARDS 4

/* A machine of four root complexes, each with a switch with a GPU and a card of InfiniBand. */
struct made {
	bool acpi;      /* root complexes have names that do not depend on buses */
	bool backwards; /* the last root complex has the lowest bus */
	int shift;      /* added to each number of a bus below a root complex */
	int missing;    /* the card that is not there; -1 */
	int model;      /* of card 2: 0, or another device, GUID and names */
	bool extra;     /* a second card at the first switch, at a lower port */
	bool unbound;   /* card 1 has no RDMA device */
};

static const struct made as_bought = { .missing = -1 };
static struct ctx ctx;
static const char sys[] = "/mnt/sys";

static void put_function(const char *path, uint32_t class_code, uint16_t vendor, uint16_t device)
{
	tree_add(sys, &(struct tree_fn){ path, class_code, vendor, device, 0, NULL, 0 });
}

static void put_card(const struct made *m, const char *port, int bus, int i)
{
	const bool swapped = i == 2 && m->model;
	char path[128], name[16], ifname[16], link[192];

	(void)snprintf(path, sizeof(path), "%s/0000:%02x:00.0", port, bus);
	put_function(path, 0x020700, 0x15b3, swapped ? 0x1023 : 0x1021);
	if (i == 1 && m->unbound)
		return;
	(void)snprintf(name, sizeof(name), "mlx5_%d", swapped ? 9 : i);
	(void)snprintf(ifname, sizeof(ifname), "ib%d", swapped ? 9 : i);
	tree_add_hca(sys, path, name, (uint64_t)(swapped ? 0x99 : i + 1));
	tree_add_netdev(sys, path, ifname, 0);
	(void)snprintf(link, sizeof(link), "devices/%s/infiniband/%s/ports/1/link_layer", path,
		       name);
	tree_put(sys, link, "InfiniBand\n");
}

static void put_complex(const struct made *m, int i)
{
	const int root = 0x10 * (m->backwards ? CARDS - i : i + 1), bus = root + 1 + m->shift;
	char path[128], port[160], acpi[64];

	(void)snprintf(path, sizeof(path), "devices/pci0000:%02x/firmware_node/path", root);
	(void)snprintf(acpi, sizeof(acpi), "\\_SB_.PC%02d\n", i);
	if (m->acpi)
		tree_put(sys, path, acpi);
	(void)snprintf(path, sizeof(path), "pci0000:%02x/0000:%02x:01.0", root, root);
	put_function(path, 0x060400, 0x8086, 0x352a);
	(void)snprintf(path, sizeof(path), "pci0000:%02x/0000:%02x:01.0/0000:%02x:00.0", root, root,
		       bus);
	put_function(path, 0x060400, 0x1000, 0xc030);
	for (int down = 0; down < 3; down++) {
		/* an extra card takes the first bus: the others have the next ones */
		const bool has_extra = m->extra && i == 0;
		const int below = bus + 2 + down - !has_extra;

		if ((down == 0 && !has_extra) || (down == 1 && m->missing == i))
			continue;
		(void)snprintf(port, sizeof(port), "%s/0000:%02x:%02x.0", path, bus + 1, down * 4);
		put_function(port, 0x060400, 0x1000, 0xc030);
		if (down < 2) {
			put_card(m, port, below, down ? i : 7);
			continue;
		}
		(void)snprintf(port + strlen(port), sizeof(port) - strlen(port), "/0000:%02x:00.0",
			       below);
		put_function(port, 0x030200, 0x10de, 0x2901);
	}
}

/* The machine after a boot with these cards; its files stay. */
static void boot(const struct made *m)
{
	if (!ctx.sysfs)
		(void)testing_dir();
	ck_assert_int_eq(system("rm -rf /mnt/sys"), 0);
	ctx = (struct ctx){
		.sysfs = sys, .proc = "/mnt/proc", .etc_dir = "/mnt/etc", .state_dir = "/mnt/lib"
	};
	for (int i = 0; i < CARDS; i++)
		put_complex(m, i);
}

/* "0 ib0, 1 ib1, 2 -": each rail with its interface, or the error. */
static const char *rails(void)
{
	static char text[1024];
	struct err e = { .msg = "" };
	struct rail_list l;
	size_t used = 0;

	if (rail_list_load(&ctx, &l, &e)) {
		(void)snprintf(text, sizeof(text), "%s", e.msg);
		return text;
	}
	*text = '\0';
	for (uint32_t n = 0; n <= RAIL_NUMBER_MAX; n++) {
		const struct rail_entry *x = rail_list_find(&l, n);

		if (x || rail_list_find_dead(&l, n))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u %s",
						 used ? ", " : "", n, x ? x->ifname : "-");
	}
	return text;
}

static int pin(void)
{
	struct err e = { .msg = "" };
	int n = rail_survey_pin(&ctx, &e);

	ck_assert_msg(n >= 0, "%s", e.msg);
	return n;
}

START_TEST(numbers_are_pinned_once)
{
	const struct made extra = { .missing = -1, .extra = true };
	struct stat before, after;
	static const char file[] = "/mnt/lib/" RAIL_SLOTS_FILE;

	boot(&as_bought);
	ck_assert_str_eq(rails(), "0 ib0, 1 ib1, 2 ib2, 3 ib3");
	ck_assert_int_eq(pin(), 4);
	ck_assert_str_eq(rails(), "0 ib0, 1 ib1, 2 ib2, 3 ib3");
	ck_assert_int_eq(stat(file, &before), 0);
	boot(&extra);
	ck_assert_int_eq(pin(), 0);
	ck_assert_int_eq(stat(file, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
}
END_TEST

START_TEST(a_number_stays_with_its_slot)
{
	static const struct {
		struct made m;
		const char *pinned, *computed;
	} boots[] = {
		{ { .missing = -1, .model = 1 },
		  "0 ib0, 1 ib1, 2 ib9, 3 ib3",
		  "0 ib0, 1 ib1, 2 ib9, 3 ib3" },
		{ { .missing = 1 }, "0 ib0, 1 -, 2 ib2, 3 ib3", "0 ib0, 1 ib2, 2 ib3" },
		/* a card without a number is no rail before somebody gives it one */
		{ { .missing = -1, .extra = true },
		  "0 ib0, 1 ib1, 2 ib2, 3 ib3",
		  "0 ib7, 1 ib0, 2 ib1, 3 ib2, 4 ib3" },
		{ { .missing = -1, .shift = 3 },
		  "0 ib0, 1 ib1, 2 ib2, 3 ib3",
		  "0 ib0, 1 ib1, 2 ib2, 3 ib3" },
		{ { .missing = -1, .backwards = true },
		  "0 ib0, 1 ib1, 2 ib2, 3 ib3",
		  "0 ib3, 1 ib2, 2 ib1, 3 ib0" },
		{ { .missing = 0, .backwards = true, .shift = 2, .model = 1 },
		  "0 -, 1 ib1, 2 ib9, 3 ib3",
		  "0 ib3, 1 ib9, 2 ib1" },
		{ { .missing = -1, .unbound = true },
		  "0 ib0, 1 -, 2 ib2, 3 ib3",
		  "0 ib0, 1 ib2, 2 ib3" },
	};
	const struct made first = { .missing = -1, .acpi = true };

	boot(&first);
	ck_assert_int_eq(pin(), 4);
	for (size_t i = 0; i < ARRAY_SIZE(boots); i++) {
		struct made m = boots[i].m;

		m.acpi = true;
		boot(&m);
		ck_assert_msg(!strcmp(rails(), boots[i].pinned), "%zu: %s", i, rails());
		ctx.state_dir = NULL;
		ck_assert_msg(!strcmp(rails(), boots[i].computed), "%zu: computed: %s", i, rails());
	}
}
END_TEST

/* Without ACPI a root complex has the number of its bus; buses below it may change. */
START_TEST(buses_below_a_root_complex_do_not_count)
{
	const struct made first = { .missing = 2 }, then = { .missing = -1, .shift = 5 };
	struct rail_slots s;
	struct err e;

	boot(&first);
	ck_assert_int_eq(pin(), 3);
	ck_assert_int_eq(rail_slots_read(&ctx, &s, &e), 0);
	ck_assert_str_eq(s.slot[0].path, "pci0000:10/01.0/00.0/04.0/00.0");
	ck_assert_str_eq(s.slot[2].path, "pci0000:40/01.0/00.0/04.0/00.0");
	ck_assert_str_eq(s.slot[2].pci, "0000:43:00.0");
	boot(&then);
	ck_assert_str_eq(rails(), "0 ib0, 1 ib1, 2 ib3");
}
END_TEST

/* The driver of a card may be loaded later: then the others must not get its number for ever. */
START_TEST(nothing_is_pinned_before_each_card_is_ready)
{
	const struct made early = { .missing = -1, .unbound = true };
	struct rail_slots s;
	struct err e;

	boot(&early);
	ck_assert_int_eq(pin(), 0);
	ck_assert_int_eq(rail_slots_read(&ctx, &s, &e), 1);
	ck_assert_str_eq(rails(), "0 ib0, 1 ib2, 2 ib3");
	boot(&as_bought);
	ck_assert_int_eq(pin(), 4);
	ck_assert_str_eq(rails(), "0 ib0, 1 ib1, 2 ib2, 3 ib3");
}
END_TEST

START_TEST(the_file_of_the_operator_wins)
{
	boot(&as_bought);
	tree_put("/mnt", "etc/rails.json", "{\"rails\":[{\"rail\":5,\"interface\":\"ib0\"}]}");
	ck_assert_int_eq(pin(), 0);
	ck_assert_str_eq(rails(), "5 ib0");
	ck_assert_int_eq(system("rm /mnt/etc/rails.json"), 0);
	ck_assert_int_eq(pin(), 4);
	tree_put("/mnt", "etc/rails.json", "{\"rails\":[{\"rail\":5,\"interface\":\"ib0\"}]}");
	ck_assert_str_eq(rails(), "5 ib0");
}
END_TEST

/* What the operator takes away is not missing. */
START_TEST(a_role_of_the_operator_holds)
{
	boot(&as_bought);
	ck_assert_int_eq(pin(), 4);
	tree_put("/mnt", "etc/topo.json", "{\"roles\":{\"mlx5_1\":\"storage\"}}");
	ck_assert_str_eq(rails(), "0 ib0, 2 ib2, 3 ib3");
	tree_put("/mnt", "proc/net/route",
		 "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
		 "ib3\t00000000\t0102030A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n");
	ck_assert_str_eq(rails(), "0 ib0, 2 ib2");
}
END_TEST

/* GPUs without a pinned card of their own get another one, and not a card without a number. */
START_TEST(near_cards_are_pinned_ones)
{
	static const char gpu[][PCI_STR_LEN] = { "0000:15:00.0" };
	const struct made extra = { .missing = -1, .extra = true };
	struct rail_list all, l;
	struct err e = { .msg = "" };

	boot(&as_bought);
	ck_assert_int_eq(pin(), 4);
	boot(&extra);
	ck_assert_msg(!rail_list_load_near(&ctx, (struct rail_gpus){ gpu, 1 }, &all, &l, &e), "%s",
		      e.msg);
	ck_assert_uint_eq(all.n, 4);
	ck_assert_uint_eq(l.n, 1);
	ck_assert_str_eq(l.rail[0].ifname, "ib0");
	ck_assert_str_eq(all.source, RAIL_SLOTS_FILE);
}
END_TEST

START_TEST(a_damaged_file_is_said)
{
	static const struct {
		const char *text, *word;
	} wrong[] = {
		{ "", "is empty" },
		{ "[]", "must be an object" },
		{ "{\"version\":2,\"slots\":[]}", "version" },
		{ "{\"version\":1}", "slots" },
		{ "{\"version\":1,\"slots\":[{\"rail\":64,\"slot\":\"x\",\"pci\":\"0000:01:00.0\"}]"
		  "}",
		  "rail" },
		{ "{\"version\":1,\"slots\":[{\"rail\":1,\"slot\":\"x\",\"pci\":\"y\"}]}",
		  "slots[0].pci: \"y\"" },
		{ "{\"version\":1,\"slots\":[{\"rail\":1,\"slot\":\"x\",\"pci\":\"0000:01:00.0\"},"
		  "{\"rail\":1,\"slot\":\"y\",\"pci\":\"0000:01:00.0\"}]}",
		  "given twice" },
	};
	struct rail_slots s;
	struct err e;

	boot(&as_bought);
	ck_assert_int_eq(pin(), 4);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		tree_put("/mnt", "lib/" RAIL_SLOTS_FILE, wrong[i].text);
		ck_assert_msg(strstr(rails(), wrong[i].word) &&
				      strstr(rails(), "lib/" RAIL_SLOTS_FILE),
			      "%zu: %s", i, rails());
		ck_assert_int_eq(rail_survey_pin(&ctx, &e), -1);
	}
	ck_assert_ptr_nonnull(strstr(e.detail, "railctl rails slots --renumber"));
	ck_assert_int_eq(system("chmod 666 /mnt/lib/" RAIL_SLOTS_FILE), 0);
	ck_assert_int_eq(rail_slots_read(&ctx, &s, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
}
END_TEST

static int load_and_pin(void *arg, struct err *e)
{
	struct rail_list l;

	(void)arg;
	(void)unlink("/mnt/lib/" RAIL_SLOTS_FILE);
	return rail_survey_pin(&ctx, e) < 0 || rail_list_load(&ctx, &l, e) ? -1 : 0;
}

START_TEST(allocations_may_fail)
{
	boot(&as_bought);
	ck_assert_str_eq(alloc_fail_each(load_and_pin, NULL), "ok");
}
END_TEST

TEST_PROGRAM("topo/read/rail_slots", numbers_are_pinned_once, a_number_stays_with_its_slot,
	     buses_below_a_root_complex_do_not_count, nothing_is_pinned_before_each_card_is_ready,
	     the_file_of_the_operator_wins, a_role_of_the_operator_holds,
	     near_cards_are_pinned_ones, a_damaged_file_is_said, allocations_may_fail)
