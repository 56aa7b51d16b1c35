/* SPDX-License-Identifier: Apache-2.0 */
/* message.c: collects a message from the pieces in which it arrives. */
#include "lib/grpc/message.h"

#include <string.h>

#include "lib/base/array.h"

void grpc_message_prefix(uint32_t len, uint8_t out[GRPC_PREFIX_LEN])
{
	out[0] = 0;
	for (unsigned i = 0; i < 4; i++)
		out[1 + i] = (uint8_t)(len >> (24 - 8 * i));
}

static int message_read_prefix(struct grpc_message *m, struct err *e)
{
	uint32_t len = 0;

	for (unsigned i = 1; i < GRPC_PREFIX_LEN; i++)
		len = len << 8 | m->prefix[i];
	m->len = len;
	if (m->prefix[0])
		return err_set(e, ERR_IO, 0,
			       "the message is compressed, although this side did not offer that");
	if (len > m->max)
		return err_set(e, ERR_IO, 0, "the message has %u bytes, allowed are %zu", len,
			       m->max);
	return 0;
}

int grpc_message_add(struct grpc_message *m, const uint8_t *bytes, size_t n, struct err *e)
{
	const struct array_kind octets = { 1, m->max, "bytes of a message", ERR_IO };

	for (; n && m->n_prefix < GRPC_PREFIX_LEN; bytes++, n--) {
		m->prefix[m->n_prefix++] = *bytes;
		if (m->n_prefix == GRPC_PREFIX_LEN && message_read_prefix(m, e))
			return -1;
	}
	if (!n)
		return 0;
	if (n > m->len - m->n)
		return err_set(e, ERR_IO, 0, "a second message follows the one of %u bytes",
			       m->len);
	if (array_grow(&m->data, m->n, n, octets, e))
		return -1;
	memcpy(m->data + m->n, bytes, n);
	m->n += n;
	return 0;
}

bool grpc_message_is_whole(const struct grpc_message *m)
{
	return m->n_prefix == GRPC_PREFIX_LEN && m->n == m->len;
}

void grpc_message_clear(struct grpc_message *m)
{
	free(m->data);
	*m = (struct grpc_message){ .max = m->max };
}
