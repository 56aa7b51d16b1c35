// SPDX-License-Identifier: Apache-2.0
/*
 * Parses topology files with expat. Files that only NCCL's parser refuses are accepted with a note.
 * A document type is refused, so that no entity is ever expanded.
 */
#include <expat.h>
#include <string.h>

#include "topo/read/read.h"
#include "topo/nccl/priv.h"

#define FILE_MAX   (4 * 1024 * 1024)
#define NODES_MAX  65536
#define NCCL_NODES 256
#define NCCL_ATTRS 16
#define ATTRS_MAX  64

enum trouble { T_PROLOG, T_TAB, T_BREAK, T_NODES, T_ATTRS, N_TROUBLES };

struct reader {
	XML_Parser parser;
	const char *text;
	struct xml_build build;
	struct topo_machine m;
	struct err *e;
	bool failed;
	size_t nodes;
	unsigned long trouble[N_TROUBLES]; /* the line where it was first seen; 0: it was not */
};

static void read_reader_clear(struct reader *r)
{
	if (r->parser)
		XML_ParserFree(r->parser);
	topo_machine_clear(&r->m);
}

static unsigned long read_line_of(const struct reader *r)
{
	return (unsigned long)XML_GetCurrentLineNumber(r->parser);
}

static void stop_parser(struct reader *r)
{
	r->failed = true;
	(void)XML_StopParser(r->parser, XML_FALSE);
}

static void note_trouble(struct reader *r, enum trouble t)
{
	if (!r->trouble[t])
		r->trouble[t] = read_line_of(r);
}

static int check_attrs(struct reader *r, const struct xml_elem *x)
{
	size_t n = 0;

	for (; x->atts[2 * n]; n++) {
		if (n == ATTRS_MAX)
			return err_set(r->e, ERR_FIELD, 0,
				       "line %lu, %.80s: more than %d attributes", x->line, x->name,
				       ATTRS_MAX);
		if (strlen(x->atts[2 * n + 1]) > XML_VALUE_MAX)
			return err_set(r->e, ERR_FIELD, 0,
				       "line %lu, %.80s: the value of %.80s has more than %d bytes",
				       x->line, x->name, x->atts[2 * n], XML_VALUE_MAX);
	}
	if (n > NCCL_ATTRS)
		note_trouble(r, T_ATTRS);
	return 0;
}

static void on_start(void *arg, const XML_Char *name, const XML_Char **atts)
{
	struct reader *r = arg;
	struct xml_elem x = { name, atts, read_line_of(r) };

	if (r->failed)
		return;
	const char *raw = r->text + XML_GetCurrentByteIndex(r->parser);
	size_t len = (size_t)XML_GetCurrentByteCount(r->parser);
	if (memchr(raw, '\n', len) || memchr(raw, '\r', len))
		note_trouble(r, T_BREAK);
	if (memchr(raw, '\t', len))
		note_trouble(r, T_TAB);
	if (++r->nodes > NCCL_NODES)
		note_trouble(r, T_NODES);
	if (strlen(name) > XML_VALUE_MAX || r->nodes > NODES_MAX) {
		(void)err_set(r->e, ERR_FIELD, 0, "line %lu, %.80s: %s", x.line, name,
			      r->nodes > NODES_MAX ? "more than 65536 elements"
						   : "no name of an element is that long");
		stop_parser(r);
	} else if (check_attrs(r, &x) || xml_begin(&r->build, &x, r->e)) {
		stop_parser(r);
	}
}

static void on_end(void *arg, const XML_Char *name)
{
	struct reader *r = arg;

	(void)name;
	if (!r->failed)
		xml_end(&r->build);
}

static void on_text(void *arg, const XML_Char *s, int len)
{
	if (memchr(s, '\t', (size_t)len))
		note_trouble(arg, T_TAB);
}

static void on_prolog(void *arg, const XML_Char *version, const XML_Char *encoding, int standalone)
{
	(void)version, (void)encoding, (void)standalone;
	note_trouble(arg, T_PROLOG);
}

static void on_doctype(void *arg, const XML_Char *name, const XML_Char *system,
		       const XML_Char *public, int internal)
{
	struct reader *r = arg;

	(void)name, (void)system, (void)public, (void)internal;
	if (!r->failed)
		(void)err_set(r->e, ERR_FIELD, 0,
			      "line %lu: <!DOCTYPE: a topology file has no document type",
			      read_line_of(r));
	stop_parser(r);
}

/* NCCL dumps `<a b="" />` with an attribute without a name, ` =""`; remove it. */
static void blank_nameless(char *s)
{
	bool tag = false;
	char quote = 0;

	for (; *s; s++) {
		if (!tag && !strncmp(s, "<!--", 4)) {
			char *end = strstr(s, "-->");
			s = end ? end + 2 : s + strlen(s) - 1;
		} else if (!tag) {
			tag = *s == '<';
		} else if (quote) {
			if (*s == quote)
				quote = '\0';
		} else if (!strncmp(s, " =\"\"", 4)) {
			memset(s, ' ', 4);
		} else if (*s == '"' || *s == '\'') {
			quote = *s;
		} else {
			tag = *s != '>';
		}
	}
}

static int read_add_notes(struct reader *r, struct err *e)
{
	static const char *const text[N_TROUBLES] = {
		[T_PROLOG] = "NCCL refuses a file with an XML prolog (<?xml ...?>)",
		[T_TAB] = "NCCL refuses a file with tab characters",
		[T_BREAK] = "NCCL refuses a line break inside a tag",
		[T_NODES] = "NCCL refuses more than 256 elements",
		[T_ATTRS] = "NCCL refuses more than 16 attributes",
	};

	for (size_t i = 0; i < N_TROUBLES; i++) {
		if (r->trouble[i] &&
		    topo_add_note(&r->m, e, "line %lu: %s", r->trouble[i], text[i]))
			return -1;
	}
	return 0;
}

static int parse_buffer(struct reader *r, size_t len, struct err *e)
{
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetXmlDeclHandler(r->parser, on_prolog);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	if (XML_Parse(r->parser, r->text, (int)len, XML_TRUE) == XML_STATUS_OK)
		return 0;
	enum XML_Error code = XML_GetErrorCode(r->parser);
	if (r->failed)
		return -1;
	if (code == XML_ERROR_NO_MEMORY)
		return err_nomem(e);
	return err_set(e, ERR_FIELD, 0, "line %lu: it is not XML: %s", read_line_of(r),
		       XML_ErrorString(code));
}

int topo_read_xml(const char *text, size_t len, struct topo_machine *out, struct err *e)
{
	static const XML_Memory_Handling_Suite memory = { malloc, realloc, free };
	auto_clean(read_reader_clear) struct reader r = { .e = e };

	if (len > FILE_MAX)
		return err_set(e, ERR_FIELD, 0, "a topology file of more than 4 MiB");
	if (memchr(text, 0, len)) {
		err_set(e, ERR_FIELD, 0, "not a topology file: it has a NUL");
		return err_hint(e,
				"a capture is a tar: mkdir m && tar -xf FILE -C m, then --sysfs m");
	}
	auto_free char *copy = strndup(text, len);
	if (!copy)
		return err_nomem(e);
	blank_nameless(copy);
	r.text = copy;
	r.build.m = &r.m;
	r.parser = XML_ParserCreate_MM("UTF-8", &memory, NULL);
	if (!r.parser)
		return err_nomem(e);
	if (parse_buffer(&r, len, e) || read_add_notes(&r, e) || xml_finish(&r.build, e))
		return -1;
	*out = r.m;
	r.m = (struct topo_machine){ 0 };
	return 0;
}
