/* SPDX-License-Identifier: Apache-2.0 */
/* addr.c: parses and prints PCI addresses, and calculates the number of a VF. */
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/device/pci_priv.h"

#define DOMAIN_DIGITS_MIN 4
#define DOMAIN_DIGITS_MAX 8

int pci_parse(const char *s, struct pci_addr *out)
{
	uint32_t domain, bus, dev, fn;
	size_t digits = hex_take(s, 8, &domain);

	/* More than four digits have no zero in front: each function has one name. */
	if (digits < DOMAIN_DIGITS_MIN || (digits > DOMAIN_DIGITS_MIN && s[0] == '0') ||
	    s[digits] != ':')
		return -1;
	s += digits + 1;
	if (hex_take(s, 8, &bus) != 2 || s[2] != ':')
		return -1;
	s += 3;
	if (hex_take(s, 8, &dev) != 2 || s[2] != '.' || dev > 31)
		return -1;
	s += 3;
	if (hex_take(s, 8, &fn) != 1 || s[1] || fn > 7)
		return -1;
	*out = (struct pci_addr){ domain, (uint8_t)bus, (uint8_t)dev, (uint8_t)fn };
	return 0;
}

int pci_parse_loose(const char *s, struct pci_addr *out)
{
	char whole[PCI_STR_LEN];

	if (!strncmp(s, "0000", DOMAIN_DIGITS_MIN) && strcspn(s, ":") == DOMAIN_DIGITS_MAX)
		s += DOMAIN_DIGITS_MIN;
	if (strcspn(s, ":") != 2 || strlen(s) > PCI_STR_LEN - sizeof("0000:"))
		return pci_parse(s, out);
	(void)stpcpy(stpcpy(whole, "0000:"), s);
	return pci_parse(whole, out);
}

char *pci_format(struct pci_addr a, char out[PCI_STR_LEN])
{
	(void)snprintf(out, PCI_STR_LEN, "%04x:%02x:%02x.%x", a.domain, (unsigned)a.bus,
		       a.dev & 31U, a.fn & 7U);
	return out;
}

int pci_parse_hex(const char *s, uint32_t max, uint32_t *out)
{
	uint32_t v;
	size_t digits;

	if (s[0] != '0' || s[1] != 'x')
		return -1;
	digits = hex_take(s + 2, 8, &v);
	if (digits == 0 || s[2 + digits] || v > max)
		return -1;
	*out = v;
	return 0;
}

int pci_vf_number(struct pci_addr pf, struct pci_addr vf, struct pci_layout l, uint32_t *out)
{
	uint32_t first = pci_routing_id(pf) + l.offset, id = pci_routing_id(vf);

	if (pf.domain != vf.domain || l.offset > PCI_VFS_MAX || l.offset == 0 || id < first)
		return -1;
	if (l.stride == 0 ? id != first : (id - first) % l.stride != 0)
		return -1;
	*out = l.stride ? (id - first) / l.stride : 0;
	return 0;
}

bool pci_port_of_pf(const char *name)
{
	uint64_t n;

	return !*name || (*name == 'p' && parse_u64(name + 1, 0, UINT32_MAX, &n) == 0);
}
