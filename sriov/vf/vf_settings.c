/* SPDX-License-Identifier: Apache-2.0 */
/* vf_settings.c: what a pod can set of its interface beside name, MAC, MTU and state, put back. */
#include "lib/net/link.h"
#include "sriov/vf/vf_priv.h"

/* By its present name: the one of the baseline may have been taken. */
static void restore_ethtool(const struct vf_settings_restore *m)
{
	struct ethtool_state is;
	struct link_info link;
	struct err why;

	if (nl_link_by_index(m->nl, m->ifindex, &link, &why) || ethtool_get(link.name, &is, &why)) {
		m->refused("what ethtool sets", &why, m->arg);
		return;
	}
	ethtool_set(link.name, &(struct ethtool_set){ &is, &m->base->tool, m->refused, m->arg });
}

void vf_restore_settings(const struct vf_settings_restore *m)
{
	struct link_settings is;
	struct err why;

	if (!m->base->has_settings)
		return;
	if (nl_settings_get(m->nl, m->ifindex, &is, &why))
		m->refused("the settings of its interface", &why, m->arg);
	else
		nl_settings_set(
			m->nl, m->ifindex,
			&(struct settings_change){ &is, &m->base->link, m->refused, m->arg });
	restore_ethtool(m);
}
