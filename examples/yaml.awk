# SPDX-License-Identifier: Apache-2.0
# yaml.awk: take the example manifests apart. Not a YAML parser: it knows the plain form in which the files
# of this folder are written, and says so where a file leaves it.
#
# Out, for each document N of the file: N.kind, N.name, and N.json, the JSON text of its "config: |" or
# "networks: |" block, or a list of its default network, as files named PREFIX-N.*. Usage: awk -v prefix=PREFIX -f yaml.awk FILE

function complain(what) { printf "%s:%d: %s: %s\n", FILENAME, FNR, what, $0 >"/dev/stderr"; bad = 1 }
function put(suffix, text) { print text >(prefix "-" n "." suffix) }
function indent_of(s) { match(s, /^ */); return RLENGTH }
function begin_document() { n++; section = ""; block = -1 }

BEGIN { n = 0; begin_document() }
/\t/ { complain("a tab") }
/[^ ] +$/ { complain("blanks at the end") }
/^---$/ { begin_document(); next }

block >= 0 && (/^ *$/ || indent_of($0) > block) { put("json", $0); next }
{ block = -1 }
/^ *#/ || /^$/ { next }
indent_of($0) % 2 { complain("indented by an odd number") }
!/^ *(- )?[A-Za-z0-9_.\/-]+:( .*)?$/ && !/^ *- [^ ]/ { complain("neither a key nor a list item") }

/^[A-Za-z]+:/ { section = $1 }
/^kind: / { put("kind", $2) }
/^  name: / && section == "metadata:" { put("name", $2) }
/^(  config|    (    )?k8s\.v1\.cni\.cncf\.io\/networks): \|$/ { block = indent_of($0) }
/^    v1\.multus-cni\.io\/default-network: / { sub(/.*\//, "", $2); put("json", "[{\"name\": \"" $2 "\"}]") }

END { exit bad }
