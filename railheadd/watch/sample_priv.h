/* SPDX-License-Identifier: Apache-2.0 */
/* sample_priv.h: a sample while it is taken, for railheadd/watch only. */
#ifndef RAILHEAD_RAILHEADD_WATCH_SAMPLE_PRIV_H
#define RAILHEAD_RAILHEADD_WATCH_SAMPLE_PRIV_H

#include "lib/device/rdma.h"
#include "railheadd/watch/sample.h"

struct sample {
	const struct sample_from *from;
	struct netns host;
	struct nl *nl, *rdma; /* of the host; rdma NULL: this kernel has no RDMA */
	enum rdma_mode mode;
	struct json *root, *attachments, *ports, *interfaces, *cards;
	size_t n_attachments, n_ports, n_interfaces, left_out;
	struct err *e;
	bool failed; /* e is set */
};

/* Where a port is, and who alone has it. All members are borrowed. */
struct sample_port {
	const char *sysfs; /* shows the device */
	const char *device;
	uint32_t port;
	const char *netdev;   /* its own interface there; "": not known */
	const char *ns, *pod; /* "": shared, or not known */
};

/* Each returns -1 for ERR_NOMEM alone, and sets s->e. */
int sample_attachments(struct sample *s) must_check;
int sample_port_add(struct sample *s, const struct sample_port *p) must_check;
/* sample_host_ports - the ports that the host sees; after the attachments. */
int sample_host_ports(struct sample *s) must_check;
/* sample_interface_add - nothing if there is no such interface on the host, or it is there twice.
 */
int sample_interface_add(struct sample *s, const char *name) must_check;
int sample_cards(struct sample *s) must_check;

/* sample_str - a string member, "" if it is missing. */
static inline const char *sample_str(const struct json *o, const char *key)
{
	const char *text = json_str(json_get(o, key));

	return text ? text : "";
}

#endif
