// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * config.c: a PCI host bridge in software. Its domain has a root port for each card, and below it
 * the card's PF and VFs. There is only configuration space: no memory, no interrupts. The kernel's
 * own SR-IOV code does the rest.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "conformance/vm/fabric/fabric.h"

#define SIZE          PCI_CFG_SPACE_EXP_SIZE
#define EXP           0x40  /* the PCI Express capability */
#define SRIOV         0x100 /* the SR-IOV capability */
#define VENDOR        0xfab1
#define PF_DEVICE     1
#define VF_DEVICE     2
#define PORT_DEVICE   3
#define INFINIBAND    0x020700
#define LINK_32GT_X16 (PCI_EXP_LNKSTA_CLS_32_0GB | 16 << PCI_EXP_LNKSTA_NLW_SHIFT)

static u8 *ports[8]; /* configuration space of each card's root port */
static struct pci_bus *root;
static struct pci_sysdata sysdata = { .domain = FAB_DOMAIN, .node = NUMA_NO_NODE };
static struct resource buses = { .name = "fabric", .flags = IORESOURCE_BUS };

static void put8(u8 *config, int at, u8 value)
{
	config[at] = value;
}

static void put16(u8 *config, int at, u16 value)
{
	put8(config, at, value);
	put8(config, at + 1, value >> 8);
}

static void put32(u8 *config, int at, u32 value)
{
	put16(config, at, value);
	put16(config, at + 2, value >> 16);
}

/* What all have: a header with the PCI Express capability, and a link. */
static void common(u8 *config, u16 vendor, u16 device, u32 class, int exp_type)
{
	put16(config, PCI_VENDOR_ID, vendor);
	put16(config, PCI_DEVICE_ID, device);
	put16(config, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put32(config, PCI_CLASS_REVISION, class << 8);
	put8(config, PCI_CAPABILITY_LIST, EXP);
	put8(config, EXP, PCI_CAP_ID_EXP);
	put16(config, EXP + PCI_EXP_FLAGS, 2 | exp_type << 4);
	put32(config, EXP + PCI_EXP_DEVCAP,
	      PCI_EXP_DEVCAP_RBER | (exp_type == PCI_EXP_TYPE_ENDPOINT ? PCI_EXP_DEVCAP_FLR : 0));
	put32(config, EXP + PCI_EXP_LNKCAP, LINK_32GT_X16);
	put16(config, EXP + PCI_EXP_LNKSTA, LINK_32GT_X16);
	put32(config, EXP + PCI_EXP_LNKCAP2, 0x3e);
	put16(config, EXP + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS_32_0GT);
}

static void port_config(u8 *config, int number)
{
	common(config, VENDOR, PORT_DEVICE, PCI_CLASS_BRIDGE_PCI_NORMAL, PCI_EXP_TYPE_ROOT_PORT);
	put8(config, PCI_HEADER_TYPE, PCI_HEADER_TYPE_BRIDGE);
	put8(config, PCI_SECONDARY_BUS, number + 1);
	put8(config, PCI_SUBORDINATE_BUS, number + 1);
	/* A window whose end is before its beginning is closed. */
	put8(config, PCI_IO_BASE, 0xf0);
	put16(config, PCI_MEMORY_BASE, 0xfff0);
	put16(config, PCI_PREF_MEMORY_BASE, 0xfff0);
}

static void pf_config(u8 *config)
{
	common(config, VENDOR, PF_DEVICE, INFINIBAND, PCI_EXP_TYPE_ENDPOINT);
	put16(config, PCI_SUBSYSTEM_VENDOR_ID, VENDOR);
	put16(config, PCI_SUBSYSTEM_ID, PF_DEVICE);
	put32(config, SRIOV, PCI_EXT_CAP_ID_SRIOV | 1 << 16);
	put16(config, SRIOV + PCI_SRIOV_INITIAL_VF, fab_vfs());
	put16(config, SRIOV + PCI_SRIOV_TOTAL_VF, fab_vfs());
	put16(config, SRIOV + PCI_SRIOV_VF_OFFSET, 1);
	put16(config, SRIOV + PCI_SRIOV_VF_STRIDE, 1);
	put16(config, SRIOV + PCI_SRIOV_VF_DID, VF_DEVICE);
	put32(config, SRIOV + PCI_SRIOV_SUP_PGSIZE, 0x553);
}

/* By the specification a VF has no ids of its own. */
static void vf_config(u8 *config)
{
	common(config, 0xffff, 0xffff, INFINIBAND, PCI_EXP_TYPE_ENDPOINT);
	put16(config, PCI_SUBSYSTEM_VENDOR_ID, VENDOR);
	put16(config, PCI_SUBSYSTEM_ID, VF_DEVICE);
}

/* A VF is there while its PF has VFs enabled. */
static u8 *space(struct pci_bus *bus, unsigned int devfn)
{
	struct fab_function *f;

	if (pci_is_root_bus(bus))
		return PCI_FUNC(devfn) || PCI_SLOT(devfn) < 1 || PCI_SLOT(devfn) > fab_pfs()
			       ? NULL
			       : ports[PCI_SLOT(devfn) - 1];
	f = fab_at(bus->number, devfn);
	return !f || (f->pf && !(f->pf->config[SRIOV + PCI_SRIOV_CTRL] & PCI_SRIOV_CTRL_VFE))
		       ? NULL
		       : f->config;
}

static int read_config(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 *value)
{
	u8 *config = space(bus, devfn);
	int i;

	*value = ~0u >> (32 - 8 * size);
	if (!config || at + size > SIZE)
		return PCIBIOS_DEVICE_NOT_FOUND;
	for (*value = 0, i = 0; i < size; i++)
		*value |= (u32)config[at + i] << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

/* writable: which bits of a byte are memory. All others are fixed, so that no BAR has a size and no
 * reset takes place. */
static u8 writable(const u8 *config, int at)
{
	bool bridge = config[PCI_HEADER_TYPE] == PCI_HEADER_TYPE_BRIDGE;

	if (at == PCI_COMMAND)
		return 0x47;
	if (at == PCI_COMMAND + 1)
		return 0x05;
	if (at == PCI_CACHE_LINE_SIZE || at == PCI_INTERRUPT_LINE)
		return 0xff;
	if (bridge && at >= PCI_PRIMARY_BUS && at <= PCI_SEC_LATENCY_TIMER)
		return 0xff;
	if (bridge && (at == PCI_IO_BASE || at == PCI_IO_LIMIT))
		return 0xf0;
	if (bridge && at >= PCI_MEMORY_BASE && at < PCI_PREF_BASE_UPPER32)
		return at & 1 ? 0xff : 0xf0;
	if (bridge)
		return 0;
	if (at == SRIOV + PCI_SRIOV_CTRL)
		return PCI_SRIOV_CTRL_VFE | PCI_SRIOV_CTRL_MSE;
	if (at == SRIOV + PCI_SRIOV_NUM_VF || at == SRIOV + PCI_SRIOV_NUM_VF + 1 ||
	    at == SRIOV + PCI_SRIOV_SYS_PGSIZE)
		return 0xff;
	return 0;
}

static int write_config(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 value)
{
	u8 *config = space(bus, devfn), mask;
	int i;

	if (!config || at + size > SIZE)
		return PCIBIOS_DEVICE_NOT_FOUND;
	for (i = 0; i < size; i++) {
		mask = writable(config, at + i);
		config[at + i] = (config[at + i] & ~mask) | ((value >> (8 * i)) & mask);
	}
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops ops = { .read = read_config, .write = write_config };

int fab_config_init(void)
{
	int i;

	for (i = 0; i < fab_count; i++) {
		fab_functions[i].config = vzalloc(SIZE);
		if (!fab_functions[i].config)
			goto failed;
		if (fab_functions[i].pf)
			vf_config(fab_functions[i].config);
		else
			pf_config(fab_functions[i].config);
	}
	for (i = 0; i < fab_pfs(); i++) {
		ports[i] = vzalloc(SIZE);
		if (!ports[i])
			goto failed;
		port_config(ports[i], i);
	}
	return 0;
failed:
	fab_config_exit();
	return -ENOMEM;
}

void fab_config_exit(void)
{
	int i;

	for (i = 0; i < fab_count; i++)
		vfree(fab_functions[i].config);
	for (i = 0; i < fab_pfs(); i++)
		vfree(ports[i]);
}

int fab_bridge_add(void)
{
	struct pci_host_bridge *bridge;
	LIST_HEAD(resources);

	if (pci_find_bus(FAB_DOMAIN, 0))
		return -EEXIST;
	buses.end = fab_pfs();
	pci_add_resource(&resources, &buses);
	pci_lock_rescan_remove();
	root = pci_create_root_bus(NULL, 0, &ops, &sysdata, &resources);
	if (!root) {
		pci_unlock_rescan_remove();
		pci_free_resource_list(&resources);
		return -ENODEV;
	}
	/* Nothing here has interrupts: no services of a root port. */
	bridge = to_pci_host_bridge(root->bridge);
	bridge->native_pcie_hotplug = bridge->native_shpc_hotplug = bridge->native_aer = 0;
	bridge->native_pme = bridge->native_ltr = bridge->native_dpc = 0;
	pci_scan_child_bus(root);
	pci_bus_add_devices(root);
	pci_unlock_rescan_remove();
	return 0;
}

void fab_bridge_remove(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(root);
	pci_remove_root_bus(root);
	pci_unlock_rescan_remove();
	root = NULL;
}
