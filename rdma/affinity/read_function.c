// SPDX-License-Identifier: Apache-2.0
/* What the folder of one PCI function tells. */
#include <fcntl.h>
#include <string.h>

#include "rdma/affinity/pcicap.h"
#include "rdma/affinity/read_priv.h"

#define CLASS_BRIDGE 0x0604

/* PCI Express base specification 7.5.3.2, Device/Port Type */
enum { TYPE_ROOT_PORT = 4, TYPE_UPSTREAM = 5, TYPE_DOWNSTREAM = 6 };

static uint16_t id(int dir, const char *name)
{
	uint32_t n = 0;

	(void)tree_hex(dir, name, 0xffff, &n);
	return (uint16_t)n;
}

static void read_end(int dir, const char *speed, const char *width, struct aff_link *out)
{
	char text[TREE_VALUE];
	int lanes = 0;

	*out = (struct aff_link){ 0 };
	if (!tree_value(dir, speed, text))
		out->speed = aff_link_parse(text);
	/* 255: the kernel could not read it. */
	if (!tree_number(dir, width, &lanes) && lanes > 0 && lanes < 255)
		out->width = (uint8_t)lanes;
}

/* By its capability, when there is more to read than the 64 bytes that everybody gets. */
static void read_kind(struct tree *t, int dir, struct aff_pci *p)
{
	uint8_t bytes[256];
	struct pcicap_express x;
	auto_fd int fd = openat(dir, "config", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : pread(fd, bytes, sizeof(bytes), 0);

	p->kind = AFF_BRIDGE;
	if (n <= 64)
		return;
	t->m->full_config = true;
	if (pcicap_express((struct pci_config){ bytes, (size_t)n }, &x) != PCICAP_FOUND)
		return;
	if (x.type == TYPE_ROOT_PORT)
		p->kind = AFF_ROOT_PORT;
	else if (x.type == TYPE_UPSTREAM)
		p->kind = AFF_UPSTREAM;
	else if (x.type == TYPE_DOWNSTREAM)
		p->kind = AFF_DOWNSTREAM;
}

void tree_function(struct tree *t, int dir, uint32_t pci, struct tree_ends *own)
{
	struct aff_pci *p = &t->m->pci[pci];
	uint32_t n = 0;

	p->has_class = !tree_hex(dir, "class", 0xffffff, &p->class_code);
	p->has_ids = !tree_hex(dir, "vendor", 0xffff, &n);
	p->vendor = (uint16_t)n;
	p->device = id(dir, "device");
	p->sub_vendor = id(dir, "subsystem_vendor");
	p->sub_device = id(dir, "subsystem_device");
	(void)tree_number(dir, "numa_node", &p->numa);
	*own = (struct tree_ends){ 0 };
	/* A VF has no link of its own: its files say nothing, or what it copied. */
	if (!p->is_vf) {
		read_end(dir, "max_link_speed", "max_link_width", &own->max);
		read_end(dir, "current_link_speed", "current_link_width", &own->cur);
	}
	if (p->class_code >> 8 == CLASS_BRIDGE)
		read_kind(t, dir, p);
}

static enum aff_kind above_of(const struct tree *t, const struct aff_pci *p)
{
	return p->parent == AFF_NONE ? AFF_ENDPOINT : t->m->pci[p->parent].kind;
}

/* Where the capability could not be read: ports come in turns, and the kernel shows links of PCI
 * Express functions only. */
static void kind_by_place(const struct tree *t, struct aff_pci *p, const struct tree_ends *own)
{
	bool express = own->max.speed || own->max.width || own->cur.speed || own->cur.width;

	if (p->parent == AFF_NONE)
		p->kind = AFF_ROOT_PORT;
	else if (above_of(t, p) == AFF_UPSTREAM)
		p->kind = AFF_DOWNSTREAM;
	else if (express && above_of(t, p) != AFF_BRIDGE)
		p->kind = AFF_UPSTREAM;
}

static struct aff_link weaker(struct aff_link a, struct aff_link b)
{
	struct aff_link out = a;

	if (!a.speed || (b.speed && b.speed < a.speed))
		out.speed = b.speed;
	if (!a.width || (b.width && b.width < a.width))
		out.width = b.width;
	return out;
}

void tree_above(struct tree *t, uint32_t pci, const struct tree_ends *own,
		const struct tree_ends *port)
{
	struct aff_pci *p = &t->m->pci[pci];

	if (p->kind == AFF_BRIDGE && !t->m->full_config)
		kind_by_place(t, p, own);
	if (p->is_vf || p->kind == AFF_ROOT_PORT || p->kind == AFF_DOWNSTREAM)
		return;
	p->max = weaker(own->max, port->max);
	p->cur = weaker(own->cur, port->cur);
	p->one_end = !own->max.width != !port->max.width;
}
