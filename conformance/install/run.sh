#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Black-box tests of `make install` and `make uninstall`: into a temporary folder, nothing else is touched.
#
# usage: conformance/install/run.sh BINDIR
# Prints a line a case and closes with "N passed, N failed, N skipped".
set -u

bin=$(cd "${1:?usage: run.sh BINDIR}" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
dir=$(mktemp -d)
child=
trap '[ -z "$child" ] || kill "$child" 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 130' HUP INT TERM
passed=0
failed=0
root=
cni=

run() # install|uninstall [VAR=VALUE...]
{
	verb=$1
	shift
	env BIN="$bin" DESTDIR="$root" CNI_BIN=/opt/cni/bin bindir=/usr/local/bin sbindir=/usr/local/sbin libexecdir=/usr/local/libexec mandir=/usr/local/share/man \
		bashcompdir=/usr/local/share/bash-completion/completions unitdir=/usr/local/lib/systemd/system "$@" tools/install.sh "$verb" \
		>"$dir/out" 2>&1
}

fresh() # a new root with a space in its name
{
	root=$(mktemp -d "$dir/root XXXXXX")
	cni=$root/opt/cni/bin
}

foreign() # NAME: somebody else's plugin
{
	mkdir -p "$cni"
	echo "somebody else's" >"$cni/$1"
}

expect() # NAME COMMAND...: one case
{
	name=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - install: $name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - install: $name"
		sed 's/^/# /' "$dir/out"
	fi
}

all_there()
{
	for program in macvlan ipvlan railhead-ipam railhead railhead-hook railctl rdma-probe; do
		[ -x "$cni/$program" ] || return 1
	done
	[ -x "$root/usr/local/libexec/railhead/sm-opensm" ] && [ -x "$root/usr/local/libexec/railhead/sm-ufm" ] &&
		[ -x "$root/usr/local/sbin/railctl" ] && [ -x "$root/usr/local/sbin/cni-conformance" ] &&
		[ -x "$root/usr/local/sbin/rdma-probe" ] && [ -x "$root/usr/local/sbin/railhead-install" ] &&
		[ -x "$root/usr/local/bin/kubectl-rail" ] &&
		[ -e "$root/usr/local/share/bash-completion/completions/rdma-probe" ]
}

no_leftovers() { [ -z "$(find "$root" -name '.*')" ]; }

installs_everything()
{
	fresh
	run install && all_there && no_leftovers
}

installed_programs_run()
{
	echo '{"cniVersion": "1.1.0"}' |
		env -i CNI_COMMAND=VERSION "$cni/macvlan" | grep -q '"supportedVersions"'
}

# Every page about a program is about one that is there.
pages_have_their_programs()
{
	for page in "$root"/usr/local/share/man/man[18]/*.[18]; do
		program=$(basename "${page%.[18]}")
		# railhead-macvlan(8) is about macvlan: other people have a page of that name.
		[ -x "$cni/$program" ] || [ -x "$cni/${program#railhead-}" ] || [ -x "$root/usr/local/sbin/$program" ] ||
			[ -x "$root/usr/local/bin/$program" ] || {
			echo "no program for $page" >"$dir/out"
			return 1
		}
	done
	env -i "$root/usr/local/sbin/cni-conformance" --list | grep -q CNI-001
}

units_run_what_was_installed()
{
	fresh
	run install sbindir=/opt/r/sbin || return 1
	mkdir "$dir/units" || return 1
	for name in packaging/systemd/*.service; do
		unit=$root/usr/local/lib/systemd/system/${name##*/}
		grep -q '^ExecStart=/opt/r/sbin/rail' "$unit" && ! grep -q /usr/local/sbin "$unit" || {
			echo "$unit" >"$dir/out"
			return 1
		}
		# systemd-analyze looks for the program on this machine.
		sed 's|^ExecStart=/opt/r/sbin/|ExecStart=-/bin/true |; /^RequiresMountsFor/d' "$unit" >"$dir/units/${name##*/}"
	done
	command -v systemd-analyze >/dev/null || return 0
	systemd-analyze verify --man=no "$dir"/units/*.service >"$dir/out" 2>&1 && [ ! -s "$dir/out" ]
}

# The sandbox of the unit lets the agent write the node's store, its sockets and the audit log of railhead-ipam(8).
agent_unit_may_write()
{
	unit=$root/usr/local/lib/systemd/system/railheadd.service
	sed -n 's/^ReadWritePaths=//p' "$unit" >"$dir/out"
	grep -q '^ProtectSystem=strict' "$unit" || return 1
	for folder in /var/lib /run /var/log; do
		grep -qw -- "$folder" "$dir/out" || return 1
	done
	# A node that was upgraded has not enabled the unit of the device plugin.
	grep -qx 'Wants=railhead-devices.service' "$unit"
}

is_stripped()
{
	! readelf -S "$cni/macvlan" | grep -q '\.debug_info' &&
		grep -aqF railhead-ident: "$cni/macvlan"
}

keeps_debug_information_when_told()
{
	fresh
	run install STRIP=0 && cmp -s "$bin/macvlan" "$cni/macvlan"
}

upgrades_a_running_program()
{
	fresh
	run install || return 1
	mkfifo "$dir/stdin"
	env -i CNI_COMMAND=ADD "$cni/macvlan" <"$dir/stdin" >/dev/null 2>&1 &
	child=$!
	exec 9>"$dir/stdin"
	before=$(stat -c %i "$cni/macvlan")
	run install
	rc=$?
	exec 9>&-
	wait "$child"
	child=
	rm "$dir/stdin"
	[ "$rc" = 0 ] && [ "$before" != "$(stat -c %i "$cni/macvlan")" ] && no_leftovers
}

refuses_foreign_before_touching_anything()
{
	fresh
	foreign railhead-ipam
	! run install && grep -q 'FORCE=1' "$dir/out" && [ "$(ls "$cni")" = railhead-ipam ] &&
		grep -q somebody "$cni/railhead-ipam" && [ ! -e "$root/usr" ]
}

refuses_a_link()
{
	fresh
	mkdir -p "$cni"
	cp "$bin/macvlan" "$root/elsewhere"
	ln -s "$root/elsewhere" "$cni/macvlan"
	! run install && [ -L "$cni/macvlan" ]
}

refuses_a_directory_even_with_force()
{
	fresh
	mkdir -p "$cni/macvlan"
	! run install FORCE=1 && [ -d "$cni/macvlan" ]
}

replaces_with_force()
{
	fresh
	foreign macvlan
	run install FORCE=1 && all_there && ! grep -q "somebody else's" "$cni/macvlan"
}

prefix_installs_side_by_side()
{
	fresh
	foreign macvlan
	run install PLUGIN_PREFIX=rh- && grep -q somebody "$cni/macvlan" && [ -x "$cni/rh-macvlan" ] &&
		[ -x "$cni/railhead-ipam" ] && [ ! -e "$cni/rh-railhead-ipam" ]
}

uninstall_removes_only_ours()
{
	fresh
	run install || return 1
	foreign ipvlan
	run uninstall && [ "$(ls "$cni")" = ipvlan ] && grep -q somebody "$cni/ipvlan" &&
		[ -z "$(find "$root/usr" -type f)" ]
}

# libcni writes such a file after an ADD. The plugin is another project's, and its IPAM is ours.
uninstall_waits_for_pods()
{
	fresh
	run install PLUGIN_PREFIX=rh- && mkdir -p "$root/var/lib/cni/multus/results" || return 1
	cached=$root/var/lib/cni/multus/results/theirs-p9-net1
	printf '{"kind":"cniCacheV1","containerId":"p9","config":"%s","ifName":"net1","networkName":"theirs"}' \
		"$(printf '{"type":"bridge","ipam":{"type":"railhead-ipam"}}' | base64 -w0)" >"$cached"
	! run uninstall PLUGIN_PREFIX=rh- && grep -q 'multus/results/theirs-p9-net1' "$dir/out" && grep -q 'FORCE=1' "$dir/out" &&
		[ -x "$cni/rh-macvlan" ] && [ -x "$cni/railhead-ipam" ] && [ -x "$root/usr/local/sbin/railctl" ] || return 1
	rm "$cached"
	run uninstall PLUGIN_PREFIX=rh- && [ -z "$(ls "$cni")" ]
}

uninstall_waits_for_records()
{
	fresh
	run install && mkdir -p "$root/run/railhead/attachments/rail0" && echo '{' >"$root/run/railhead/attachments/rail0/p1,net1" || return 1
	! run uninstall && grep -q 'rail0 p1 net1' "$dir/out" && [ -x "$cni/macvlan" ] && run uninstall FORCE=1 && [ -z "$(ls "$cni")" ]
}

# The build may be gone; the installed program knows as well. Without either, no program knows.
uninstall_asks_what_was_installed()
{
	fresh
	run install && mkdir -p "$root/run/railhead/attachments/rail0" && echo '{' >"$root/run/railhead/attachments/rail0/p1,net1" || return 1
	! run uninstall BIN="$dir/nothing" && grep -q 'rail0 p1 net1' "$dir/out" && rm "$root/usr/local/sbin/railhead-install" &&
		! run uninstall BIN="$dir/nothing" && grep -q 'to ask' "$dir/out" && [ -x "$cni/macvlan" ] && run uninstall BIN="$dir/nothing" FORCE=1 && [ -z "$(ls "$cni")" ]
}

uninstall_twice_is_fine() { run uninstall && [ "$(ls "$cni")" = ipvlan ]; }

# With a sync that fails nothing may be renamed, and what was there stays.
failure_leaves_the_old_file()
{
	fresh
	run install || return 1
	before=$(stat -c %i "$cni/macvlan")
	mkdir -p "$dir/fake"
	printf '#!/bin/sh\nexit 1\n' >"$dir/fake/sync"
	chmod +x "$dir/fake/sync"
	! run install PATH="$dir/fake:$PATH" && [ "$before" = "$(stat -c %i "$cni/macvlan")" ] && no_leftovers
}

# The temporary file is synced while the target does not exist yet.
syncs_before_renaming()
{
	fresh
	mkdir -p "$dir/fake"
	cat >"$dir/fake/sync" <<'SYNC'
#!/bin/sh
case $1 in
*/.*.new-*) target=${1%/*}/$(basename "$1" | sed 's/^\.\(.*\)\.new-.*/\1/'); [ ! -e "$target" ] && echo early ;;
esac >>"$SYNC_LOG"
exit 0
SYNC
	chmod +x "$dir/fake/sync"
	: >"$dir/sync.log"
	run install PATH="$dir/fake:$PATH" SYNC_LOG="$dir/sync.log" &&
		[ "$(grep -c early "$dir/sync.log")" -ge 4 ]
}

expect "puts every program in its place" installs_everything
expect "what it installed runs" installed_programs_run
expect "every page in section 8 has its program" pages_have_their_programs
expect "each unit runs what was installed" units_run_what_was_installed
expect "the agent's unit may write store, sockets and audit log" agent_unit_may_write
expect "is stripped and keeps its mark" is_stripped
expect "STRIP=0 copies byte for byte" keeps_debug_information_when_told
expect "replaces a program that is running" upgrades_a_running_program
expect "a foreign file stops it before anything is touched" refuses_foreign_before_touching_anything
expect "a symbolic link is foreign" refuses_a_link
expect "a directory is refused even with FORCE=1" refuses_a_directory_even_with_force
expect "FORCE=1 replaces a foreign file" replaces_with_force
expect "PLUGIN_PREFIX=rh- installs beside a foreign file" prefix_installs_side_by_side
expect "uninstall removes ours and keeps the foreign file" uninstall_removes_only_ours
expect "uninstall twice is fine" uninstall_twice_is_fine
expect "uninstall is refused while a pod that only libcni remembers needs a plugin" uninstall_waits_for_pods
expect "so it is while a record needs one; FORCE=1 removes all the same" uninstall_waits_for_records
expect "without the build, uninstall asks what was installed" uninstall_asks_what_was_installed
expect "a failing sync leaves the old file and no litter" failure_leaves_the_old_file
expect "synced before renamed" syncs_before_renaming

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
