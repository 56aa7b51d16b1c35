/* SPDX-License-Identifier: Apache-2.0 */
/* page_test.c: a small cluster as a page, byte for byte; outliers; nothing hostile gets out; the
 * size of large clusters. */
#include "fabric/page.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define RAILS  8
#define GOLDEN "fabric/testdata/page_small.html"

/* A made cluster. Texts live here. */
struct made {
	struct fabric_node *cables;
	struct fabric_port *port;
	char (*text)[8 * 3][32];
	struct page page;
	struct fabric_groups groups;
	uint32_t *number;
	size_t n;
	char *answers;
};

static void made_clear(struct made *m)
{
	page_clear(&m->page);
	fabric_groups_clear(&m->groups);
	free(m->cables);
	free(m->port);
	free(m->text);
	free(m->number);
	free(m->answers);
}

/* n nodes with rails in groups of 32; change, if not NULL, makes them wrong before they are
 * compared. */
static void make(struct made *m, size_t n, void (*change)(struct made *m))
{
	m->n = n;
	m->cables = calloc(n, sizeof(*m->cables));
	m->port = calloc(n * RAILS, sizeof(*m->port));
	m->text = calloc(n, sizeof(*m->text));
	ck_assert(m->cables && m->port && m->text);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(m->text[i][0], 32, "gpu-%05zu", i + 1);
		m->cables[i] =
			(struct fabric_node){ m->text[i][0], &m->port[i * RAILS], RAILS, 0, 0 };
		for (unsigned r = 0; r < RAILS; r++) {
			char(*t)[32] = &m->text[i][1 + r * 2];

			(void)snprintf(t[0], 32, "leaf-%zu-%u", i / 32, r);
			(void)snprintf(t[1], 32, "swp%zu", i % 32 + 1);
			m->port[i * RAILS + r] = (struct fabric_port){ .rail = r,
								       .interface = "eth1",
								       .leaf = t[0],
								       .system = t[0],
								       .leaf_name = t[0],
								       .port = t[1],
								       .mbps = 400000,
								       .mtu = 9000,
								       .addresses = "",
								       .by = "" };
		}
	}
	if (change)
		change(m);
}

/* The page; the caller frees it. */
static const struct json *tested; /* of a job; NULL: none */

static char *drawn(struct made *m, const char *answers, size_t *len)
{
	auto_findings struct findings found = { .n = 0 };
	static struct page_pool pool[] = { { "rail1", "10.2.0.0/24", "ok", 253, 240, 3 },
					   { "rail0", "10.1.0.0/24", "ok", 253, 32, 3 },
					   { "old", "", "deleted", 0, 8, 1 } };
	struct page_facts f = { .page = &m->page,
				.groups = &m->groups,
				.pool = pool,
				.n_pools = ARRAY_SIZE(pool),
				.when = "2026-11-30T07:00:00Z",
				.store = "etcd",
				.node = "gpu-00001",
				.job = tested,
				.asked = answers != NULL };
	struct page_node *node;
	struct err e;
	char *out = NULL;
	size_t k = 0;

	ck_assert_int_eq(fabric_group(m->cables, m->n, &m->groups, &e), 0);
	ck_assert_int_eq(fabric_check(m->cables, m->n, &m->groups, &found, &e), 0);
	for (size_t i = 0; i < m->n; i++) {
		ck_assert_int_eq(page_node(&m->page, m->cables[i].name, &node, &e), 0);
		node->cables = &m->cables[i];
		node->stored = true;
		node->silent = (int64_t)i;
	}
	m->answers = answers ? strdup(answers) : NULL;
	ck_assert_int_eq(page_read(&m->page, m->answers, &e), 0);
	for (size_t i = 0; i < found.n; i++) {
		const struct finding *x = &found.item[i];

		while (strncmp(x->subject, m->cables[k].name, strlen(m->cables[k].name)) != 0)
			k++;
		ck_assert_int_eq(
			page_add_finding(&m->page, m->cables[k].name,
					 &(struct page_found){ x->state, x->code, x->subject,
							       x->value, x->reason, x->remedy },
					 &e),
			0);
	}
	m->number = calloc(m->groups.n + 1, sizeof(*m->number));
	ck_assert_ptr_nonnull(m->number);
	for (size_t i = 0; i < m->groups.n; i++)
		m->number[i] = (uint32_t)i;
	f.number = m->number;
	ck_assert_int_eq(page_compare(&m->page, &e), 0);
	ck_assert_int_eq(page_draw(&f, &out, len, &e), 0);
	ck_assert_uint_eq(strlen(out), *len);
	ck_assert(utf8_valid(out, *len));
	return out;
}

static void swap_leaves(struct fabric_port *a, struct fabric_port *b)
{
	const struct fabric_port x = *a;

	a->leaf = a->system = a->leaf_name = b->leaf;
	b->leaf = b->system = b->leaf_name = x.leaf;
}

/* ---- one page, whole ---- */

static void small_mistakes(struct made *m)
{
	for (size_t i = 0; i < m->n; i++)
		m->cables[i].n = 3;
	swap_leaves(&m->port[3 * RAILS], &m->port[3 * RAILS + 1]);
	m->cables[2].n = 2;
	m->port[RAILS].mbps = 200000;
	m->port[RAILS + 1].leaf = NULL;
	m->port[RAILS + 2].mtu = 1500;
	m->port[RAILS + 2].contested = true;
}

static const char small_answers[] =
	"node=gpu-00001\nstate=ok\nversion=0.9.0\nhealth=ok\ngpus=8\nrails=3\ndegraded=0\nok=7\n"
	"node=gpu-00002\nstate=warn\nversion=0.9.0\nhealth=ok\ngpus=8\nrails=3\ndegraded=1\n"
	"degraded-rails=0\nfinding=warn rail-degraded mlx5_0:1: the port is DOWN\n"
	"remedy=check the cable\n"
	"node=gpu-00003\nstate=unknown\nversion=0.8.0\nhealth=cut-off\ngpus=-\nrails=2\ndegraded=-"
	"\n"
	"finding=unknown not-done \n"
	"node=gpu-00004\nstate=fail\nversion=0.9.0\nhealth=ok\ngpus=8\nrails=3\ndegraded=0\n"
	"finding=fail crossed gpu-00004 rail 0 (eth1): leaf-0-1 port swp4, expected leaf-0-0\n"
	"node=gpu-00005\nwhy=no answer within 15 s\n"
	"node=login <1>\ngroup=g0\nwhy=no pod of an agent is there\n";

START_TEST(a_small_cluster_is_the_page_of_the_file)
{
	auto_clean(made_clear) struct made m = { .n = 0 };
	static char golden[1 << 20];
	size_t len, n;
	FILE *f;

	make(&m, 5, small_mistakes);
	auto_free char *page = drawn(&m, small_answers, &len);

	/* UPDATE=1: look at the page in a browser before it is committed. */
	if (getenv("UPDATE")) {
		f = fopen(GOLDEN, "w");
		ck_assert_ptr_nonnull(f);
		ck_assert_uint_eq(fwrite(page, 1, len, f), len);
		ck_assert_int_eq(fclose(f), 0);
	}
	f = fopen(GOLDEN, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(golden, 1, sizeof(golden) - 1, f);
	ck_assert_int_eq(fclose(f), 0);
	golden[n] = '\0';
	for (char *a = page, *b = golden; *a || *b;) {
		char *x = strchrnul(a, '\n'), *y = strchrnul(b, '\n');

		ck_assert_msg(x - a == y - b && memcmp(a, b, (size_t)(x - a)) == 0,
			      "is: %.*s\nnot: %.*s", (int)(x - a), a, (int)(y - b), b);
		a = *x ? x + 1 : x;
		b = *y ? y + 1 : y;
	}
}
END_TEST

/* ---- outliers ---- */

/* The names of outliers, with spaces between. */
static const char *outliers(const struct page *p)
{
	static char text[1024];

	*text = '\0';
	for (size_t i = 0; i < p->n; i++) {
		if (!p->node[i].outlier)
			continue;
		testing_append(text, sizeof(text), *text ? " " : "");
		testing_append(text, sizeof(text), p->node[i].name);
	}
	return text;
}

START_TEST(an_outlier_has_what_most_nodes_do_not_have)
{
	struct page p = { .n = 0 };
	char alike[] =
		"node=a\nversion=1\nrails=8\ngpus=8\nfinding=warn x y\nfinding=fail z a: only a\n"
		"node=b\nversion=1\nrails=8\ngpus=8\nfinding=warn x y\n"
		"node=c\nversion=1\nrails=8\ngpus=8\nfinding=warn x y\nfinding=warn x y\n"
		"node=d\nversion=2\nrails=8\ngpus=8\nnode=e\nversion=1\nrails=7\ngpus=8\n"
		"finding=warn x y\n"
		"node=f\nversion=1\nrails=8\ngpus=8\ndegraded=2\nfinding=warn x y\n";
	struct page_node *n;
	struct err e;

	ck_assert_int_eq(page_read(&p, alike, &e), 0);
	ck_assert_int_eq(page_node(&p, "b", &n, &e), 0);
	ck_assert_int_eq(page_compare(&p, &e), 0);
	ck_assert_str_eq(outliers(&p), "a d e f");
	ck_assert_uint_eq(p.n_found, 6);
	ck_assert_str_eq(p.found[0].text, "only a");
	ck_assert_str_eq(p.version, "1");
	ck_assert_uint_eq(p.n_shapes, 2);
	ck_assert_uint_eq(p.shape[0].n, 5);
	ck_assert_int_eq(p.node[0].worst, FINDING_FAIL);
	page_clear(&p);
}
END_TEST

START_TEST(a_node_says_nothing_about_another_one)
{
	struct page p = { .n = 0 };
	char text[] = "node=a\nfinding=warn x y\nremedy=right\nnode=b\nremedy=wrong\n";
	struct err e;

	ck_assert_int_eq(page_read(&p, text, &e), 0);
	ck_assert_uint_eq(p.n_found, 1);
	ck_assert_str_eq(p.found[0].remedy, "right");
	page_clear(&p);
}
END_TEST

START_TEST(wrong_answers_are_refused)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{ "node=a\nstate\n", "line 2 of the answers: not NAME=VALUE: \"state\"" },
		{ "state=ok\n", "line 1 of the answers: it is not of a node" },
		{ "node=a\nfinding=fail\n",
		  "line 2 of the answers: not STATE CODE TEXT: \"fail\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct page p = { .n = 0 };
		auto_free char *text = strdup(wrong[i].text);
		struct err e;

		ck_assert_int_eq(page_read(&p, text, &e), -1);
		ck_assert_str_eq(e.msg, wrong[i].error);
		page_clear(&p);
	}
}
END_TEST

/* ---- what is rare ---- */

static void bonds_of_two(struct made *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (unsigned r = 0; r < RAILS; r++) {
			m->port[i * RAILS + r].rail = 70 + r / 2;
			m->port[i * RAILS + r].member = r % 2;
			m->port[i * RAILS + r].addresses = "10.1.0.1/16";
		}
	m->port[0].mbps = 2500;
	m->port[1].mbps = m->port[1].mtu = 0;
	m->cables[1].port = &m->port[RAILS + 4];
	m->cables[1].n = 1;
}

START_TEST(rare_facts_are_said)
{
	static const char *const said[] = { "link 2",
					    "2500 Mbit/s, MTU 9000, 10.1.0.1/16",
					    "two machines have this name",
					    "off, as an operator says",
					    "? heartbeat 4000 s old",
					    "The store has no shared pool",
					    "There are none",
					    "9 nodes: the agent does not list their heartbeats",
					    "its agent does not listen for LLDP",
					    "4 rails",
					    "1 nodes with other texts",
					    "2 of 28 nodes: no heartbeat is known",
					    "No node was asked" };
	auto_clean(made_clear) struct made m = { .n = 0 };
	char name[26][16];
	struct page_facts f = {
		.page = &m.page, .groups = &m.groups, .when = "", .store = "", .node = "", .more = 9
	};
	struct page_node *n;
	struct err e;
	size_t len;

	make(&m, 2, bonds_of_two);
	for (size_t i = 0; i < 26; i++) {
		(void)snprintf(name[i], sizeof(name[i]), "n%02zu", i);
		ck_assert_int_eq(page_node(&m.page, name[i], &n, &e), 0);
		n->why = i < 25 ? name[i] : NULL;
		n->rails = i == 25 ? "4" : NULL;
		n->silent = i ? 3 : 4000;
		n->twin = i == 1;
		n->forgotten = i == 2;
		n->stored = i == 3;
	}
	for (size_t i = 0; i < m.n; i++) {
		m.cables[i].group = m.cables[i].near = FABRIC_NO_GROUP;
		ck_assert_int_eq(page_node(&m.page, m.cables[i].name, &n, &e), 0);
		n->cables = &m.cables[i];
	}
	ck_assert_int_eq(page_compare(&m.page, &e), 0);
	auto_free char *page = NULL;
	ck_assert_int_eq(page_draw(&f, &page, &len, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		ck_assert_msg(strstr(page, said[i]), "not said: %s", said[i]);
}
END_TEST

/* The agents have stored it of two nodes, not of the third; those of the fourth are older. */
static void stored_cards(struct made *m)
{
	for (size_t i = 0; i < 3 * RAILS; i++) {
		m->port[i].hca = "mlx5_0";
		m->port[i].degraded = i < 2 * RAILS ? "" : NULL;
	}
	m->port[RAILS + 2].degraded = "port";
}

/* In the row of a node in the grid. */
static size_t count_in_row(const char *page, const char *node, const char *what)
{
	const char *grid = strstr(page, "Groups and nodes");
	const char *at = grid ? strstr(grid, node) : NULL, *end = at ? strstr(at, "</tr>") : NULL;
	size_t n = 0;

	while (at && (at = strstr(at, what)) && at < end) {
		n++;
		at++;
	}
	return n;
}

START_TEST(a_stored_degraded_rail_is_red_without_an_answer)
{
	auto_clean(made_clear) struct made m = { .n = 0 };
	size_t len;

	make(&m, 4, stored_cards);
	auto_free char *page = drawn(&m, NULL, &len);

	ck_assert_uint_eq(count_in_row(page, "gpu-00001", "<td class=ok"), RAILS);
	ck_assert_uint_eq(count_in_row(page, "gpu-00002", "<td class=ok"), RAILS - 1);
	ck_assert_uint_eq(count_in_row(page, "gpu-00002", "<td class=bad"), 1);
	ck_assert_uint_eq(count_in_row(page, "gpu-00003", "<td class=unk"), RAILS);
	ck_assert_uint_eq(count_in_row(page, "gpu-00004", "<td class=ok"), RAILS);
	ck_assert_ptr_nonnull(strstr(page, "<tr class=outlier><th scope=row><b class=warn title"));
	ck_assert_ptr_nonnull(strstr(page, "<li class=bad><b>1</b> D degraded"));
}
END_TEST

/* It is about a leaf, so no node is an outlier by it. */
START_TEST(a_finding_may_be_about_no_node)
{
	auto_clean(made_clear) struct made m = { .n = 0 };
	struct err e;
	size_t len;

	make(&m, 4, NULL);
	ck_assert_int_eq(page_add_finding(&m.page, "",
					  &(struct page_found){ .state = FINDING_WARN,
								.code = "replaced",
								.subject = "leaf a" },
					  &e),
			 0);
	auto_free char *page = drawn(&m, NULL, &len);

	ck_assert_ptr_nonnull(strstr(page, "<bdi>replaced</bdi></td><td><bdi>leaf a"));
	ck_assert_ptr_null(strstr(page, "<tr class=outlier"));
}
END_TEST

/* What a rank was not measured for is not green, and its texts cannot become markup. */
START_TEST(the_test_of_a_job_is_a_grid)
{
	static const char text[] =
		"{\"time\":\"2026-11-30T12:00:00Z\",\"summary\":\"2 findings\",\"ranks\":["
		"{\"rank\":0,\"node\":\"a\",\"joined\":true,\"rails\":[{\"rail\":\"rail0\","
		"\"bytesPerSecond\":49000000000},{\"rail\":\"rail1\"}]},"
		"{\"rank\":1,\"node\":\"<b>\",\"joined\":true,\"rails\":[{\"rail\":\"rail0\","
		"\"code\":\"no-reach\"},{\"rail\":\"rail1\",\"code\":\"slow\","
		"\"bytesPerSecond\":23000000000}]},"
		"{\"rank\":2,\"joined\":false,\"rails\":[]}],"
		"\"findings\":[{\"code\":\"no-reach\",\"state\":\"fail\",\"ends\":[{\"node\":\"<b>"
		"\","
		"\"rail\":\"rail0\"}],\"reason\":\"r\",\"evidence\":\"e\",\"remedy\":\"do\"},"
		"{\"code\":\"slow\",\"state\":\"warn\",\"ends\":[]}]}";
	auto_clean(made_clear) struct made m = { .n = 0 };
	auto_json struct json *job = NULL;
	struct err e;
	size_t len;

	ck_assert_int_eq(json_parse(text, strlen(text), "job", &job, &e), 0);
	tested = job;
	make(&m, 4, NULL);
	auto_free char *page = drawn(&m, NULL, &len);
	tested = NULL;

	ck_assert_ptr_nonnull(strstr(page, "2026-11-30T12:00:00Z: 2 findings"));
	ck_assert_ptr_nonnull(strstr(page, "<td class=ok><b>\xe2\x9c\x93</b> 392G </td>"
					   "<td class=unk><b>?</b> </td>"));
	ck_assert_ptr_nonnull(strstr(page, "<td class=bad><b>\xe2\x9c\x97</b> no-reach</td>"
					   "<td class=warn><b>!</b> 184G slow</td>"));
	ck_assert_ptr_nonnull(strstr(page, "did not come"));
	ck_assert_ptr_nonnull(strstr(page, "&lt;b&gt; rail0"));
	ck_assert_ptr_null(strstr(page, "kubectl rail verify JOB"));
}
END_TEST

START_TEST(an_answer_makes_a_rail_known)
{
	auto_clean(made_clear) struct made m = { .n = 0 };
	size_t len;

	make(&m, 4, stored_cards);
	auto_free char *page = drawn(&m, "node=gpu-00003\nstate=ok\ndegraded=0\n", &len);

	ck_assert_uint_eq(count_in_row(page, "gpu-00003", "<td class=ok"), RAILS);
}
END_TEST

/* Each node has rails of its own: more than there are columns. */
static void own_rails(struct made *m)
{
	for (size_t i = 0; i < m->n * RAILS; i++)
		m->port[i].rail = (uint32_t)(m->n * RAILS - i);
}

START_TEST(rails_beyond_the_columns_are_counted)
{
	auto_clean(made_clear) struct made m = { .n = 0 };
	size_t len;

	make(&m, 9, own_rails);
	auto_free char *page = drawn(&m, NULL, &len);
	ck_assert_ptr_nonnull(strstr(page, "8 more places of rails are not shown"));
	ck_assert_ptr_nonnull(strstr(page, "1 more shapes and 0 more outliers have no picture"));
}
END_TEST

/* ---- size ---- */

static void many_mistakes(struct made *m)
{
	for (size_t i = 7; i < m->n; i += 50)
		swap_leaves(&m->port[i * RAILS], &m->port[i * RAILS + 1]);
	for (size_t i = 9; i < m->n; i += 50)
		m->port[i * RAILS + 2].mbps = 100000;
}

/* All leaves of all nodes have texts that are long when they are escaped. */
static void hostile_leaves(struct made *m)
{
	static const char quotes[] =
		"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""
		"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"";

	for (size_t i = 0; i < m->n * RAILS; i++) {
		m->port[i].leaf_name = m->port[i].port = quotes;
		m->port[i].addresses =
			"<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<";
	}
	many_mistakes(m);
}

START_TEST(a_large_cluster_has_at_most_2_MB)
{
	static const struct {
		size_t n;
		void (*change)(struct made *m);
		size_t most; /* bytes */
	} clusters[] = { { 256, many_mistakes, 600000 },
			 { 1024, many_mistakes, 500000 },
			 { 8192, many_mistakes, 1000000 },
			 { 256, hostile_leaves, PAGE_MAX },
			 { 8192, hostile_leaves, PAGE_MAX } };

	for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
		auto_clean(made_clear) struct made m = { .n = 0 };
		size_t len, rows = 0;

		make(&m, clusters[i].n, clusters[i].change);
		auto_free char *page = drawn(&m, NULL, &len);

		printf("%zu nodes: %zu bytes\n", clusters[i].n, len);
		ck_assert_uint_le(len, clusters[i].most);
		ck_assert_ptr_nonnull(strstr(page, "What was not looked at"));
		ck_assert_ptr_nonnull(strstr(page, "</body></html>\n"));
		for (const char *at = page; (at = strstr(at, "<th scope=row>")); at++)
			rows++;
		ck_assert_uint_ge(rows, i == 0 ? 256 : 40);
		ck_assert((strstr(page, "are not shown") != NULL) == (i > 1));
	}
}
END_TEST

/* ---- memory ---- */

static int draw_answers(void *arg, struct err *e)
{
	auto_page struct page p = { .n = 0 };
	auto_free char *text = strdup(arg), *out = NULL;
	struct fabric_groups none = { .n = 0 };
	const struct page_facts f = {
		.page = &p, .groups = &none, .when = "", .store = "", .node = "", .asked = true
	};
	size_t len;

	return !text || page_read(&p, text, e) || page_compare(&p, e) ||
			       page_draw(&f, &out, &len, e)
		       ? -1
		       : 0;
}

START_TEST(without_memory_there_is_no_page)
{
	char answers[sizeof(small_answers)];

	memcpy(answers, small_answers, sizeof(answers));
	ck_assert_str_eq(alloc_fail_each(draw_answers, answers), "ok");
}
END_TEST

TEST_PROGRAM("page", a_small_cluster_is_the_page_of_the_file,
	     an_outlier_has_what_most_nodes_do_not_have, a_node_says_nothing_about_another_one,
	     wrong_answers_are_refused, rare_facts_are_said,
	     a_stored_degraded_rail_is_red_without_an_answer, an_answer_makes_a_rail_known,
	     a_finding_may_be_about_no_node, the_test_of_a_job_is_a_grid,
	     rails_beyond_the_columns_are_counted, a_large_cluster_has_at_most_2_MB,
	     without_memory_there_is_no_page)
