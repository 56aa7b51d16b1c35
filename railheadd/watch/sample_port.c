/* SPDX-License-Identifier: Apache-2.0 */
/* sample_port.c: every number in the two folders of a port, and the kinds that all drivers share.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/net/link.h"
#include "lib/device/sysfs.h"
#include "lib/sys/fs.h"
#include "railheadd/watch/sample_priv.h"
#include "rdma/device/counters.h"

/* ---- one port ---- */

/* lifespan is a setting: how old a counter may be. Files that are no number are none. */
static int sample_port_add_folder(struct sample *s, struct json *port, const char *dir,
				  const char *folder)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	struct json *o = json_add_object(port, folder);
	char all[PATH_MAX], attr[160];
	size_t n = 0;
	struct err why;

	if (!o)
		return err_nomem(s->e);
	(void)snprintf(all, sizeof(all), "%s/%s", dir, folder);
	if (fs_names_at(AT_FDCWD, all, FS_NAMES_MAX, &names, &why))
		return why.code == ERR_NOMEM ? err_nomem(s->e) : 0;
	for (size_t i = 0; i < names.n; i++) {
		uint64_t value;

		if (strcmp(names.name[i], "lifespan") == 0 ||
		    (n == SAMPLE_COUNTERS_MAX && ++s->left_out))
			continue;
		(void)snprintf(attr, sizeof(attr), "%s/%.128s", folder, names.name[i]);
		if (sysfs_read_u64(dir, attr, &value, &why))
			continue;
		if (json_add_num(o, names.name[i], (double)value))
			return err_nomem(s->e);
		n++;
	}
	return 0;
}

static int add_trouble(struct sample *s, struct json *port, const struct sample_port *p)
{
	/* The kinds that are about pauses and links are those of interfaces. */
	static const char *const kinds[] = { [COUNT_RETRY] = "retry",
					     [COUNT_SEQUENCE] = "sequence",
					     [COUNT_CNP_SENT] = "cnpSent",
					     [COUNT_CNP_HEARD] = "cnpReceived" };
	const struct counters_of of = { p->sysfs, p->device, p->port, p->netdev };
	struct json *o = json_add_object(port, "trouble");
	struct port_counters c;

	if (!o || counters_read(&of, &c, s->e))
		return err_nomem(s->e);
	if (counters_have(&c, COUNT_LINK_DOWN) &&
	    json_add_num(o, "linkDown", (double)c.value[COUNT_LINK_DOWN]))
		return err_nomem(s->e);
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (counters_have(&c, (enum port_counter)i) &&
		    json_add_num(o, kinds[i], (double)c.value[i]))
			return err_nomem(s->e);
	}
	return 0;
}

/* Two pods whose names are not known can each have a device of one name: one of them counts. */
static bool sample_port_is_there(const struct sample *s, const struct sample_port *p)
{
	json_each (o, s->ports) {
		if (strcmp(sample_str(o, "device"), p->device) == 0 &&
		    json_num(json_get(o, "port")) == p->port &&
		    strcmp(sample_str(o, "namespace"), p->ns) == 0 &&
		    strcmp(sample_str(o, "pod"), p->pod) == 0)
			return true;
	}
	return false;
}

int sample_port_add(struct sample *s, const struct sample_port *p)
{
	char path[PATH_MAX];
	struct json *o;

	if (sample_port_is_there(s, p))
		return 0;
	if (s->n_ports == SAMPLE_PORTS_MAX) {
		s->left_out++;
		return 0;
	}
	s->n_ports++;
	o = json_push_object(s->ports);
	if (!o || json_add_str(o, "device", p->device) || json_add_int(o, "port", p->port) ||
	    json_add_str(o, "namespace", p->ns) || json_add_str(o, "pod", p->pod))
		return err_nomem(s->e);
	(void)snprintf(path, sizeof(path), "%s/class/infiniband/%.64s/ports/%u", p->sysfs,
		       p->device, p->port);
	return add_trouble(s, o, p) || sample_port_add_folder(s, o, path, "counters") ||
			       sample_port_add_folder(s, o, path, "hw_counters")
		       ? -1
		       : 0;
}

/* ---- all that the host sees ---- */

struct host_port {
	struct sample *s;
	const struct rdma_link *link;
	int rc;
};

/* The attachment that has the port alone, because the interface of the port is in its pod. */
static const struct json *sample_port_owner_of(const struct sample *s, const char *device,
					       uint32_t port)
{
	json_each (o, s->attachments) {
		if (json_true(json_get(o, "own")) && json_num(json_get(o, "port")) == port &&
		    strcmp(sample_str(o, "device"), device) == 0)
			return o;
	}
	return NULL;
}

static int on_watch_port(const struct rdma_port *p, void *arg)
{
	struct host_port *h = arg;
	const struct json *owner = sample_port_owner_of(h->s, h->link->name, p->port);
	struct link_info link = { .name = "" };
	struct err ignored;

	if (p->ifindex && nl_link_by_index(h->s->nl, p->ifindex, &link, &ignored))
		*link.name = '\0';
	const struct sample_port one = { .sysfs = h->s->from->ctx->sysfs,
					 .device = h->link->name,
					 .port = p->port,
					 .netdev = link.name,
					 .ns = sample_str(owner, "namespace"),
					 .pod = sample_str(owner, "pod") };
	h->rc = sample_port_add(h->s, &one) || (*link.name && sample_interface_add(h->s, link.name))
			? -1
			: 0;
	return h->rc;
}

/* A device that goes meanwhile has no ports. */
static int on_device(const struct rdma_link *link, void *arg)
{
	struct host_port *h = arg;
	struct err why;

	h->link = link;
	if (nl_rdma_ports(h->s->rdma, link->index, on_watch_port, h, &why) && why.code == ERR_NOMEM)
		h->rc = err_nomem(h->s->e);
	return h->rc;
}

int sample_host_ports(struct sample *s)
{
	struct host_port h = { .s = s };
	struct err why;

	if (s->rdma && nl_rdma_list(s->rdma, on_device, &h, &why) && why.code == ERR_NOMEM)
		return err_nomem(s->e);
	return h.rc;
}
