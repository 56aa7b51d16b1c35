# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# debian.sh: packages of other Debian releases, unpacked and not installed. Sourced, with set -eu.
#
# The caller sets WHO, the word before its messages, and calls fetch_into. The machine's own package sources stay as they
# are: a private apt configuration with the same mirror names the releases needed, and apt checks the signatures.

# shellcheck source=/dev/null
CODENAME=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "$WHO: $*"; }
die()
{
	echo "$WHO: $*" >&2
	exit 1
}

# fetch_into FOLDER LOCK: set DIR to the folder, which is made, and hold its file LOCK until the script ends.
fetch_into()
{
	mkdir -p "$1"
	DIR=$(cd "$1" && pwd)
	exec 9>"$DIR/$2"
	flock 9
}

# mirror: the address of this machine's Debian mirror, and under which releases it is known here.
sources_here()
{
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(CREATED_BY) $(RELEASE) $(REPO_URI) $(COMPONENT)' |
		awk -v c="$CODENAME" '$1 == "Packages" && ($2 == c || index($2, c "-") == 1) { print $3, $2, $4 }' | sort -u
}
mirror() { sources_here | awk -v c="$CODENAME" '$2 == c { print $1; exit }'; }

# signed: the option signed-by of a package source.
signed() { [ ! -e "$KEYS" ] || echo "[signed-by=$KEYS] "; }

# sources RELEASE...: the private list: what this machine has, and these releases from the same mirror.
sources()
{
	local release site
	site=$(mirror)
	[ -n "$site" ] || die "no package source for '$CODENAME' is configured here; what is needed comes from Debian's packages"
	{
		sources_here
		for release; do echo "$site $release main"; done
	} | sort -u | sed "s|^|deb $(signed)|" >"$APT/sources.list"
	apt apt-get update >"$APT/log" 2>&1 || {
		tail -n 5 "$APT/log" >&2
		return 1
	}
}

# A mirror that accepts connections and says nothing must not stop a lane: each wait for it has a limit, and so has the whole.
APT_SILENCE=${APT_SILENCE:-20} APT_LIMIT=${APT_LIMIT:-1200}

# apt PROGRAM ARGUMENT...: with the private configuration. A resolver needs the machine's lock of dpkg, even if it installs nothing.
apt()
{
	local program=$1
	shift
	timeout --kill-after=10 "$APT_LIMIT" "$program" -q -o Acquire::http::Timeout="$APT_SILENCE" \
		-o Acquire::https::Timeout="$APT_SILENCE" -o Dir::Etc::SourceList="$APT/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$APT/lists" -o Dir::Cache="$APT/cache" -o APT::Sandbox::User=root \
		-o Acquire::Retries=1 -o Acquire::Check-Valid-Until=false -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

private_apt()
{
	APT=$DIR/apt.$$
	trap 'rm -rf "$APT" "$DIR"/*.new' EXIT
	mkdir -p "$APT/lists/partial" "$APT/cache/archives/partial"
}

progress() { sed -u -n "s/^Get:[0-9]* [^ ]* [^ ]* [^ ]* \\([^ ]*\\) .*\\[\\(.*\\)\\]\$/$WHO:   \\1, \\2/p"; }

# download PACKAGE...: into $APT
download() { (cd "$APT" && apt apt-get download "$@") | tee "$APT/log" | progress; }

# unpack_into FOLDER WHAT [DEB...]: unpack these packages (all of $APT) with dpkg -x, then remove them. The message names WHAT.
unpack_into()
{
	local into=$1 what=$2 deb
	shift 2
	[ $# -gt 0 ] || set -- "$APT"/*.deb
	for deb; do
		[ -e "$deb" ] || die "$what could not be fetched: $(tail -n 3 "$APT/log")"
		dpkg -x "$deb" "$into"
		rm "$deb"
	done
}
