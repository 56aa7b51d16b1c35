/* SPDX-License-Identifier: Apache-2.0 */
/* intent_test.c: a file of intended cables, and what is not as it says. */
#include "fabric/intent.h"

#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define TABLE                                                                                      \
	"node,interface,leaf,port\n"                                                               \
	"# the first rack\n"                                                                       \
	"n1,eth1,leaf-1,swp1\n"                                                                    \
	" n1 , eth2 ,leaf-2,swp1\r\n"                                                              \
	"n2,eth1,leaf-1\n"                                                                         \
	"n2,eth2,leaf-2,swp2\n"

static struct intent read_text(const char *text)
{
	struct intent t;
	struct err e = { 0 };

	ck_assert_msg(intent_read(text, strlen(text), &t, &e) == 0, "%s", e.msg);
	return t;
}

static void is_cable(const struct intent_cable *c, const char *want)
{
	char text[4 * INTENT_TEXT_MAX];

	(void)snprintf(text, sizeof(text), "%s %s %s %s", c->node, c->interface, c->leaf, c->port);
	ck_assert_str_eq(text, want);
}

START_TEST(a_table)
{
	auto_intent struct intent t = read_text(TABLE);

	ck_assert_uint_eq(t.n, 4);
	is_cable(&t.cable[1], "n1 eth2 leaf-2 swp1");
	is_cable(&t.cable[2], "n2 eth1 leaf-1 ");
}
END_TEST

START_TEST(a_graph_of_ptmd)
{
	auto_intent struct intent t =
		read_text("strict graph \"x\" {\n"
			  " \"leaf-1\" [ os=\"cumulus -- vx\" ]\n"
			  " \"leaf-1\":\"swp1\" -- \"n1\":\"eth1\" [ a=\"b\" ]\n"
			  "}\n");

	ck_assert_uint_eq(t.n, 2);
	is_cable(&t.cable[0], "leaf-1 swp1 n1 eth1");
	is_cable(&t.cable[1], "n1 eth1 leaf-1 swp1");
}
END_TEST

#define END(node, interface) "{\"node\":\"" node "\",\"interface\":\"" interface "\"}"

START_TEST(a_simulation_of_air)
{
	auto_intent struct intent t =
		read_text("\n{\"format\":\"JSON\",\"content\":{\"nodes\":{},\"links\":[[" END(
			"leaf-1", "swp1") "," END("n1", "eth1") "],[" END("n1",
									  "eth0") ",\"exit\"]]}}");
	auto_intent struct intent bare =
		read_text("{\"links\":[[" END("a", "b") "," END("c", "d") "]]}");

	ck_assert_uint_eq(t.n, 2);
	is_cable(&t.cable[0], "leaf-1 swp1 n1 eth1");
	is_cable(&t.cable[1], "n1 eth1 leaf-1 swp1");
	ck_assert_uint_eq(bare.n, 2);
}
END_TEST

/* What l8k takes as its topology file: ends have attributes, and nodes are a list. */
START_TEST(a_topology_file_of_l8k)
{
	auto_intent struct intent t =
		read_text("{\"nodes\":[{\"name\":\"gpu-1\",\"role\":\"host\"},{\"name\":\"leaf-p0-"
			  "r3\",\"role\":"
			  "\"leaf\"}],\"links\":[[{\"node\":\"leaf-p0-r3\",\"interface\":"
			  "\"swp7s1\",\"attributes\":"
			  "{\"role\":\"leaf\",\"plane\":0,\"rail_group\":[3]}},{\"node\":\"gpu-1\","
			  "\"interface\":"
			  "\"eth_p0_r3\",\"attributes\":{\"role\":\"host\",\"rail\":3}}]]}");

	ck_assert_uint_eq(t.n, 2);
	is_cable(&t.cable[0], "gpu-1 eth_p0_r3 leaf-p0-r3 swp7s1");
}
END_TEST

START_TEST(a_wrong_file_is_refused_with_its_line)
{
	static const char *const bad[][2] = {
		{ "", "no cable is in it" },
		{ "node,interface,leaf,port\n", "no cable is in it" },
		{ "n1,eth1,leaf,1,2\n", "line 1: not NODE,INTERFACE,LEAF,PORT" },
		{ "n1,eth1\n", "line 1: not NODE,INTERFACE,LEAF,PORT: \"n1,eth1\"" },
		{ "n1,eth1,\n", "line 1: not NODE,INTERFACE,LEAF,PORT" },
		{ "a,b,c,d\n,eth1,leaf,1\n", "line 2: not NODE,INTERFACE,LEAF,PORT" },
		{ "n1,e\x1bth1,leaf,1\n", "line 1: a name has a character that is not printable" },
		{ "a,b,c,d\na,b,e,f\n", "b of a has two cables" },
		{ "graph {\n\"a\":\"b\" -- \"c\"\n}",
		  "line 2: not \"a\":\"eth1\" -- \"b\":\"swp1\"" },
		{ "graph {\n\"a\":\"b\" -- \"c\":\"d\n}", "line 2: a quotation mark is missing" },
		{ "graph {\n\"a\":\"\" -- \"c\":\"d\"\n}", "line 2: a name is empty" },
		{ "{\"links\":[", "topology: byte 10: expected a value" },
		{ "{\"links\":{}}", "it has no list \"links\"" },
		{ "{\"links\":[]}", "no cable is in it" },
		{ "{\"links\":[[" END("a", "b") "]]}", "link 1 does not have two ends" },
		{ "{\"links\":[[" END("a", "") ",{}]]}",
		  "link 1: an end lacks its node or its interface" },
		{ "{\"links\":[[" END("a", "b\\n") "," END("c", "d") "]]}",
		  "link 1: a name has a character that is not printable" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct intent t;
		struct err e = { 0 };

		ck_assert_msg(intent_read(bad[i][0], strlen(bad[i][0]), &t, &e) == -1, "%s",
			      bad[i][0]);
		ck_assert_msg(strncmp(e.msg, bad[i][1], strlen(bad[i][1])) == 0, "%s", e.msg);
	}
}
END_TEST

/* The finding of the only node, as "STATE CODE SUBJECT"; several are joined by "; ". */
static const char *found(const struct intent *t, const struct fabric_node *n)
{
	static char text[512];
	auto_findings struct findings all = { .n = 0 };
	struct err e;
	size_t len = 0;

	*text = '\0';
	ck_assert_int_eq(intent_check(t, n, 1, &all, &e), 0);
	for (size_t i = 0; i < all.n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s %s", i ? "; " : "",
					finding_state_name(all.item[i].state), all.item[i].code,
					all.item[i].subject);
	return text;
}

#define PORT(name, switch_, port_)                                                                 \
	{                                                                                          \
		.interface = (name), .leaf = (switch_), .system = (switch_),                       \
		.leaf_name = (switch_), .port = (port_)                                            \
	}

START_TEST(each_wrong_cable_is_named)
{
	auto_intent struct intent t = read_text(TABLE);
	struct fabric_port p[3] = { PORT("eth1", "leaf-1.dc", "swp1"),
				    PORT("eth2", "leaf-2", "swp1") };
	struct fabric_node n = { .name = "n1", .port = p, .n = 2 };

	ck_assert_str_eq(found(&t, &n), "");
	p[1].port = "swp7";
	ck_assert_str_eq(found(&t, &n), "warn port n1 eth2");
	p[1].system = "leaf-20";
	ck_assert_str_eq(found(&t, &n), "fail leaf n1 eth2");
	p[1].system = "leaf-1";
	p[0].system = "leaf-2";
	ck_assert_str_eq(found(&t, &n), "fail crossed n1 eth1");
	p[0].system = "leaf-1";
	p[1].leaf = NULL;
	ck_assert_str_eq(found(&t, &n), "unknown unknown n1 eth2");
	p[1] = (struct fabric_port)PORT("eth9", "leaf-2", "swp1");
	ck_assert_str_eq(found(&t, &n), "fail missing n1 eth2; unknown unplanned n1 eth9");
	n.name = "n2";
	p[1] = (struct fabric_port)PORT("eth2", "leaf-2", "swp2");
	ck_assert_str_eq(found(&t, &n), "");
}
END_TEST

/* Four nodes with two rails. */
struct rack {
	struct fabric_port port[4][2];
	struct fabric_node node[4];
	struct findings all;
};

/* Rail 0 of all is on that leaf. */
static void rack_on(struct rack *r, const char *leaf)
{
	static const char *const names[] = { "n1", "n2", "n3", "n4" };

	for (size_t i = 0; i < 4; i++) {
		r->node[i] = (struct fabric_node){ .name = names[i], .port = r->port[i], .n = 2 };
		r->port[i][0] = (struct fabric_port)PORT("eth1", leaf, "swp1");
		r->port[i][1] = (struct fabric_port)PORT("eth2", "leaf-2", "swp1");
	}
}

static size_t rack_check(struct rack *r, const struct intent *t, size_t nodes)
{
	struct err e;

	findings_clear(&r->all);
	ck_assert_int_eq(intent_check(t, r->node, nodes, &r->all, &e), 0);
	return r->all.n;
}

#define RACK(port)                                                                                 \
	"n1,eth1,leaf-1" port "\nn2,eth1,leaf-1" port "\nn3,eth1,leaf-1" port                      \
	"\nn1,eth2,leaf-2\nn2,eth2,leaf-2\nn3,eth2,leaf-2\nn4,eth2,leaf-2\n"

START_TEST(a_leaf_whose_cables_moved_together_was_renamed)
{
	auto_intent struct intent any = read_text(RACK("") "n4,eth1,leaf-1\n"),
				  ports = read_text(RACK(",Eth1/1") "n4,eth1,leaf-1\n"),
				  four = read_text(RACK("") "n4,eth1,leaf-1\nn5,eth1,leaf-9\n");
	struct rack r = { .all = { .n = 0 } };

	rack_on(&r, "leaf-1");
	ck_assert_uint_eq(rack_check(&r, &any, 4), 0);
	rack_on(&r, "spare");
	ck_assert_uint_eq(rack_check(&r, &any, 4), 1);
	ck_assert_str_eq(r.all.item[0].code, "renamed");
	ck_assert_str_eq(r.all.item[0].subject, "leaf leaf-1");
	ck_assert_str_eq(r.all.item[0].value, "4 of 4 cables are on spare");
	/* The ports of another make have other names. */
	ck_assert_uint_eq(rack_check(&r, &ports, 4), 1);
	/* One of four cables is elsewhere. */
	r.port[3][0].system = "other";
	ck_assert_uint_eq(rack_check(&r, &any, 4), 2);
	ck_assert_str_eq(r.all.item[1].code, "leaf");
	ck_assert_str_eq(r.all.item[1].subject, "n4 eth1");
	/* Two cables are not a leaf, and a leaf of the file is not a new name. */
	ck_assert_uint_eq(rack_check(&r, &any, 2), 2);
	ck_assert_str_eq(r.all.item[0].code, "leaf");
	rack_on(&r, "leaf-9");
	ck_assert_uint_eq(rack_check(&r, &four, 4), 4);
	findings_clear(&r.all);
}
END_TEST

static int all_of_them(void *arg, struct err *e)
{
	auto_intent struct intent t = { .n = 0 };
	auto_findings struct findings all = { .n = 0 };
	const struct fabric_node n = { .name = "n1" };

	(void)arg;
	return intent_read(TABLE, strlen(TABLE), &t, e) || intent_check(&t, &n, 1, &all, e) ? -1
											    : 0;
}

START_TEST(allocations_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(all_of_them, NULL), "ok");
}
END_TEST

TEST_PROGRAM("intent", a_table, a_graph_of_ptmd, a_simulation_of_air, a_topology_file_of_l8k,
	     a_wrong_file_is_refused_with_its_line, each_wrong_cable_is_named,
	     a_leaf_whose_cables_moved_together_was_renamed, allocations_may_fail)
