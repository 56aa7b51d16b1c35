// SPDX-License-Identifier: Apache-2.0
/* The colours of the picture: readable on every background, light and dark. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/output/show.h"

/* ---- the style of a picture ---- */

/* The colours of the picture; dark gets those for a viewer that is set to dark, else NULL. */
static char *style(char **dark)
{
	struct topo_machine m = { 0 };
	struct topo_choice choice = { 0 };
	struct nccl_prediction nccl = { 0 };
	struct comparison differ = { 0 };
	struct topo_view v = { .m = &m, .choice = &choice, .nccl = &nccl, .differ = &differ };
	struct err e = { 0 };
	char *text = NULL, *end;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(to);
	ck_assert_int_eq(show_svg(&v, to, &e), 0);
	ck_assert_int_eq(fclose(to), 0);
	char *begin = strstr(text, "<style>");
	ck_assert_ptr_nonnull(begin);
	memmove(text, begin, strlen(begin) + 1);
	end = strstr(text, "</style>");
	ck_assert_ptr_nonnull(end);
	*end = '\0';
	*dark = strstr(text, "@media screen and (prefers-color-scheme:dark){");
	ck_assert_ptr_nonnull(*dark);
	(*dark)[-1] = '\0';
	return text;
}

static bool is_selected(const char *list, size_t len, const char *selector)
{
	struct slice rest = { list, len }, one;

	while (slice_next(&rest, ',', &one))
		if (one.len == strlen(selector) && !memcmp(one.p, selector, one.len))
			return true;
	return false;
}

/* The six digits of the colour that the last rule for this selector gives to a property. */
static const char *color(const char *css, const char *selector, const char *property)
{
	static char found[2][7];
	static unsigned which;
	char key[16], *out = found[which++ % 2];

	(void)snprintf(key, sizeof(key), "%s:#", property);
	*out = '\0';
	for (const char *open = strchr(css, '{'); open; open = strchr(open + 1, '{')) {
		const char *begin = open, *end = open + strcspn(open, "}"), *value;

		while (begin > css && !strchr("}>{\n", begin[-1]))
			begin--;
		value = strstr(open, key);
		if (value && value < end && is_selected(begin, (size_t)(open - begin), selector))
			(void)snprintf(out, 7, "%.6s", value + strlen(key));
	}
	ck_assert_msg(strspn(out, "0123456789abcdef") == 6, "%s has no %s", selector, property);
	return out;
}

/* ---- contrast, as WCAG 2.1 defines it ---- */

static double luminance(const char *digits)
{
	static const double weight[] = { 0.2126, 0.7152, 0.0722 };
	double sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(weight); i++) {
		double c = (hex_digit(digits[2 * i]) * 16 + hex_digit(digits[2 * i + 1])) / 255.0;
		sum += weight[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

static double contrast(const char *a, const char *b)
{
	double x = luminance(a), y = luminance(b);

	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

START_TEST(contrast_is_that_of_the_definition)
{
	ck_assert_double_eq_tol(contrast("000000", "ffffff"), 21, 0.01);
	ck_assert_double_eq_tol(contrast("777777", "ffffff"), 4.48, 0.01);
}
END_TEST

/* ---- the themes ---- */

/* Text needs 4.5, lines and borders that say something need 3. The borders of NUMA nodes and root
 * complexes are not here: these boxes have a title. */
static void check_contrasts(const char *css, const char *theme)
{
	static const struct {
		const char *selector, *property, *on[6];
		double least;
	} pairs[] = {
		{ "text", "fill", { ".page", ".socket", ".switch", ".hca", ".gpu" }, 4.5 },
		{ ".d", "fill", { ".page", ".socket", ".switch", ".hca", ".gpu" }, 4.5 },
		{ ".on", "fill", { ".mark" }, 4.5 },
		{ ".mine", "stroke", { ".page", ".socket", ".switch", ".hca", ".gpu" }, 3 },
		{ ".near", "stroke", { ".page", ".socket", ".switch", ".hca", ".gpu" }, 3 },
		{ ".off", "stroke", { ".page", ".socket", ".switch", ".hca", ".gpu" }, 3 },
		{ ".bad", "stroke", { ".page", ".socket", ".switch", ".hca", ".gpu" }, 3 },
		{ ".mark", "fill", { ".page", ".socket", ".switch", ".hca", ".gpu" }, 3 },
		{ ".hca", "stroke", { ".page", ".socket", ".switch", ".hca" }, 3 },
		{ ".gpu", "stroke", { ".page", ".socket", ".switch", ".gpu" }, 3 },
		{ ".switch", "stroke", { ".page", ".socket", ".switch" }, 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(pairs[i].on) && pairs[i].on[k]; k++) {
			double c = contrast(color(css, pairs[i].selector, pairs[i].property),
					    color(css, pairs[i].on[k], "fill"));
			ck_assert_msg(c >= pairs[i].least, "%s: %s on %s has a contrast of %.2f",
				      theme, pairs[i].selector, pairs[i].on[k], c);
		}
	}
}

START_TEST(text_and_lines_are_readable)
{
	char *dark;
	auto_free char *light = style(&dark);

	ck_assert_double_gt(luminance(color(light, ".page", "fill")), 0.5);
	ck_assert_double_lt(luminance(color(dark, ".page", "fill")), 0.05);
	check_contrasts(light, "light");
	check_contrasts(dark, "dark");
}
END_TEST

TEST_PROGRAM("svg_theme", contrast_is_that_of_the_definition, text_and_lines_are_readable)
