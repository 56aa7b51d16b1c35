#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install or uninstall what was built. Called by `make install` and `make uninstall`, which set:
#
#   BIN            where the programs were built
#   DESTDIR        put before every path, for packages
#   CNI_BIN        folder of the CNI plugins
#   PLUGIN_PREFIX  put before a plugin's name (rh- makes rh-macvlan); railctl, rdma-probe and names that begin with railhead keep theirs
#   bindir sbindir libexecdir mandir bashcompdir   GNU directory variables
#   unitdir        folder of systemd's units
#   FORCE=1        replace files of the same name that are not railhead's; uninstall: also under pods that need the plugins
#   STRIP=0        keep the debug information
#
# Each file is copied to a temporary name beside its target, synced, and renamed: a container runtime that
# calls the plugin at this moment runs the old one or the new one, whole. All targets are looked at before the
# first one is touched. A file is railhead's when it contains the mark "railhead-ident:".
set -eu

mark=railhead-ident:
verb=${1:?usage: install.sh install|uninstall}
: "${BIN:?}" "${CNI_BIN:?}" "${bindir:?}" "${sbindir:?}" "${libexecdir:?}" "${mandir:?}" "${bashcompdir:?}" "${unitdir:?}"
DESTDIR=${DESTDIR:-}
new=

fail()
{
	echo "$verb: $*" >&2
	exit 1
}

tab=$(printf '\t')

plan() # lines: SOURCE TARGET MODE, apart by tabs
{
	plugins=$("${0%/*}/plugins.sh") || exit
	for plugin in $plugins railhead-ipam railhead railhead-hook railctl; do
		case $plugin in
		railhead* | railctl) name=$plugin ;;
		*) name=${PLUGIN_PREFIX:-}$plugin ;;
		esac
		echo "$BIN/$plugin$tab$DESTDIR$CNI_BIN/$name${tab}755"
	done
	echo "$BIN/rdma-probe-static$tab$DESTDIR$CNI_BIN/rdma-probe${tab}755"
	for program in railctl rdma-probe railheadd railhead-devices railhead-install; do
		echo "$BIN/$program$tab$DESTDIR$sbindir/$program${tab}755"
	done
	for hook in sm-opensm sm-ufm; do
		echo "$BIN/$hook$tab$DESTDIR$libexecdir/railhead/$hook${tab}755"
	done
	echo "$BIN/../conformance/spec/cni-conformance$tab$DESTDIR$sbindir/cni-conformance${tab}755"
	for name in packaging/kubectl/kubectl*; do
		echo "$name$tab$DESTDIR$bindir/${name##*/}${tab}755"
	done
	for page in docs/man/*.[1-9]; do
		echo "$page$tab$DESTDIR$mandir/man${page##*.}/${page##*/}${tab}644"
	done
	for name in packaging/bash-completion/*; do
		echo "$name$tab$DESTDIR$bashcompdir/${name##*/}${tab}644"
	done
	for name in packaging/systemd/*.service; do
		echo "$name$tab$DESTDIR$unitdir/${name##*/}${tab}644"
	done
}

is_ours() { [ -f "$1" ] && [ ! -L "$1" ] && grep -aqF "$mark" "$1"; }
is_there() { [ -e "$1" ] || [ -L "$1" ]; }

check() # TARGET: refuse what is not ours
{
	is_there "$1" || return 0
	[ ! -d "$1" ] || fail "$1 is a directory"
	is_ours "$1" || [ "${FORCE:-0}" = 1 ] ||
		fail "$1 is there and is not railhead's. To replace it: FORCE=1; to install beside it: PLUGIN_PREFIX=rh-"
}

put() # SOURCE TARGET MODE
{
	mkdir -p "${2%/*}"
	new=$(mktemp "${2%/*}/.${2##*/}.new-XXXXXX")
	cat "$1" >"$new"
	case $1 in
	"$BIN"/*) [ "${STRIP:-1}" = 0 ] || ! command -v strip >/dev/null || strip -s "$new" ;;
	*.[1-9]) echo ".\\\" $mark manual page" >>"$new" ;;
	*.service)
		sed -i "s|/usr/local/sbin/|$sbindir/|g" "$new"
		echo "# $mark unit" >>"$new"
		;;
	packaging/kubectl/*) echo "# $mark plugin of kubectl" >>"$new" ;;
	*) echo "# $mark completion" >>"$new" ;;
	esac
	chmod "$3" "$new"
	sync "$new"
	mv -fT "$new" "$2"
	sync "${2%/*}"
	new=
	echo "  installed $2"
}

drop() # TARGET
{
	if is_ours "$1"; then
		rm -f "$1"
		echo "  removed $1"
	elif is_there "$1"; then
		echo "  kept $1: not railhead's"
	fi
}

# DEL of a pod needs its plugin. A folder that is filled for a package has no pods.
check_pods()
{
	[ "${FORCE:-0}" != 1 ] || return 0
	echo "$list" | while IFS=$tab read -r _ target _; do
		case $target in "$DESTDIR$CNI_BIN"/*) ! is_ours "$target" || echo "$target" ;; esac
	done | grep -q . || return 0
	for asked in "$BIN/railhead-install" "$DESTDIR$sbindir/railhead-install"; do
		[ -x "$asked" ] || continue
		"$asked" --needed --prefix "${PLUGIN_PREFIX:-}" --run-dir "$DESTDIR/run/railhead" --cni-dir "$DESTDIR/var/lib/cni" >&2 ||
			fail "nothing was removed. To remove the plugins all the same: FORCE=1"
		return
	done
	fail "no railhead-install is there to ask whether pods need the plugins. Build it (make), or remove them all the same: FORCE=1"
}

trap '[ -z "$new" ] || rm -f "$new"' EXIT
trap 'exit 130' HUP INT TERM
list=$(plan | while IFS=$tab read -r source target mode; do
	[ "$verb" = uninstall ] || [ -f "$source" ] || continue
	echo "$source$tab$target$tab$mode"
done)
case $verb in
install)
	[ -n "$list" ] || fail "nothing was built in $BIN"
	echo "$list" | while IFS=$tab read -r _ target _; do check "$target"; done || exit 1
	while IFS=$tab read -r source target mode; do put "$source" "$target" "$mode"; done <<LIST
$list
LIST
	# So that a service that starts again starts the services that its new unit wants.
	[ -n "$DESTDIR" ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload
	;;
uninstall)
	check_pods
	echo "$list" | while IFS=$tab read -r _ target _; do drop "$target"; done
	;;
*) fail "unknown verb" ;;
esac
