/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcicap.h: reads capabilities in the configuration space of a PCI function. Pure.
 *
 * The bytes are those of the file `config` in sysfs: 4096, or 256 for a conventional function. A
 * reader other than root gets 64. Capabilities behind the last byte are unknown, not absent.
 * Offsets and bits are those of the PCI Express base specification, chapter 7.
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
	PCICAP_UNKNOWN, /* the bytes are missing, or all ones: the function does not answer */
	PCICAP_ABSENT,  /* the function has no such capability */
	PCICAP_FOUND,
};

/* pcicap_find - the offset of a capability in the list below 0x100; pcicap_find_ext: in the
 * extended list from 0x100 on. A list that loops, or leaves its space, ends there. */
enum pcicap_found pcicap_find(struct pci_config c, uint8_t id, size_t *out);
enum pcicap_found pcicap_find_ext(struct pci_config c, uint16_t id, size_t *out);

/* The PCI Express capability. */
struct pcicap_express {
	uint8_t type;      /* 0: endpoint, 4: root port, 5: upstream, 6: downstream port */
	uint16_t mps_able; /* Max_Payload_Size Supported, in bytes; 0: a reserved code */
	uint16_t mps;      /* Max_Payload_Size, in bytes */
	uint16_t mrrs;     /* Max_Read_Request_Size, in bytes */
	bool relaxed;      /* Enable Relaxed Ordering */
	uint8_t port;      /* Port Number */
};
/* pcicap_express - decode the PCI Express capability into *out; *out is set only if it is found. */
enum pcicap_found pcicap_express(struct pci_config c, struct pcicap_express *out);

#define PCICAP_ACS_SV 0x01 /* source validation */
#define PCICAP_ACS_TB 0x02 /* translation blocking */
#define PCICAP_ACS_RR 0x04 /* P2P request redirect: requests of peers go to the root */
#define PCICAP_ACS_CR 0x08 /* P2P completion redirect */
#define PCICAP_ACS_UF 0x10 /* upstream forwarding */
#define PCICAP_ACS_EC 0x20 /* egress control */
#define PCICAP_ACS_DT 0x40 /* direct translated P2P: translated requests go directly */

/* Access Control Services, as PCICAP_ACS_* bits: supported, and switched on. */
struct pcicap_acs {
	uint16_t able, on;
};
/* pcicap_acs - decode the ACS capability into *out; *out is set only if it is found. */
enum pcicap_found pcicap_acs(struct pci_config c, struct pcicap_acs *out);
/* pcicap_acs_names - the names of PCICAP_ACS_* bits, "SV RR CR UF"; "none". Returns out. */
#define PCICAP_ACS_LEN 24
char *pcicap_acs_names(uint16_t bits, char out[PCICAP_ACS_LEN]);

/* pcicap_ats - *on: Address Translation Services are switched on; set only if it is found. */
enum pcicap_found pcicap_ats(struct pci_config c, bool *on);

#endif
