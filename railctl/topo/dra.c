/* SPDX-License-Identifier: Apache-2.0 */
/* dra.c: `railctl topo --dra`: rails as objects for dynamic resource allocation. */
#include <stdio.h>
#include <string.h>

#include "lib/json/yaml.h"
#include "railctl/topo/topo.h"
#include "topo/output/dra.h"

static const struct {
	const char *name;
	enum dra_driver driver;
} drivers[] = { { "dranet", DRA_DRANET }, { "sriov", DRA_SRIOV } };

/* Comments, for people. nodes: the label of the nodes whose rails have these addresses. */
static void print_head(const struct cmd_run *r, enum dra_driver driver, const char *nodes)
{
	switch (driver) {
	case DRA_DRANET:
		fprintf(r->out.to,
			"# Rails for DRANET, as \"railctl topo --dra dranet\" prints them.\n"
			"# resource.k8s.io/v1: Kubernetes 1.34 and newer.\n"
			"# The PCI addresses are those of this machine. Pods need a nodeSelector "
			"for\n"
			"# nodes with the same label: railhead.io/rail-addresses: %s\n"
			"# Print the classes again when the number of VFs has changed.\n",
			nodes);
		break;
	case DRA_SRIOV:
		fprintf(r->out.to,
			"# Rails for dra-driver-sriov, as \"railctl topo --dra sriov\" prints "
			"them.\n"
			"# resource.k8s.io/v1: Kubernetes 1.34 and newer.\n"
			"# Apply it in the namespace of the driver (kubectl -n), and the\n"
			"# ResourceClaimTemplates in the namespaces of the pods. There, each rail "
			"needs\n"
			"# a NetworkAttachmentDefinition of its name. The policy is for nodes with "
			"the\n"
			"# label railhead.io/rail-addresses: %s\n",
			nodes);
		break;
	}
}

static int print_documents(const struct cmd_run *r, const struct json *list, struct err *e)
{
	json_each (it, json_get(list, "items")) {
		auto_free char *text = json_print_yaml(it);

		if (!text)
			return err_nomem(e);
		fprintf(r->out.to, "---\n%s", text);
	}
	return 0;
}

int topo_write_dra(struct cmd_run *r, const struct topo *t, const char *driver, struct err *e)
{
	char nodes[SHOW_SHAPE_LEN];
	struct dra_input in = { .m = &t->m,
				.choice = &t->choice,
				.nodes = show_rail_addresses(&t->view, nodes) };

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		auto_json struct json *list = NULL;

		if (strcmp(driver, drivers[i].name) != 0)
			continue;
		if (dra_objects(&in, drivers[i].driver, &list, e))
			return -1;
		if (r->out.json)
			return out_json(&r->out, list, e);
		print_head(r, drivers[i].driver, nodes);
		return print_documents(r, list, e);
	}
	return cmd_usage(r, e, "--dra \"%.64s\": it must be dranet or sriov", driver);
}
