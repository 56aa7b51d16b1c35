/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager_check.c: finds reasons not to remove the VFs of a PF, and waits for the interfaces of new
 * VFs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/backoff.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/sys/fs.h"
#include "sriov/admin/manager_priv.h"

void manager_report(const struct manager *m, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!m->progress)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	m->progress(m->arg, line);
}

/* ---- VFs in use ---- */

static bool is_in_use(const struct vf_view *v, char why[192])
{
	struct vf_place p = { 0 };
	const struct record_key *k = &v->entry.owner.key;

	memcpy(p.driver, v->pci.driver, sizeof(p.driver));
	if (v->use == VF_IN_USE)
		(void)snprintf(why, 192, "belongs to container %.64s (network %.48s, %.16s)",
			       k->container, k->network, k->ifname);
	else if (v->use == VF_OTHER_NETNS)
		(void)snprintf(why, 192, "has its interface in another network namespace");
	else if (v->use == VF_DAMAGED)
		(void)snprintf(why, 192, "has a damaged entry: its owner is unknown");
	else if (v->use == VF_TAKEN)
		(void)snprintf(why, 192, "%.180s", v->why);
	else if (vf_has_userspace_driver(&p))
		(void)snprintf(why, 192, "is bound to %s: a virtual machine may have it", p.driver);
	else
		return false;
	return true;
}

int manager_refuse_in_use(const struct pf_view *p, struct err *e)
{
	const struct vf_view *first = NULL;
	char why[192] = "", ignored[192] = "";
	size_t n = 0;

	for (size_t i = 0; i < p->n_vfs; i++) {
		if (!is_in_use(&p->vf[i], first ? ignored : why))
			continue;
		first = first ? first : &p->vf[i];
		n++;
	}
	if (!first)
		return 0;
	err_set(e, ERR_BUSY, 0, "PF %s has VFs that are in use, %zu of %zu: %s %s", p->addr, n,
		p->n_vfs, first->addr, why);
	return err_hint(e,
			"a change of their number removes all of them; \"railctl vf list\" shows "
			"their owners; --force removes them nevertheless");
}

/* ---- the default route ---- */

#define STACK_MAX 8 /* the kernel allows no deeper stack of devices (MAX_NEST_DEV) */

static bool is_of_pf(const struct pf_view *p, const char *name)
{
	if (strcmp(name, p->netdev.name) == 0)
		return true;
	for (size_t i = 0; i < p->n_vfs; i++) {
		if (strcmp(name, p->vf[i].netdev.name) == 0)
			return true;
	}
	return false;
}

/* name, or something below it, is the PF or one of its VFs. */
static bool stands_on(const struct manager *m, const struct pf_view *p, const char *name, int depth)
{
	static const char lower[] = "lower_";
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct err ignored;
	bool found = is_of_pf(p, name);

	if (found || depth == STACK_MAX)
		return found;
	(void)snprintf(path, sizeof(path), "%.1024s/class/net/%.16s", m->ctx->sysfs, name);
	(void)!fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, &ignored);
	for (size_t i = 0; i < names.n && !found; i++)
		found = strncmp(names.name[i], lower, sizeof(lower) - 1) == 0 &&
			stands_on(m, p, names.name[i] + sizeof(lower) - 1, depth + 1);
	return found;
}

int manager_refuse_default_route(const struct manager *m, const struct pf_view *p, struct err *e)
{
	struct link_info dev;
	struct err why;
	int ifindex;

	if (nl_route_default_dev(m->nl, &ifindex, &why) ||
	    nl_link_by_index(m->nl, ifindex, &dev, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
	if (!stands_on(m, p, dev.name, 0))
		return 0;
	err_set(e, ERR_FORBIDDEN, 0,
		"the default route of this host goes through %s, which is %s%s", dev.name,
		strcmp(dev.name, p->netdev.name) ? "on PF " : "PF ", p->addr);
	return err_hint(e,
			"a change of the number of VFs takes its link down for a moment; --force "
			"does it nevertheless");
}

/* ---- new interfaces ---- */

#define UDEV "/run/udev"

static bool is_ready(const struct manager *m, const struct vf_place *p)
{
	struct link_info link;
	struct err ignored;
	char path[64];

	if (!*p->driver || vf_has_userspace_driver(p))
		return true;
	if (!*p->name || nl_link_by_name(m->nl, p->name, &link, &ignored))
		return false;
	/* udev, where it runs, renames an interface first and writes its file afterwards. */
	if (access(UDEV "/control", F_OK))
		return true;
	(void)snprintf(path, sizeof(path), UDEV "/data/n%d", link.ifindex);
	return access(path, F_OK) == 0;
}

/* While the PF is down, its VF driver cannot ask for the MAC, and uses a random one (igbvf). */
static void repair_address(const struct manager *m, const struct vf_place *p)
{
	static const uint8_t none[MAC_LEN];
	struct link_info link;
	struct vf_info s;
	struct err why;

	if (!*p->name || nl_link_by_name(m->nl, p->name, &link, &why) ||
	    !hw_addr_is_mac(link.addr) ||
	    nl_vf_get(m->nl, (struct vf_ref){ p->pf_ifindex, p->index }, &s, &why) ||
	    !(s.has & VF_MAC) || memcmp(s.mac, none, MAC_LEN) == 0 ||
	    hw_addr_equal(link.addr, hw_addr_of_mac(s.mac)))
		return;
	if (nl_link_set_hw_addr(m->nl, link.ifindex, hw_addr_of_mac(s.mac), &why))
		log_warn(&m->ctx->log, "VF %s: its address is not what its PF says: %s", p->vf,
			 why.msg);
}

int manager_wait_vf(const struct manager *m, const char *vf, int64_t deadline, struct vf_place *out,
		    struct err *e)
{
	struct backoff p = backoff_until(deadline);

	do {
		if (vf_locate(m->ctx, m->nl, vf, out, e))
			return -1;
	} while (!is_ready(m, out) && backoff_pause(&p));
	repair_address(m, out);
	return 0;
}
