// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * main.c: the emulated cards: PFs and VFs, and what a card's firmware keeps of each.
 */
#include <linux/if_link.h>
#include <linux/module.h>
#include "conformance/vm/fabric/wire.h"

static int pfs = 2;
module_param(pfs, int, 0444);
MODULE_PARM_DESC(pfs, "cards (1 to 8)");
static int vfs = 16;
module_param(vfs, int, 0444);
MODULE_PARM_DESC(vfs, "VFs that each can have (1 to 200)");
static bool zero_guids;
module_param(zero_guids, bool, 0644);
MODULE_PARM_DESC(zero_guids, "new VFs have no GUIDs");
static int link_state = IFLA_VF_LINK_STATE_AUTO;
module_param(link_state, int, 0644);
MODULE_PARM_DESC(link_state, "of new VFs: 0 auto, 1 enable, 2 disable");

DEFINE_SPINLOCK(fab_lock);
struct fab_function *fab_functions;
int fab_count;

int fab_pfs(void)
{
	return pfs;
}

int fab_vfs(void)
{
	return vfs;
}

struct fab_function *fab_pf(int number)
{
	return &fab_functions[number * (1 + vfs)];
}

/* PF n is function 0 of bus n + 1; its VFs follow. */
struct fab_function *fab_at(u8 bus, u8 devfn)
{
	return bus < 1 || bus > pfs || devfn > vfs ? NULL : fab_pf(bus - 1) + devfn;
}

struct fab_function *fab_of(struct pci_dev *pdev)
{
	return fab_at(pdev->bus->number, pdev->devfn);
}

/* GUIDs of a card: the middle is the card, the last byte 0 for the PF and n + 1 for VF n. */
static u64 own_guid(const struct fab_function *f, bool port)
{
	return 0x0200fab000000000ULL | (u64)f->bus << 16 | (u64)port << 8 | f->devfn;
}

static void reset_port(struct fab_function *f)
{
	memset(f->pkeys, 0, sizeof(f->pkeys));
	f->pkeys[0] = 0xffff;
	f->sm_lid = 1;
	f->lid = 0x10 + (f->bus - 1) * 0x100 + f->devfn;
}

void fab_reset_vf(struct fab_function *f)
{
	f->node_guid = zero_guids ? 0 : own_guid(f, false);
	f->port_guid = zero_guids ? 0 : own_guid(f, true);
	f->link = link_state;
	f->state = 0;
	reset_port(f);
}

/* A VF's port is as its link policy says: with the PF's, or as if a subnet manager had brought it
 * up, or down. */
enum ib_port_state fab_state(const struct fab_function *f)
{
	if (f->state)
		return f->state;
	if (f->link == IFLA_VF_LINK_STATE_DISABLE)
		return IB_PORT_DOWN;
	return f->link == IFLA_VF_LINK_STATE_ENABLE ? IB_PORT_ACTIVE : f->pf->state;
}

static void reset_pf(struct fab_function *f)
{
	f->node_guid = own_guid(f, false);
	f->port_guid = own_guid(f, true);
	f->state = IB_PORT_ACTIVE;
	reset_port(f);
}

static int functions_init(void)
{
	int pf, n;

	if (pfs < 1 || pfs > 8 || vfs < 1 || vfs > 200)
		return -EINVAL;
	fab_count = pfs * (1 + vfs);
	fab_functions = kvcalloc(fab_count, sizeof(*fab_functions), GFP_KERNEL);
	if (!fab_functions)
		return -ENOMEM;
	for (pf = 0; pf < pfs; pf++)
		for (n = 0; n <= vfs; n++) {
			struct fab_function *f = fab_pf(pf) + n;

			f->pf = n ? fab_pf(pf) : NULL;
			f->vf = n - 1;
			f->bus = pf + 1;
			f->devfn = n;
			snprintf(f->address, sizeof(f->address), "%04x:%02x:%02x.%d", FAB_DOMAIN,
				 f->bus, PCI_SLOT(n), PCI_FUNC(n));
			if (n)
				fab_reset_vf(f);
			else
				reset_pf(f);
		}
	return 0;
}

static int __init begin(void)
{
	int err = functions_init();

	if (err)
		return err;
	err = fab_switch_init();
	if (err)
		goto no_switch;
	err = fab_config_init();
	if (err)
		goto no_config;
	err = fab_driver_init();
	if (err)
		goto no_driver;
	err = fab_knobs_init();
	if (err)
		goto no_knobs;
	err = fab_bridge_add();
	if (!err)
		return 0;
	fab_knobs_exit();
no_knobs:
	fab_driver_exit();
no_driver:
	fab_config_exit();
no_config:
	fab_switch_exit();
no_switch:
	kvfree(fab_functions);
	return err;
}

static void __exit end(void)
{
	fab_faults_clear();
	fab_bridge_remove();
	fab_knobs_exit();
	fab_faults_clear();
	fab_driver_exit();
	fab_config_exit();
	fab_switch_exit();
	kvfree(fab_functions);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("InfiniBand cards with VFs, and a subnet for them, in software");
MODULE_LICENSE("GPL");
