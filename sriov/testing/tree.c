/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c: moves folders of PCI functions of the test below bridges. */
#include "sriov/testing/tree.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/testing/pci.h"
#include "lib/testing/testing.h"
#include "sriov/testing/vf.h"

static void put_link(const char *target, const char *at)
{
	(void)unlink(at);
	ck_assert_int_eq(symlink(target, at), 0);
}

void testhost_below(const char *addr, const char *above)
{
	char from[256], to[256], target[256];

	(void)snprintf(from, sizeof(from), TESTHOST_SYS "/devices/pci/%s", addr);
	(void)snprintf(to, sizeof(to), TESTHOST_SYS "/devices/pci/%s/%s", above, addr);
	ck_assert_int_eq(rename(from, to), 0);
	(void)snprintf(target, sizeof(target), "%s/%s", above, addr);
	put_link(target, from);
	(void)snprintf(target, sizeof(target), "../../../devices/pci/%s/%s", above, addr);
	(void)snprintf(from, sizeof(from), TESTHOST_SYS "/bus/pci/devices/%s", addr);
	put_link(target, from);
}

static void bridge(const char *addr, const char *above)
{
	fakepci_function(TESTHOST_SYS, addr);
	fakepci_file(TESTHOST_SYS, addr, "class", "0x060400\n");
	if (*above)
		testhost_below(addr, above);
}

void testhost_switch(const char *port, const char *up, const char *down)
{
	char above[64];

	bridge(port, "");
	bridge(up, port);
	(void)snprintf(above, sizeof(above), "%s/%s", port, up);
	bridge(down, above);
}
