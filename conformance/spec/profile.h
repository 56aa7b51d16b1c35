/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h: the profile of a plugin: its kind, its configuration, the items it declines. */
#ifndef CONFORMANCE_SPEC_PROFILE_H
#define CONFORMANCE_SPEC_PROFILE_H

#include "conformance/spec/spec.h"

/* NULL and a message on stderr when the file cannot be used. */
struct profile *profile_load(const char *path);
/* Why the profile takes an item out, NULL: it does not. */
const char *profile_excuse(const struct profile *p, const char *section, int id);

#endif
