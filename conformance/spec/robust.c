/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/spec/items.h"
const struct item items_robust[] = { { .id = 0 } };
const size_t n_items_robust = 0;
