// SPDX-License-Identifier: Apache-2.0
/* Reads the topology files of testdata. */
#include "topo/testing/topo.h"

#include <fcntl.h>
#include <stdio.h>

#include "lib/sys/fs.h"
#include "lib/testing/testing.h"
#include "topo/read/read.h"

char *topo_text(const char *file)
{
	char path[256];
	struct err e = { 0 };
	char *text = NULL;

	(void)snprintf(path, sizeof(path), "topo/testdata/%s", file);
	if (fs_read_at(AT_FDCWD, path, 1 << 20, &text, &e) < 0)
		ck_abort_msg("%s: %s", path, e.msg);
	return text;
}

void topo_xml(const char *name, struct topo_machine *out)
{
	char file[128];
	struct err e = { 0 };

	(void)snprintf(file, sizeof(file), "nccl-xml/%s.xml", name);
	auto_free char *text = topo_text(file);
	if (topo_read_xml(text, strlen(text), out, &e))
		ck_abort_msg("%s: %s", file, e.msg);
}

const char *const *topo_names(void)
{
	static const char *const names[] = {
		"aws-p4d",
		"azure-nd-a100-v4",
		"dgx-a100",
		"oci-bm-gpu-h100",
		"rccl-topo_16p1h",
		"rccl-topo_3p_pcie",
		"rccl-topo_4p2h",
		"rccl-topo_4p3l_n2",
		"rccl-topo_4p_942",
		"rccl-topo_8p1h",
		"rccl-topo_8p6l_2nic",
		"rccl-topo_8p_90a",
		"rccl-topo_8p_940",
		"rccl-topo_8p_942vm",
		"rccl-topo_8p_950",
		"rccl-topo_8p_pcie_2nic",
		"rccl-topo_8p_rome",
		"rccl-topo_8p_rome_4nics",
		"rccl-topo_8p_ts1",
		"synthetic-a_pix100_phb400",
		"synthetic-c_flat_vm_8x8_numa-1",
		"synthetic-e_1switch_3gpu_4nic",
		"synthetic-h_gpu_numa0_nic_numa-1",
		"synthetic-j_dgxa100_only_gpu1",
		NULL,
	};

	return names;
}
