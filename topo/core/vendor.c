// SPDX-License-Identifier: Apache-2.0
#include "topo/core/machine_build.h"

#define VENDOR_NVIDIA 0x10de
#define VENDOR_AMD    0x1002
#define VENDOR_HABANA 0x1da3
#define VENDOR_HUAWEI 0x19e5

enum aff_vendor aff_vendor_of(const struct aff_pci *p, bool *on_package)
{
	*on_package = false;
	if (!p->has_ids)
		return AFF_OTHER;
	switch (p->vendor) {
	case VENDOR_NVIDIA:
		return AFF_NVIDIA;
	case VENDOR_AMD:
		return AFF_AMD;
	case VENDOR_HABANA:
		*on_package = true;
		return AFF_GAUDI;
	case VENDOR_HUAWEI:
		*on_package = true;
		return AFF_ASCEND;
	default:
		return AFF_OTHER;
	}
}
