/* SPDX-License-Identifier: Apache-2.0 */
/* cnicache_test.c: attachments are found in files of libcni, new and old. */
#include "ipam/peers/cnicache.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

#define V1(network, container, ifname, args)                                                       \
	"{\"kind\":\"cniCacheV1\",\"containerId\":\"" container                                    \
	"\",\"config\":\"e30=\",\"ifName\":\"" ifname "\",\"networkName\":\"" network "\"" args    \
	",\"result\":{\"cniVersion\":\"1.0.0\"}}"
#define ARGS                                                                                       \
	",\"cniArgs\":[[\"IgnoreUnknown\",\"1\"],[\"K8S_POD_NAMESPACE\",\"team\"],"                \
	"[\"K8S_POD_NAME\",\"p\"],[\"K8S_POD_UID\",\"u-1\"]]"

static const char *show(const struct cnicache_entry *x)
{
	static char out[2048];

	(void)snprintf(out, sizeof(out), "%s %s %s %s/%s %s", x->network, x->container, x->ifname,
		       x->ns, x->pod, x->uid);
	return out;
}

START_TEST(cache_files_are_parsed)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ V1("net", "c1", "net1", ARGS), "net c1 net1 team/p u-1" },
		{ V1("net", "c1", "net1", ""), "net c1 net1 / " },
		{ V1("net", "c1", "net1", ",\"cniArgs\":{\"a\":1}"), "net c1 net1 / " },
		{ V1("net", "c1", "net1", ",\"cniArgs\":[[],[\"K8S_POD_NAME\"],7]"),
		  "net c1 net1 / " },
		{ V1("", "c1", "net1", ""), NULL },
		{ V1("net", "a/b", "net1", ""), NULL },
		{ V1("net", "c1", "sixteen_bytes_12", ""), NULL },
		{ "{\"cniVersion\":\"0.4.0\",\"ips\":[]}", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cnicache_entry x = { .file = "kept" };
		int rc = cnicache_parse(cases[i].text, strlen(cases[i].text), &x);

		ck_assert_int_eq(rc, cases[i].want ? 0 : -1);
		ck_assert_str_eq(x.file, "kept");
		if (cases[i].want)
			ck_assert_str_eq(show(&x), cases[i].want);
	}
}
END_TEST

static size_t find(const struct cnicache *c, const char *network, const char *container,
		   const char *ifname)
{
	const struct cnicache_query q = { network, container, ifname };
	struct cnicache_entry x;

	return cnicache_find(c, &q, &x);
}

START_TEST(an_attachment_is_found)
{
	struct ctx ctx = { .cni_dir = "/mnt" };
	auto_cnicache struct cnicache c, none;
	struct cnicache_entry x;
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(cnicache_load(&ctx, &none, &e), 0);
	ck_assert(!none.there && none.n == 0);
	ck_assert_int_eq(mkdir("/mnt/results", 0700), 0);
	testing_file("/mnt/results/net-c1-net1", 0600, V1("net", "c1", "net1", ARGS));
	testing_file("/mnt/results/net-c1-net2", 0600, V1("net", "c1", "net2", ""));
	testing_file("/mnt/results/other-c1-net3", 0600, V1("other", "c1", "net3", ""));
	/* of an early libcni; names and ids may have dashes */
	testing_file("/mnt/results/my-net-c-9-net1", 0600, "{\"cniVersion\":\"0.3.1\"}");
	testing_file("/mnt/results/.my-net-c-9-net2", 0600, "");
	ck_assert_int_eq(symlink("/etc/passwd", "/mnt/results/net-c7-net1"), 0);
	ck_assert_int_eq(cnicache_load(&ctx, &c, &e), 0);
	ck_assert(c.there && c.n == 5);
	ck_assert_uint_eq(find(&c, "net", "c1", "net1"), 1);
	ck_assert_uint_eq(find(&c, "net", "c1", ""), 2);
	ck_assert_uint_eq(find(&c, "", "c1", ""), 3);
	ck_assert_uint_eq(find(&c, "net", "c", ""), 0);
	ck_assert_uint_eq(find(&c, "", "c2", ""), 0);
	const struct cnicache_query old = { "", "c-9", "" }, new = { "net", "c1", "net1" };
	ck_assert_uint_eq(cnicache_find(&c, &old, &x), 1);
	ck_assert_str_eq(show(&x), "my-net c-9 net1 / ");
	ck_assert_uint_eq(cnicache_find(&c, &new, &x), 1);
	ck_assert_str_eq(show(&x), "net c1 net1 team/p u-1");
	/* what cannot be read is still the name of an attachment */
	ck_assert_uint_eq(find(&c, "net", "c7", "net1"), 1);
}
END_TEST

/* {"type":"macvlan"}, a list, and what is not a configuration */
START_TEST(the_configuration_is_decoded)
{
	static const struct {
		const char *text, *want; /* want NULL: refused with this part */
		const char *why;
	} cases[] = {
		{ "{\"config\":\"eyJ0eXBlIjoibWFjdmxhbiJ9\"}", "{\"type\":\"macvlan\"}", "" },
		{ "{\"config\":\"eyJwbHVnaW5zIjpbXX0=\"}", "{\"plugins\":[]}", "" },
		{ "{\"cniVersion\":\"0.4.0\"}", NULL, "no \"config\"" },
		{ "{\"config\":\"e30\"}", NULL, "not base64" },
		{ "{\"config\":\"e30!\"}", NULL, "not base64" },
		{ "{\"config\":\"W10=\"}", NULL, "not an object" },
		{ "{\"config\":\"ew==\"}", NULL, "config in a file of libcni" },
		{ "{\"kind\":", NULL, "file of libcni" },
		{ "", NULL, "file of libcni" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_json struct json *config = NULL;
		struct err e = { .msg = "" };
		int rc = cnicache_config(cases[i].text, strlen(cases[i].text), &config, &e);

		ck_assert_int_eq(rc, cases[i].want ? 0 : -1);
		ck_assert_msg(strstr(e.msg, cases[i].why) != NULL, "%s", e.msg);
		auto_free char *text = cases[i].want ? json_print(config, false) : NULL;
		if (cases[i].want)
			ck_assert_str_eq(text, cases[i].want);
	}
}
END_TEST

static int decode(void *arg, struct err *e)
{
	auto_json struct json *config = NULL;

	return cnicache_config(arg, strlen(arg), &config, e);
}

START_TEST(memory_may_end_anywhere)
{
	char text[] = "{\"config\":\"eyJ0eXBlIjoibWFjdmxhbiJ9\"}";

	ck_assert_str_eq(alloc_fail_each(decode, text), "ok");
}
END_TEST

TEST_PROGRAM("ipam/peers/cnicache", cache_files_are_parsed, an_attachment_is_found,
	     the_configuration_is_decoded, memory_may_end_anywhere)
