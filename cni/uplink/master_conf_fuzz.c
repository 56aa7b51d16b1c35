/* SPDX-License-Identifier: Apache-2.0 */
/* master_conf_fuzz.c: any text as a candidate; what is taken has one form, with a value of its own.
 */
#include "cni/uplink/master.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_cut(&data, &size);
	FUZZ_OUT(struct master_candidate, c);
	FUZZ_OUT(struct err, e);
	struct pci_addr pci;

	if (!fuzz_ok(master_parse("master", text, &c, &e), &e, &c, sizeof(c)))
		return 0;
	MUST(c.text == text);
	MUST((strchr(text, ':') == NULL) == (c.form == MASTER_NAME));
	if (c.form == MASTER_NAME)
		MUST(*text && strlen(text) < LINK_ALTNAME_LEN && !strpbrk(text, "/% "));
	if (c.form == MASTER_PCI)
		MUST(pci_parse(c.pci, &pci) == 0);
	if (c.form == MASTER_MAC)
		MUST(c.mac.len == MAC_LEN || c.mac.len == HW_ADDR_MAX);
	return 0;
}
