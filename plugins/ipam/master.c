/* SPDX-License-Identifier: Apache-2.0 */
/* master.c: finds the master of an attachment, and reads its addresses through netlink. */
#include "plugins/ipam/master.h"

#include <stdio.h>
#include <string.h>

#include "cni/protocol/delegate.h"
#include "lib/base/array.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/device/pci.h"

#define ADDRS_MAX 1024

static int in_container(struct err *e)
{
	err_set(e, ERR_CONFIG, 0, "ipam.matchMaster: the attachment has no master on the host");
	return err_hint(e, "name one pool for it, without matchMaster");
}

static int copy_name(const char *name, struct master *out, struct err *e)
{
	if (strlen(name) >= sizeof(out->name))
		return err_set(e, ERR_CONFIG, 0,
			       "master: \"%.64s\" is not the name of an interface", name);
	(void)snprintf(out->name, sizeof(out->name), "%s", name);
	return 0;
}

/* A VF has no address of the host; its PF may. */
static int of_device(const struct cni_call *call, const char *id, struct master *out, struct err *e)
{
	const char *root = call->ctx.sysfs, *pf = id;
	char of_vf[PCI_STR_LEN];
	struct err none;

	if (pci_physfn(root, id, of_vf, &none) == 0)
		pf = of_vf;
	return pci_pf_netdev(root, pf, out->name, e) ? err_wrap(e, "deviceID: %.64s", id) : 0;
}

static int of_default_route(struct nl *nl, struct master *out, struct err *e)
{
	struct link_info link;
	int index;

	if (nl_route_default_dev(nl, &index, e) || nl_link_by_index(nl, index, &link, e))
		return err_wrap(e, "ipam.matchMaster: no master is given");
	return copy_name(link.name, out, e);
}

static int ipam_master_find(const struct cni_call *call, struct nl *nl, struct master *out,
			    struct err *e)
{
	const char *told = getenv(DELEGATE_MASTER);
	const char *master = json_str(json_get(call->conf.tree, "master"));
	const char *device = json_str(json_get(call->conf.tree, "deviceID"));

	if (told)
		return *told ? copy_name(told, out, e) : in_container(e);
	if (json_true(json_get(call->conf.tree, "linkInContainer")))
		return in_container(e);
	if (master && *master)
		return copy_name(master, out, e);
	if (device && *device)
		return of_device(call, device, out, e);
	return of_default_route(nl, out, e);
}

struct listing {
	struct master *to;
	struct err *e;
	bool failed;
};

static int add_address(const struct addr_info *a, void *arg)
{
	struct listing *l = arg;
	struct master *m = l->to;

	l->failed = ARRAY_GROW(m->addrs, m->n, ADDRS_MAX, "addresses of the master", l->e) != 0;
	if (!l->failed)
		m->addrs[m->n++] = a->addr;
	return l->failed;
}

static int read_addresses(struct nl *nl, struct master *out, struct err *e)
{
	struct listing l = { out, e, false };
	struct link_info link;

	if (nl_link_by_any_name(nl, out->name, &link, e))
		return err_wrap(e, "ipam.matchMaster: master %s", out->name);
	if (nl_addr_list(nl, link.ifindex, add_address, &l, e))
		return err_wrap(e, "ipam.matchMaster: addresses of master %s", out->name);
	return l.failed ? -1 : 0;
}

int master_load(const struct cni_call *call, struct master *out, struct err *e)
{
	auto_nl struct nl *nl = NULL;

	*out = (struct master){ .n = 0 };
	if (nl_open(&nl, e))
		return -1;
	if (ipam_master_find(call, nl, out, e) || read_addresses(nl, out, e)) {
		master_clear(out);
		return -1;
	}
	out->view = (struct ipam_master){ out->name, out->addrs, out->n };
	return 0;
}

void master_clear(struct master *m)
{
	free(m->addrs);
	*m = (struct master){ .n = 0 };
}
