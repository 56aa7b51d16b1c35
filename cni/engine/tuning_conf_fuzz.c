/* SPDX-License-Identifier: Apache-2.0 */
/* tuning_conf_fuzz.c: feeds a configuration to tuning_read_conf(). */
#include "cni/engine/tuning.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	auto_json struct json *tree = NULL;
	char path[TUNING_PATH_LEN];
	FUZZ_OUT(struct tuning_conf, c);
	FUZZ_OUT(struct err, e);

	if (json_parse(text, size, "text", &tree, &e))
		return 0;
	FUZZ_OUT(struct err, why);
	if (!fuzz_ok(tuning_read_conf(tree, &c, &why), &why, &c, sizeof(c)))
		return 0;
	MUST(c.n_sysctls <= TUNING_SYSCTLS_MAX);
	for (size_t i = 0; i < c.n_sysctls; i++) {
		MUST(*c.sysctl[i].value && strlen(c.sysctl[i].value) < TUNING_VALUE_LEN);
		MUST(!tuning_path(c.sysctl[i].key, "net1", path));
		MUST(!strncmp(path, "sys/net/", 8) && strstr(path, "/net1/") &&
		     !strstr(path, ".."));
	}
	return 0;
}
