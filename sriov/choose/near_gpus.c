// SPDX-License-Identifier: Apache-2.0
/* near_gpus.c: decodes the key "near", and finds the GPUs of the pod. Pure. */
#include <stdio.h>
#include <string.h>

#include "sriov/choose/near.h"

#define POD "gpu"

static int near_gpus_add_gpu(struct near_gpus *g, const char *text, struct err *e)
{
	struct pci_addr a;
	char one[PCI_STR_LEN];

	if (pci_parse_loose(text, &a)) {
		err_set(e, ERR_CONFIG, 0, "%s: \"%.64s\" is not a PCI address such as 0000:0f:00.0",
			g->source, text);
		return err_hint(e, "railctl topo shows the addresses of the GPUs");
	}
	pci_format(a, one);
	for (size_t i = 0; i < g->n; i++) {
		if (!strcmp(g->gpu[i], one))
			return 0;
	}
	if (g->n == NEAR_GPUS_MAX)
		return err_set(e, ERR_CONFIG, 0,
			       "%s: \"%.64s\" is one GPU too many: at most %d are allowed",
			       g->source, text, NEAR_GPUS_MAX);
	memcpy(g->gpu[g->n++], one, sizeof(one));
	return 0;
}

/* "0000:0f:00.0,0000:47:00.0" */
static int near_gpus_add_text(struct near_gpus *g, const char *text, struct err *e)
{
	char one[PCI_STR_LEN + 64];

	while (*text) {
		size_t len = strcspn(text, ",");
		(void)snprintf(one, sizeof(one), "%.*s", (int)(len < 64 ? len : 64), text);
		if (len && near_gpus_add_gpu(g, one, e))
			return -1;
		text += len + (text[len] == ',');
	}
	return 0;
}

static int near_gpus_add_list(struct near_gpus *g, const struct json *n, struct err *e)
{
	char shown[JSON_SHOW_LEN];

	json_each (it, n) {
		const char *text = json_str(it);
		if (!text)
			return err_set(e, ERR_CONFIG, 0, "%s: %s is not a PCI address", g->source,
				       json_show(it, shown));
		if (near_gpus_add_gpu(g, text, e))
			return -1;
	}
	return 0;
}

static int refuse_type(const struct near_gpus *g, const struct json *n, const char *what,
		       struct err *e)
{
	char shown[JSON_SHOW_LEN];

	return err_set(e, ERR_CONFIG, 0, "%s: %s is neither %s", g->source, json_show(n, shown),
		       what);
}

int near_decode(const struct json *near, struct near_gpus *out, struct err *e)
{
	static const char what[] = "the PCI address of a GPU, nor a list of them, nor \"gpu\"";
	struct near_gpus g = { .source = "near" };
	const char *text = json_str(near);

	if (text && !strcmp(text, POD)) {
		*out = g;
		return 0;
	}
	if (!text && json_type(near) != JSON_ARRAY)
		return refuse_type(&g, near, what, e);
	if (text ? near_gpus_add_gpu(&g, text, e) : near_gpus_add_list(&g, near, e))
		return -1;
	if (!g.n)
		return refuse_type(&g, near, what, e);
	*out = g;
	return 0;
}

/* ---- the GPUs of the pod ---- */

static int from_args(const struct cni_call *call, struct near_gpus *g, struct err *e)
{
	char text[NEAR_GPUS_MAX * PCI_STR_LEN];
	int rc = cni_args_get(call->env.args, "GPUS", text, sizeof(text), e);

	return rc <= 0 ? rc : near_gpus_add_text(g, text, e);
}

static int from_conf(const struct cni_call *call, struct near_gpus *g, struct err *e)
{
	const struct json *n = json_get(call->conf.args_cni, "gpus");

	if (!n)
		return 0;
	if (json_str(n))
		return near_gpus_add_text(g, json_str(n), e);
	if (json_type(n) != JSON_ARRAY)
		return refuse_type(g, n,
				   "a list of PCI addresses nor text with commas between them", e);
	return near_gpus_add_list(g, n, e);
}

/* The sources of a pod's GPUs. The first one that names any is used. */
static const struct {
	const char *name;
	int (*ask)(const struct cni_call *call, struct near_gpus *g, struct err *e);
} sources[] = {
	{ "CNI_ARGS: GPUS", from_args },
	{ "args.cni.gpus", from_conf },
};

int near_gpus(const struct cni_call *call, const struct json *near, struct near_gpus *out,
	      struct err *e)
{
	struct near_gpus g;

	if (near_decode(near, &g, e))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(sources) && !g.n; i++) {
		g.source = sources[i].name;
		if (sources[i].ask(call, &g, e))
			return -1;
	}
	if (!g.n)
		g.source = "near";
	*out = g;
	return 0;
}
