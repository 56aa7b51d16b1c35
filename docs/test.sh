#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/test.sh: the documents agree with the code. Needs neither root nor our programs.
#
# Manual pages are clean; every key that the C code decodes and every error code is in one. Every link
# between documents has a target, and every file, function, target of make and fuzz target that they name
# exists. Prints one line a failure and closes with the counts.
set -u
cd "$(dirname "$0")/.." || exit 2

passed=0 failed=0 skipped=0
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; }
skip() { skipped=$((skipped + 1)); printf 'skip %s\n' "$*"; }

mapfile -t pages < <(find docs/man railctl -name '*.[1-8]' | sort)

# --- manual pages ----------------------------------------------------------------------------------

# References to our own pages must lead to a page; whether other people's pages are installed does not
# matter here.
references()
{
	local from name section
	while read -r from name section; do
		case $name in
		railhead* | railctl* | kubectl-rail | cni-errors) ;;
		*) continue ;;
		esac
		if printf '%s\n' "${pages[@]}" | grep -qE "/$name\.$section$"; then pass; else
			fail "$from: refers to $name($section), which is not there"
		fi
	done < <(awk '/^\.(It )?Xr / || / Xr / {
		for (i = 1; i < NF; i++)
			if ($i == "Xr" || $i == ".Xr") print FILENAME, $(i + 1), $(i + 2)
	}' "${pages[@]}" | sort -u)
}

lint()
{
	command -v mandoc >/dev/null || { skip "mandoc is not installed"; return; }
	local page text
	for page in "${pages[@]}"; do
		text=$(mandoc -Tlint "$page" | grep -v 'referenced manual not found')
		if [ -z "$text" ]; then pass; else fail "$text"; fi
	done
}

# --- what the code decodes -------------------------------------------------------------------------

# Keys in the tables of json_field, and those asked for by name.
code_keys()
{
	local sources
	mapfile -t sources < <(find cni ipam fabric install sriov rdma plugins \( -path rdma/probe -o -path rdma/job -o -path ipam/block \) -prune -o -name '*.c' ! -name '*_test.c' ! -name '*_fuzz.c' ! -path '*/testing/*' -print)
	{
		grep -ohE '\.key = "[^"]+"' "${sources[@]}"
		grep -ohE '\{ "[^"]+", J_[A-Z0-9]+, ' "${sources[@]}"
		grep -ohE '(^|[[:space:]{])[A-Z][A-Z0-9_]+\("[^"]+", (J_[A-Z0-9]+, )?[a-z_.0-9]+[,)]' "${sources[@]}"
		grep -ohE 'json_get\([^()]*(\([^()]*\))?[^()]*, "[^"]+"\)' "${sources[@]}"
		grep -ohE 'key = "cni\.dev[^"]*"' "${sources[@]}"
	} | sed 's/^[^"]*"//; s/".*//' | sort -u
}

keys()
{
	local key documented n=0
	documented=$(awk -f docs/keys.awk "${pages[@]}")
	while read -r key; do
		n=$((n + 1))
		if grep -qxF -- "$key" <<<"$documented"; then pass; else
			fail "key \"$key\" is decoded in cni/, ipam/, fabric/, install/, sriov/, rdma/ or plugins/ and marked with .Cm in no manual page"
		fi
	done < <(code_keys)
	[ "$n" -ge 40 ] || fail "only $n keys were found in the code: this test no longer reads its tables"
}

# --- error codes -----------------------------------------------------------------------------------

errors()
{
	local name number n=0
	while read -r name number; do
		n=$((n + 1))
		if grep -q "^\.It $number Pq Dv $name$" docs/man/cni-errors.7; then pass; else
			fail "cni-errors(7) has no entry \"$number ($name)\" of lib/base/err.h"
		fi
	done < <(sed -nE 's/^\t(ERR_[A-Z]+) = ([0-9]+),.*/\1 \2/p' lib/base/err.h)
	[ "$n" -ge 20 ] || fail "only $n codes were found in lib/base/err.h"
	while read -r number name; do
		grep -q "$name = $number," lib/base/err.h ||
			fail "cni-errors(7) describes $number ($name), which lib/base/err.h does not have"
	done < <(sed -nE 's/^\.It ([0-9]+) Pq Dv (ERR_[A-Z]+)$/\1 \2/p' docs/man/cni-errors.7)
}

# --- links -----------------------------------------------------------------------------------------

# [text](target) of Markdown files, except those to other hosts.
links()
{
	local file target
	while IFS=: read -r file target; do
		target=${target%%#*}
		[ -n "$target" ] || continue
		if [ -e "$(dirname "$file")/$target" ]; then pass; else
			fail "$file: the link to $target leads nowhere"
		fi
	done < <(find . -name '*.md' -not -path './build/*' -print0 |
		xargs -0 grep -oHE '\]\([^)[:space:]]+\)' | sed -E 's/\]\(([^)]*)\)$/\1/' |
		grep -vE ':[a-z]+:')
}

# [text](page.md#a-heading): the heading in small letters without signs, its words joined by dashes.
headings()
{
	local file target page n=0
	while IFS=: read -r file target; do
		n=$((n + 1))
		page=$file
		[[ $target == '#'* ]] || page=$(dirname "$file")/${target%%#*}
		if sed -n 's/^##* //p' "$page" 2>/dev/null | tr '[:upper:]' '[:lower:]' |
			sed 's/[^a-z0-9 _-]//g; s/ /-/g' | grep -qxF -- "${target#*#}"; then pass; else
			fail "$file: the link to $target leads to no heading"
		fi
	done < <(find . -name '*.md' -not -path './build/*' -print0 |
		xargs -0 grep -oHE '\]\([^):[:space:]]*#[^)[:space:]]+\)' | sed -E 's/\]\(([^)]*)\)$/\1/')
	[ "$n" -ge 15 ] || fail "only $n links to headings were found in the documents"
}

# `lib/net/link.c` and `lib/net/link` are files of this tree; a name with X is a placeholder. Decisions may name files of
# the past.
paths()
{
	local file path
	while IFS=: read -r file path; do
		if [ -e "$path" ] || [ -e "$path.c" ] || [ -e "$path.h" ]; then pass; else
			fail "$file: there is no $path"
		fi
	done < <(find . -name '*.md' -not -path './build/*' -not -path './docs/decisions/*' -not -name CHANGELOG.md -print0 |
		xargs -0 grep -oHE '`('"$(tr -s ' \n' '|' <tools/parts)"'conformance|tools|docs|examples|packaging)/[a-z0-9_./-]+`' |
		tr -d '`')
}

# `function` in `lib/net/link.c`: the file has that name. `struct x` in `lib/net/link.h`: the file has its members.
names()
{
	local file name path pattern n=0
	while IFS=: read -r file name path; do
		n=$((n + 1))
		case $name in
		*' '*) pattern="^$name {" ;;
		*) pattern="\\b$name\\b" ;;
		esac
		if grep -qE -- "$pattern" "$path" 2>/dev/null; then pass; else
			fail "$file: there is no $name in $path"
		fi
	done < <(find . -name '*.md' -not -path './build/*' -not -path './docs/decisions/*' -print0 | xargs -0 \
		grep -oHE '`((struct|union|enum) )?[A-Za-z_0-9]+` in `[a-z0-9_./-]+\.[ch]`' | sed 's/:`/:/; s/` in `/:/; s/`$//')
	[ "$n" -ge 5 ] || fail "only $n names in files were found in the documents"
}

# Each step of docs/flows.md names a function and its file. A .c file defines it; a prototype there is not enough.
flows()
{
	local name path n=0
	while IFS=: read -r name path; do
		n=$((n + 1))
		if awk -v name="$name" -v header="${path##*.}" '
			$0 ~ "^[a-z].*[ *]" name "\\(" { in_it = 1 }
			in_it && /;$/ { found = found || header == "h"; in_it = 0 }
			in_it && /^{$/ { found = 1 }
			END { exit !found }' "$path" 2>/dev/null; then pass; else
			fail "docs/flows.md: $path does not define $name()"
		fi
	done < <(tr '\n' ' ' <docs/flows.md | grep -oE '`[A-Za-z_0-9]+` in  *`[^`]+`' | sed 's/^`//; s/` in  *`/:/; s/`$//')
	[ "$n" -ge 90 ] || fail "only $n functions were found in docs/flows.md"
	while IFS= read -r step; do
		fail "docs/flows.md: a step names no function and file: $step"
	done < <(awk '/^[0-9]+\. |^$/ { if (step != "") print step; step = "" } /^[0-9]+\. / || step != "" { step = step " " $0 }' \
		docs/flows.md | grep -vE '`[A-Za-z_0-9]+` in +`[^`]+`')
}

# `make TARGET` of the documents, and what LIGHT and HELP list, is a target. `make help` needs the text of each.
targets()
{
	local file target n=0
	while IFS=: read -r file target; do
		n=$((n + 1))
		if grep -qE "^([a-z0-9._-]+ )*$target( [a-z0-9._-]+)*:" Makefile tools/lanes.mk; then pass; else
			fail "$file: there is no target $target"
		fi
	done < <(
		find . -name '*.md' -not -path './build/*' -not -path './docs/decisions/*' -print0 |
			xargs -0 grep -oHE '(`|^|sudo )make [a-z][a-z0-9._/-]+' | sed -E 's/:.*make /:/; /:.*\//d' | sort -u
		awk '/^LIGHT :=/, !/\\$/ { sub(/^LIGHT :=/, ""); sub(/\\$/, ""); for (i = 1; i <= NF; i++) print "Makefile, LIGHT:" $i }' Makefile
	)
	for target in $(sed -n '/^HELP :=/,/[^\\]$/p' tools/lanes.mk | sed 's/^HELP :=//; s/\\$//'); do
		if grep -qE "^$target:.*## ." Makefile tools/lanes.mk; then pass; else fail "tools/lanes.mk, HELP: $target is not a target with a text"; fi
	done
	[ "$n" -ge 100 ] || fail "only $n targets of make were found in the documents and in LIGHT"
}

# The table of parts in docs/design.md: the last column has what the code of the part includes of other parts.
includes()
{
	local part listed found n=0
	while IFS='|' read -r part listed; do
		n=$((n + 1))
		found=$(find "$part" -name '*.[ch]' ! -name '*_test.c' ! -name '*_fuzz.c' ! -path '*/testing/*' \
			-exec sed -nE 's/^#include "([a-z]+)\/.*/\1/p' {} + | grep -vx "$part" | sort -u | paste -sd, | sed 's/,/, /g')
		if [ "$listed" = "${found:-none}" ]; then pass; else
			fail "docs/design.md: $part/ includes ${found:-none}, not $listed"
		fi
	done < <(sed -nE 's/^\| `([a-z]+)\/` \|.*\| ([a-z, ]+) \|$/\1|\2/p' docs/design.md)
	[ "$n" = "$(wc -w <tools/parts)" ] || fail "docs/design.md has $n parts, and tools/parts $(wc -w <tools/parts)"
}

# The first column of the tables of docs/security.md names fuzz targets: lib/json/decode is lib/json/decode_fuzz.c. Its list
# of findings names them in quotes. The first line of a file of seeds names its target.
fuzz_targets()
{
	local where target n=0
	while IFS=: read -r where target; do
		n=$((n + 1))
		if [ -e "${target}_fuzz.c" ]; then pass; else
			fail "$where: there is no fuzz target $target (${target}_fuzz.c): write its present name"
		fi
	done < <(
		sed -nE 's/^\| ([a-z]+\/[a-z_0-9/]+) \| [0-9].*/docs\/security.md:\1/p' docs/security.md
		sed -nE '/^\| found by /,/^$/p' docs/security.md | cut -d'|' -f2 | grep -oE '`[^`]+`' |
			sed -E 's/`(.*)`/docs\/security.md:\1/'
		find . -name '*.seeds' -not -path './build/*' -exec \
			awk 'FNR == 1 { sub(/\.$/, "", $7); print FILENAME ":" $7 }' {} +
	)
	[ "$n" -ge 60 ] || fail "only $n names of fuzz targets were found in docs/security.md and the seeds"
}

decisions()
{
	local page
	for page in docs/decisions/*.md; do
		case ${page##*/} in
		README.md) continue ;;
		20[0-9][0-9]-[01][0-9]-[0-3][0-9]-*.md) ;;
		*) fail "$page: a decision's name begins with its date"; continue ;;
		esac
		if grep -q '^## Context' "$page" && grep -q '^## Decision' "$page" &&
			grep -q '^## Consequences' "$page"; then pass; else
			fail "$page: lacks one of Context, Decision, Consequences"
		fi
		grep -qF "(${page##*/})" docs/decisions/README.md 2>/dev/null ||
			fail "$page: is not listed in docs/decisions/README.md"
	done
}

# Each command of docs/kubernetes.md is done by conformance/cluster/guide.sh or migrate.sh: follow SECTION PATTERN.
guided()
{
	local section line n=0
	while IFS=$'\t' read -r section line; do
		n=$((n + 1))
		if sed -n "s/^\t*follow '\{0,1\}$section'\{0,1\} '\{0,1\}\([^']*\)'\{0,1\}$/\1/p" conformance/cluster/{guide,migrate}.sh |
			grep -qE -f - <(printf '%s\n' "$line"); then pass; else
			fail "docs/kubernetes.md, $section: conformance/cluster does not run: $line"
		fi
	done < <(awk '/^## / { section = substr($0, 4) } /^ *```sh$/ { on = 1; next } /^ *```$/ { on = 0 }
		on { sub(/^ */, ""); print section "\t" $0 }' docs/kubernetes.md)
	[ "$n" -ge 10 ] || fail "only $n commands were found in docs/kubernetes.md"
}

# Each plugin of tools/plugins.sh has a manual page and its row in docs/programs.md, and the values of the chart know it.
plugins()
{
	local plugin n=0
	for plugin in $(tools/plugins.sh); do
		n=$((n + 1))
		if [ -e "docs/man/railhead-$plugin.8" ]; then pass; else fail "docs/man/railhead-$plugin.8 is missing"; fi
		if grep -q "^| \`$plugin\` |" docs/programs.md; then pass; else fail "docs/programs.md: no row for the plugin $plugin"; fi
		if sed -n '/"only"/,/}/p' packaging/helm/railhead/values.schema.json | grep -q "\"$plugin\""; then pass; else
			fail "packaging/helm/railhead/values.schema.json: plugins.only lacks $plugin"
		fi
	done
	[ "$n" -ge 7 ] || fail "tools/plugins.sh prints $n plugins"
}

# Each command of README.md is run: targets() looks at those of make, conformance/cluster runs those of a cluster, and suites use those of railctl.
readme()
{
	local line n=0
	while IFS= read -r line; do
		n=$((n + 1))
		case $line in
		'sudo make '* | 'make && '*) pass ;;
		'helm '* | 'kubectl '*) if grep -q "follow 'All rails by one line on Kubernetes' \.$" conformance/cluster/chart.sh; then pass; else
			fail "README.md: conformance/cluster does not run: $line"
		fi ;;
		*) if grep -rqE -- "railctl\"? $(cut -d' ' -f2-3 <<<"$line")" conformance --include=*.sh; then pass; else
			fail "README.md: no suite runs: $line"
		fi ;;
		esac
	done < <(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on { sub(/ +#.*/, ""); print }' README.md)
	[ "$n" -ge 8 ] || fail "only $n commands were found in README.md"
}

# docs/troubles.md: each command of railctl, rdma-probe and kubectl rail has its section in a manual page. That page has each option.
# railctl(8) has the codes of findings behind `railctl rdma check`.
pod_commands()
{
	local line program words page word n=0
	while IFS= read -r line; do
		n=$((n + 1))
		line=${line#/run/railhead/}
		program=${line%% *} page=docs/man/${line%% *}.8
		[ "$program" != kubectl ] || page=docs/man/kubectl-rail.1
		words=$(sed -E 's/ +(-|[A-Z0-9]).*//' <<<"$line")
		if grep -qE "^\.(Ss|Nm) $words( |\$)" "$page"; then pass; else fail "docs/troubles.md: $page has no section \"$words\""; fi
		for word in $(grep -oE -- ' --[a-z-]+' <<<"$line"); do
			if grep -qE -- "^\.It Fl ${word#-}( |\$)" "$page"; then pass; else fail "docs/troubles.md: $page has no option $word"; fi
		done
	done < <({
		awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on { sub(/ +#.*/, ""); print }' docs/troubles.md
		grep -oE '`[^`]+`' docs/troubles.md | tr -d '`'
	} | grep -E '^(/run/railhead/)?(railctl|rdma-probe|kubectl rail) [a-z]' | sort -u)
	[ "$n" -ge 10 ] || fail "only $n commands were found in docs/troubles.md"
	for word in $(grep -oE '`railctl rdma check[^`]*`: [^|;]*' docs/troubles.md | sed 's/^[^:]*://' | grep -oE '`[a-z-]+`' | tr -d '`' | sort -u); do
		if grep -q "^\.It Cm $word$" docs/man/railctl.8; then pass; else fail "docs/troubles.md: railctl(8) has no finding $word"; fi
	done
}

# The configurations that docs/rails.md shows are those of conformance/rails.
rails()
{
	local file page n=0
	page=$(<docs/rails.md)
	for file in conformance/rails/conf/*.json; do
		n=$((n + 1))
		if [[ $page == *"$(<"$file")"* ]]; then pass; else fail "docs/rails.md does not show $file as it is"; fi
	done
	[ "$n" -ge 6 ] || fail "only $n configurations were found in conformance/rails/conf"
}

lint
references
keys
errors
links
headings
paths
names
flows
targets
includes
fuzz_targets
decisions
guided
plugins
readme
pod_commands
rails
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
