// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * vfio.c: a driver that is called vfio-pci, for the parameter vfio=1. The real one refuses these
 * cards, because no IOMMU is above them. This one can be bound by driver_override, and its device
 * gets an IOMMU group. It has nothing for programs.
 */
#include <linux/iommu.h>
#include "conformance/vm/fabric/fabric.h"

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct iommu_group *group;
	int err;

	if (!fab_of(pdev) || pci_domain_nr(pdev->bus) != FAB_DOMAIN)
		return -ENODEV;
	group = iommu_group_alloc();
	if (IS_ERR(group))
		return PTR_ERR(group);
	err = iommu_group_add_device(group, &pdev->dev);
	iommu_group_put(group);
	return err;
}

static void remove(struct pci_dev *pdev)
{
	iommu_group_remove_device(&pdev->dev);
}

static const struct pci_device_id ids[] = {
	{ PCI_DRIVER_OVERRIDE_DEVICE_VFIO(PCI_ANY_ID, PCI_ANY_ID) }, {}
};

static struct pci_driver driver = {
	.name = "vfio-pci",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.driver_managed_dma = true,
};

int fab_vfio_init(void)
{
	return pci_register_driver(&driver);
}

void fab_vfio_exit(void)
{
	pci_unregister_driver(&driver);
}
