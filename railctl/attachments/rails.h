/* SPDX-License-Identifier: Apache-2.0 */
/* rails.h: what the files of `railctl rails` share. */
#ifndef RAILHEAD_RAILCTL_ATTACHMENTS_RAILS_H
#define RAILHEAD_RAILCTL_ATTACHMENTS_RAILS_H

#include "diag/inspect.h"
#include "cni/protocol/env.h"
#include "lib/cli/cmd.h"
#include "lib/rdma/bus.h"
#include "topo/read/rail_list.h"

extern const struct cmd cmd_rails, rails_check_cmd, rails_slots_cmd;

#define RAILS_UNKNOWN (-1)

/* The hardware of a rail, as the node sees it. */
struct rails_hardware {
	int rail;                /* as rail_list.h counts; RAILS_UNKNOWN */
	char hca[RDMA_NAME_LEN]; /* the name of the RDMA device; "": none is known */
	char pci[BUS_ADDR_LEN];  /* the function below; "": none is known */
};

/* A network namespace with rails. */
struct rails_pod {
	struct cni_pod pod; /* names of Kubernetes; "" for others */
	char container[CNI_ID_MAX + 1];
	char *netns;        /* the path; owned */
	struct netns_id id; /* of the records */
	struct netns_view from;
	struct inspect s;
	struct rails_hardware *hw; /* one for each of s.rail; owned */
	char why[320];             /* "", or why the namespace cannot be read */
};

struct rails_pods {
	struct rails_pod *pod; /* owned */
	size_t n;
	size_t damaged; /* records that cannot be read: of which pods is not known */
};

/* The options that say which pods. */
#define RAILS_OPT_POD                                                                              \
	{                                                                                          \
		"pod", "POD",                                                                      \
			"only this one: POD, NAMESPACE/POD, or the beginning of a container's id", \
			0                                                                          \
	}
#define RAILS_OPT_NETNS                                                                            \
	{                                                                                          \
		"netns", "PATH", "of the network namespace at PATH, with or without records", 0    \
	}

/*
 * rails_pods_read - the pods of --pod or --netns, or all that have a record. Namespaces that are
 * proved gone are left out. A pod that cannot be read has `why`. ERR_NOTFOUND: --pod names none.
 * rails_pods_clear() frees *out.
 */
int rails_pods_read(struct cmd_run *r, struct rails_pods *out, struct err *e) must_check;
void rails_pods_clear(struct rails_pods *p);
#define auto_rails_pods auto_clean(rails_pods_clear)

/* rails_read_hardware - set hw of a pod whose snapshot is read. A value that is not found is
 * unknown. */
int rails_read_hardware(const struct rail_list *numbers, const struct inspect_from *from,
			struct rails_pod *p, struct err *e) must_check;

/*
 * rails_check_find - the findings of `railctl rails check`, worst first. If nothing is on record,
 * the only one has the code "namespace-empty".
 */
int rails_check_find(struct cmd_run *r, struct findings *out, struct err *e) must_check;

/* rails_pod_name - "namespace/pod", the container, or the path: what people call it. Pure. */
#define RAILS_POD_LEN 330
const char *rails_pod_name(const struct rails_pod *p, char out[RAILS_POD_LEN]);

/* rails_json - the pods for programs; railctl(8) has the members. NULL: no memory. Pure. */
struct json *rails_json(const struct rails_pods *all);

#endif
