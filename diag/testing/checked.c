/* SPDX-License-Identifier: Apache-2.0 */
/* checked.c: builds pods with probe data, and looks into the findings about them. */
#include "diag/testing/checked.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "rdma/testing/pod.h"

void checked_clear(struct checked *p)
{
	findings_clear(&p->found);
	probe_data_clear(&p->data);
	rails_clear(&p->rails);
	rdma_inventory_clear(&p->v);
}

/* The process has this variable and no other. "": none. */
void checked_set_var(struct probe_data *f, const char *line)
{
	f->job = (struct job_vars){ 0 };
	job_vars_environ(&f->job, line, strlen(line));
}

static void set_good_data(struct probe_data *f)
{
	const struct rdma_inventory *v = f->inventory;

	f->device = calloc(v->n_devices + 1, sizeof(*f->device));
	ck_assert_ptr_nonnull(f->device);
	for (size_t i = 0; i < v->n_devices; i++) {
		f->device[i].uverbs = (struct device_file){ .access = ACCESS_OK };
		(void)snprintf(f->device[i].uverbs.path, sizeof(f->device[i].uverbs.path),
			       "/dev/infiniband/uverbs%zu", i);
		f->device[i].port[0].has_dcb = true;
		f->device[i].port[0].dcb =
			(struct dcb_info){ .has_pfc = true,
					   .pfc = 0x18,
					   .has_app = true,
					   .dscp_rules = 2,
					   .dscp = { [26] = 1 << 3, [48] = 1 << 6 } };
		f->device[i].port[0].last.known = (1u << COUNT_N) - 1;
	}
	f->rdma_cm = (struct device_file){ .access = ACCESS_OK, .path = "/dev/infiniband/rdma_cm" };
	f->has_memlock = f->has_environ = f->has_qps = true;
	checked_set_var(f, "NCCL_IB_TC=106");
	f->memlock = MEMLOCK_UNLIMITED;
	f->watched_ms = 5000;
	f->nccl = NCCL_VERSION_NEWEST;
}

/* After the inventory was changed, before the data are. */
void checked_find_rails(struct checked *p)
{
	struct err e;

	inv_mark_gids(&p->v);
	ck_assert_int_eq(rails_find(&p->v, &p->rails, &e), 0);
	p->data = (struct probe_data){ .inventory = &p->v, .rails = &p->rails };
	set_good_data(&p->data);
}

void checked_run(struct checked *p)
{
	struct err e;

	findings_clear(&p->found);
	ck_assert_int_eq(doctor_check(&p->data, &p->found, &e), 0);
	for (size_t i = 0; i < p->found.n; i++) {
		const struct finding *f = &p->found.item[i];

		ck_assert_uint_gt(strlen(f->value), 3);
		if (f->state == FINDING_WARN || f->state == FINDING_FAIL)
			ck_assert_msg(f->reason && f->remedy, "%s: %s", f->id, f->value);
		else if (f->state == FINDING_OK)
			ck_assert_msg(!f->reason && !f->remedy, "%s", f->id);
	}
}

/* With one VF in mode exclusive. */
void checked_vf(struct checked *p)
{
	*p = (struct checked){ .v = pod_new(RDMA_EXCLUSIVE) };
	pod_rail(&p->v, 1, "10.1.0.5/16", 3);
	p->v.device[0].vf = true;
}

const struct finding *checked_look(const struct checked *p, const char *check, const char *subject)
{
	for (size_t i = 0; i < p->found.n; i++)
		if (strcmp(p->found.item[i].id, check) == 0 &&
		    strcmp(p->found.item[i].subject ? p->found.item[i].subject : "", subject) == 0)
			return &p->found.item[i];
	return NULL;
}

static bool says(const char *text, const char *part)
{
	return text && strstr(text, part);
}

/* "check subject state": and somewhere in its texts is part. */
void checked_finds(const struct checked *p, const char *what, const char *part)
{
	char check[32], subject[32] = "", state[16];
	int n = sscanf(what, "%31s %31s %15s", check, subject, state);

	ck_assert_int_ge(n, 2);
	if (n == 2) {
		memcpy(state, subject, sizeof(state));
		*subject = '\0';
	}

	const struct finding *f = checked_look(p, check, subject);

	ck_assert_msg(f, "nothing found for %s", what);
	ck_assert_msg(strcmp(finding_state_name(f->state), state) == 0, "%s is %s: %s", what,
		      finding_state_name(f->state), f->value);
	ck_assert_msg(says(f->value, part) || says(f->reason, part) || says(f->remedy, part),
		      "%s: no \"%s\" in: %s; %s; %s", what, part, f->value, f->reason, f->remedy);
}

/* net1 is macvlan on mlx5_0, whose table a neighbour was in first. */
void checked_macvlan(struct checked *p, enum rdma_mode mode)
{
	struct inv_port *port;

	*p = (struct checked){ .v = pod_new(mode) };
	(void)pod_netdev(&p->v, "net1", "macvlan", "10.1.0.5/16");
	port = pod_port(&p->v, "mlx5_0", "0000:18:00.0", 0);
	pod_gid(port, 0, GID_ROCE_V2, "fe80::1", "ens1f0");
	pod_gid(port, 1, GID_ROCE_V2, "10.1.0.4", "net1");
	pod_gid(port, 2, GID_ROCE_V2, "10.1.0.5", "net1");
}
