// SPDX-License-Identifier: Apache-2.0
/* Writes elements and attributes in the subset of XML that NCCL's parser reads. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "topo/read/read.h"
#include "topo/nccl/text.h"

static void add_text(struct xml_text *t, const char *text)
{
	text_add(&t->text, text);
}

static void add_indent(struct xml_text *t)
{
	for (unsigned int i = 0; i < t->depth; i++)
		add_text(t, "  ");
}

static void end_tag(struct xml_text *t)
{
	if (t->open)
		add_text(t, ">\n");
	t->open = false;
}

void xml_open(struct xml_text *t, const char *name)
{
	end_tag(t);
	add_indent(t);
	add_text(t, "<");
	add_text(t, name);
	t->open = true;
	t->depth++;
	t->elements++;
}

void xml_close(struct xml_text *t, const char *name)
{
	t->depth--;
	if (t->open) {
		/* no blank before it: NCCL would store an attribute without a name */
		add_text(t, "/>\n");
		t->open = false;
		return;
	}
	add_indent(t);
	add_text(t, "</");
	add_text(t, name);
	add_text(t, ">\n");
}

void xml_comment(struct xml_text *t, const char *text)
{
	end_tag(t);
	add_indent(t);
	add_text(t, "<!-- ");
	add_text(t, text);
	add_text(t, " -->\n");
}

/* NCCL's parser has no entities, so that some characters cannot be written. */
static bool is_plain(const char *value)
{
	for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
		if (*c < ' ' || *c > '~' || strchr("\"'<>&", *c))
			return false;
	}
	return true;
}

static void printf_like(3, 4) xml_attr(struct xml_text *t, const char *name, const char *fmt, ...)
{
	char value[512];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	if (!*t->what && (n > XML_MAX_VALUE || !is_plain(value))) {
		(void)snprintf(t->what, sizeof(t->what), "%s \"%.60s\"", name,
			       is_plain(value) ? value : "?");
	}
	add_text(t, " ");
	add_text(t, name);
	add_text(t, "=\"");
	add_text(t, value);
	add_text(t, "\"");
}

int xml_text_done(struct xml_text *t, char **out, struct err *e)
{
	if (t->text.failed)
		return err_nomem(e);
	if (*t->what)
		return err_set(e, ERR_FIELD, 0,
			       "%s: NCCL's parser takes at most %d characters, and no quotes, "
			       "angle brackets or line breaks",
			       t->what, XML_MAX_VALUE);
	if (t->elements > XML_MAX_ELEMENTS) {
		(void)err_set(e, ERR_FIELD, 0,
			      "the topology file would have %u elements, with those that NCCL "
			      "adds; it takes at most %d",
			      t->elements, XML_MAX_ELEMENTS);
		return err_hint(e, "name the GPUs and HCAs that it is for");
	}
	*out = text_take(&t->text);
	return *out ? 0 : err_nomem(e);
}

void xml_text_clear(struct xml_text *t)
{
	text_clear(&t->text);
}

/* ---- elements ---- */

void xml_write_system(struct xml_text *t)
{
	xml_open(t, "system");
	xml_attr(t, "version", "%d", t->rccl ? 2 : 1);
}

void xml_write_cpu(struct xml_text *t, int numa, const struct topo_cpu *c)
{
	xml_open(t, "cpu");
	xml_attr(t, "numaid", "%d", numa);
	if (!c)
		return;
	if (*c->affinity)
		xml_attr(t, "affinity", "%s", c->affinity);
	if (*c->arch)
		xml_attr(t, "arch", "%s", c->arch);
	if (*c->vendor)
		xml_attr(t, "vendor", "%s", c->vendor);
	if (c->family >= 0)
		xml_attr(t, "familyid", "%d", c->family);
	if (c->model >= 0)
		xml_attr(t, "modelid", "%d", c->model);
}

void xml_write_pci(struct xml_text *t, const struct topo_pci *p, struct topo_pcie_link l,
		   struct pci_addr a, bool ids)
{
	char busid[PCI_STR_LEN];

	xml_open(t, "pci");
	xml_attr(t, "busid", "%s", pci_format(a, busid));
	if (p->has_class)
		xml_attr(t, "class", "0x%06x", p->class_code);
	if (ids && p->has_ids) {
		xml_attr(t, "vendor", "0x%04x", p->vendor);
		xml_attr(t, "device", "0x%04x", p->device);
		xml_attr(t, "subsystem_vendor", "0x%04x", p->sub_vendor);
		xml_attr(t, "subsystem_device", "0x%04x", p->sub_device);
	}
	xml_attr(t, "link_speed", "%s", topo_pcie_link_text(l.speed));
	xml_attr(t, "link_width", "%d", l.width);
}

static void write_nvlink(struct xml_text *t, const struct topo_nvlink *l)
{
	const char *name = t->rccl ? "xgmi" : "nvlink";
	char busid[PCI_STR_LEN];

	xml_open(t, name);
	xml_attr(t, "target", "%s", l->hidden ? "fffffff:ffff:ff" : pci_format(l->target, busid));
	xml_attr(t, "count", "%u", l->count);
	xml_attr(t, "tclass", "0x%06x", l->tclass);
	xml_close(t, name);
}

void xml_write_gpu(struct xml_text *t, const struct topo_gpu *g, int dev)
{
	xml_open(t, "gpu");
	xml_attr(t, "dev", "%d", dev);
	if (g->sm)
		xml_attr(t, "sm", "%d", g->sm);
	xml_attr(t, "rank", "%d", g->rank >= 0 ? g->rank : dev);
	xml_attr(t, "gdr", "%d", g->gdr != TOPO_NO);
	for (size_t i = 0; i < g->n_nvlinks; i++)
		write_nvlink(t, &g->nvlink[i]);
	if (g->c2c_count) {
		xml_open(t, "c2c");
		xml_attr(t, "bw", "%u", g->c2c_mbps);
		xml_attr(t, "count", "%u", g->c2c_count);
		xml_close(t, "c2c");
	}
	xml_close(t, "gpu");
}

void xml_write_net(struct xml_text *t, const struct topo_machine *m, const struct nccl_xml_net *p,
		   uint32_t dev)
{
	const struct topo_hca *h = &m->hca[p->net.hca];

	xml_open(t, "net");
	xml_attr(t, "name", "%s%s", h->name, p->net.direct ? "_dma" : "");
	xml_attr(t, "dev", "%u", dev);
	xml_attr(t, "speed", "%u", p->mbps);
	xml_attr(t, "port", "%u", p->net.port);
	xml_attr(t, "latency", "%f", h->latency);
	if (h->guid)
		xml_attr(t, "guid", "0x%llx", (unsigned long long)h->guid);
	if (h->maxconn)
		xml_attr(t, "maxconn", "%u", h->maxconn);
	xml_attr(t, "gdr", "%d", h->gdr != TOPO_NO);
	xml_close(t, "net");
}
