/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_interface.c: interfaces of the host below pods. Pauses are those of DCB, by priority; the
 * rest is what the driver counts, from a fixed set of names.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/dcb.h"
#include "lib/device/ethtool_stats.h"
#include "lib/device/sysfs.h"
#include "railheadd/watch/sample_priv.h"

bool sample_keeps_counter(const char *name)
{
	static const char *const kept[] = {
		/* mlx5: drivers/net/ethernet/mellanox/mlx5/core/en_stats.c */
		"[rt]x_prio[0-7]_pause",
		"[rt]x_prio[0-7]_pause_duration",
		"rx_prio[0-7]_discards",
		"rx_prio[0-7]_cong_discard",
		"rx_prio[0-7]_marked",
		"tx_pause_storm_warning_events",
		"tx_pause_storm_error_events",
		"[rt]x_pause_ctrl_phy",
		"[rt]x_discards_phy",
		"rx_out_of_buffer",
		"link_down_events_phy",
		/* bnxt: drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c */
		"[rt]x_pfc_ena_frames_pri[0-7]",
		"pfc_pri[0-7]_[rt]x_duration_us",
		/* ice: drivers/net/ethernet/intel/ice/ice_ethtool.c */
		"[rt]x_priority_[0-7]_xoff.nic",
		"link_xoff_[rt]x.nic",
	};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (fnmatch(kept[i], name, 0) == 0)
			return true;
	}
	return false;
}

struct statistics {
	struct json *o;
	bool failed;
};

static int on_statistic(const char *name, uint64_t value, void *arg)
{
	struct statistics *t = arg;

	t->failed = sample_keeps_counter(name) && json_add_num(t->o, name, (double)value);
	return t->failed;
}

static int add_driver(struct sample *s, struct json *o, const char *name)
{
	struct statistics t = { .o = json_add_object(o, "driver") };
	struct err why;

	if (!t.o || (ethtool_stats(name, on_statistic, &t, &why) && why.code == ERR_NOMEM) ||
	    t.failed)
		return err_nomem(s->e);
	return 0;
}

static int add_priorities(struct json *o, const char *key, const uint64_t n[DCB_PRIORITIES])
{
	struct json *of = json_add_object(o, key);
	char priority[4];

	for (unsigned i = 0; of && i < DCB_PRIORITIES; i++) {
		(void)snprintf(priority, sizeof(priority), "%u", i);
		if (json_add_num(of, priority, (double)n[i]))
			return -1;
	}
	return of ? 0 : -1;
}

static int add_pauses(struct sample *s, struct json *o, const char *name)
{
	struct dcb_info dcb;
	struct err why;

	if (nl_dcb_get(s->nl, name, &dcb, &why))
		return why.code == ERR_NOMEM ? err_nomem(s->e) : 0;
	if (!dcb.has_pauses)
		return 0;
	return add_priorities(o, "pfcSent", dcb.pauses_sent) ||
			       add_priorities(o, "pfcReceived", dcb.pauses_heard)
		       ? err_nomem(s->e)
		       : 0;
}

static bool sample_interface_is_there(const struct sample *s, const char *name)
{
	json_each (o, s->interfaces) {
		if (strcmp(sample_str(o, "interface"), name) == 0)
			return true;
	}
	return false;
}

int sample_interface_add(struct sample *s, const char *name)
{
	char path[64];
	uint64_t downs;
	struct json *o;
	struct err why;

	(void)snprintf(path, sizeof(path), "class/net/%.16s/carrier_down_count", name);
	if (strchr(name, '/') || sample_interface_is_there(s, name) ||
	    sysfs_read_u64(s->from->ctx->sysfs, path, &downs, &why))
		return 0;
	if (s->n_interfaces == SAMPLE_INTERFACES_MAX) {
		s->left_out++;
		return 0;
	}
	s->n_interfaces++;
	o = json_push_object(s->interfaces);
	if (!o || json_add_str(o, "interface", name) ||
	    json_add_num(o, "carrierDown", (double)downs))
		return err_nomem(s->e);
	return add_pauses(s, o, name) || add_driver(s, o, name) ? -1 : 0;
}
