/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c: opens what the parts need, and runs them in order: the pods first, whom ports belong
 * to. */
#include "railheadd/watch/sample_priv.h"

static void sample_end(struct sample *s)
{
	nl_release(s->nl);
	nl_release(s->rdma);
	netns_close(&s->host);
	json_free(s->root);
}

/* A kernel without RDMA has no ports to read. */
static int open_rdma(struct sample *s, struct err *e)
{
	struct rdma_sys sys;
	struct err why;

	if (nl_rdma_open(&s->rdma, &why)) {
		s->rdma = NULL;
		if (why.code == ERR_NOTFOUND)
			return 0;
		return err_pass(e, &why);
	}
	if (nl_rdma_sys_get(s->rdma, &sys, e))
		return -1;
	s->mode = sys.mode;
	return 0;
}

static int sample_begin(struct sample *s, struct err *e)
{
	s->root = json_new_object();
	if (s->root) {
		s->attachments = json_add_array(s->root, "attachments");
		s->ports = json_add_array(s->root, "ports");
		s->interfaces = json_add_array(s->root, "interfaces");
		s->cards = json_add_array(s->root, "cards");
	}
	if (!s->attachments || !s->ports || !s->interfaces || !s->cards)
		return err_nomem(e);
	return netns_open_self(&s->host, e) || nl_open(&s->nl, e) || open_rdma(s, e) ? -1 : 0;
}

int sample_take(const struct sample_from *from, struct json **out, struct err *e)
{
	auto_clean(sample_end) struct sample s = { .from = from, .host.fd = -1, .e = e };

	if (sample_begin(&s, e) || sample_attachments(&s) || sample_host_ports(&s) ||
	    sample_cards(&s))
		return -1;
	if (json_add_int(s.root, "leftOut", (int64_t)s.left_out))
		return err_nomem(e);
	*out = TAKE_PTR(s.root);
	return 0;
}
