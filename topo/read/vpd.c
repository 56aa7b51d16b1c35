// SPDX-License-Identifier: Apache-2.0
/*
 * The vital product data of a PCI function. HGX B200 and B300 do not show their NVSwitches; the
 * host manages these by functions of a ConnectX-7 that has no cable. They look like ports of a NIC
 * of InfiniBand: ACTIVE, with an interface, and with its device id. Only their VPD has a vendor
 * field SMDL (Fabric Manager user guide, "limited physical functions").
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "topo/read/tree.h"

#define VPD_MAX 4096
#define MARK    "SMDL=SW_MNG"

enum topo_tristate tree_vpd_is_nvswitch(int dir)
{
	auto_fd int fd = tree_file(dir, "vpd");
	char text[VPD_MAX];
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? TOPO_NO : TOPO_UNKNOWN;
	while ((n = read(fd, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	if (memmem(text, len, MARK, strlen(MARK)))
		return TOPO_YES;
	return n < 0 ? TOPO_UNKNOWN : TOPO_NO;
}
