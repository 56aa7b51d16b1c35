/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c: reads the counters of a port under the names that each driver has for them. */
#include "rdma/device/counters.h"

#include <stdio.h>

#include "lib/device/sysfs.h"

/* Files below ports/N. The values of one kind are added: a driver counts an event in one file only.
 */
static const struct {
	enum port_counter what;
	const char *file;
} files[] = {
	/* every driver with these: the kernel's ABI. An error may be in two of them. */
	{ COUNT_LINK_ERROR, "counters/symbol_error" },
	{ COUNT_LINK_ERROR, "counters/link_error_recovery" },
	{ COUNT_LINK_ERROR, "counters/local_link_integrity_errors" },
	{ COUNT_LINK_ERROR, "counters/port_rcv_errors" },
	/* mlx5 */
	{ COUNT_RETRY, "hw_counters/local_ack_timeout_err" },
	{ COUNT_RETRY, "hw_counters/packet_seq_err" },
	{ COUNT_RETRY, "hw_counters/implied_nak_seq_err" },
	{ COUNT_RETRY, "hw_counters/roce_adp_retrans" },
	{ COUNT_SEQUENCE, "hw_counters/out_of_sequence" },
	{ COUNT_LINK_ERROR, "hw_counters/rx_icrc_encapsulated" },
	{ COUNT_CNP_SENT, "hw_counters/np_cnp_sent" },
	{ COUNT_CNP_HEARD, "hw_counters/rp_cnp_handled" },
	/* bnxt_re */
	{ COUNT_RETRY, "hw_counters/to_retransmits" },
	{ COUNT_RETRY, "hw_counters/seq_err_naks_rcvd" },
	{ COUNT_SEQUENCE, "hw_counters/oos_drop_count" },
	{ COUNT_CNP_SENT, "hw_counters/tx_cnp_pkts" },
	{ COUNT_CNP_HEARD, "hw_counters/rx_cnp_pkts" },
	/* irdma */
	{ COUNT_RETRY, "hw_counters/tcpRetransSegs" },
	{ COUNT_CNP_SENT, "hw_counters/cnpSent" },
	{ COUNT_CNP_HEARD, "hw_counters/cnpHandled" },
	/* efa */
	{ COUNT_RETRY, "hw_counters/retrans_pkts" },
	/* rxe */
	{ COUNT_RETRY, "hw_counters/completer_retry_err" },
	{ COUNT_RETRY, "hw_counters/rcvd_seq_err" },
	{ COUNT_SEQUENCE, "hw_counters/out_of_seq_request" },
};

/* A file that is missing or has no number leaves the counter unknown. */
static int add_counter(const char *sysfs, const char *path, enum port_counter what,
		       struct port_counters *out, struct err *e)
{
	struct err why;
	uint64_t n;

	if (sysfs_read_u64(sysfs, path, &n, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	out->known |= 1u << what;
	out->value[what] += n;
	return 0;
}

/* The kernel counts for an Ethernet interface. InfiniBand has a counter in the port. */
static int add_link_downs(const struct counters_of *of, const char *port, struct port_counters *out,
			  struct err *e)
{
	char path[192];

	if (*of->netdev) {
		(void)snprintf(path, sizeof(path), "class/net/%.16s/carrier_down_count",
			       of->netdev);
		if (add_counter(of->sysfs, path, COUNT_LINK_DOWN, out, e))
			return -1;
	}
	if (counters_have(out, COUNT_LINK_DOWN))
		return 0;
	(void)snprintf(path, sizeof(path), "%s/counters/link_downed", port);
	return add_counter(of->sysfs, path, COUNT_LINK_DOWN, out, e);
}

int counters_read(const struct counters_of *of, struct port_counters *out, struct err *e)
{
	struct port_counters c = { 0 };
	char port[128], path[192];

	(void)snprintf(port, sizeof(port), "class/infiniband/%.64s/ports/%u", of->device, of->port);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", port, files[i].file);
		if (add_counter(of->sysfs, path, files[i].what, &c, e))
			return -1;
	}
	if (add_link_downs(of, port, &c, e))
		return -1;
	*out = c;
	return 0;
}

void counters_add_pauses(const struct dcb_info *dcb, struct port_counters *out)
{
	if (!dcb->has_pauses)
		return;
	out->known |= 1u << COUNT_PAUSE_SENT | 1u << COUNT_PAUSE_HEARD;
	for (unsigned i = 0; i < DCB_PRIORITIES; i++) {
		out->value[COUNT_PAUSE_SENT] += dcb->pauses_sent[i];
		out->value[COUNT_PAUSE_HEARD] += dcb->pauses_heard[i];
	}
}

uint64_t counters_moved(const struct port_counters *first, const struct port_counters *last,
			enum port_counter c)
{
	uint64_t before = counters_have(first, c) ? first->value[c] : 0;

	return last->value[c] >= before ? last->value[c] - before : last->value[c];
}
