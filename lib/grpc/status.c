/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: the two headers with which a gRPC call ends. */
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

void grpc_status_encode(const char *text, char out[GRPC_ENCODED_LEN])
{
	static const char digits[] = "0123456789ABCDEF";
	char *to = out;

	for (const char *p = text; *p && p - text < GRPC_TEXT_LEN - 1; p++) {
		if (*p >= ' ' && *p < 0x7f && *p != '%') {
			*to++ = *p;
			continue;
		}
		*to++ = '%';
		*to++ = digits[(unsigned char)*p >> 4];
		*to++ = digits[(unsigned char)*p & 15];
	}
	*to = '\0';
}

static enum grpc_code status_code_of(enum err_code code)
{
	static const struct {
		enum err_code from;
		enum grpc_code to;
	} all[] = {
		{ ERR_AGAIN, GRPC_UNAVAILABLE },
		{ ERR_NOMEM, GRPC_RESOURCE_EXHAUSTED },
		{ ERR_EXHAUSTED, GRPC_RESOURCE_EXHAUSTED },
		{ ERR_DECODE, GRPC_INVALID_ARGUMENT },
		{ ERR_CONFIG, GRPC_INVALID_ARGUMENT },
		{ ERR_FIELD, GRPC_INVALID_ARGUMENT },
		{ ERR_NOTFOUND, GRPC_NOT_FOUND },
		{ ERR_BUSY, GRPC_FAILED_PRECONDITION },
		{ ERR_STATE, GRPC_FAILED_PRECONDITION },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].from == code)
			return all[i].to;
	}
	return GRPC_INTERNAL;
}

void grpc_status_of(const struct err *e, struct grpc_status *out)
{
	size_t len = strlen(e->msg);

	out->code = status_code_of(e->code);
	if (len >= sizeof(out->text))
		len = utf8_prefix(e->msg, sizeof(out->text) - 1);
	memcpy(out->text, e->msg, len);
	out->text[len] = '\0';
}

int grpc_status_error(const struct grpc_status *s, struct err *e)
{
	bool later = s->code == GRPC_UNAVAILABLE || s->code == GRPC_RESOURCE_EXHAUSTED ||
		     s->code == GRPC_DEADLINE_EXCEEDED;

	return err_set(e, later ? ERR_AGAIN : ERR_IO, 0, "status %u (%s)%s%s", s->code,
		       grpc_status_name(s->code), *s->text ? ": " : "", s->text);
}
