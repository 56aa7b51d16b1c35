/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: decodes the two headers with which a gRPC call ends. */
#include "lib/grpc/status.h"

#include <string.h>

#include "lib/base/parse.h"

static const char *const names[] = {
	"OK",
	"CANCELLED",
	"UNKNOWN",
	"INVALID_ARGUMENT",
	"DEADLINE_EXCEEDED",
	"NOT_FOUND",
	"ALREADY_EXISTS",
	"PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION",
	"ABORTED",
	"OUT_OF_RANGE",
	"UNIMPLEMENTED",
	"INTERNAL",
	"UNAVAILABLE",
	"DATA_LOSS",
	"UNAUTHENTICATED",
};

const char *grpc_status_name(uint32_t code)
{
	return code < ARRAY_SIZE(names) ? names[code] : "unknown";
}

int grpc_status_parse(const char *value, size_t len, uint32_t *out)
{
	char text[12];
	uint64_t n;

	if (slice_copy((struct slice){ value, len }, text, sizeof(text)) ||
	    parse_u64(text, 0, UINT32_MAX, &n))
		return -1;
	*out = (uint32_t)n;
	return 0;
}

void grpc_status_text(const char *value, size_t len, char out[GRPC_TEXT_LEN])
{
	size_t n = 0, i = 0;

	while (i < len && n < GRPC_TEXT_LEN - 1) {
		int octet = value[i] == '%' && len - i > 2 && value[i + 1] && value[i + 2]
				    ? hex_octet(value + i + 1)
				    : -1;
		out[n] = value[i];
		if (octet >= 0)
			out[n] = (char)octet;
		n++;
		i += octet < 0 ? 1 : 3;
	}
	out[n] = '\0';
	for (size_t at = 0, more; at < n; at += more) {
		more = utf8_char(out + at, n - at);
		/* The end of the buffer may cut a character. */
		if (!more && i < len && n - at < 4) {
			out[at] = '\0';
			return;
		}
		if (!more || (unsigned char)out[at] < ' ' || out[at] == 0x7f)
			out[at] = '?';
		more = more ? more : 1;
	}
}

int grpc_status_error(const struct grpc_status *s, struct err *e)
{
	bool later = s->code == GRPC_UNAVAILABLE || s->code == GRPC_RESOURCE_EXHAUSTED ||
		     s->code == GRPC_DEADLINE_EXCEEDED;

	return err_set(e, later ? ERR_AGAIN : ERR_IO, 0, "status %u (%s)%s%s", s->code,
		       grpc_status_name(s->code), *s->text ? ": " : "", s->text);
}
