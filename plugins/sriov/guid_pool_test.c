/* SPDX-License-Identifier: Apache-2.0 */
/* guid_pool_test.c: a GUID of ipam.guidPool, from an IPAM that writes down how it was called. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cni/testing/call.h"
#include "lib/testing/dir.h"
#include "plugins/testing/ib.h"

#define VF0    "\"deviceID\":\"0000:3b:02.0\""
#define POOLED VF0 ",\"ipam\":{\"type\":\"pools\",\"guidPool\":\"ib0\"}"
#define CALLS  "/mnt/calls"

#define EMPTY          "{\"cniVersion\":\"1.1.0\"}"
#define GIVES(address) "{\"cniVersion\":\"1.1.0\",\"ips\":[{\"address\":\"" address "\"}]}"

/* answers: of an ADD for the GUID; then: what else it does, as lines of a shell script. */
static void ipam(const char *answers, const char *then)
{
	char *body;

	(void)mkdir(TESTIB_BIN, 0755);
	(void)unlink(CALLS);
	ck_assert_int_gt(asprintf(&body,
				  "#!/bin/sh\n"
				  "echo \"$CNI_COMMAND $RAILHEAD_LEASE\" >>" CALLS "\n"
				  "%s\n"
				  "case \"$CNI_COMMAND $RAILHEAD_LEASE\" in\n"
				  "'ADD ') echo '" EMPTY "' ;;\n"
				  "'ADD '*) echo '%s' ;;\n"
				  "esac\n",
				  then, answers),
			 0);
	testing_file(TESTIB_BIN "/pools", 0755, body);
	free(body);
}

static bool called(const char *line)
{
	auto_free char *text = testing_printed(CALLS);

	return strstr(text, line) != NULL;
}

/* An attachment with the GUID 02:00:00:00:00:00:00:07 of the pool. */
static void attach(const struct testib *t, const struct pod *p)
{
	struct err e = { .msg = "" };

	ipam(GIVES("fe80::200:0:0:7/112"), "");
	good(testib_call(t, CNI_ADD, p, POOLED, &e), &e);
	testib_has_guid(t, guid_of_number(UINT64_C(0x0200000000000007)));
}

/* Its DEL, which releases the GUID and restores the VF. */
static void detach(const struct testib *t, const struct pod *p)
{
	struct err e = { .msg = "" };

	good(testib_call(t, CNI_DEL, p, POOLED, &e), &e);
	ck_assert(called("DEL \n"));
	testib_is_restored(t, 0, "DEL");
}

START_TEST(the_vf_gets_a_guid_of_the_pool)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	attach(&t, &p);
	ck_assert(called("ADD guid\n") && called("ADD \n"));
	good(testib_call(&t, CNI_CHECK, &p, POOLED, &e), &e);
	ck_assert(called("CHECK \n") && called("CHECK guid\n"));
	detach(&t, &p);
}
END_TEST

START_TEST(a_lease_that_is_gone)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	attach(&t, &p);
	ipam("", "[ \"$CNI_COMMAND $RAILHEAD_LEASE\" != 'CHECK guid' ] || "
		 "{ echo '{\"code\":104,\"msg\":\"no lease\"}'; exit 1; }");
	fails(testib_call(&t, CNI_CHECK, &p, POOLED, &e), &e, 104, "ipam.guidPool: no lease");
	detach(&t, &p);
}
END_TEST

/* Somebody chose the GUID; the pool makes sure that no other pod has it. */
START_TEST(a_guid_that_is_given_is_leased)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	ipam(GIVES("fe80::200:0:0:b/112"), "");
	good(testib_call(&t, CNI_ADD, &p,
			 POOLED ",\"args\":{\"cni\":{\"guid\":\"0200:0000:0000:000b\"}}", &e),
	     &e);
	ck_assert(called("ADD guid=02:00:00:00:00:00:00:0b\n"));
	testib_has_guid(&t, guid_of_number(UINT64_C(0x020000000000000b)));
	detach(&t, &p);
}
END_TEST

/* Whatever goes wrong, the IPAM gets its DEL, and the VF its own GUID. */
START_TEST(an_add_that_gets_no_guid)
{
	static const struct {
		const char *answers, *then;
		enum err_code code;
		const char *word;
	} rows[] = {
		{ GIVES("10.0.0.5/24"), "", ERR_DELEGATE, "gave 10.0.0.5 instead of a GUID" },
		{ GIVES("fe80::/64"), "", ERR_DELEGATE, "gave fe80:: instead of a GUID" },
		{ EMPTY, "", ERR_DELEGATE, "gave nothing instead of a GUID" },
		{ "no JSON", "", ERR_DELEGATE, "ipam.guidPool: \"ib0\"" },
		{ "",
		  "[ -z \"$RAILHEAD_LEASE\" ] || { echo '{\"code\":101,\"msg\":\"full\"}'; exit 1; "
		  "}",
		  ERR_EXHAUSTED, "full" },
	};
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ipam(rows[i].answers, rows[i].then);
		fails(testib_call(&t, CNI_ADD, &p, POOLED, &e), &e, rows[i].code, rows[i].word);
		ck_assert(called("DEL \n"));
		testib_is_restored(&t, 0, rows[i].word);
		ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 0);
	}
}
END_TEST

/* As long as the VF has the GUID, no other one may get it. */
START_TEST(a_guid_that_the_vf_keeps_stays_leased)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	attach(&t, &p);
	t.w.kernel->refuses[VF_PORT_GUID] = EINVAL;
	fails(testib_call(&t, CNI_DEL, &p, POOLED, &e), &e, ERR_STATE,
	      "still has the GUID of its pod");
	ck_assert(!called("DEL \n"));
	ck_assert_uint_eq(testing_records(&t.w.ctx, NULL), 1);
	t.w.kernel->refuses[VF_PORT_GUID] = 0;
	detach(&t, &p);
}
END_TEST

/* Nobody can see whether its port has the GUID. */
START_TEST(an_interface_that_the_pod_moved_away_keeps_its_guid)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod(), nested = pod();
	auto_netns struct netns host = { .fd = -1 };
	struct link_info link;
	struct err e = { .msg = "" };

	attach(&t, &p);
	good(nl_link_by_name(p.nl, "net1", &link, &e), &e);
	good(nl_link_move(p.nl, link.ifindex, &nested.ns, "net1", &e), &e);
	ck_assert_int_eq(testib_call(&t, CNI_DEL, &p, POOLED, &e), -1);
	ck_assert(!called("DEL \n"));
	good(nl_link_by_name(nested.nl, "net1", &link, &e), &e);
	good(netns_open_self(&host, &e), &e);
	good(nl_link_move(nested.nl, link.ifindex, &host, "back", &e), &e);
	detach(&t, &p);
}
END_TEST

START_TEST(two_sources_of_one_guid)
{
	auto_testib struct testib t = testib(1, RDMA_SHARED, false);
	auto_pod struct pod p = pod();
	struct err e = { .msg = "" };

	ipam(GIVES("fe80::200:0:0:7/112"), "");
	fails(testib_call(&t, CNI_ADD, &p, POOLED ",\"guidFrom\":\"pod\"", &e), &e, ERR_CONFIG,
	      "cannot be used together");
	fails(testib_call(&t, CNI_ADD, &p,
			  POOLED ",\"ibKubernetesEnabled\":true,\"args\":{\"cni\":{"
				 "\"mellanox.infiniband.app\":\"configured\"}}",
			  &e),
	      &e, ERR_AGAIN, "ib-kubernetes gave no GUID");
	testib_is_restored(&t, 0, "refused ADD");
}
END_TEST

TEST_PROGRAM("plugins/sriov/guid_pool", the_vf_gets_a_guid_of_the_pool, a_lease_that_is_gone,
	     a_guid_that_is_given_is_leased, an_add_that_gets_no_guid,
	     a_guid_that_the_vf_keeps_stays_leased,
	     an_interface_that_the_pod_moved_away_keeps_its_guid, two_sources_of_one_guid)
