/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c: the GPUs and HCAs that count: those of --gpus and --hcas, or those of a pod. */
#include <string.h>

#include "railctl/topo/topo.h"
#include "railctl/topo/pod.h"

/* ---- GPUs ---- */

static int unknown_gpu(const struct topo *t, const char *word, struct err *e)
{
	char bdf[PCI_STR_LEN], list[256] = "";
	size_t len = 0;

	for (size_t g = 0; g < t->m.n_gpus && len + PCI_STR_LEN + 2 < sizeof(list); g++)
		len = (size_t)(stpcpy(stpcpy(list + len, g ? " " : ""),
				      pci_format(t->m.pci[t->m.gpu[g].pci].addr, bdf)) -
			       list);
	err_set(e, ERR_NOTFOUND, 0, "--gpus: there is no GPU at \"%.64s\"", word);
	return *list ? err_hint(e, "there are %s", list) : err_hint(e, "this machine has no GPU");
}

static int mark_gpu(struct cmd_run *r, const char *word, void *arg, struct err *e)
{
	struct topo *t = arg;
	struct pci_addr addr;
	uint32_t g;

	if (pci_parse_loose(word, &addr)) {
		cmd_usage(r, e, "--gpus \"%.64s\" is not a PCI address", word);
		return err_hint(e, "such as 0000:0f:00.0");
	}
	g = topo_find_gpu(&t->m, addr);
	if (g == TOPO_NONE)
		return unknown_gpu(t, word, e);
	t->gpu[g] = true;
	return 0;
}

/* ---- HCAs ---- */

static int mark_hca(struct cmd_run *r, const char *word, void *arg, struct err *e)
{
	struct topo *t = arg;
	uint32_t h = topo_find_hca(&t->m, word);

	(void)r;
	if (h == TOPO_NONE) {
		err_set(e, ERR_NOTFOUND, 0, "--hcas: there is no HCA \"%.64s\"", word);
		return err_hint(e, "\"railctl topo\" without --hcas names them all");
	}
	t->hca[h] = true;
	return 0;
}

/* ---- lists ---- */

typedef int (*mark_fn)(struct cmd_run *r, const char *word, void *arg, struct err *e);

static int mark_list(struct cmd_run *r, const char *option, mark_fn mark, struct topo *t,
		     struct err *e)
{
	const char *text;
	size_t i = 0;

	while ((text = opt_next(&r->opts, option, &i))) {
		struct slice rest = { text, strlen(text) }, word;
		char copy[TOPO_NAME_LEN];

		while (slice_next(&rest, ',', &word)) {
			if (!word.len || slice_copy(word, copy, sizeof(copy)))
				return cmd_usage(r, e, "--%s \"%.64s\": \"%.*s\" is not a name",
						 option, text, (int)(word.len > 64 ? 64 : word.len),
						 word.p);
			if (mark(r, copy, t, e))
				return -1;
		}
	}
	return 0;
}

/* One element more than needed, because a machine may have no devices. */
static bool *new_mask(size_t n)
{
	return calloc(n + 1, sizeof(bool));
}

/* ---- a pod ---- */

/* An option that is absent stands for the devices of the pod. */
static int find_pod(const struct cmd_run *r, int pid, struct topo *t, struct err *e)
{
	const struct topo_who who = { .ctx = &r->ctx, .pid = pid };

	if (!t->gpu && t->m.n_gpus && topo_pod_gpus(&who, &t->m, &t->gpu, e))
		return -1;
	if (t->hca || !t->m.n_hcas)
		return 0;
	if (topo_pod_hcas(&who, &t->m, &t->hca, e))
		return -1;
	t->view.pod = t->hca;
	return 0;
}

int topo_select(struct cmd_run *r, const int *pid, struct topo *t, struct err *e)
{
	if (opt_is_set(&r->opts, "gpus")) {
		t->gpu = new_mask(t->m.n_gpus);
		if (!t->gpu)
			return err_nomem(e);
		if (mark_list(r, "gpus", mark_gpu, t, e))
			return -1;
	}
	if (opt_is_set(&r->opts, "hcas")) {
		t->hca = new_mask(t->m.n_hcas);
		if (!t->hca)
			return err_nomem(e);
		if (mark_list(r, "hcas", mark_hca, t, e))
			return -1;
	}
	return pid ? find_pod(r, *pid, t, e) : 0;
}
