#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh BUILD: a soak of plugins that leak, hand out an address twice, or fail. Each must be caught.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$(cd "${1:?usage: selftest.sh BUILD}" && pwd) || exit 2
export HELPERS=$BUILD/conformance/soak
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
trap 'exit 130' HUP INT TERM
passed=0 failed=0

# wrong NAME PROGRAM EXPECTED <WHAT-IT-DOES-FIRST: a PROGRAM that is wrong, and the line that must say so.
# After WHAT-IT-DOES-FIRST the real program runs.
wrong()
{
	local bin=$DIR/$1 program=$2 expected=$3
	mkdir "$bin"
	cp "$BUILD"/bin/* "$bin"
	{
		echo '#!/bin/sh'
		echo "real=$BUILD/bin/$program"
		cat
		echo 'exec "$real"'
	} >"$bin/$program"
	"$HERE/run.sh" --cycles 90 --kill 0 --seed 1 "$bin" >"$DIR/out" 2>&1
	local rc=$?
	if [ $rc = 1 ] && grep -q "$expected" "$DIR/out"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - soak catches: $1"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - soak catches: $1 (exit status $rc)"
		sed 's/^/# /' "$DIR/out"
	fi
}

wrong lease railhead-ipam '^soak: leaked: lease' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in DELsoak-*7 | GC) exit 0 ;; esac
END
wrong interface macvlan '^soak: .*succeeded, but left the interface' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in DELsoak-*7) exit 0 ;; esac
END
wrong nothing-collected macvlan '^soak: leaked: interface' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in DELsoak-*7) exit 1 ;; GC) exit 0 ;; esac
END
wrong record macvlan '^soak: leaked: record' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in DELsoak-*7)
	cd /run/railhead/attachments/soak && cp "$CNI_CONTAINERID,net1" /run/work && "$real" || exit
	mkdir -p ../soak && mv "/run/work/$CNI_CONTAINERID,net1" ../soak && exit ;;
GC) exit 0 ;; esac
END
wrong duplicate railhead-ipam '^soak: 10.77.0.250 was given to soak-[0-9]* and soak-' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in ADDsoak-*[13579]) "$real" | sed 's,10\.77\.0\.[0-9]*/,10.77.0.250/,' && exit ;; esac
END
wrong lost-address railhead-ipam 'a live address is not leased' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in ADDsoak-*[13579]) "$real" && CNI_COMMAND=DEL "$real" </run/work/conf.json && exit ;; esac
END
wrong failure macvlan '^not ok .*every run that was let live' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in ADDsoak-*9) exit 1 ;; esac
END
wrong descriptor macvlan '^not ok .*inherit no descriptor' <<'END'
exec 7</dev/null
END
wrong file macvlan '^not ok .*files below /run/railhead do not grow' <<'END'
case $CNI_COMMAND in DEL) : >"/run/railhead/$CNI_CONTAINERID" ;; esac
END
wrong store macvlan '^not ok .*the store does not grow ([0-9]*[0-9]\{6\})' <<'END'
case $CNI_COMMAND in DEL) head -c 65536 /dev/zero >>/var/lib/railhead/ipam/journal ;; esac
END
wrong host-link macvlan '^not ok .*links on the host do not grow' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in DELsoak-*7) ip link add link mst0 name "${CNI_CONTAINERID#soak-}" type macvlan ;; esac
END
wrong sysctl macvlan '^changed: host sysctl /proc/sys/net/ipv4/conf/mst0/arp_ignore: ' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in DELsoak-*77) echo 1 >/proc/sys/net/ipv4/conf/mst0/arp_ignore ;; esac
END
wrong route macvlan '^not ok .*the world is always the same' <<'END'
case $CNI_COMMAND$CNI_CONTAINERID in DELsoak-77) ip route add 10.2.0.0/16 dev mst0 ;; esac
END
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
