/* SPDX-License-Identifier: Apache-2.0 */
/* ib_links_test.c: a file of ibnetdiscover; the form is that of its manual page. */
#include "fabric/ib_links.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define SWITCH(guid, name)                                                                         \
	"Switch\t41 \"S-" guid "\"\t\t# \"" name "\" enhanced port 0 lid 5 lmc 0\n"
#define FABRIC                                                                                     \
	"#\n# Topology file: generated on Tue Jun  5 14:15:10 2026\n#\n"                           \
	"vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0xb8599f0300f9cba2\n"                              \
	"switchguid=0xb8599f0300f9cba2(b8599f0300f9cba2)\n" SWITCH(                                \
		"b8599f0300f9cba2",                                                                \
		"MF0;leaf-1:MQM8700/U1") "[1]\t\"H-043f720300abcdee\"[1](43f720300abcdef) \t\t# "  \
					 "\"gpu-1 mlx5_0\" lid 10 4xHDR\n"                         \
					 "[40][ext "                                               \
					 "5]\t\"H-043f720300abcdf4\"[2](43f720300abcdf5) \t# "     \
					 "\"gpu-2 \"H-1\" lid 10\n"                                \
					 "[41]\t\"S-b8599f0300f9cba4\"[3]\t\t# \"MF0;spine "       \
					 "\"H-1(1)\" lid 7 4xHDR\n"                                \
					 "\n" SWITCH(                                              \
						 "b8599f0300f9cba4",                               \
						 "Quantum Mellanox Technologies") "[7]\t\"H-"      \
										  "00000000000000" \
										  "aa\"[1](ab)\n"  \
										  "\nvendid="      \
										  "0x2c9\ncaguid=" \
										  "0x43f720300abc" \
										  "dee\n"          \
										  "Ca\t1 "         \
										  "\"H-"           \
										  "043f720300abcd" \
										  "ee\"\t\t# "     \
										  "\"gpu-1 "       \
										  "mlx5_0\"\n"     \
										  "[1]("           \
										  "43f720300abcde" \
										  "f) "            \
										  "\t\"S-"         \
										  "b8599f0300f9cb" \
										  "a2\"[1]\t\t# "  \
										  "lid 10 lmc 0 "  \
										  "\"leaf\" lid "  \
										  "5 4xHDR\n"

static void has_link(const struct ib_links *l, uint64_t adapter, const char *want)
{
	const struct ib_link *x = ib_links_find(l, guid_of_number(adapter));
	char text[128];

	ck_assert_ptr_nonnull(x);
	(void)snprintf(text, sizeof(text), "%s %s %s", x->leaf, x->leaf_name, x->port);
	ck_assert_str_eq(text, want);
}

START_TEST(a_fabric)
{
	auto_ib_links struct ib_links l = { .n = 0 };
	struct err e = { 0 };

	ck_assert_msg(ib_links_read(FABRIC, strlen(FABRIC), &l, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(l.n, 3);
	ck_assert_uint_eq(l.trunks.n, 1);
	ck_assert_str_eq(l.trunks.cable[0].node, "b8:59:9f:03:00:f9:cb:a2");
	ck_assert_str_eq(l.trunks.cable[0].leaf, "b8:59:9f:03:00:f9:cb:a4");
	has_link(&l, 0x43f720300abcdefULL, "b8:59:9f:03:00:f9:cb:a2 leaf-1 1");
	has_link(&l, 0x43f720300abcdf5ULL, "b8:59:9f:03:00:f9:cb:a2 leaf-1 40");
	has_link(&l, 0xab, "b8:59:9f:03:00:f9:cb:a4 Quantum Mellanox Technologies 7");
	ck_assert_ptr_null(ib_links_find(&l, guid_of_number(0x43f720300abcdeeULL)));
}
END_TEST

START_TEST(a_wrong_file_is_refused)
{
	static const char *const bad[][2] = {
		{ "", "no link of a switch with an adapter is in it" },
		{ "node,interface\n", "no link of a switch with an adapter is in it" },
		{ "Switch 41\n", "line 1: the GUID of a switch is missing: \"Switch 41\"" },
		{ "Switch 1 \"S-0000000000000000\"\n", "line 1: the GUID of a switch is missing" },
		{ "\n" SWITCH("00000000000000a1", "x") "[0] \"H-2\"[1](3)\n",
		  "line 3: the port of the switch is not" },
		{ SWITCH("00000000000000a1", "x") "[1 \"H-2\"[1](3)\n",
		  "line 2: the port of the switch is not" },
		{ SWITCH("00000000000000a1", "x") "[1] \"H-2\"[1]\n",
		  "line 2: the GUID of the adapter's port is missing" },
		{ SWITCH("00000000000000a1", "x") "[1] \"H-2\"[1](12345678901234567)\n",
		  "line 2: the GUID of the" },
		{ SWITCH("00000000000000a1", "x") "[1] \"H-2\"[1](3)\n[2] \"H-2\"[1](3)\n",
		  "port 00:00:00:00:00:00:00:03 has two links" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct ib_links l;
		struct err e = { 0 };

		ck_assert_msg(ib_links_read(bad[i][0], strlen(bad[i][0]), &l, &e) == -1, "%s",
			      bad[i][0]);
		ck_assert_msg(strstr(e.msg, bad[i][1]) != NULL, "%s: %s", bad[i][0], e.msg);
	}
}
END_TEST

static int read_all(void *arg, struct err *e)
{
	auto_ib_links struct ib_links l = { .n = 0 };

	(void)arg;
	return ib_links_read(FABRIC, strlen(FABRIC), &l, e);
}

START_TEST(allocations_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(read_all, NULL), "ok");
}
END_TEST

TEST_PROGRAM("ib_links", a_fabric, a_wrong_file_is_refused, allocations_may_fail)
