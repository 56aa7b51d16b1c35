/* SPDX-License-Identifier: Apache-2.0 */
/* manager_conf_fuzz.c: feeds text to vf_file_decode; names and counts that it accepts are valid. */
#include "lib/testing/fuzz.h"
#include "sriov/admin/manager.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct vf_file, f);
	FUZZ_OUT(struct err, e);
	struct pci_addr a;

	if (!fuzz_ok(vf_file_decode((const char *)data, size, "x", &f, &e), &e, &f, sizeof(f))) {
		MUST(e.code == ERR_NOMEM || strncmp(e.msg, "x: ", 3) == 0);
		return 0;
	}
	MUST(f.count > 0 && f.count <= UINT16_MAX);
	MUST(!ifname_problem(f.pf) || !pci_parse(f.pf, &a));
	MUST(!f.driver || (*f.driver && strlen(f.driver) < PCI_DRIVER_LEN));
	MUST(!f.driver || (*f.driver != '.' && !strchr(f.driver, '/')));
	for (uint32_t i = 0; i < f.guids.n; i++)
		MUST(guid_is_usable(f.guids.list[i]));
	MUST(!f.guids.n || f.guids.n >= f.count);
	vf_file_clear(&f);
	return 0;
}
