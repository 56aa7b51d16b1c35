# SPDX-License-Identifier: Apache-2.0
# schema.jq: hold a document against a JSON schema. Prints a line for each place that does not fit.
#
# jq -r --slurpfile schema FILE -f schema.jq DOCUMENT
# Of JSON schema it knows what docs/topo.schema.json uses; any other word of it is a complaint.
def kind: if type == "number" and . == floor then "integer" else type end;
def known: ["$schema", "$defs", "$ref", "title", "description", "type", "required", "properties", "items",
	"enum", "const", "minimum", "pattern"];

def check($s; $root; $at):
	. as $v
	| ($s | keys_unsorted - known)[] as $word | "\($at): the schema says \($word), which this test does not know";

def walk($s; $root; $at):
	. as $v
	| check($s; $root; $at),
	(if $s | has("$ref") then
		($root | getpath($s["$ref"] | ltrimstr("#/") | split("/"))) as $there
		| walk($there; $root; $at)
	else empty end),
	(if $s | has("type") then
		([$s.type] | flatten) as $types
		| ($v | kind) as $kind
		| if ($types | index($kind)) or ($kind == "integer" and ($types | index("number"))) then empty
		else "\($at): is \($kind), not \($types | join(" or "))" end
	else empty end),
	(if $s | has("const") then if $v == $s.const then empty else "\($at): is not \($s.const)" end else empty end),
	(if $s | has("enum") then
		if $s.enum | any(. == $v) then empty else "\($at): \($v) is none of \($s.enum)" end
	else empty end),
	(if ($s | has("minimum")) and ($v | type) == "number" and $v < $s.minimum then
		"\($at): \($v) is below \($s.minimum)"
	else empty end),
	(if ($s | has("pattern")) and ($v | type) == "string" and ($v | test($s.pattern) | not) then
		"\($at): \"\($v)\" does not match \($s.pattern)"
	else empty end),
	(if ($v | type) == "object" then
		(($s.required // []) - ($v | keys_unsorted))[] | "\($at): has no \(.)"
	else empty end),
	(if ($v | type) == "object" then
		($s.properties // {}) | to_entries[] | .key as $k | .value as $sub
		| select($v | has($k)) | $v[$k] | walk($sub; $root; "\($at).\($k)")
	else empty end),
	(if ($v | type) == "array" and ($s | has("items")) then
		range($v | length) as $i | $v[$i] | walk($s.items; $root; "\($at)[\($i)]")
	else empty end);

walk($schema[0]; $schema[0]; "document")
