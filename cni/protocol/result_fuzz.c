/* SPDX-License-Identifier: Apache-2.0 */
/* result_fuzz.c: feeds any result to the parser; the printed result parses to the same one. */
#include "cni/protocol/result.h"
#include "lib/testing/fuzz.h"

/* Read, printed as the version of the first byte, read and printed again: the text is the same. */
FUZZ(const uint8_t *data, size_t size)
{
	enum cni_version v = size ? (enum cni_version)(*data % CNI_VERSIONS) : CNI_CURRENT;
	auto_json struct json *tree = NULL, *tree2 = NULL;
	FUZZ_OUT(struct cni_result, r);
	FUZZ_OUT(struct err, e);
	struct cni_result r2 = { 0 };
	char *text = FUZZ_PTR, *text2 = NULL;

	if (json_parse((const char *)data + !!size, size - !!size, "text", &tree, &e) ||
	    !fuzz_ok(cni_result_parse(tree, "prevResult", v, &r, &e), &e, &r, sizeof(r)))
		return 0;
	if (fuzz_ok(cni_result_print(&r, v, &text, &e), &e, &text, sizeof(text))) {
		MUST(!json_parse(text, strlen(text), "text", &tree2, &e) &&
		     !cni_result_parse(tree2, "printed", v, &r2, &e) &&
		     !cni_result_print(&r2, v, &text2, &e));
		MUST(!strcmp(text, text2) &&
		     (v < CNI_030 || (r.n_ips == r2.n_ips && r.n_routes == r2.n_routes)));
		free(text);
	}
	free(text2);
	cni_result_clear(&r2);
	cni_result_clear(&r);
	return 0;
}
