// SPDX-License-Identifier: Apache-2.0
/* Shows which texts the key "master" takes, and what is said of those that it does not take. */
#include <stdio.h>
#include <string.h>

#include "cni/uplink/master.h"
#include "lib/testing/testing.h"

/* The strings of a configuration are borrowed from its tree, which lives as long as the test. */
static int read_text(const char *master, struct master_conf *out, struct err *e)
{
	static struct json *tree;
	char text[2000];

	json_free(tree);
	tree = NULL;
	*e = (struct err){ .msg = "" };
	(void)snprintf(text, sizeof(text), "{\"master\":%s}", master);
	ck_assert_int_eq(json_parse(text, strlen(text), "text", &tree, e), 0);
	return master_read_conf(tree, out, e);
}

static struct master_candidate one(const char *master)
{
	struct master_conf c;
	struct err e;

	ck_assert_msg(read_text(master, &c, &e) == 0, "%s: %s", master, e.msg);
	ck_assert_uint_eq(c.n, 1);
	return c.candidate[0];
}

#define ALTNAME "a-name-of-a-card-as-udev-makes-it-from-its-slot-and-port"

START_TEST(a_candidate_has_one_of_four_forms)
{
	static const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 0xab };
	struct master_candidate c = one("\"eth0.100\"");

	ck_assert(c.form == MASTER_NAME && strcmp(c.text, "eth0.100") == 0);
	c = one("\"" ALTNAME "\"");
	ck_assert(c.form == MASTER_NAME && strcmp(c.text, ALTNAME) == 0);
	c = one("\"0000:0f:00.0\"");
	ck_assert(c.form == MASTER_PCI && strcmp(c.pci, "0000:0f:00.0") == 0);
	c = one("\"0F:00.1\"");
	ck_assert(c.form == MASTER_PCI && strcmp(c.pci, "0000:0f:00.1") == 0);
	ck_assert_str_eq(c.text, "0F:00.1");
	c = one("\"rail:63\"");
	ck_assert(c.form == MASTER_RAIL && c.rail == 63);
	c = one("\"mac:02:00:00:00:00:AB\"");
	ck_assert(c.form == MASTER_MAC && hw_addr_equal(c.mac, hw_addr_of_mac(mac)));
}
END_TEST

START_TEST(a_master_may_be_missing)
{
	struct master_conf c = { .n = 9 };
	struct err e;

	ck_assert(read_text("\"\"", &c, &e) == 0 && c.n == 0);
	c.n = 9;
	ck_assert(read_text("null", &c, &e) == 0 && c.n == 0);
	ck_assert_ptr_null(master_needs_host(&c));
}
END_TEST

START_TEST(a_list_keeps_its_order)
{
	struct master_conf c;
	struct err e;

	ck_assert_int_eq(read_text("[\"a\",\"mac:02:00:00:00:00:01\",\"rail:0\",\"b\"]", &c, &e),
			 0);
	ck_assert_uint_eq(c.n, 4);
	ck_assert_str_eq(c.candidate[0].text, "a");
	ck_assert_int_eq(c.candidate[1].form, MASTER_MAC);
	ck_assert_int_eq(c.candidate[2].form, MASTER_RAIL);
	ck_assert_str_eq(c.candidate[3].text, "b");
	ck_assert_str_eq(master_needs_host(&c), "rail:0");
	master_of_name(&c, "net0");
	ck_assert(c.n == 1 && c.candidate[0].form == MASTER_NAME);
	ck_assert_str_eq(c.candidate[0].text, "net0");
}
END_TEST

#define X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

START_TEST(a_wrong_candidate_is_named)
{
	static const struct {
		const char *text;
		enum err_code code;
		const char *says;
	} wrong[] = {
		{ "5", ERR_DECODE, "master: must be a string or a list, got 5" },
		{ "[]", ERR_CONFIG, "master: the list of candidates is empty" },
		{ "[\"a\",7]", ERR_DECODE, "master[1]: must be a string, got 7" },
		{ "[\"a\",\"\"]", ERR_CONFIG, "master[1]: \"\": interface name is empty" },
		{ "\"..\"", ERR_CONFIG, "master: \"..\": interface name is . or .." },
		{ "\"a b\"", ERR_CONFIG, "master: \"a b\": interface name contains / or :" },
		{ "\"an-alternative/name\"", ERR_CONFIG, "interface name contains / or :" },
		{ "\"an-alternative-%d\"", ERR_CONFIG, "interface name contains %" },
		{ "\"" X32 X32 X32 X32 "\"", ERR_CONFIG, "interface name is too long" },
		{ "\"rail:\"", ERR_CONFIG, "master: \"rail:\": the number of a rail is 0 to 63" },
		{ "\"rail:64\"", ERR_CONFIG, "master: \"rail:64\": the number of a rail" },
		{ "\"mac:02:00\"", ERR_CONFIG, "master: \"mac:02:00\": not a MAC address" },
		{ "\"0000:0f:00.8\"", ERR_CONFIG, "master: \"0000:0f:00.8\": interface name" },
		{ "[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]", ERR_CONFIG,
		  "master: more than 8 candidates" },
	};
	struct master_conf c;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		ck_assert_msg(read_text(wrong[i].text, &c, &e) == -1, "%s", wrong[i].text);
		ck_assert_msg(strstr(e.msg, wrong[i].says) != NULL, "%s: %s", wrong[i].text, e.msg);
		ck_assert_int_eq(e.code, wrong[i].code);
	}
}
END_TEST

START_TEST(the_longest_name_is_taken)
{
	char text[200];

	(void)snprintf(text, sizeof(text), "\"%.127s\"", X32 X32 X32 X32);
	ck_assert_uint_eq(strlen(one(text).text), 127);
}
END_TEST

TEST_PROGRAM("cni/uplink/master_conf", a_candidate_has_one_of_four_forms, a_master_may_be_missing,
	     a_list_keeps_its_order, a_wrong_candidate_is_named, the_longest_name_is_taken)
