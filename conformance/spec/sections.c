/* SPDX-License-Identifier: Apache-2.0 */
/* sections.c: the tables of items in the order of a report. */
#include "conformance/spec/items.h"

#define SECTION(what, table)                                                                       \
	{                                                                                          \
		what, items_##table, &n_items_##table                                              \
	}

const struct section sections[] = {
	SECTION("1.1 Process, environment, stdin and stdout", process),
	SECTION("1.2 Versions", version),
	SECTION("1.3 Errors", error),
	SECTION("1.4 ADD", add),
	SECTION("1.5 DEL", del),
	SECTION("1.6 CHECK", check),
	SECTION("1.7 STATUS", status),
	SECTION("1.8 GC", gc),
	SECTION("1.9 Configuration and arguments", config),
	SECTION("1.10 Results", result),
	SECTION("1.11 Delegation", delegate),
	SECTION("1.12 Lists and chains", chain),
	SECTION("1.13 IPAM", ipam),
	SECTION("1.15 Robustness", robust),
	SECTION("1.15 Robustness, continued", robust2),
	SECTION("1.15 Robustness, surroundings", robust3),
};
const size_t n_sections = COUNT(sections);
