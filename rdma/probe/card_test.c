/* SPDX-License-Identifier: Apache-2.0 */
/* card_test.c: which devices are on one card, on a fake sysfs. */
#include "rdma/probe/card.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

static void make(const char *dir, const char *path)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", dir, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
}

static void point(const char *dir, const char *path, const char *to)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", dir, path);
	ck_assert_int_eq(symlink(to, full), 0);
}

static void boot(const char *dir, const char *id)
{
	char full[256];

	make(dir, "sys/kernel/random");
	(void)snprintf(full, sizeof(full), "%s/sys/kernel/random/boot_id", dir);
	testing_file(full, 0644, id);
}

/* Two ports of a card are two cards: each has a wire of its own. */
START_TEST(a_card_is_a_PF_and_its_VFs)
{
	const char *dir = testing_dir();

	make(dir, "class/infiniband/pf0");
	make(dir, "class/infiniband/pf1");
	make(dir, "class/infiniband/vf0");
	make(dir, "class/infiniband/vf1");
	make(dir, "class/infiniband/rxe0");
	make(dir, "pci/0000:3b:00.0");
	make(dir, "pci/0000:3b:00.1");
	make(dir, "pci/0000:3b:02.0");
	make(dir, "pci/0000:3b:02.1");
	point(dir, "class/infiniband/pf0/device", "../../../pci/0000:3b:00.0");
	point(dir, "class/infiniband/pf1/device", "../../../pci/0000:3b:00.1");
	point(dir, "class/infiniband/vf0/device", "../../../pci/0000:3b:02.0");
	point(dir, "class/infiniband/vf1/device", "../../../pci/0000:3b:02.1");
	point(dir, "pci/0000:3b:02.0/physfn", "../0000:3b:00.0");
	point(dir, "pci/0000:3b:02.1/physfn", "../0000:3b:00.0");
	ck_assert_uint_eq(card_of(dir, dir, "pf0"), 0);
	boot(dir, "6c5ba1d0-0000-4000-8000-000000000001\n");

	uint64_t pf0 = card_of(dir, dir, "pf0"), rxe = card_of(dir, dir, "rxe0");

	ck_assert(card_is_one(pf0, card_of(dir, dir, "vf0")));
	ck_assert(card_is_one(pf0, card_of(dir, dir, "vf1")));
	ck_assert(!card_is_one(pf0, card_of(dir, dir, "pf1")));
	ck_assert(card_is_one(rxe, card_of(dir, dir, "rxe0")));
	ck_assert(!card_is_one(rxe, card_of(dir, dir, "rxe1")));
	ck_assert(!card_is_one(rxe, pf0));
	boot(dir, "6c5ba1d0-0000-4000-8000-000000000002\n");
	ck_assert(!card_is_one(pf0, card_of(dir, dir, "pf0")));
}
END_TEST

START_TEST(what_is_not_known_is_not_the_same)
{
	ck_assert(!card_is_one(0, 0));
	ck_assert(!card_is_one(0, 1));
	ck_assert(card_is_one(1, 1));
}
END_TEST

TEST_PROGRAM("rdma/probe/card", a_card_is_a_PF_and_its_VFs, what_is_not_known_is_not_the_same)
