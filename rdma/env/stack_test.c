/* SPDX-License-Identifier: Apache-2.0 */
/* stack_test.c: the variables of each program, as its libraries read them. */
#include <stdlib.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "rdma/env/env.h"
#include "rdma/testing/envs.h"
#include "rdma/testing/pod.h"

static struct env made_for(const struct rdma_inventory *v, const char *stack)
{
	struct env_options o = ENV_OPTIONS_INIT;

	o.libraries = env_stack(stack);
	o.tc = 106;
	o.sl = 3;
	ck_assert_uint_ne(o.libraries, 0);
	return envs_made(v, &o);
}

static bool sets(const struct env *x, const char *prefix)
{
	for (size_t i = 0; i < x->n_vars; i++)
		if (strncmp(x->var[i].name, prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

/* ---- which program has which ---- */

START_TEST(each_program_gets_the_variables_of_its_libraries)
{
	static const struct {
		const char *stack;
		bool nccl, ucx, nvshmem, mooncake;
	} programs[] = {
		{ "nccl", true, false, false, false },    { "ucx", false, true, false, false },
		{ "nvshmem", false, false, true, false }, { "mooncake", false, false, false, true },
		{ "nixl", false, true, false, false },    { "deepep", true, false, true, false },
		{ "vllm", true, true, true, true },       { "sglang", true, true, true, true },
		{ "dynamo", true, true, true, true },
	};
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 2, 3, 0);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		auto_env struct env x = made_for(&v, programs[i].stack);
		ck_assert_int_eq(sets(&x, "NCCL_"), programs[i].nccl);
		ck_assert_int_eq(sets(&x, "GLOO_"), programs[i].nccl);
		ck_assert_int_eq(sets(&x, "UCX_"), programs[i].ucx);
		ck_assert_int_eq(sets(&x, "NVSHMEM_"), programs[i].nvshmem);
		ck_assert_int_eq(sets(&x, "MC_"), programs[i].mooncake);
		ck_assert_int_eq(sets(&x, "MOONCAKE_"), programs[i].mooncake);
		envs_warns(&x, 0, NULL);
		auto_free char *shell = env_shell(&x, true);
		ck_assert_int_eq(strstr(shell, "NCCL_IB_TIMEOUT") != NULL, programs[i].nccl);
	}
	ck_assert_uint_eq(env_stack("pytorch"), 0);
}
END_TEST

/* ---- as NVSHMEM reads them ---- */

/* nvshmemt_parse_hca_list(): names up to ":" or ",", and a port. */
static size_t nvshmem_list(const char *list, char names[][32], int *ports, size_t max)
{
	size_t n = 0;

	while (*list && n < max) {
		size_t len = strcspn(list, ":,");

		ck_assert_uint_lt(len, 32);
		memcpy(names[n], list, len);
		names[n][len] = '\0';
		list += len;
		ports[n] = *list == ':' ? (int)strtol(list + 1, NULL, 10) : -1;
		list += strcspn(list, ",");
		list += *list == ',';
		n++;
	}
	return n;
}

START_TEST(NVSHMEM_finds_the_ports)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	char names[4][32];
	int ports[4];

	pod_rails(&v, 2, 3, 0);
	auto_env struct env x = made_for(&v, "nvshmem");
	envs_shows(&x, "NVSHMEM_IB_TRAFFIC_CLASS=106\n"
		       "NVSHMEM_HCA_LIST=mlx5_1:1,mlx5_2:1\n"
		       "NVSHMEM_IB_GID_INDEX=3\n"
		       "NVSHMEM_IB_SL=3\n");
	ck_assert_uint_eq(nvshmem_list(env_value(&x, "NVSHMEM_HCA_LIST"), names, ports, 4), 2);
	ck_assert_str_eq(names[0], "mlx5_1");
	ck_assert_str_eq(names[1], "mlx5_2");
	ck_assert_int_eq(ports[0] * 10 + ports[1], 11);
}
END_TEST

/* strstr(name, NVSHMEM_HCA_PREFIX) */
START_TEST(NVSHMEM_knows_HCAs_by_other_names)
{
	static const struct {
		const char *first, *second, *prefix;
	} names[] = {
		{ "ibp3s0", "ibp68s0", "ibp" },    { "rocep12s0", "rocep145s0f1", "rocep" },
		{ "mlx5_0", "rocep1s0", "" },      { "mlx5_0", "mlx5_1", NULL },
		{ "mlx5_bond_0", "mlx5_2", NULL }, { "rdma0", "rdma0p1", "rdma" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

		pod_rails(&v, 2, 3, 0);
		(void)strcpy(v.device[0].link.name, names[i].first);
		(void)strcpy(v.device[1].link.name, names[i].second);
		auto_env struct env x = made_for(&v, "deepep");
		const char *prefix = env_value(&x, "NVSHMEM_HCA_PREFIX");
		ck_assert_int_eq(prefix != NULL, names[i].prefix != NULL);
		if (!prefix)
			continue;
		ck_assert_str_eq(prefix, names[i].prefix);
		ck_assert(strstr(names[i].first, prefix) && strstr(names[i].second, prefix));
	}
}
END_TEST

START_TEST(NVSHMEM_chooses_GIDs_as_NCCL)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 2, 3, 2);
	auto_env struct env x = made_for(&v, "deepep");
	ck_assert_ptr_null(env_value(&x, "NVSHMEM_IB_GID_INDEX"));
	ck_assert_str_eq(env_value(&x, "NVSHMEM_IB_ADDR_FAMILY"), "AF_INET");
	ck_assert_str_eq(env_value(&x, "NVSHMEM_IB_ADDR_RANGE"),
			 env_value(&x, "NCCL_IB_ADDR_RANGE"));
}
END_TEST

/* ---- as Mooncake reads them ---- */

START_TEST(Mooncake_has_one_index_for_all)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 2, 3, 0);
	auto_env struct env x = made_for(&v, "mooncake");
	envs_shows(&x, "MC_TE_FILTERS=mlx5_1,mlx5_2\n"
		       "MC_MS_FILTERS=mlx5_1,mlx5_2\n"
		       "MOONCAKE_DEVICE=mlx5_1,mlx5_2\n"
		       "MC_GID_INDEX=3\n"
		       "MC_IB_TC=106\n"
		       "MC_IB_SL=3\n");
}
END_TEST

START_TEST(Mooncake_cannot_have_two)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 2, 3, 2);
	auto_env struct env x = made_for(&v, "mooncake");
	ck_assert_ptr_null(env_value(&x, "MC_GID_INDEX"));
	envs_warns(&x, 1, "Mooncake has one GID index for all devices, and here they differ");
}
END_TEST

START_TEST(Mooncake_has_one_port_for_all)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 2, 3, 0);
	v.device[0].port[0].port = 2;
	auto_env struct env x = made_for(&v, "mooncake");
	ck_assert_ptr_null(env_value(&x, "MC_IB_PORT"));
	envs_warns(&x, 1, "Mooncake has one port number for all devices");
	v.device[1].port[0].port = 2;
	auto_env struct env y = made_for(&v, "mooncake");
	ck_assert_str_eq(env_value(&y, "MC_IB_PORT"), "2");
	envs_warns(&y, 0, NULL);
}
END_TEST

START_TEST(Mooncake_wants_the_index_of_a_partition)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = ENV_OPTIONS_INIT;
	struct inv_port *p = pod_port(&v, "mlx5_0", "", 0);

	pod_ib(p, 7, "0002:c903:00aa:0001");
	pod_pkey(p, 1, 0x8001);
	o.libraries = ENV_MOONCAKE;
	o.pkey = 0x8001;
	auto_env struct env x = envs_made(&v, &o);
	envs_warns(&x, 0, NULL);
	envs_shows(&x, "MC_TE_FILTERS=mlx5_0\n"
		       "MC_MS_FILTERS=mlx5_0\n"
		       "MOONCAKE_DEVICE=mlx5_0\n"
		       "MC_PKEY_INDEX=1\n");
}
END_TEST

TEST_PROGRAM("stack", each_program_gets_the_variables_of_its_libraries, NVSHMEM_finds_the_ports,
	     NVSHMEM_knows_HCAs_by_other_names, NVSHMEM_chooses_GIDs_as_NCCL,
	     Mooncake_has_one_index_for_all, Mooncake_cannot_have_two,
	     Mooncake_has_one_port_for_all, Mooncake_wants_the_index_of_a_partition)
