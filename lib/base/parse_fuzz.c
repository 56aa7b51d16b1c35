/* SPDX-License-Identifier: Apache-2.0 */
/* parse_fuzz.c: feeds any text to the parsers of small values, and checks their rules. */
#include "lib/base/guid.h"
#include "lib/base/hw_addr.h"
#include "lib/base/parse.h"
#include "lib/testing/fuzz.h"

/* clang-format off */
FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *s = fuzz_text(data, size);
	struct slice rest = { s, size }, piece;
	size_t good = utf8_prefix(s, size), total = 0;
	char text[HW_ADDR_STR_LEN];
	FUZZ_OUT(uint64_t, n);
	struct hw_addr a, b; struct guid g, h;

	MUST(good <= size && utf8_valid(s, good) && utf8_valid(s, size) == (good == size));
	for (size_t i = good + 1; i <= size && i <= good + 4; i++) MUST(!utf8_valid(s, i));
	if (fuzz_ok(parse_u64(s, 3, 70000, &n), NULL, &n, sizeof(n)))
		MUST(n >= 3 && n <= 70000 && n == strtoul(s, NULL, 10));
	bool is_addr = !hw_addr_parse(s, &a);
	MUST(!is_addr || (!hw_addr_parse(hw_addr_format(a, text), &b) && hw_addr_equal(a, b)));
	MUST(!parse_mac(s, b.byte) == (is_addr && hw_addr_is_mac(a)));
	MUST(guid_parse(s, &g) || (!guid_parse(guid_format(g, text), &h) && guid_equal(g, h) && guid_equal(guid_of_number(guid_number(g)), g)));
	MUST(ifname_problem(s) ||
	     (strlen(s) < IFNAME_LEN && *s && !strpbrk(s, "/:% \t\n") && strcmp(s, "..") != 0));
	MUST(!id_valid(s) || (!strpbrk(s, "/%,; ") && *s != '.' && utf8_valid(s, strlen(s))));
	while (slice_next(&rest, ';', &piece))
		total += piece.len + 1;
	MUST(total == size + 1);
	return 0;
}
