/* SPDX-License-Identifier: Apache-2.0 */
/* ib_conf_fuzz.c: feeds CNI_ARGS, a line break and a configuration to ib_conf_check. */
#include "lib/testing/fuzz.h"
#include "plugins/sriov/ib_conf.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct cni_call call = { .env = { .cmd = CNI_ADD, .ifname = "net1", .container = "c" } };
	struct attach a = { .call = &call };
	const struct vf_info *s;
	struct ib_conf c;
	FUZZ_OUT(struct err, e);

	call.env.args = fuzz_cut(&data, &size);
	s = &c.want;
	ib_conf_defaults(&c);
	int rc = cni_conf_parse(fuzz_text(data, size), size, CNI_ADD, &call.conf, &e) ||
		 json_decode(call.conf.tree, "", ib_fields, &c, &e) || ib_conf_check(&a, &c, &e);
	if (fuzz_ok(-rc, &e, NULL, 0)) {
		MUST((s->has & ~(unsigned)(VF_LINK_STATE | VF_GUIDS)) == 0);
		MUST(!(s->has & VF_GUIDS) || guid_is_usable(s->port_guid));
		MUST(!c.ib_kubernetes || (s->has & VF_GUIDS));
		MUST(!c.pkey || pkey_is_valid(c.pkey));
	}
	cni_conf_clear(&call.conf);
	free((char *)call.env.args);
	return 0;
}
