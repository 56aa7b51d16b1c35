// SPDX-License-Identifier: Apache-2.0
/*
 * probe_fuzz.c: feeds any frame to probe_read(); a user that is read can be written and read
 * again.
 */
#include "cni/engine/probe.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	static const uint8_t from[MAC_LEN] = { 2, 0, 0, 0, 0, 1 };
	struct probe_msg m = { .protocol = size && data[0] & 1 ? 0x0806 : 0x86dd };
	FUZZ_OUT(struct address_user, c);

	m.len = size > 1 ? size - 1 : 0;
	if (m.len > sizeof(m.data))
		m.len = sizeof(m.data);
	if (m.len)
		memcpy(m.data, data + 1, m.len);
	if (!fuzz_ok(probe_read(&m, from, &c) ? 0 : -1, NULL, &c, sizeof(c)))
		return 0;
	MUST(c.addr.family == (m.protocol == 0x0806 ? IP_V4 : IP_V6));
	probe_make(&(struct probe_question){ .addr = c.addr }, c.mac, &m);
	MUST(probe_read(&m, from, &c) && c.probes && m.len <= sizeof(m.data));
	return 0;
}
