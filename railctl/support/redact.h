/* SPDX-License-Identifier: Apache-2.0 */
/* redact.h: leaves out the secrets of a configuration in JSON. Pure. */
#ifndef RAILHEAD_RAILCTL_SUPPORT_REDACT_H
#define RAILHEAD_RAILCTL_SUPPORT_REDACT_H

#include "lib/json/json.h"

/* Replaces a secret. */
#define REDACTED "(left out)"

/*
 * redact - a copy of a configuration without its secrets: values of keys such as "password" or
 * "apiToken", and user and password in a URL. The path of a file ("passwordFile") is no secret.
 * NULL: no memory. The caller frees it.
 */
struct json *redact(const struct json *conf);

#endif
