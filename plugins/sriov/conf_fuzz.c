/* SPDX-License-Identifier: Apache-2.0 */
/* conf_fuzz.c: feeds CNI_ARGS, a line break and a configuration to sriov_conf_check. */
#include "lib/testing/fuzz.h"
#include "plugins/sriov/conf.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct cni_call call = { .env.args = fuzz_cut(&data, &size) };
	struct sriov_conf c;
	const struct vf_attach *v = &c.which;
	struct vf_resource r = { 0 };
	const struct vf_info *s = &c.request.pf_side;
	struct pci_addr addr;
	FUZZ_OUT(struct err, e);

	sriov_conf_defaults(&c);
	int rc = cni_conf_parse(fuzz_text(data, size), size, CNI_ADD, &call.conf, &e) ||
		 json_decode(call.conf.tree, "", sriov_fields, &c, &e) ||
		 sriov_conf_check(&(struct attach){ .call = &call }, &c, &e);
	if (fuzz_ok(-rc, &e, NULL, 0)) {
		MUST((!*v->vf || !v->resource || v->near) && (!*v->vf || !pci_parse(v->vf, &addr)));
		MUST((c.renumbered < 0 || c.rdma == SRIOV_RDMA_MOVES) && s->has <= VF_ALL);
		MUST(s->vlan < 4095 && s->qos < 8 && (s->vlan || !s->qos));
		MUST(!(s->has & VF_MAC) || !(s->mac[0] & 1));
		MUST((!s->max_rate || s->min_rate <= s->max_rate) && (!v->near || v->resource) &&
		     (!v->resource || (!vf_resource_decode(v->resource, &r, &e) && r.n > 0)));
	}
	cni_conf_clear(&call.conf);
	free((char *)call.env.args);
	return 0;
}
