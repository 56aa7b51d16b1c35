/* SPDX-License-Identifier: Apache-2.0 */
/* scrape_test.c: which requests get which answer. */
#include "railheadd/metrics/scrape.h"

#include "lib/testing/testing.h"

START_TEST(requests_and_their_answers)
{
	static const struct {
		const char *text;
		struct scrape want;
	} all[] = {
		{ "GET /metrics HTTP/1.1\r\nHost: a", { 200, false } },
		{ "GET /metrics?a=b HTTP/1.0", { 200, false } },
		{ "GET /metrics HTTP/1.1\r\nACCEPT: text/plain,application/openmetrics-text;q=1",
		  { 200, true } },
		{ "GET /metrics HTTP/1.1\r\nX-Accept: application/openmetrics-text",
		  { 200, false } },
		{ "GET /metrics HTTP/1.1\r\nAccept: text/plain", { 200, false } },
		{ "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\nHost: a",
		  { 200, true } },
		{ "GET /else123 HTTP/1.1", { 404, false } },
		{ "GET / HTTP/1.1", { 404, false } },
		{ "GET /metricsx HTTP/1.1", { 404, false } },
		{ "GET /metric HTTP/1.1", { 404, false } },
		{ "POST /metrics HTTP/1.1", { 405, false } },
		{ "GET /metrics HTTP/2", { 400, false } },
		{ "GET /metrics", { 400, false } },
		{ "GET", { 400, false } },
		{ "", { 400, false } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct scrape s = scrape_parse(all[i].text);

		ck_assert_msg(s.status == all[i].want.status && s.open == all[i].want.open, "%s",
			      all[i].text);
	}
}
END_TEST

TEST_PROGRAM("railheadd/metrics/scrape", requests_and_their_answers)
