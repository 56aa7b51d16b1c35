/* SPDX-License-Identifier: Apache-2.0 */
/* agent_conf_fuzz.c: feeds agent.json; what is taken keeps the rules between its keys. */
#include "railheadd/conf/agent_conf.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL;
	struct agent_conf c;
	struct err e;

	if (json_parse((const char *)data, size, "agent.json", &tree, &e) ||
	    agent_conf_decode(tree, &c, &e))
		return 0;
	MUST(c.hold >= 4 * c.renew && c.renew > 0);
	MUST(!c.node || agent_conf_node_check(c.node, &e) == 0);
	if (c.has_etcd)
		MUST(c.etcd.endpoints[0] && !c.etcd.cert == !c.etcd.key);
	MUST(c.claims.groups.n <= AGENT_CONF_GROUPS);
	for (size_t i = 0; i < c.claims.groups.n; i++) {
		MUST(*c.claims.groups.of[i].name && c.claims.groups.of[i].rails);
		for (size_t k = 0; k < i; k++)
			MUST(!(c.claims.groups.of[i].rails & c.claims.groups.of[k].rails));
	}
	MUST(!(c.has_etcd && c.has_kube) && (!c.kube.context || c.kube.kubeconfig));
	return 0;
}
