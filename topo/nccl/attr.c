// SPDX-License-Identifier: Apache-2.0
/* Parses attributes: numbers, PCI addresses and texts, with errors that name line and element. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/base/parse.h"

#include "topo/nccl/priv.h"

const char *xml_value(const struct xml_elem *x, const char *name)
{
	for (size_t i = 0; x->atts[i]; i += 2) {
		if (!strcmp(x->atts[i], name))
			return x->atts[i + 1];
	}
	return NULL;
}

/* NULL: it is missing, or empty because sysfs had no value when NCCL wrote the file. */
static const char *get_attr(const struct xml_elem *x, const char *name)
{
	const char *v = xml_value(x, name);

	return v && *v ? v : NULL;
}

int xml_bad(const struct xml_elem *x, const char *name, const char *what, struct err *e)
{
	const char *v = xml_value(x, name);

	return err_set(e, ERR_FIELD, 0, "line %lu, %s: %s \"%s\": %s", x->line, x->name, name,
		       v ? v : "", what);
}

int xml_int(const struct xml_elem *x, const char *name, struct xml_range range, int64_t *out,
	    struct err *e)
{
	const char *v = get_attr(x, name);
	char *end;

	if (!v)
		return 0;
	bool hex = !strncmp(v, "0x", 2) || !strncmp(v, "0X", 2);
	errno = 0;
	long long n = strtoll(v, &end, hex ? 16 : 10);
	if (end == v || *end)
		return xml_bad(x, name, "it must be a number", e);
	if (errno || n < range.min || n > range.max)
		return xml_bad(x, name, "the number is out of range", e);
	*out = n;
	return 0;
}

int xml_hex(const struct xml_elem *x, const char *name, uint64_t max, uint64_t *out, struct err *e)
{
	const char *v = get_attr(x, name);
	char *end;

	if (!v)
		return 0;
	errno = 0;
	unsigned long long n = strtoull(v, &end, 16);
	if (end == v || *end || strchr("+- \t\n\r", *v))
		return xml_bad(x, name, "it must be a hexadecimal number", e);
	if (errno || n > max)
		return xml_bad(x, name, "the number is out of range", e);
	*out = n;
	return 0;
}

/* Up to `most` hexadecimal digits, and what ends them. */
static bool hex_field(const char **p, size_t most, char end, uint32_t *out)
{
	uint32_t n;
	size_t digits = hex_take(*p, most, &n);

	if (digits == 0 || (*p)[digits] != end)
		return false;
	*p += digits + (end != '\0');
	*out = n;
	return true;
}

/* pci_parse() would refuse invented addresses of bridges such as ffff:ff:20.0. */
int xml_busid(const struct xml_elem *x, const char *name, struct pci_addr *out, struct err *e)
{
	const char *v = get_attr(x, name);
	uint32_t domain, bus, dev, fn;

	if (!v)
		return 0;
	if (!hex_field(&v, 8, ':', &domain) || !hex_field(&v, 2, ':', &bus) ||
	    !hex_field(&v, 2, '.', &dev) || !hex_field(&v, 1, '\0', &fn))
		return xml_bad(x, name, "it must be a bus id as \"0000:07:00.0\"", e);
	*out = (struct pci_addr){ domain, (uint8_t)bus, (uint8_t)dev, (uint8_t)fn };
	return 0;
}

int xml_double(const struct xml_elem *x, const char *name, double *out, struct err *e)
{
	const char *v = get_attr(x, name);
	char *end;

	if (!v)
		return 0;
	double n = strtod(v, &end);
	if (end == v || *end || !isfinite(n))
		return xml_bad(x, name, "it must be a number", e);
	*out = n;
	return 0;
}

int xml_text(const struct xml_elem *x, const char *name, char *out, size_t size, struct err *e)
{
	const char *v = get_attr(x, name);

	if (!v)
		return 0;
	/* XML forbids the other control characters. */
	if (strpbrk(v, "\t\n\r\x7f"))
		return err_set(e, ERR_FIELD, 0, "line %lu, %s: %s holds a control character",
			       x->line, x->name, name);
	if (strlen(v) >= size)
		return xml_bad(x, name, "it is too long", e);
	memcpy(out, v, strlen(v) + 1);
	return 0;
}
