/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a configuration space: a shorter one gives the same findings, or "unknown". */
#include "lib/testing/fuzz.h"
#include "topo/read/pcicap.h"

static void cut(struct pci_config c, uint16_t id)
{
	size_t whole = 0, part = 0;
	enum pcicap_found f = pcicap_find_ext(c, id, &whole), g;

	for (struct pci_config d = { c.byte, 0 }; d.len < c.len; d.len += 61) {
		g = pcicap_find_ext(d, id, &part);
		MUST(g == PCICAP_UNKNOWN || (g == f && (f != PCICAP_FOUND || part == whole)));
	}
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *copy = fuzz_text(data, size);
	struct pci_config c = { (const uint8_t *)copy, size };
	struct pcicap_express x = { 0 };
	struct pcicap_acs acs = { 0 };
	char names[PCICAP_ACS_LEN];
	bool on;

	MUST(pcicap_express(c, &x) != PCICAP_FOUND || (x.type < 16 && x.mps <= 4096));
	MUST(pcicap_acs(c, &acs) <= PCICAP_FOUND && pcicap_ats(c, &on) <= PCICAP_FOUND);
	MUST(*pcicap_acs_names(acs.on, names));
	cut(c, 0x0d);
	cut(c, 0x0f);
	return 0;
}
