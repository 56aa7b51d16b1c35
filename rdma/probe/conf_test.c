/* SPDX-License-Identifier: Apache-2.0 */
/* conf_test.c: defaults, values and units of options, and the errors for wrong ones. */
#include "rdma/probe/conf.h"

#include <string.h>

#include "lib/testing/testing.h"

static const struct opt *const tables[] = { conf_device, conf_serve, conf_amount, NULL };
static const struct opt *const client[] = { conf_connection, NULL };

static int parse(char **argv, const struct opt *const *t, struct conf *c, struct err *e)
{
	auto_opts struct opts o = { 0 };

	ck_assert_int_ge(opt_parse(argv, t, false, &o, e), 0);
	return conf_read(&o, c, e);
}
#define PARSE(c, e, ...) parse((char *[]){ __VA_ARGS__, NULL }, tables, c, e)

START_TEST(absent_options_have_defaults)
{
	struct conf c;
	struct err e = { 0 };

	ck_assert_int_eq(PARSE(&c, &e, NULL), 0);
	ck_assert_str_eq(c.device, "");
	ck_assert_int_eq(c.gid_index, -1);
	ck_assert(c.cm && !c.once && !c.seeded);
	ck_assert_int_eq(c.bind.family, IP_NONE);
	ck_assert_uint_eq(c.port, PEERS_PORT);
	ck_assert_int_eq(c.timeout_ms, 10000);
	ck_assert_uint_eq(c.size, 65536);
	ck_assert_uint_eq(c.iterations, 1000);
}
END_TEST

START_TEST(all_options_are_read)
{
	struct conf c;
	struct err e = { 0 };

	ck_assert_int_eq(PARSE(&c, &e, "--device", "mlx5_0:2", "--gid-index=3", "--bind", "fd00::1",
			       "--port", "5", "--timeout", "2", "--size", "2M", "--iterations", "7",
			       "--seed", "0", "--once"),
			 0);
	ck_assert_str_eq(c.device, "mlx5_0");
	ck_assert_uint_eq(c.device_port, 2);
	ck_assert_int_eq(c.gid_index, 3);
	ck_assert_int_eq(c.bind.family, IP_V6);
	ck_assert_uint_eq(c.port, 5);
	ck_assert_int_eq(c.timeout_ms, 2000);
	ck_assert_uint_eq(c.size, 2 << 20);
	ck_assert_uint_eq(c.iterations, 7);
	ck_assert(c.seeded && c.seed == 0 && c.once);
}
END_TEST

START_TEST(without_cm)
{
	struct conf c;
	struct err e = { 0 };
	char *argv[] = { (char[]){ "--no-cm" }, NULL };

	ck_assert_int_eq(parse(argv, client, &c, &e), 0);
	ck_assert(!c.cm);
	ck_assert_uint_eq(c.pkey, 0);
	ck_assert_uint_eq(c.sl, 0);
}
END_TEST

START_TEST(partition_and_service_level_are_for_connections_without_cm)
{
	char *both[] = { (char[]){ "--no-cm" }, (char[]){ "--pkey" }, (char[]){ "0x8001" },
			 (char[]){ "--sl" },    (char[]){ "15" },     NULL };
	static const char *const wrong[][2] = { { "--pkey", "0x8000" },
						{ "--pkey", "0x10000" },
						{ "--sl", "16" },
						{ "--sl", "" },
						{ "--tc", "256" } };
	struct conf c;
	struct err e = { 0 };

	ck_assert_int_eq(parse(both, client, &c, &e), 0);
	ck_assert_uint_eq(c.pkey, 0x8001);
	ck_assert_uint_eq(c.sl, 15);
	ck_assert_int_eq(parse(both + 1, client, &c, &e), -1);
	ck_assert_str_eq(e.msg, "option --pkey needs --no-cm: RDMA CM goes by the address");
	ck_assert_int_eq(parse(both + 3, client, &c, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "--sl needs --no-cm"));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char *argv[] = { (char *)wrong[i][0], (char *)wrong[i][1], NULL };

		ck_assert_int_eq(parse(argv, client, &c, &e), -1);
		ck_assert_ptr_nonnull(strstr(e.msg, "must be"));
	}
}
END_TEST

START_TEST(sizes_have_units)
{
	struct conf c;
	struct err e = { 0 };

	ck_assert_int_eq(PARSE(&c, &e, "--size", "1"), 0);
	ck_assert_uint_eq(c.size, 1);
	ck_assert_int_eq(PARSE(&c, &e, "--size", "64K"), 0);
	ck_assert_uint_eq(c.size, 65536);
	ck_assert_int_eq(PARSE(&c, &e, "--size", "64M"), 0);
	ck_assert_uint_eq(c.size, WIRE_SIZE_MAX);
}
END_TEST

START_TEST(names_what_is_wrong)
{
	static const char *const wrong[][2] = {
		{ "--device", "" },      { "--device", ":1" },
		{ "--device", "a:0" },   { "--device", "a:256" },
		{ "--gid-index", "-1" }, { "--gid-index", "65536" },
		{ "--bind", "host" },    { "--bind", "10.0.0.1:5" },
		{ "--port", "0" },       { "--port", "65536" },
		{ "--timeout", "0" },    { "--timeout", "1.5" },
		{ "--size", "0" },       { "--size", "" },
		{ "--size", "K" },       { "--size", "65M" },
		{ "--size", "1G" },      { "--size", "0000000000000000000000000000" },
		{ "--iterations", "0" }, { "--iterations", "1000001" },
		{ "--seed", "x" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct conf c = { .size = 99 };
		struct err e = { 0 };
		char *argv[] = { (char *)wrong[i][0], (char *)wrong[i][1], NULL };
		ck_assert_int_eq(parse(argv, tables, &c, &e), -1);
		ck_assert_int_eq(e.code, ERR_CONFIG);
		ck_assert_ptr_nonnull(strstr(e.msg, wrong[i][0]));
		ck_assert_uint_eq(c.size, 99);
	}
}
END_TEST

START_TEST(a_long_name_is_refused)
{
	struct conf c;
	struct err e = { 0 };
	char name[WIRE_NAME + 1];

	memset(name, 'x', sizeof(name));
	name[WIRE_NAME] = '\0';
	ck_assert_int_eq(PARSE(&c, &e, "--device", name), -1);
	name[WIRE_NAME - 1] = '\0';
	ck_assert_int_eq(PARSE(&c, &e, "--device", name), 0);
}
END_TEST

static const char *tc_text, *sl_text, *gid_text;

static const char *variable(const char *name)
{
	if (strcmp(name, "NCCL_IB_TC") == 0)
		return tc_text;
	return strcmp(name, "NCCL_IB_SL") == 0 ? sl_text : gid_text;
}

/* The options of a client that connects without RDMA CM, and the variables tc, sl, GID index. */
static struct conf with_nccl(char **argv, const char *tc, const char *sl, const char *gid)
{
	static const struct opt *const all[] = { conf_device, conf_connection, NULL };
	auto_opts struct opts o = { 0 };
	struct conf c;
	struct err e;

	tc_text = tc;
	sl_text = sl;
	gid_text = gid;
	ck_assert_int_ge(opt_parse(argv, all, false, &o, &e), 0);
	ck_assert_int_eq(conf_read(&o, &c, &e), 0);
	conf_take_nccl(&o, variable, &c);
	return c;
}

static bool has(const struct conf *c, int tc, int sl, int gid_index)
{
	return c->nccl.tc == tc && c->nccl.sl == sl && c->nccl.gid_index == gid_index;
}

START_TEST(absent_options_are_what_NCCL_would_use)
{
	char *none[] = { (char[]){ "--no-cm" }, NULL };
	char *given[] = { (char[]){ "--no-cm" }, (char[]){ "--tc" },
			  (char[]){ "0" },       (char[]){ "--sl" },
			  (char[]){ "1" },       (char[]){ "--gid-index" },
			  (char[]){ "7" },       NULL };
	char *cm[] = { NULL };
	struct conf c = with_nccl(none, "106", "3", "0x5");

	ck_assert(has(&c, 106, 3, 5));
	/* The peer is not asked for any of them. */
	ck_assert(!c.has_tc && c.sl == 0 && c.gid_index == -1);
	c = with_nccl(given, "106", "3", "5");
	ck_assert(has(&c, -1, -1, -1) && c.has_tc && c.tc == 0 && c.sl == 1 && c.gid_index == 7);
	ck_assert(!c.nccl.odd_tc);
	c = with_nccl(given, "256", "", "");
	ck_assert(!c.nccl.odd_tc);
	/* RDMA CM goes by the address. */
	c = with_nccl(cm, "106", "3", "5");
	ck_assert(has(&c, 106, -1, -1));
	/* Values that are none, and text, which NCCL reads as 0. */
	c = with_nccl(none, NULL, "16", "-1");
	ck_assert(has(&c, -1, -1, -1));
	c = with_nccl(none, "", "", "auto");
	ck_assert(has(&c, -1, -1, 0));
	/* Of the class NCCL sets the low byte. */
	c = with_nccl(none, "256", "x", "");
	ck_assert(has(&c, 0, 0, -1) && c.nccl.odd_tc);
	c = with_nccl(none, "-2", "0", "");
	ck_assert(has(&c, 254, 0, -1) && c.nccl.odd_tc);
	c = with_nccl(none, "-1", "0", "");
	ck_assert(has(&c, -1, 0, -1) && !c.nccl.odd_tc);
	c = with_nccl(none, "abc", "0", "");
	ck_assert(has(&c, 0, 0, -1) && c.nccl.odd_tc);
	c = with_nccl(none, "0x0", "0", "");
	ck_assert(has(&c, 0, 0, -1) && !c.nccl.odd_tc);
}
END_TEST

TEST_PROGRAM("rdma/probe/conf", absent_options_are_what_NCCL_would_use,
	     absent_options_have_defaults, all_options_are_read, without_cm,
	     partition_and_service_level_are_for_connections_without_cm, sizes_have_units,
	     names_what_is_wrong, a_long_name_is_refused)
