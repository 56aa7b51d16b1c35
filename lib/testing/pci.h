/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pci.h: a /sys of PCI functions in a folder: what the kernel shows, as files and links.
 *
 * For test programs only. root is a folder of the test (testing_dir()); everything aborts the test
 * when it fails. Functions lie in devices/pci, with links in bus/pci/devices and class/net.
 */
#ifndef RAILHEAD_LIB_TESTING_PCI_H
#define RAILHEAD_LIB_TESTING_PCI_H

#include "lib/device/pci.h"

/* fakepci_function - an Ethernet controller of Intel's without a driver, NUMA node 1. */
void fakepci_function(const char *root, const char *addr);

/* fakepci_file - an attribute of it; NULL for text: none (any more). name may have slashes. */
void fakepci_file(const char *root, const char *addr, const char *name, const char *text);
/* fakepci_link - a link in its folder; NULL for target: none (any more). */
void fakepci_link(const char *root, const char *addr, const char *name, const char *target);

/* fakepci_driver - bind it to a driver, which comes to exist; NULL: unbind. */
void fakepci_driver(const char *root, const char *addr, const char *driver);

/* fakepci_netdev - an interface of it; port: its phys_port_name, or NULL. */
void fakepci_netdev(const char *root, const char *addr, const char *ifname, const char *port);

struct fakepci_vfs {
	uint32_t num, total, offset, stride;
};
/* fakepci_vfs - make pf a PF with num VFs at the addresses that offset and stride give. */
void fakepci_vfs(const char *root, const char *pf, struct fakepci_vfs v);

/* fakepci_vf_addr - the address of VF number n there. Returns out. */
char *fakepci_vf_addr(const char *pf, struct fakepci_vfs v, uint32_t n, char out[PCI_STR_LEN]);

#endif
