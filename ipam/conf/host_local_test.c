/* SPDX-License-Identifier: Apache-2.0 */
/* host_local_test.c: the limits of host-local's ranges. */
#include <stdio.h>

#include "ipam/conf/conf.h"
#include "lib/testing/testing.h"

/* n ranges of four addresses each, in one set. */
static char *many_ranges(unsigned n)
{
	char *text = malloc(64 + n * 32);

	ck_assert_ptr_nonnull(text);
	size_t len = (size_t)sprintf(text, "{\"name\":\"n\",\"ipam\":{\"ranges\":[[");
	for (unsigned i = 0; i < n; i++)
		len += (size_t)sprintf(text + len, "%s{\"subnet\":\"10.%u.%u.%u/30\"}",
				       i ? "," : "", i >> 14, i >> 6 & 255, (i & 63) * 4);
	(void)strcpy(text + len, "]]}}");
	return text;
}

/* Found with the largest inputs of the fuzzers: 30,000 took minutes, each compared with each. */
START_TEST(the_number_of_ranges_is_bounded)
{
	static const unsigned sizes[] = { RANGES_MAX, RANGES_MAX + 1, 30000 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *text = many_ranges(sizes[i]);
		struct cni_conf c;
		struct ipam_conf x = { 0 };
		struct err e = { 0 };

		ck_assert_int_eq(cni_conf_parse(text, strlen(text), CNI_ADD, &c, &e), 0);
		if (i == 0) {
			ck_assert_int_eq(ipam_conf_decode(&c, &x, &e), 0);
			ck_assert_uint_eq(x.fixed.sets[0].n, RANGES_MAX);
		} else {
			ck_assert_int_eq(ipam_conf_decode(&c, &x, &e), -1);
			ck_assert_int_eq((int)e.code, ERR_CONFIG);
			ck_assert_ptr_nonnull(
				strstr(e.msg, "ipam.ranges[0][1024]: more than 1024"));
		}
		ipam_conf_clear(&x);
		cni_conf_clear(&c);
	}
}
END_TEST

TEST_PROGRAM("ipam/conf/host_local", the_number_of_ranges_is_bounded)
