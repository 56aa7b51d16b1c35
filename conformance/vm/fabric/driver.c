// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * driver.c: the driver of PFs and VFs. A VF gets its GUIDs when the driver is bound to it, as with
 * mlx5_core.
 */
#include <linux/module.h>
#include "conformance/vm/fabric/fabric.h"

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct fab_function *f = fab_of(pdev);
	int err, i;

	if (!f)
		return -ENODEV;
	err = fab_fault(f, FAB_PROBE);
	if (err)
		return err;
	err = pci_enable_device(pdev);
	if (err)
		return err;
	if (!f->pf)
		for (i = 1; i <= fab_vfs(); i++)
			f[i].set_node_guid = f[i].set_port_guid = 0;
	err = fab_device_add(f, pdev);
	if (err)
		pci_disable_device(pdev);
	return err;
}

static void remove(struct pci_dev *pdev)
{
	struct fab_function *f = fab_of(pdev);

	fab_fault(f, FAB_REMOVE);
	if (!f->pf)
		pci_disable_sriov(pdev);
	fab_device_remove(f);
	pci_disable_device(pdev);
}

/* As mlx5 does: new VFs have the GUIDs of the firmware, except those that were set since the PF's
 * driver was bound. */
static int sriov_configure(struct pci_dev *pdev, int count)
{
	struct fab_function *f = fab_of(pdev);
	int err, i;

	err = fab_fault(f, FAB_NUMVFS);
	if (err)
		return err;
	if (!count) {
		pci_disable_sriov(pdev);
		return 0;
	}
	for (i = 1; i <= count; i++) {
		fab_reset_vf(&f[i]);
		f[i].node_guid = f[i].set_node_guid ?: f[i].node_guid;
		f[i].port_guid = f[i].set_port_guid ?: f[i].port_guid;
	}
	err = pci_enable_sriov(pdev, count);
	return err ?: count;
}

static const struct pci_device_id ids[] = { { PCI_DEVICE(0xfab1, 1) },
					    { PCI_DEVICE(0xfab1, 2) },
					    {} };

static struct pci_driver driver = {
	.name = "fabric",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.sriov_configure = sriov_configure,
};

static bool vfio;
module_param(vfio, bool, 0444);
MODULE_PARM_DESC(vfio, "a driver vfio-pci for these cards");

int fab_driver_init(void)
{
	int err = vfio ? fab_vfio_init() : 0;

	if (err)
		return err;
	err = pci_register_driver(&driver);
	if (err && vfio)
		fab_vfio_exit();
	return err;
}

void fab_driver_exit(void)
{
	pci_unregister_driver(&driver);
	if (vfio)
		fab_vfio_exit();
}
