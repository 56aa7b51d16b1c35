/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector.h: which PCI functions a resource has. Pure.
 *
 * A selector is a list of accepted texts for each property of a function. Texts are in one form:
 * "15b3", "0000:3b:00.2", "0x8001". A property without a list accepts everything.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_SELECTOR_H
#define RAILHEAD_RAILHEADD_DEVICES_SELECTOR_H

#include "lib/json/json.h"

#define SELECT_TEXT_LEN  64
#define SELECT_ITEMS_MAX 1024 /* in one list, and ranges of one item */

enum select_property {
	SELECT_VENDOR,
	SELECT_DEVICE,
	SELECT_DRIVER,
	SELECT_ADDRESS,
	SELECT_ACPI,
	/* Those of sriov-network-device-plugin: of the entries of one PF, the first counts. */
	SELECT_PF,      /* interface of the PF or of the function itself, in any case */
	SELECT_PF_ADDR, /* address of the PF; only VFs have one */
	SELECT_PF_ANY,  /* interface or address of the PF or of the function itself */
	SELECT_INTERFACE,
	SELECT_LINK, /* "ether", "infiniband" */
	SELECT_PKEY,
	SELECT_RDMA_NAME,
	SELECT_PROPERTIES
};

/* Numbers of VFs, both included. */
struct vf_range {
	uint32_t first, last;
};

struct select_item {
	char text[SELECT_TEXT_LEN];
	struct vf_range *range; /* owned; NULL: all VFs, and functions that are none */
	size_t n_ranges;
};

struct select_list {
	struct select_item *item; /* owned */
	size_t n;
};

struct device_selector {
	struct select_list of[SELECT_PROPERTIES];
	bool rdma;  /* only functions with an RDMA device, whose files the container gets */
	bool vhost; /* the container gets /dev/vhost-net and /dev/net/tun */
};

void device_selector_clear(struct device_selector *s);

/* A key of a configuration file and the property that it lists. */
struct select_key {
	const char *key; /* NULL ends a table */
	enum select_property property;
};

/*
 * device_selector_add - add the values of one key: a list of texts, or one text. NULL and empty
 * lists add nothing. where: the place of the key, "resources[0].select.pf". ERR_CONFIG with place
 * and value; ERR_DECODE: wrong type. After a failure s has a part of the values.
 */
int device_selector_add(struct device_selector *s, enum select_property p,
			const struct json *values, const char *where, struct err *e) must_check;

/* The properties of one function. Texts are borrowed; NULL or "": it has none, or is not known. */
struct select_subject {
	const char *text[SELECT_PROPERTIES];
	const char *pf_addr; /* for SELECT_PF_ANY, whose text is the interface */
	bool is_vf, has_rdma;
	uint32_t vf; /* number of a VF */
	/* A pod has it, so that its RDMA device and what is read from that may be out of sight. */
	bool away;
};

/*
 * device_selector_matches - every list accepts the function. SELECT_MAYBE: the function is away,
 * and what could be seen of it is accepted.
 */
enum select_answer { SELECT_NO, SELECT_MAYBE, SELECT_YES };
enum select_answer device_selector_matches(const struct device_selector *s,
					   const struct select_subject *f);

/* device_selector_names - whether the selector lists interfaces or RDMA devices by name. */
bool device_selector_names(const struct device_selector *s);

#endif
