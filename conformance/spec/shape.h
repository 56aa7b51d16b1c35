/* SPDX-License-Identifier: Apache-2.0 */
/* shape.h: the shape of a result in each version of the protocol. */
#ifndef CONFORMANCE_SPEC_SHAPE_H
#define CONFORMANCE_SPEC_SHAPE_H

#include "conformance/spec/spec.h"

/* What is wrong with a result of this version by a plugin of this kind; NULL: nothing. */
const char *shape_problem(const cJSON *result, const char *version, enum kind kind);
/* Is this an address of that family (4 or 6)? 0: any. with_prefix: "1.2.3.4/24". */
bool is_address(const char *s, int family, bool with_prefix);
/* First address of a family in a result of any version, "" if there is none. */
const char *address_in(const cJSON *result, int family);

#endif
