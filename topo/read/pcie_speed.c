// SPDX-License-Identifier: Apache-2.0
/*
 * Texts and values of PCIe speeds. The texts are the kernel's (pci_speed_string() in
 * drivers/pci/probe.c); kernels before 5.7 and files written by hand omit " PCIe". The values are
 * those of NCCL (kvDictPciGen): the usable rate of a lane in 100 Mbit/s.
 */
#include <string.h>

#include "topo/read/read.h"

static const struct {
	const char *prefix, *text;
	uint16_t speed;
} speeds[] = {
	{ "2.5 GT/s", "2.5 GT/s PCIe", 15 },    { "5 GT/s", "5.0 GT/s PCIe", 30 },
	{ "5.0 GT/s", "5.0 GT/s PCIe", 30 },    { "8 GT/s", "8.0 GT/s PCIe", 60 },
	{ "8.0 GT/s", "8.0 GT/s PCIe", 60 },    { "16 GT/s", "16.0 GT/s PCIe", 120 },
	{ "16.0 GT/s", "16.0 GT/s PCIe", 120 }, { "32 GT/s", "32.0 GT/s PCIe", 240 },
	{ "32.0 GT/s", "32.0 GT/s PCIe", 240 }, { "64 GT/s", "64.0 GT/s PCIe", 480 },
	{ "64.0 GT/s", "64.0 GT/s PCIe", 480 },
};

uint16_t topo_pcie_speed_parse(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		size_t len = strlen(speeds[i].prefix);
		if (!strncmp(text, speeds[i].prefix, len) &&
		    (text[len] == '\0' || !strcmp(text + len, " PCIe")))
			return speeds[i].speed;
	}
	return 0;
}

const char *topo_pcie_link_text(uint16_t speed)
{
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		if (speeds[i].speed == speed)
			return speeds[i].text;
	}
	return "";
}
