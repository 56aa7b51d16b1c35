/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h: shows what is known to be no secret, and leaves out the rest. Pure.
 *
 * A list of secrets is never complete, because other projects name theirs as they like. So a value
 * is shown if its name is on the list of this file's keys and fields.
 */
#ifndef RAILHEAD_RAILCTL_ATTACHMENTS_REDACT_H
#define RAILHEAD_RAILCTL_ATTACHMENTS_REDACT_H

#include "lib/base/text.h"
#include "lib/json/json.h"

/* Replaces a value. */
#define REDACTED "(left out)"

/*
 * redact - a copy of a configuration with all keys, and the values of those that are on the list.
 * Values under other keys are left out, but true, false and null stay. A shown text is also as of
 * redact_text(). NULL: no memory. The caller frees it.
 */
struct json *redact(const struct json *conf);

/*
 * redact_text - add text of len bytes to out, without user, password and query of a URL. The word
 * after "Bearer" or "Basic", private keys and tokens of JSON Web are left out. So is the rest of a
 * line after the name of a secret with ":" or "=". An END without BEGIN ends a private key.
 *
 * REDACT_LOG is for the words of other programs: "xyz-key: " names a secret, too, but of a path.
 * The rest of a line is left out after any name of a secret. The value of name=value and
 * "name":"value" is left out if its name is not on the list.
 */
enum redact_words { REDACT_OURS, REDACT_LOG };
void redact_text(const char *s, size_t len, enum redact_words words, struct text *out);

#endif
