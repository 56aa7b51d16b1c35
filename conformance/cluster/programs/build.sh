#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# build.sh DIR [MODULE...]: build the programs of a cluster into DIR/bin: Kubernetes, Multus, the reference plugins.
#
# sriov-cni and rdma-cni are built only when they are named (make peer-programs): their programs have our names. whereabouts is built
# only for make bench-cluster-peers. A program whose folder is "cmd" gets the name of its module. A file "copy" names files of that
# module that the programs need; they go into DIR/MODULE.
# Each folder here with a go.mod is a MODULE: its "tool" lines name the programs, go.sum pins the bytes.
# kubernetes-VERSION is another version of Kubernetes, and multus-VERSION the Multus beside it. DIR/VERSION is then a cluster of its own:
# CLUSTER=DIR/VERSION for the suites.
# A program stays until go.mod or the compiler changes. Go's own cache makes a later build short, also for another clone. The
# first one takes 10 to 30 minutes on two processors. It uses the machine's Go if it is new enough, else Debian's.
# Exit status 3: the modules are not available here; the last line says why.
set -eu
[ $# -ge 1 ] || {
	sed -n '3s/^# //p' "$0" >&2
	exit 2
}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1/bin"
DIR=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- cni multus kubernetes
exec 9>"$DIR/lock.build"
flock 9

say() { echo "cluster-programs: $*"; }
# Static, without what only a debugger reads: half of the time, and they run in any tree.
export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS="${GOFLAGS:+$GOFLAGS }-trimpath -buildvcs=false"
LEAN=-gcflags=all=-dwarf=false

# go_for VERSION: a compiler at least that new.
go_for()
{
	local go have
	for go in "${GO-}" go /usr/local/go/bin/go "$DIR/go/usr/lib/go-1.26/bin/go"; do
		[ -n "$go" ] && go=$(command -v "$go") || continue
		have=$("$go" env GOVERSION 2>/dev/null) || continue
		if [ "$(printf '%s\n' "$1" "${have#go}" | sort -V | head -n 1)" = "$1" ]; then
			GO=$go
			return
		fi
	done
	"$HERE/../fetch.sh" "$DIR" go || return
	GO=$DIR/go/usr/lib/go-1.26/bin/go
}

tools() { "$GO" mod edit -json | sed -n '/"Tool"/,/\]/s/.*"Path": "\(.*\)".*/\1/p'; }

# The module of the first tool.
its_module()
{
	local tool module
	tool=$(tools | head -n 1)
	for module in $("$GO" mod edit -json | sed -n '/"Require"/,/\]/s/.*"Path": "\(.*\)".*/\1/p'); do
		[[ $tool/ != "$module"/* ]] || echo "$module"
	done
}

# Is that module available? If not, the cause is not in the files here.
can_be_had()
{
	local module i
	for module in $(its_module); do
		for i in 1 2 3; do
			"$GO" mod download "$module" >"$DIR/log" 2>&1 && return
			sleep "$i"
		done
	done
	say "Go modules cannot be had here: $(tail -n 1 "$DIR/log")"
	return 1
}

# Names the linker puts into the programs: the version that they tell each other.
version_of()
{
	local version
	version=$(sed -n 's/^\t*\(require \)\{0,1\}k8s.io\/kubernetes \(v[0-9.]*\).*/\2/p' go.mod | head -n 1)
	[ -z "$version" ] || printf -- ' -X k8s.io/component-base/version.gitVersion=%s' "$version"
}

# copy_files MODULE: what its file "copy" names
copy_files()
{
	local from pattern
	[ -e copy ] || return 0
	from=$("$GO" list -m -f '{{.Dir}}' "$(its_module)") && mkdir -p "$DIR/$1" || return
	while read -r pattern; do
		# shellcheck disable=SC2086 # a pattern
		install -m 644 -t "$DIR/$1" "$from"/$pattern || return
	done <copy
}

# retry COMMAND...: fetching may fail once.
retry() { "$@" || "$@" || "$@"; }

# like_the_main_one VERSION: its folder has links to all programs of the main one, but not to those of modules of this version.
like_the_main_one()
{
	local file own
	own=" $(sed -n '/^tool (/,/^)/s/^\t.*\///p' "$HERE"/*-"$1"/go.mod | xargs) "
	mkdir -p "$DIR/$1/bin" && ln -sfn ../tree "$DIR/$1/tree" || return
	for file in "$DIR"/bin/*; do
		# Not a symbolic link: a node has only the folder bin.
		[[ $own == *" ${file##*/} "* ]] || ln -f "$file" "$DIR/$1/bin/" || return
	done
}

build() # MODULE
{
	local to=$DIR want all begin=$SECONDS packages
	if [[ $1 =~ -[0-9.]+$ ]]; then
		to=$DIR/${1##*-}
		like_the_main_one "${1##*-}" || return
	fi
	local stamp=$to/$1.stamp
	cd "$HERE/$1" && go_for "$(sed -n 's/^go //p' go.mod)" || return
	mapfile -t packages < <(tools)
	[ ${#packages[@]} -gt 0 ] || return
	want="$("$GO" env GOVERSION) $(cat go.mod go.sum "$HERE/build.sh" | sha256sum | cut -c1-64)"
	[ "$(cat "$stamp" 2>/dev/null)" != "$want" ] || return 0
	can_be_had || exit 3
	retry "$GO" list -deps "${packages[@]}" >"$DIR/log.list" || return
	all=$(wc -l <"$DIR/log.list")
	say "$1: ${#packages[@]} programs of $all packages, with $("$GO" env GOVERSION)"
	"$GO" build -v "$LEAN" -ldflags "-s -w$(version_of)" -o "$to/bin/" "${packages[@]}" 2>&1 | tee "$DIR/log.$1" |
		awk -v who="cluster-programs: $1:" -v all="$all" '
			/^[a-zA-Z0-9._\/~-]+$/ { if (++n % 100 == 0) { print who, n, "of at most", all, "packages"; fflush() } next }
			{ print; fflush() }'
	[ "${PIPESTATUS[0]}" = 0 ] || return
	[[ ${packages[0]} != */cmd ]] || mv "$DIR/bin/cmd" "$DIR/bin/$1" || return
	copy_files "$1" || return
	echo "$want" >"$stamp"
	say "$1: built in $((SECONDS - begin)) s"
}

# In what stands before || a shell does not stop at errors by itself: build says "|| return" where it must.
for module; do
	(build "$module") || exit
done
