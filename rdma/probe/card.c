/* SPDX-License-Identifier: Apache-2.0 */
/* card.c: the number of a card, from the boot id and the PCI functions in sysfs. */
#include "rdma/probe/card.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/device/sysfs.h"

static uint64_t card_add_part(uint64_t hash, const char *text)
{
	return hash_add(hash_add_text(hash, text), "/", 1);
}

/* The last part of the target of a link of the device. */
static bool link_end(const char *sysfs, const char *device, const char *link, char out[PATH_MAX])
{
	char path[PATH_MAX], target[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/class/infiniband/%.64s/%s", sysfs, device, link);

	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';

	const char *slash = strrchr(target, '/');

	(void)snprintf(out, PATH_MAX, "%s", slash ? slash + 1 : target);
	return true;
}

uint64_t card_of(const char *sysfs, const char *proc, const char *device)
{
	char boot[64], where[PATH_MAX];
	struct err ignored;

	if (sysfs_read(proc, "sys/kernel/random/boot_id", boot, sizeof(boot), &ignored))
		return 0;
	if (!link_end(sysfs, device, "device/physfn", where) &&
	    !link_end(sysfs, device, "device", where))
		(void)snprintf(where, sizeof(where), "%s", device);
	return card_add_part(card_add_part(HASH_START, boot), where);
}

bool card_is_one(uint64_t a, uint64_t b)
{
	return a && a == b;
}
