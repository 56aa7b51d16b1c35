#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The lane arm64: libraries for the cross compiler, and the check of what it built.
#
# usage: tools/arm64.sh sysroot                 unpack Debian's libraries for arm64 into build/arm64/sysroot: 40 MB to fetch
#        tools/arm64.sh pure                    the names of the unit tests that need nothing but a processor
#        tools/arm64.sh check BUILD             run the programs, and those unit tests, under qemu-user
#
# Nothing is installed, and dpkg on this machine does not learn the other architecture. RUN_WITH is the emulator.
set -eu

WHO=arm64
top=$(cd "$(dirname "$0")/.." && pwd)
PACKAGES=libc6-dev,libgcc-12-dev,linux-libc-dev,libnl-3-dev,libnl-route-3-dev,liblmdb-dev,libexpat1-dev,libyaml-dev
PACKAGES+=,libnghttp2-dev,libprotobuf-c-dev,libibverbs-dev,librdmacm-dev,ibverbs-providers,libcurl4-openssl-dev,libevent-dev,check

# A line a library: PATH, package, version, source package, its version. The packages are gone afterwards.
# shellcheck disable=SC2016 # for the shell of the hook
LIST='for deb in "$1"/var/cache/apt/archives/*.deb; do
	words=$(dpkg-deb -W --showformat "\${Package}\t\${Version}\t\${source:Package}\t\${source:Version}" "$deb")
	dpkg-deb --fsys-tarfile "$deb" | tar -tf - | sed -n "s|^\.\(/.*\.a\)\$|\1|p; s|^\.\(/.*\.so[.0-9]*\)\$|\1|p" | while read -r path; do
		printf "%s\t%s\n" "$path" "$words"
	done
done >"$1/libraries.tsv"'

sysroot()
{
	local new sources
	# shellcheck source=conformance/debian.sh
	. "$top/conformance/debian.sh"
	fetch_into "$top/build/arm64" lock.fetch
	[ "$(cat "$DIR/sysroot/.complete" 2>/dev/null)" != "$PACKAGES" ] || return 0
	# Those of this machine: also the one with security updates.
	mapfile -t sources < <(sources_here | sed "s|^|deb $(signed)|")
	[ ${#sources[@]} -gt 0 ] || die "no package source for '$CODENAME' is configured here; the libraries come from Debian's packages"
	new=$DIR/sysroot.new
	say "unpacking Debian's libraries for arm64 in $DIR/sysroot"
	rm -rf "$new"
	mmdebstrap --quiet --mode=root --variant=extract --format=directory --architectures=arm64 --include="$PACKAGES" --extract-hook="$LIST" \
		--aptopt='APT::Sandbox::User "root"' --aptopt='Acquire::Retries "3"' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		"$CODENAME" "$new" "${sources[@]}" >"$DIR/sysroot.log" 2>&1 </dev/null || die "$(tail -n 3 "$DIR/sysroot.log")"
	[ -s "$new/libraries.tsv" ] || die "no list of libraries: $(tail -n 3 "$DIR/sysroot.log")"
	# Links to absolute paths lead to this machine.
	find "$new/usr/lib" "$new/lib" -type l -lname '/*' | while read -r link; do
		ln -sfn "$(realpath -m --relative-to="${link%/*}" "$new$(readlink "$link")")" "$link"
	done
	echo "$PACKAGES" >"$new/.complete"
	# Programs of before have other libraries.
	rm -rf "${DIR:?}/sysroot" "${DIR:?}/bin" "${DIR:?}/test" "$DIR/libraries.tsv" "$DIR/build_id"
	mv "$new" "$DIR/sysroot"
}

pure()
{
	local header
	cd "$top"
	# shellcheck disable=SC2046 # words on purpose
	find $(cat tools/parts) -name '*.h' | sort | while read -r header; do
		[ ! -e "${header%.h}_test.c" ] || ! head -n 8 "$header" | grep -q 'Pure\.' || echo "${header%.h}"
	done
}

passed=0 failed=0
is() # NAME TEXT COMMAND...: the command prints the text
{
	local name=$1 text=$2 out
	shift 2
	if out=$("$@" 2>&1 </dev/null) && grep -qF -- "$text" <<<"$out"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok - arm64: %s\n%s\n' "$name" "$out"
	fi
}

check()
{
	local build=$1 run=${RUN_WITH:?the emulator} program counts version
	version=$("$top/tools/version.sh")
	for program in "$build"/bin/*; do
		is "${program##*/} is for arm64" AArch64 readelf -h "$program"
		case " $("$top/tools/plugins.sh") railhead-ipam railhead " in
		*" ${program##*/} "*)
			is "VERSION of ${program##*/}" supportedVersions env CNI_COMMAND=VERSION bash -c "\"\$@\" <<<'{\"cniVersion\":\"1.1.0\"}'" \
				x "$run" "$program"
			;;
		*)
			is "${program##*/} --help" usage: "$run" "$program" --help
			is "${program##*/} --version" " $version" "$run" "$program" --version
			;;
		esac
	done
	mapfile -t names < <(pure)
	"$top/tools/unit.sh" "$build" "${names[@]}" >"$build/unit.out" || { grep -v '^  ok' "$build/unit.out" || true; }
	read -r -a counts < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, .*/\1 \2/p' "$build/unit.out")
	echo "$((passed + counts[0])) passed, $((failed + counts[1])) failed, 0 skipped"
	[ $((failed + counts[1])) = 0 ]
}

case ${1-} in
sysroot) sysroot ;;
pure) pure ;;
check) check "${2:?usage: arm64.sh check BUILD}" ;;
*)
	sed -n 's/^# \(usage:.*\|       tools.*\)/\1/p' "$0" >&2
	exit 2
	;;
esac
