/* SPDX-License-Identifier: Apache-2.0 */
/* pci_fuzz.c: feeds any two texts to the parsers of addresses and numbers. */
#include "lib/device/pci_priv.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *first = fuzz_cut(&data, &size), *second = fuzz_text(data, size);
	char text[PCI_STR_LEN];
	FUZZ_OUT(struct pci_addr, a);
	FUZZ_OUT(uint32_t, n);
	struct pci_addr b, again;
	struct pci_layout l = { 2, (uint32_t)(size % 5) };

	if (fuzz_ok(pci_parse(first, &a), NULL, &a, sizeof(a))) {
		MUST(!pci_parse(pci_format(a, text), &again) && !strcasecmp(text, first));
		MUST(a.domain == again.domain && a.bus == again.bus && a.dev == again.dev);
		MUST(a.dev < 32 && a.fn < 8 && a.fn == again.fn);
		if (!pci_parse(second, &b) && !pci_vf_number(a, b, l, &n))
			MUST(a.domain == b.domain && n <= PCI_VFS_MAX);
	}
	FUZZ_OUT(uint32_t, hex);
	if (fuzz_ok(pci_parse_hex(first, 0xffffff, &hex), NULL, &hex, sizeof(hex)))
		MUST(hex <= 0xffffff && hex == strtoul(first, NULL, 16));
	MUST(!pci_port_of_pf(first) || !strchr(first, 'v'));
	return 0;
}
