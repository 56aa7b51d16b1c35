// SPDX-License-Identifier: Apache-2.0
/* The objects of machines with and without switches, VFs and known roots. conformance/agent gives
 * them to a real API server. */
#include "topo/output/dra.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "topo/testing/fixture.h"
#include "topo/testing/topo.h"

struct dra_case {
	struct topo_machine m;
	struct topo_choice c;
	struct dra_input in;
	struct json *list;
	struct err e;
};

static void dra_case_clear(struct dra_case *d)
{
	json_free(d->list);
	topo_choice_clear(&d->c);
	topo_machine_clear(&d->m);
}
#define auto_dra_case auto_clean(dra_case_clear)

static int objects(struct dra_case *d, enum dra_driver driver)
{
	json_free(d->list);
	d->list = NULL;
	topo_choice_clear(&d->c);
	topo_roles(&d->m, NULL);
	ck_assert_int_eq(topo_choose(&d->m, NULL, &d->c, &d->e), 0);
	d->in.m = &d->m;
	d->in.choice = &d->c;
	return dra_objects(&d->in, driver, &d->list, &d->e);
}

static const struct json *object(const struct dra_case *d, const char *kind, const char *name)
{
	json_each (it, json_get(d->list, "items")) {
		if (strcmp(json_text(it, "kind"), kind) == 0 &&
		    strcmp(json_text(json_get(it, "metadata"), "name"), name) == 0)
			return it;
	}
	ck_abort_msg("there is no %s %s", kind, name);
	return NULL;
}

static size_t count(const struct dra_case *d, const char *kind)
{
	size_t n = 0;

	json_each (it, json_get(d->list, "items")) {
		n += strcmp(json_text(it, "kind"), kind) == 0;
	}
	return n;
}

/* The first expression of a DeviceClass or of a request. */
static const char *expression(const struct json *of)
{
	const struct json *first = json_first(json_get(of, "selectors"));

	return json_text(json_get(first, "cel"), "expression");
}

static const char *class_of(const struct dra_case *d, const char *name)
{
	return expression(json_get(object(d, "DeviceClass", name), "spec"));
}

static const struct json *devices(const struct dra_case *d, const char *name)
{
	const struct json *spec = json_get(object(d, "ResourceClaimTemplate", name), "spec");

	return json_get(json_get(spec, "spec"), "devices");
}

/* The request "gpu" or "nic" of a template; NULL: it has none. */
static const struct json *request(const struct dra_case *d, const char *name, const char *of)
{
	json_each (it, json_get(devices(d, name), "requests")) {
		if (strcmp(json_text(it, "name"), of) == 0)
			return json_get(it, "exactly");
	}
	return NULL;
}

static const char *note(const struct dra_case *d, const char *name)
{
	const struct json *meta = json_get(object(d, "ResourceClaimTemplate", name), "metadata");

	return json_text(json_get(meta, "annotations"), "railhead.io/note");
}

/* The attribute that GPU and NIC must share; "": none. */
static const char *match(const struct dra_case *d, const char *name)
{
	const struct json *first = json_first(json_get(devices(d, name), "constraints"));

	return json_text(first, "matchAttribute");
}

static void add_vfs(struct topo_machine *m, uint8_t n)
{
	struct fixture fx = { .m = m };
	size_t hcas = m->n_hcas;

	for (uint32_t h = 0; h < hcas; h++) {
		for (uint8_t i = 0; i < n; i++)
			(void)fixture_vf(&fx, h, i, NULL);
	}
}

/* Two root complexes, a GPU and an HCA on a switch below each; NULL: no second HCA. */
static void two_roots(struct topo_machine *m, const char *second)
{
	struct fixture fx = { .m = m };

	for (int i = 0; i < 2; i++) {
		fixture_root(&fx, i);
		uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
		(void)fixture_gpu(&fx, fixture_down(&fx, up));
		if (i == 0 || second)
			(void)fixture_hca(&fx, fixture_down(&fx, up), i ? second : "mlx5_0");
	}
	fixture_done(&fx);
}

/* ---- which GPUs ---- */

START_TEST(a_root_complex_of_one_rail_is_compared)
{
	auto_dra_case struct dra_case d = { 0 };

	two_roots(&d.m, "mlx5_1");
	ck_assert_int_eq(objects(&d, DRA_DRANET), 0);
	ck_assert_uint_eq(count(&d, "DeviceClass"), 2);
	ck_assert_uint_eq(count(&d, "ResourceClaimTemplate"), 2);
	ck_assert_str_eq(match(&d, "dranet-rail1"), "resource.kubernetes.io/pcieRoot");
	ck_assert_str_eq(json_text(request(&d, "dranet-rail1", "gpu"), "deviceClassName"),
			 "gpu.nvidia.com");
	ck_assert_ptr_null(json_get(request(&d, "dranet-rail1", "gpu"), "selectors"));
	ck_assert_str_eq(json_text(request(&d, "dranet-rail1", "nic"), "deviceClassName"),
			 "dranet-rail1");
	ck_assert_ptr_nonnull(strstr(note(&d, "dranet-rail1"), "GPU 1 is below the root complex"));
}
END_TEST

START_TEST(a_gpu_below_another_root_complex_is_named)
{
	auto_dra_case struct dra_case d = { 0 };
	char bdf[PCI_STR_LEN];

	two_roots(&d.m, NULL);
	ck_assert_int_eq(objects(&d, DRA_DRANET), 0);
	ck_assert_uint_eq(count(&d, "DeviceClass"), 1);
	ck_assert_str_eq(match(&d, "dranet-rail0"), "");
	for (int i = 0; i < 2; i++) {
		pci_format(d.m.pci[d.m.gpu[i].pci].addr, bdf);
		ck_assert_ptr_nonnull(strstr(expression(request(&d, "dranet-rail0", "gpu")), bdf));
	}
	ck_assert_msg(strstr(note(&d, "dranet-rail0"), "GPU 1 is below pci") != NULL, "%s",
		      note(&d, "dranet-rail0"));
}
END_TEST

START_TEST(a_root_complex_of_two_rails_is_not_compared)
{
	auto_dra_case struct dra_case d = { 0 };
	struct fixture fx = { .m = &d.m };

	fixture_root(&fx, 0);
	for (int i = 0; i < 2; i++) {
		uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);

		(void)fixture_gpu(&fx, fixture_down(&fx, up));
		(void)fixture_hca(&fx, fixture_down(&fx, up), i ? "mlx5_1" : "mlx5_0");
	}
	fixture_done(&fx);
	ck_assert_int_eq(objects(&d, DRA_SRIOV), 0);
	ck_assert_str_eq(match(&d, "sriov-rail0"), "");
	ck_assert_msg(strstr(note(&d, "sriov-rail0"), "too, but nearer to another rail") != NULL,
		      "%s", note(&d, "sriov-rail0"));
	ck_assert_ptr_nonnull(
		strstr(expression(request(&d, "sriov-rail0", "gpu")), "pciBusID in ["));
}
END_TEST

START_TEST(roots_that_a_topology_file_lacks_are_not_compared)
{
	auto_dra_case struct dra_case d = { 0 };

	topo_xml("dgx-a100", &d.m);
	ck_assert_int_eq(objects(&d, DRA_DRANET), 0);
	ck_assert_uint_eq(count(&d, "DeviceClass"), 8);
	ck_assert_str_eq(match(&d, "dranet-rail0"), "");
	ck_assert_str_eq(class_of(&d, "dranet-rail0"),
			 "device.driver == 'dra.net' && has(device.attributes['dra.net'].rdma) && "
			 "device.attributes['dra.net'].rdma && "
			 "has(device.attributes['dra.net'].pciAddress) && "
			 "device.attributes['dra.net'].pciAddress in ['0000:0c:00.0']");
	ck_assert_str_eq(expression(request(&d, "dranet-rail0", "gpu")),
			 "has(device.attributes['resource.kubernetes.io'].pciBusID) && "
			 "device.attributes['resource.kubernetes.io'].pciBusID in "
			 "['0000:07:00.0', '0000:0f:00.0']");
	ck_assert_ptr_nonnull(strstr(note(&d, "dranet-rail0"), "not known"));
}
END_TEST

START_TEST(gpus_of_other_vendors)
{
	auto_dra_case struct dra_case d = { 0 };

	two_roots(&d.m, "mlx5_1");
	d.m.gpu[0].vendor = TOPO_AMD;
	d.m.gpu[1].vendor = TOPO_GAUDI;
	ck_assert_int_eq(objects(&d, DRA_DRANET), 0);
	ck_assert_str_eq(json_text(request(&d, "dranet-rail0", "gpu"), "deviceClassName"),
			 "gpu.amd.com");
	ck_assert_ptr_null(request(&d, "dranet-rail1", "gpu"));
	ck_assert_str_eq(match(&d, "dranet-rail1"), "");
	ck_assert_ptr_nonnull(strstr(note(&d, "dranet-rail1"), "not known here"));
}
END_TEST

START_TEST(a_machine_without_gpus_has_claims_without_them)
{
	auto_dra_case struct dra_case d = { 0 };
	struct fixture fx = { .m = &d.m };

	fixture_root(&fx, 0);
	(void)fixture_hca(&fx, fixture_port(&fx), "mlx5_0");
	fixture_done(&fx);
	ck_assert_int_eq(objects(&d, DRA_DRANET), 0);
	ck_assert_ptr_null(request(&d, "dranet-rail0", "gpu"));
	ck_assert_ptr_nonnull(strstr(note(&d, "dranet-rail0"), "No GPU is nearest"));
}
END_TEST

/* ---- which NICs ---- */

START_TEST(vfs_are_taken_rather_than_their_pf)
{
	auto_dra_case struct dra_case d = { 0 };
	char bdf[PCI_STR_LEN];
	const char *cel;

	two_roots(&d.m, "mlx5_1");
	add_vfs(&d.m, 2);
	ck_assert_int_eq(objects(&d, DRA_DRANET), 0);
	cel = class_of(&d, "dranet-rail0");
	ck_assert_ptr_null(strstr(cel, pci_format(d.m.pci[d.m.hca[0].pci].addr, bdf)));
	for (uint32_t i = 0; i < d.m.n_pci; i++) {
		if (d.m.pci[i].physfn == d.m.hca[0].pci)
			ck_assert_ptr_nonnull(strstr(cel, pci_format(d.m.pci[i].addr, bdf)));
	}
}
END_TEST

START_TEST(the_sriov_driver_gets_a_rail_for_each_vf)
{
	auto_dra_case struct dra_case d = { 0 };
	const struct json *spec, *config;
	char bdf[PCI_STR_LEN];

	two_roots(&d.m, "mlx5_1");
	d.in.nodes = "0123456789abcdef";
	ck_assert_int_eq(objects(&d, DRA_SRIOV), 0);
	ck_assert_uint_eq(count(&d, "DeviceAttributes"), 2);
	ck_assert_uint_eq(count(&d, "SriovResourcePolicy"), 1);
	spec = json_get(object(&d, "SriovResourcePolicy", "rails-0123456789abcdef"), "spec");
	ck_assert_uint_eq(json_len(json_get(spec, "configs")), 2);
	config = json_first(json_get(json_first(json_get(spec, "configs")), "resourceFilters"));
	ck_assert_str_eq(json_str(json_first(json_get(config, "pfPciAddresses"))),
			 pci_format(d.m.pci[d.m.hca[0].pci].addr, bdf));
	ck_assert_ptr_nonnull(json_get(spec, "nodeSelector"));
	ck_assert_str_eq(class_of(&d, "sriov-rail1"),
			 "device.driver == 'sriovnetwork.k8snetworkplumbingwg.io' && "
			 "has(device.attributes['railhead.io'].rail) && "
			 "device.attributes['railhead.io'].rail == 1");
	spec = json_get(object(&d, "DeviceAttributes", "rail1"), "spec");
	spec = json_get(json_get(spec, "attributes"), "railhead.io/rail");
	ck_assert_int_eq((int)json_num(json_get(spec, "int")), 1);
}
END_TEST

START_TEST(a_policy_without_a_label_is_for_all_nodes)
{
	auto_dra_case struct dra_case d = { 0 };

	two_roots(&d.m, NULL);
	ck_assert_int_eq(objects(&d, DRA_SRIOV), 0);
	ck_assert_ptr_null(json_get(json_get(object(&d, "SriovResourcePolicy", "rails"), "spec"),
				    "nodeSelector"));
}
END_TEST

START_TEST(a_vf_without_its_pf_is_named_itself)
{
	auto_dra_case struct dra_case d = { 0 };
	const struct json *spec, *filter;
	char bdf[PCI_STR_LEN];

	two_roots(&d.m, NULL);
	d.m.pci[d.m.hca[0].pci].is_vf = true;
	d.m.pci[d.m.hca[0].pci].physfn = TOPO_NONE;
	d.m.hca[0].kind = TOPO_HCA_VF;
	pci_format(d.m.pci[d.m.hca[0].pci].addr, bdf);
	ck_assert_int_eq(objects(&d, DRA_SRIOV), 0);
	spec = json_get(object(&d, "SriovResourcePolicy", "rails"), "spec");
	filter = json_first(json_get(json_first(json_get(spec, "configs")), "resourceFilters"));
	ck_assert_str_eq(json_str(json_first(json_get(filter, "pciAddresses"))), bdf);
	ck_assert_int_eq(objects(&d, DRA_DRANET), 0);
	ck_assert_ptr_nonnull(strstr(class_of(&d, "dranet-rail0"), bdf));
}
END_TEST

START_TEST(a_bond_has_the_functions_of_both)
{
	auto_dra_case struct dra_case d = { 0 };
	char first[PCI_STR_LEN], second[PCI_STR_LEN];

	two_roots(&d.m, "mlx5_1");
	d.m.hca[0].kind = TOPO_HCA_BOND;
	d.m.hca[0].second = d.m.hca[1].pci;
	d.m.hca[1].pci = TOPO_NONE;
	d.m.hca[1].kind = TOPO_HCA_SOFTWARE;
	ck_assert_int_eq(objects(&d, DRA_DRANET), 0);
	pci_format(d.m.pci[d.m.hca[0].pci].addr, first);
	pci_format(d.m.pci[d.m.hca[0].second].addr, second);
	ck_assert_ptr_nonnull(strstr(class_of(&d, "dranet-rail0"), first));
	ck_assert_ptr_nonnull(strstr(class_of(&d, "dranet-rail0"), second));
	ck_assert_str_eq(match(&d, "dranet-rail0"), "");
	ck_assert_ptr_nonnull(strstr(note(&d, "dranet-rail0"), "not known or not the same"));
}
END_TEST

START_TEST(more_vfs_than_an_expression_can_name_are_refused)
{
	auto_dra_case struct dra_case d = { 0 };
	struct topo_pci vf = { .parent = TOPO_NONE, .is_vf = true, .numa = -1 };

	two_roots(&d.m, NULL);
	d.m.pci = realloc(d.m.pci, (d.m.n_pci + 401) * sizeof(*d.m.pci));
	ck_assert_ptr_nonnull(d.m.pci);
	vf.physfn = d.m.hca[0].pci;
	vf.root = d.m.pci[vf.physfn].root;
	for (uint32_t i = 0; i < 401; i++) {
		vf.addr = (struct pci_addr){ 1, (uint8_t)(i / 256), (uint8_t)(i / 8 % 32),
					     (uint8_t)(i % 8) };
		d.m.pci[d.m.n_pci++] = vf;
	}
	ck_assert_int_eq(objects(&d, DRA_DRANET), -1);
	ck_assert_int_eq(d.e.code, ERR_EXHAUSTED);
	ck_assert_ptr_nonnull(strstr(d.e.msg, "401 VFs"));
	d.e = (struct err){ 0 };
	ck_assert_int_eq(objects(&d, DRA_SRIOV), 0);
}
END_TEST

START_TEST(a_machine_without_rails_is_an_error)
{
	auto_dra_case struct dra_case d = { 0 };

	ck_assert_int_eq(objects(&d, DRA_DRANET), -1);
	ck_assert_int_eq(d.e.code, ERR_NOTFOUND);
}
END_TEST

static int objects_once(void *arg, struct err *e)
{
	struct dra_case *d = arg;
	auto_json struct json *list = NULL;

	return dra_objects(&d->in, DRA_SRIOV, &list, e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	auto_dra_case struct dra_case d = { 0 };

	two_roots(&d.m, "mlx5_1");
	d.in.nodes = "0123456789abcdef";
	ck_assert_int_eq(objects(&d, DRA_SRIOV), 0);
	ck_assert_str_eq(alloc_fail_each(objects_once, &d), "ok");
}
END_TEST

TEST_PROGRAM("dra", a_root_complex_of_one_rail_is_compared,
	     a_gpu_below_another_root_complex_is_named, a_root_complex_of_two_rails_is_not_compared,
	     roots_that_a_topology_file_lacks_are_not_compared, gpus_of_other_vendors,
	     a_machine_without_gpus_has_claims_without_them, vfs_are_taken_rather_than_their_pf,
	     the_sriov_driver_gets_a_rail_for_each_vf, a_policy_without_a_label_is_for_all_nodes,
	     a_vf_without_its_pf_is_named_itself, a_bond_has_the_functions_of_both,
	     more_vfs_than_an_expression_can_name_are_refused, a_machine_without_rails_is_an_error,
	     each_failing_allocation_is_an_error)
