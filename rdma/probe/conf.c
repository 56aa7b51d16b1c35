/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: the tables of rdma-probe's options, their defaults and their values. */
#include "rdma/probe/conf.h"

#include <string.h>

#include "lib/base/parse.h"
#include "lib/base/pkey.h"
#include "lib/rdma/param.h"

#define SIZE       65536
#define ITERATIONS 1000
#define TIMEOUT_S  10

const struct opt conf_which[] = {
	{ "device", "NAME", "this RDMA device only", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct opt conf_device[] = {
	{ "device", "NAME[:PORT]",
	  "the RDMA device (default: the one that has a GID for the address)", 0 },
	{ "gid-index", "N",
	  "the GID by its index (default: with --no-cm NCCL_IB_GID_INDEX, else the RoCE v2 GID of "
	  "the address)",
	  0 },
	{ "bind", "ADDR", "the own address", 0 },
	{ "timeout", "SECONDS", "how long to wait for a silent peer (default: 10)", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct opt conf_serve[] = {
	{ "port", "PORT", "TCP port to listen on (default: 18515)", 0 },
	{ "once", NULL, "end after one client, with the status of its test", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct opt conf_connection[] = {
	{ "port", "PORT", "TCP port of peers whose address has no port (default: 18515)", 0 },
	{ "no-cm", NULL, "connect without RDMA CM, with data exchanged over TCP", 0 },
	{ "pkey", "PKEY", "with --no-cm: the partition of both ends (default: their first)", 0 },
	{ "sl", "N",
	  "with --no-cm: the service level, 0 to 15 (default: NCCL_IB_SL here, "
	  "else 0)",
	  0 },
	{ "tc", "N",
	  "traffic class of both ends, 0 to 255: four times the DSCP value (default: at each "
	  "end its NCCL_IB_TC, else that of the system)",
	  0 },
	{ NULL, NULL, NULL, 0 },
};

const struct opt conf_amount[] = {
	{ "size", "BYTES", "size of a message in bytes; K and M are allowed", 0 },
	{ "iterations", "N", "number of repetitions", 0 },
	{ "seed", "N", "the seed of the data (default: a random one)", 0 },
	{ NULL, NULL, NULL, 0 },
};

static int conf_refuse_value(const char *name, const char *value, const char *want, struct err *e)
{
	return err_set(e, ERR_CONFIG, 0, "option --%s \"%.64s\" must be %s", name, value, want);
}

/* Decimal digits, followed by K, M, G or nothing. */
static int parse_size(const char *text, uint64_t max, uint64_t *out)
{
	static const char units[] = "KMG";
	size_t len = strlen(text);
	const char *unit = len ? strchr(units, text[len - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	char digits[24];
	uint64_t n;

	if (len - !!unit >= sizeof(digits))
		return -1;
	memcpy(digits, text, len - !!unit);
	digits[len - !!unit] = '\0';
	if (parse_u64(digits, 1, max >> shift, &n))
		return -1;
	*out = n << shift;
	return 0;
}

static int conf_take_device(const char *text, struct conf *c, struct err *e)
{
	const char *colon = strchr(text, ':');
	struct slice name = { text, colon ? (size_t)(colon - text) : strlen(text) };
	uint64_t port = 0;

	if (!name.len || slice_copy(name, c->device, sizeof(c->device)) ||
	    (colon && parse_u64(colon + 1, 1, 255, &port)))
		return conf_refuse_value("device", text, "the name of a device, or NAME:PORT", e);
	c->device_port = (unsigned)port;
	return 0;
}

struct number {
	const char *name;
	uint64_t min, max;
	const char *want;
};

/* Returns 1 if the option is given, 0 if not, -1 on error. */
static int conf_read_number(const struct opts *o, const struct number *n, uint64_t *out,
			    struct err *e)
{
	const char *text = opt_get(o, n->name);

	if (!text)
		return 0;
	return parse_u64(text, n->min, n->max, out) ? conf_refuse_value(n->name, text, n->want, e)
						    : 1;
}

static int read_numbers(const struct opts *o, struct conf *c, struct err *e)
{
	uint64_t gid = 0, port = c->port, seconds = TIMEOUT_S, times = c->iterations;
	int has_gid = conf_read_number(o, &(struct number){ "gid-index", 0, 65535, "0 to 65535" },
				       &gid, e);
	int has_seed = conf_read_number(o, &(struct number){ "seed", 0, UINT64_MAX, "a number" },
					&c->seed, e);

	if (has_gid < 0 || has_seed < 0 ||
	    conf_read_number(o, &(struct number){ "port", 1, 65535, "1 to 65535" }, &port, e) < 0 ||
	    conf_read_number(o, &(struct number){ "timeout", 1, 3600, "1 to 3600 seconds" },
			     &seconds, e) < 0 ||
	    conf_read_number(o, &(struct number){ "iterations", 1, WIRE_COUNT_MAX, "1 to 1000000" },
			     &times, e) < 0)
		return -1;
	c->gid_index = has_gid ? (int)gid : -1;
	c->seeded = has_seed;
	c->port = (uint16_t)port;
	c->timeout_ms = (int)seconds * 1000;
	c->iterations = (uint32_t)times;
	return 0;
}

/* RDMA CM takes the partition of the IPoIB interface, and the service level of the path. */
static int read_partition(const struct opts *o, struct conf *c, struct err *e)
{
	const char *pkey = opt_get(o, "pkey");
	uint64_t sl = 0;
	int has_sl = conf_read_number(o, &(struct number){ "sl", 0, 15, "0 to 15" }, &sl, e);

	if (has_sl < 0)
		return -1;
	if (pkey && pkey_parse(pkey, &c->pkey))
		return conf_refuse_value("pkey", pkey,
					 "0x0001 to 0x7fff, or with 0x8000 for full membership", e);
	if ((pkey || has_sl) && c->cm)
		return err_set(e, ERR_CONFIG, 0,
			       "option --%s needs --no-cm: RDMA CM goes by the address",
			       pkey ? "pkey" : "sl");
	c->sl = (uint8_t)sl;
	return 0;
}

static int read_class(const struct opts *o, struct conf *c, struct err *e)
{
	uint64_t tc = 0;

	int has_tc = conf_read_number(o, &(struct number){ "tc", 0, 255, "0 to 255" }, &tc, e);

	if (has_tc < 0)
		return -1;
	c->has_tc = has_tc;
	c->tc = (uint8_t)tc;
	return 0;
}

/* -1: the option is there, or NCCL has no such value. */
static int of_nccl(const struct opts *o, const char *option, const char *text, int64_t max)
{
	int64_t n = nccl_number(text, -1);

	return opt_is_set(o, option) || n < 0 || n > max ? -1 : (int)n;
}

void conf_take_nccl(const struct opts *o, const char *(*get)(const char *name), struct conf *c)
{
	const char *text = get("NCCL_IB_TC");
	const int64_t tc = nccl_number(text, -1);

	/* NCCL sets the low byte: 256 and "abc" are class 0, and -2 is 254. */
	c->nccl.tc = opt_is_set(o, "tc") || tc == -1 ? -1 : (int)(tc & 0xff);
	c->nccl.odd_tc = c->nccl.tc >= 0 && (c->nccl.tc != tc || (tc == 0 && !strchr(text, '0')));
	/* RDMA CM takes the level of the path, and the GID of the address. */
	c->nccl.sl = c->cm ? -1 : of_nccl(o, "sl", get("NCCL_IB_SL"), 15);
	c->nccl.gid_index = c->cm ? -1 : of_nccl(o, "gid-index", get("NCCL_IB_GID_INDEX"), 255);
}

static int read_size(const struct opts *o, struct conf *c, struct err *e)
{
	const char *text = opt_get(o, "size");
	uint64_t size = 0;

	if (!text)
		return 0;
	if (parse_size(text, WIRE_SIZE_MAX, &size))
		return conf_refuse_value("size", text, "1 to 64M bytes", e);
	c->size = (uint32_t)size;
	return 0;
}

int conf_read(const struct opts *o, struct conf *out, struct err *e)
{
	const char *bind = opt_get(o, "bind"), *device = opt_get(o, "device");
	struct conf c = { .cm = !opt_is_set(o, "no-cm"),
			  .nccl = { -1, -1, -1, false },
			  .port = PEERS_PORT,
			  .size = SIZE,
			  .iterations = ITERATIONS,
			  .once = opt_is_set(o, "once") };

	if (device && conf_take_device(device, &c, e))
		return -1;
	if (bind && ip_parse(bind, &c.bind))
		return conf_refuse_value("bind", bind, "an address", e);
	if (read_numbers(o, &c, e) || read_partition(o, &c, e) || read_class(o, &c, e) ||
	    read_size(o, &c, e))
		return -1;
	*out = c;
	return 0;
}
