/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h: the envelope of a network configuration: what every plugin reads the same way.
 *
 * A plugin's own keys are decoded from conf->tree by its own table. Keys match in any case, as for
 * Go's decoder (case.h).
 */
#ifndef RAILHEAD_CNI_PROTOCOL_CONF_H
#define RAILHEAD_CNI_PROTOCOL_CONF_H

#include "cni/protocol/env.h"
#include "cni/protocol/version.h"
#include "lib/json/json.h"

/*
 * A key of the ipam section: the pool of railhead-ipam from which the GUID of the interface comes.
 * The interface plugin and the IPAM both read it. cni_conf_guid_pool - its name, borrowed; NULL: it
 * is absent or empty.
 */
#define CNI_CONF_GUID_POOL "guidPool"
const char *cni_conf_guid_pool(const struct json *ipam);

struct cni_conf {
	char *text; /* stdin as it came: this is what delegates get (CNI-110) */
	size_t len;
	struct json *tree; /* owns all that follows */
	enum cni_version version;
	const char *name;               /* network, checked */
	const char *type;               /* "" when absent */
	const struct json *ipam;        /* NULL when absent */
	const char *ipam_type;          /* "" when there is no IPAM */
	const struct json *prev_result; /* undecoded; NULL when absent */
	const struct json *runtime;     /* runtimeConfig; NULL when absent */
	const struct json *args_cni;    /* args.cni; NULL when absent */
	const struct json *dns;         /* NULL when absent */
	/* GC: array of {containerID, ifname}, of cni.dev/valid-attachments or the older
	 * cni.dev/attachments (CNI-070). NULL: not given, which is not the same as empty. */
	const struct json *valid;
};

/*
 * cni_conf_parse - decode text (taken over, freed by cni_conf_clear also after failure) for a verb.
 * ERR_DECODE: not JSON, or a well-known key of the wrong type; ERR_CONFIG: name missing or invalid,
 * a type with a path separator; ERR_VERSION: unknown cniVersion, or one that has no such verb
 * (CNI-029). On DEL keys that a deletion can do without may be malformed: they read as absent
 * (CNI-089). After ERR_VERSION and ERR_CONFIG out->version is what could be read, for the error
 * object.
 */
int cni_conf_parse(char *text, size_t len, enum cni_command cmd, struct cni_conf *out,
		   struct err *e) must_check;
/* cni_conf_clear - free text and tree. */
void cni_conf_clear(struct cni_conf *c);

/*
 * cni_conf_check_keys - for all but deletions, after everything has been read. ERR_CONFIG: a key
 * that was read is given in two cases, as "master" and "Master" are. ERR_FIELD: a key is nearly one
 * that was asked for, as "mastr" is. alone, no other program of railhead reads this configuration:
 * ERR_FIELD for a key that only railhead has and this program did not read. cni_conf_parse has
 * checked the keys of the envelope.
 */
int cni_conf_check_keys(const struct cni_conf *c, bool alone, struct err *e) must_check;
/* cni_conf_blame_key - after an error: a misspelled key is the better reason for a missing one. *e
 * becomes the error of such a key, if there is one. Returns -1. */
int cni_conf_blame_key(const struct cni_conf *c, struct err *e);

/*
 * cni_conf_warns_of - whether a key that was not read deserves a warning: it is not a comment such
 * as
 * "_note", and this program would be the one to read it. path: of json_each_key(). section: "ipam."
 * for a program that reads only that; NULL for an interface plugin, which leaves keys of the IPAM,
 * of runtimes and of Multus to others.
 */
bool cni_conf_warns_of(const char *path, const char *section);

/* The time of a call grows with the keys of an object. */
#define CNI_CONF_KEYS_MAX 1000

/* cni_conf_is_valid - whether (container, ifname) is in conf->valid. False when that is NULL. */
bool cni_conf_is_valid(const struct cni_conf *c, const char *container, const char *ifname);

/* cni_conf_made - whether the result of ADD, prevResult, has that interface in a pod's namespace.
 */
bool cni_conf_made(const struct cni_conf *c, const char *ifname);

#endif
