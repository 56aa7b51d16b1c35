// SPDX-License-Identifier: Apache-2.0
/* Reads the folder of one PCI function: ids, NUMA node, kind of port, and the link above it. */
#include <string.h>

#include "topo/read/pcicap.h"
#include "topo/read/tree.h"

#define CLASS_BRIDGE      0x0604
#define CLASS_DATA_DIRECT 0x0801 /* also of DMA engines of other vendors */
#define VENDOR_MELLANOX   0x15b3
#define LANES_MAX         32

/* PCI Express base specification 7.5.3.2, Device/Port Type */
enum { TYPE_ROOT_PORT = 4, TYPE_UPSTREAM = 5, TYPE_DOWNSTREAM = 6 };

bool tree_asked_for(const struct topo_pci *p, const struct topo_read_opts *o)
{
	for (size_t i = 0; o && i < o->n_classes; i++) {
		uint32_t c = o->class_code[i];
		/* 0x0b40 and 0x0b4000 both match every class that begins with 0x0b40 */
		c = c <= 0xffff ? c << 8 : c;
		if (c == p->class_code || (!(c & 0xff) && c >> 8 == p->class_code >> 8))
			return true;
	}
	return false;
}

static uint16_t read_id(const struct tree *t, struct tree_path *p, const char *name)
{
	uint32_t n = 0;

	(void)tree_hex(t->fd, tree_at(p, name), 0xffff, &n);
	return (uint16_t)n;
}

/* Most of a server's hundreds of functions belong to its processors, and need not be read. */
bool tree_matters(const struct tree *t, struct tree_path *path, const struct topo_pci *p)
{
	uint32_t class = p->class_code >> 8;

	switch (class >> 8) {
	case 0x02:
	case 0x03:
	case 0x0b:
	case 0x12:
		return true;
	default:
		return !p->has_class || class == CLASS_BRIDGE || class == 0x0c06 ||
		       (class == CLASS_DATA_DIRECT &&
			read_id(t, path, "vendor") == VENDOR_MELLANOX) ||
		       tree_asked_for(p, t->opts);
	}
}

static struct topo_pcie_link function_read_end(const struct tree *t, struct tree_path *p,
					       const char *speed, const char *width)
{
	struct topo_pcie_link out = { 0 };
	char text[TREE_VALUE];
	int lanes = 0;

	if (!tree_value(t->fd, tree_at(p, speed), text))
		out.speed = topo_pcie_speed_parse(text);
	/* 255: the kernel could not read it; 63: the device does not answer. */
	if (!tree_number(t->fd, tree_at(p, width), &lanes) && lanes > 0 && lanes <= LANES_MAX)
		out.width = (uint8_t)lanes;
	return out;
}

static struct topo_pcie_link read_now(const struct tree *t, struct tree_path *p)
{
	return function_read_end(t, p, "current_link_speed", "current_link_width");
}

/* Set the kind by the PCI Express capability. Readers other than root get 64 bytes, without it. */
static void read_kind(struct tree *t, struct tree_path *path, struct topo_pci *p)
{
	uint8_t bytes[256];
	struct pcicap_express x;
	auto_fd int fd = tree_file(t->fd, tree_at(path, "config"));
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	p->kind = TOPO_BRIDGE;
	if (n <= 64)
		return;
	t->m->full_config = true;
	if (pcicap_express((struct pci_config){ bytes, (size_t)n }, &x) != PCICAP_FOUND)
		return;
	if (x.type == TYPE_ROOT_PORT)
		p->kind = TOPO_ROOT_PORT;
	else if (x.type == TYPE_UPSTREAM)
		p->kind = TOPO_UPSTREAM;
	else if (x.type == TYPE_DOWNSTREAM)
		p->kind = TOPO_DOWNSTREAM;
}

/* Set the kind without the capability. Upstream and downstream ports alternate, and the kernel
 * shows links of PCI Express functions only. */
static void kind_by_place(const struct tree *t, struct topo_pci *p, const struct tree_ends *own)
{
	bool express = own->max.speed || own->max.width;

	if (p->parent == TOPO_NONE)
		p->kind = TOPO_ROOT_PORT;
	else if (t->m->pci[p->parent].kind == TOPO_UPSTREAM)
		p->kind = TOPO_DOWNSTREAM;
	else if (express && t->m->pci[p->parent].kind != TOPO_BRIDGE)
		p->kind = TOPO_UPSTREAM;
}

static struct topo_pcie_link weaker_link(struct topo_pcie_link a, struct topo_pcie_link b)
{
	struct topo_pcie_link out = a;

	if (!a.speed || (b.speed && b.speed < a.speed))
		out.speed = b.speed;
	if (!a.width || (b.width && b.width < a.width))
		out.width = b.width;
	return out;
}

/* The current link is the same at both ends: read the upper end only if this end is not known. */
static void function_read_link(struct tree *t, struct tree_path *path, uint32_t pci)
{
	static const struct tree_ends none;
	struct topo_pci *p = &t->m->pci[pci];
	const struct tree_ends *own = &t->ends[pci],
			       *port = p->parent == TOPO_NONE ? &none : &t->ends[p->parent];

	p->max = weaker_link(own->max, port->max);
	p->one_end = !own->max.width != !port->max.width;
	p->cur = read_now(t, path);
	if ((p->cur.speed && p->cur.width) || p->parent == TOPO_NONE)
		return;
	struct tree_path above = { .len = path->len };
	while (above.len && path->text[above.len - 1] != '/')
		above.len--;
	above.len -= above.len > 0;
	memcpy(above.text, path->text, above.len);
	p->cur = weaker_link(p->cur, read_now(t, &above));
}

static bool function_is_bridge(const struct topo_pci *p)
{
	return p->class_code >> 8 == CLASS_BRIDGE;
}

/* The end of a link tells kinds apart only without the capabilities of bridges. */
static void place_function(struct tree *t, struct tree_path *path, uint32_t pci)
{
	struct topo_pci *p = &t->m->pci[pci];

	if (function_is_bridge(p))
		read_kind(t, path, p);
	if (p->kind != TOPO_BRIDGE || t->m->full_config)
		return;
	t->ends[pci].max = function_read_end(t, path, "max_link_speed", "max_link_width");
	kind_by_place(t, p, &t->ends[pci]);
}

void tree_function(struct tree *t, struct tree_path *path, uint32_t pci)
{
	const bool places_only = t->opts && t->opts->places_only;
	struct topo_pci *p = &t->m->pci[pci];
	uint32_t n = 0;

	p->has_ids = !tree_hex(t->fd, tree_at(path, "vendor"), 0xffff, &n);
	p->vendor = (uint16_t)n;
	p->device = read_id(t, path, "device");
	if (!places_only || function_is_bridge(p)) {
		p->sub_vendor = read_id(t, path, "subsystem_vendor");
		p->sub_device = read_id(t, path, "subsystem_device");
	}
	/* Bridges have the node of the topmost bridge. */
	if (!function_is_bridge(p) || p->parent == TOPO_NONE)
		(void)tree_number(t->fd, tree_at(path, "numa_node"), &p->numa);
	/* A VF has no link of its own: its link files are empty, or copies of the PF's. */
	if (p->is_vf)
		return;
	if (places_only) {
		place_function(t, path, pci);
		return;
	}
	t->ends[pci].max = function_read_end(t, path, "max_link_speed", "max_link_width");
	if (function_is_bridge(p))
		read_kind(t, path, p);
	if (p->kind == TOPO_BRIDGE && !t->m->full_config)
		kind_by_place(t, p, &t->ends[pci]);
	if (p->kind != TOPO_ROOT_PORT && p->kind != TOPO_DOWNSTREAM)
		function_read_link(t, path, pci);
}
