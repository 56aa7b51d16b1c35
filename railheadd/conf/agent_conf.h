/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_conf.h: the keys of agent.json, see railhead-agent.json(5). Pure.
 */
#ifndef RAILHEAD_RAILHEADD_CONF_AGENT_CONF_H
#define RAILHEAD_RAILHEADD_CONF_AGENT_CONF_H

#include "lib/json/json.h"

#define AGENT_CONF_ENDPOINTS_MAX 16
#define AGENT_CONF_EXCEPT_MAX    64

/* Texts are borrowed from the tree; NULL: not given. */
struct agent_conf_etcd {
	const char *endpoints[AGENT_CONF_ENDPOINTS_MAX + 1]; /* NULL ends them */
	const char *prefix;
	const char *ca, *cert, *key;      /* paths of PEM files */
	const char *user, *password_file; /* both or none */
};

/* ms; every 0: the agent repairs nothing. */
struct agent_conf_repair {
	int64_t every, grace;
};

/* folder NULL: the agent does not look at it. */
struct agent_conf_plugins {
	const char *folder;       /* of CNI plugins */
	const char *restore_from; /* NULL: nothing is put back */
	const char *chain;        /* NULL: no pod network keeps the plugin railhead */
	int64_t every;            /* ms */
};

/* every 0: the agent does not look at them. */
struct agent_conf_rails {
	int64_t every;                                 /* ms */
	const char *except[AGENT_CONF_EXCEPT_MAX + 1]; /* devices, PCI addresses; NULL ends them */
};

/* every 0: the agent does not look whether pods use RDMA. */
struct agent_conf_transport {
	int64_t every;  /* ms */
	uint32_t limit; /* Mbit/s */
};

/* kubelet NULL: there is no device plugin. */
struct agent_conf_devices {
	const char *resources; /* folder of configurations; NULL: resources.d beside agent.json */
	const char *kubelet;   /* folder of its sockets for device plugins */
	const char *bin;       /* as of claims */
};

#define AGENT_CONF_GROUPS    8
#define AGENT_CONF_GROUP_LEN 17

/* Rails that pods of one job shall have together, such as those of one plane of the fabric. */
struct agent_conf_group {
	char name[AGENT_CONF_GROUP_LEN]; /* lower-case letters and digits; the first is a letter */
	uint64_t rails;                  /* as bits; no rail is in two groups */
};
struct agent_conf_groups {
	struct agent_conf_group of[AGENT_CONF_GROUPS];
	size_t n;
};

/* kubelet NULL: there is no driver of claims. */
struct agent_conf_claims {
	const char *kubelet; /* its folder */
	const char *bin;     /* folder of CNI plugins: that of plugins, or the usual one */
	struct agent_conf_groups groups;
};

/* kubeconfig NULL: the ServiceAccount of the pod that the agent runs in. */
struct agent_conf_kube {
	const char *kubeconfig; /* path */
	const char *context;    /* NULL: the kubeconfig's current one */
	const char *namespace;  /* of the heartbeats; NULL: as the credentials say */
};

struct agent_conf {
	const char *node;        /* NULL: of the environment, or the host name */
	int64_t hold;            /* nodeHold, ns */
	int64_t renew;           /* heartbeat, ns */
	bool strict;             /* fence */
	bool has_etcd, has_kube; /* one at most; neither: no cluster store */
	struct agent_conf_etcd etcd;
	struct agent_conf_repair repair;
	struct agent_conf_plugins plugins;
	struct agent_conf_rails rails;
	struct agent_conf_transport transport;
	int64_t fabric_every; /* ms between two looks for interfaces to listen by; 0: it does not */
	struct agent_conf_devices devices;
	struct agent_conf_claims claims;
	struct agent_conf_kube kube;
	bool metrics;               /* at the unix socket */
	const char *metrics_listen; /* and at this address with a port; NULL: none */
};

/*
 * agent_conf_decode - read the object of the file; NULL: defaults. *out borrows from n.
 * ERR_DECODE, ERR_CONFIG, ERR_FIELD: the message names key and value.
 */
int agent_conf_decode(const struct json *n, struct agent_conf *out, struct err *e) must_check;

/*
 * agent_conf_node_check - ERR_CONFIG unless name can be that of a node: a DNS subdomain of at most
 * 63 bytes, as in Kubernetes.
 */
int agent_conf_node_check(const char *name, struct err *e) must_check;

#endif
