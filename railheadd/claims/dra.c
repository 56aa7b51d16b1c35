/* SPDX-License-Identifier: Apache-2.0 */
/* dra.c: messages of Protocol Buffers, made and decoded with protobuf-c. */
#include "railheadd/claims/dra.h"

#include <railheadd/claims/dra.pb-c.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "railheadd/claims/cdi.h"

#define DECODE_MAX ((size_t)16 << 20) /* bytes of a decoded message */

static void *dra_unpack(const ProtobufCMessageDescriptor *of, const uint8_t *bytes, size_t len,
			struct err *e)
{
	return proto_unpack(of, &(struct proto_source){ "the request", bytes, len, DECODE_MAX }, e);
}

/* ---- registration ---- */

struct proto_bytes dra_info(const char *endpoint)
{
	/* Services of k8s.io/kubelet, pkg/apis/dra and dra-health. The kubelet takes the newest of
	 * each that it knows; before 1.37 it needs no name for health. */
	static const char *const versions[] = { "v1.DRAPlugin", "v1.DRAResourceHealth",
						"v1alpha1.DRAResourceHealth" };
	Dra__PluginInfo i = DRA__PLUGIN_INFO__INIT;

	i.type = proto_text("DRAPlugin");
	i.name = proto_text(CLAIM_DRIVER);
	i.endpoint = proto_text(endpoint);
	i.n_supported_versions = ARRAY_SIZE(versions);
	i.supported_versions = (char **)(uintptr_t)versions;
	return proto_pack(&i.base);
}

int dra_status_decode(const uint8_t *bytes, size_t len, struct dra_status *out, struct err *e)
{
	Dra__RegistrationStatus *m =
		dra_unpack(&dra__registration_status__descriptor, bytes, len, e);

	if (!m)
		return -1;
	*out = (struct dra_status){ .registered = m->plugin_registered };
	(void)snprintf(out->error, sizeof(out->error), "%s", m->error);
	proto_free(m);
	return 0;
}

/* ---- requests ---- */

void dra_request_clear(struct dra_request *r)
{
	proto_free(r->message);
	json_free(r->claim);
	json_free(r->pod);
	*r = (struct dra_request){ .n = 0 };
}

static int dra_take_claim(const Dra__Claim *from, struct dra_request *r, struct err *e)
{
	if (!id_valid(from->namespace_) || !id_valid(from->name) || !id_valid(from->uid) ||
	    strlen(from->uid) > 63)
		return err_set(e, ERR_DECODE, 0, "a claim without namespace, name or UID");
	r->of[r->n++] = (struct dra_claim){ from->namespace_, from->name, from->uid };
	return 0;
}

int dra_request_decode(const uint8_t *bytes, size_t len, struct dra_request *out, struct err *e)
{
	auto_dra_request struct dra_request r = { .n = 0 };
	Dra__Request *m = dra_unpack(&dra__request__descriptor, bytes, len, e);

	if (!m)
		return -1;
	r.message = m;
	if (m->n_claims > DRA_CLAIMS_MAX)
		return err_set(e, ERR_DECODE, 0, "more than %d claims of one pod", DRA_CLAIMS_MAX);
	for (size_t i = 0; i < m->n_claims; i++) {
		if (dra_take_claim(m->claims[i], &r, e))
			return -1;
	}
	*out = r;
	r.message = NULL;
	return 0;
}

/* ---- answers ---- */

struct dra_device_message {
	Dra__Device device;
	char *request, *cdi, id[CDI_ID_LEN];
};
struct dra_prepared_message {
	Dra__PreparedEntry entry;
	Dra__Prepared value;
	struct dra_device_message device[CLAIM_DEVICES_MAX];
	Dra__Device *devices[CLAIM_DEVICES_MAX];
};

static void dra_fill_device(const struct claim_device *d, const struct dra_outcome *of,
			    struct dra_device_message *m)
{
	dra__device__init(&m->device);
	m->request = proto_text(d->request);
	m->cdi = claim_cdi_id(of->claim.prepared.claim.uid, d->part.rails, m->id);
	m->device.n_request_names = 1;
	m->device.request_names = &m->request;
	m->device.device_name = proto_text(d->device);
	m->device.n_cdi_device_ids = 1;
	m->device.cdi_device_ids = &m->cdi;
	m->device.share_id = proto_text(d->share);
}

static void dra_fill_prepared(const struct dra_claim *claim, const struct dra_outcome *of,
			      const char *pool, struct dra_prepared_message *m)
{
	dra__prepared_entry__init(&m->entry);
	dra__prepared__init(&m->value);
	m->entry.key = proto_text(claim->uid);
	m->entry.value = &m->value;
	m->value.error = proto_text(of->error);
	if (*of->error)
		return;
	for (size_t i = 0; i < of->claim.n; i++) {
		dra_fill_device(&of->claim.device[i], of, &m->device[i]);
		m->device[i].device.pool_name = proto_text(pool);
		m->devices[i] = &m->device[i].device;
	}
	m->value.n_devices = of->claim.n;
	m->value.devices = m->devices;
}

struct proto_bytes dra_prepared(const struct dra_request *r, const struct dra_outcome *of,
				const char *pool)
{
	auto_free struct dra_prepared_message *all = calloc(r->n + 1, sizeof(*all));
	Dra__PreparedEntry *entries[DRA_CLAIMS_MAX];
	Dra__PrepareResponse m = DRA__PREPARE_RESPONSE__INIT;

	if (!all)
		return (struct proto_bytes){ NULL, 0 };
	for (size_t i = 0; i < r->n; i++) {
		dra_fill_prepared(&r->of[i], &of[i], pool, &all[i]);
		entries[i] = &all[i].entry;
	}
	m.n_claims = r->n;
	m.claims = entries;
	return proto_pack(&m.base);
}

struct proto_bytes dra_unprepared(const struct dra_request *r, const struct dra_outcome *of)
{
	Dra__Unprepared value[DRA_CLAIMS_MAX];
	Dra__UnpreparedEntry entry[DRA_CLAIMS_MAX], *entries[DRA_CLAIMS_MAX];
	Dra__UnprepareResponse m = DRA__UNPREPARE_RESPONSE__INIT;

	for (size_t i = 0; i < r->n; i++) {
		dra__unprepared__init(&value[i]);
		dra__unprepared_entry__init(&entry[i]);
		value[i].error = proto_text(of[i].error);
		entry[i].key = proto_text(r->of[i].uid);
		entry[i].value = &value[i];
		entries[i] = &entry[i];
	}
	m.n_claims = r->n;
	m.claims = entries;
	return proto_pack(&m.base);
}

/* ---- health ---- */

struct dra_health_message {
	Dra__Health health;
	Dra__DeviceName device;
};

static void dra_fill_health(const struct json *device, struct dra_health_message *m)
{
	const struct json *taint = json_first(json_get(device, "taints"));

	dra__health__init(&m->health);
	dra__device_name__init(&m->device);
	m->device.device_name = proto_text(json_text(device, "name"));
	m->health.device = &m->device;
	m->health.health = taint ? DRA__HEALTH_STATE__UNHEALTHY : DRA__HEALTH_STATE__HEALTHY;
	m->health.message = proto_text(taint ? json_text(taint, "value") : "");
	m->health.health_check_timeout_seconds = DRA_HEALTH_S;
}

struct proto_bytes dra_health(const struct json *devices, const char *pool, int64_t now)
{
	const size_t n = json_len(devices);
	auto_free struct dra_health_message *all = calloc(n + 1, sizeof(*all));
	auto_free Dra__Health **list = calloc(n + 1, sizeof(*list));
	Dra__HealthList m = DRA__HEALTH_LIST__INIT;

	if (!all || !list)
		return (struct proto_bytes){ NULL, 0 };
	json_each (device, devices) {
		struct dra_health_message *x = &all[m.n_devices];

		dra_fill_health(device, x);
		x->device.pool_name = proto_text(pool);
		x->health.last_updated_time = now;
		list[m.n_devices++] = &x->health;
	}
	m.devices = list;
	return proto_pack(&m.base);
}
