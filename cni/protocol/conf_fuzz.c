/* SPDX-License-Identifier: Apache-2.0 */
/* conf_fuzz.c: feeds any text to cni_conf_parse(), and checks the rules of the keys. */
#include "cni/protocol/conf.h"
#include "lib/testing/fuzz.h"

/* The first byte is the verb. */
FUZZ(const uint8_t *data, size_t size)
{
	enum cni_command cmd = size ? (enum cni_command)(*data % CNI_VERSION) : CNI_ADD;
	size_t len = size ? size - 1 : 0;
	struct cni_conf c;
	FUZZ_OUT(struct err, e);

	int rc = cni_conf_parse(fuzz_text(data + !!size, len), len, cmd, &c, &e);
	MUST(c.version < CNI_VERSIONS && c.len == len && !memcmp(c.text, data + !!size, len));
	if (fuzz_ok(rc, &e, NULL, 0)) {
		MUST(id_valid(c.name) && (cmd == CNI_DEL || strlen(c.name) <= CNI_ID_MAX));
		MUST(!strchr(c.ipam_type, '/') && (cmd == CNI_DEL || !strchr(c.type, '/')));
		MUST(!c.args_cni || json_type(c.args_cni) == JSON_OBJECT);
		MUST(!c.prev_result || json_type(c.prev_result) == JSON_OBJECT);
		json_each (it, c.valid)
			MUST(cni_conf_is_valid(&c, json_str(json_get(it, "containerID")),
					       json_str(json_get(it, "ifname"))));
	}
	cni_conf_clear(&c);
	return 0;
}
