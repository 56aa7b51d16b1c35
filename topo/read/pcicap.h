/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcicap.h: what the configuration space of a PCI function says. Pure.
 *
 * The bytes are what sysfs gives of the file `config`: 4096, 256 of a conventional function, and 64
 * for whoever is not root. What lies behind the last byte is unknown, not absent. Offsets and bits
 * are those of the PCI Express base specification, chapter 7.
 */
#ifndef RAILHEAD_TOPO_READ_PCICAP_H
#define RAILHEAD_TOPO_READ_PCICAP_H

#include "lib/base/base.h"

#define PCI_CONFIG_MAX 4096

struct pci_config {
	const uint8_t *byte;
	size_t len;
};

enum pcicap_found {
	PCICAP_UNKNOWN, /* the bytes that would tell are not there, or they are all ones */
	PCICAP_ABSENT,  /* the function has no such capability */
	PCICAP_FOUND,
};

/* pcicap_find - a capability of the list below 0x100, and of the extended one from 0x100. Lists
 * that loop or leave their space end where they do. */
enum pcicap_found pcicap_find(struct pci_config c, uint8_t id, size_t *out);
enum pcicap_found pcicap_find_ext(struct pci_config c, uint16_t id, size_t *out);

/* The PCI Express capability. */
struct pcicap_express {
	uint8_t type;      /* 0: endpoint, 4: root port, 5: upstream, 6: downstream port */
	uint16_t mps_able; /* bytes of payload that it can do, ... */
	uint16_t mps;      /* ... and that it is set to send */
	uint16_t mrrs;     /* bytes that it may ask for in one read */
	bool relaxed;      /* it may set the attribute of relaxed ordering */
	uint8_t port;      /* its number */
};
enum pcicap_found pcicap_express(struct pci_config c, struct pcicap_express *out);

#define PCICAP_ACS_SV 0x01 /* source validation */
#define PCICAP_ACS_TB 0x02 /* translation blocking */
#define PCICAP_ACS_RR 0x04 /* peer requests are sent to the root */
#define PCICAP_ACS_CR 0x08 /* peer completions are */
#define PCICAP_ACS_UF 0x10 /* upstream forwarding */
#define PCICAP_ACS_EC 0x20 /* egress control */
#define PCICAP_ACS_DT 0x40 /* translated requests may go straight */

/* Access Control Services: what it can do, and what is switched on. */
struct pcicap_acs {
	uint16_t able, on;
};
enum pcicap_found pcicap_acs(struct pci_config c, struct pcicap_acs *out);
/* pcicap_acs_names - "SV RR CR UF"; "none". Returns out. */
#define PCICAP_ACS_LEN 24
char *pcicap_acs_names(uint16_t bits, char out[PCICAP_ACS_LEN]);

/* pcicap_ats - address translation services are switched on. */
enum pcicap_found pcicap_ats(struct pci_config c, bool *on);

#endif
