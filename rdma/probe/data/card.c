/* SPDX-License-Identifier: Apache-2.0 */
/* card.c: the number of a card, from the boot id and the PCI functions in sysfs. */
#include "rdma/probe/data/card.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/pci/sysfs.h"

/* FNV-1a. */
static uint64_t hash_add(uint64_t hash, const char *text)
{
	for (const char *p = text; *p; p++)
		hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
	return (hash ^ '/') * UINT64_C(0x100000001b3);
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
	return hash_add(hash_add(UINT64_C(0xcbf29ce484222325), boot), where);
}

bool card_is_one(uint64_t a, uint64_t b)
{
	return a && a == b;
}
