/* SPDX-License-Identifier: Apache-2.0 */
/* ib_port.c: parses the text of sysfs about the rate, link layer and state of a port; names states.
 */
#include "lib/device/ib_port.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"

static const char *const layers[] = { "unknown", "Ethernet", "InfiniBand" };

enum ib_link_layer ib_link_layer_parse(const char *text)
{
	if (strcmp(text, layers[IB_LAYER_ETHERNET]) == 0)
		return IB_LAYER_ETHERNET;
	return strcmp(text, layers[IB_LAYER_INFINIBAND]) == 0 ? IB_LAYER_INFINIBAND
							      : IB_LAYER_UNKNOWN;
}

const char *ib_link_layer_name(enum ib_link_layer l)
{
	return layers[l];
}

uint32_t ib_rate_mbps(const char *text)
{
	char whole[12];
	size_t digits = strspn(text, "0123456789");
	uint64_t gb;
	uint32_t mb = 0;

	if (digits == 0 || digits >= sizeof(whole))
		return 0;
	memcpy(whole, text, digits);
	whole[digits] = '\0';
	text += digits;
	/* One digit is all the kernel writes: 2.5, 0.5. */
	if (text[0] == '.' && text[1] >= '0' && text[1] <= '9') {
		mb = 100u * (uint32_t)(text[1] - '0');
		text += 2;
	}
	if (strncmp(text, " Gb/sec", 7) != 0 || parse_u64(whole, 0, UINT32_MAX / 1000 - 1, &gb))
		return 0;
	return (uint32_t)gb * 1000 + mb;
}

const char *ib_rate_text(uint32_t mbps, char out[IB_RATE_LEN])
{
	if (mbps % 1000)
		(void)snprintf(out, IB_RATE_LEN, "%u.%u", mbps / 1000, mbps % 1000 / 100);
	else
		(void)snprintf(out, IB_RATE_LEN, "%u", mbps / 1000);
	return out;
}

bool ib_state_is_active(const char *text)
{
	return strstr(text, "ACTIVE") != NULL;
}

const char *ib_state_name(const char *text)
{
	const char *colon = strstr(text, ": ");

	return colon ? colon + 2 : text;
}

const char *ib_phys_state_name(uint8_t state)
{
	static const char *const names[] = { "unknown",
					     "Sleep",
					     "Polling",
					     "Disabled",
					     "PortConfigurationTraining",
					     "LinkUp",
					     "LinkErrorRecovery",
					     "Phy Test" };

	return names[state < ARRAY_SIZE(names) ? state : 0];
}
