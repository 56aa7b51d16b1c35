# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# opensm.sh: the real opensm, over a fabric of ibsim with one switch and four ports.
# shellcheck disable=SC2154

SIM=$W/sim
CONF=$SIM/partitions.conf
RULE='Default=0x7fff,ipoib : ALL=full ;'
UMAD=$(find /usr/lib -name libumad2sim.so 2>/dev/null | head -n 1)
ONE=00:00:00:00:00:10:00:03 TWO=00:00:00:00:00:10:00:05 THREE=00:00:00:00:00:10:00:07
# LIDs in the order in which opensm finds the ports of this net
declare -A LID=()

# simulated HCA COMMAND...: the command runs on that host of the fabric. libumad2sim makes folders where it is.
simulated() { (cd "$SIM" && exec env LD_PRELOAD="$UMAD" SIM_HOST="$1" OSM_TMP_DIR="$SIM" OSM_CACHE_DIR="$SIM" "${@:2}"); }

# net: ibsim's file: a switch, the HCA of the subnet manager, three HCAs of nodes.
net()
{
	local i
	printf 'Switch 8 "Switch1"\n'
	for i in 1 2 3 4; do printf '[%d] "Hca%d"[1]\n' $i $i; done
	for i in 1 2 3 4; do printf '\nHca 1 "Hca%d"\n[1] "Switch1"[%d]\n' $i $i; done
}

fabric()
{
	[ -n "$UMAD" ] && command -v ibsim opensm smpquery >/dev/null || skip "ibsim, opensm or smpquery is not installed"
	mkdir -p "$SIM"
	net >"$SIM/net"
	echo "$RULE" >"$CONF"
	jq -n --arg p "$CONF" '{partitions: $p}' >/etc/railhead/sm-opensm.json
	mkfifo "$SIM/console"
	ibsim -s "$SIM/net" >"$SIM/ibsim.log" 2>&1 <>"$SIM/console" &
	echo $! >"$W/ibsim.pid"
	eventually simulated Hca2 smpquery nodeinfo -D 0 || return
	opensm_starts
	eventually lids
}
opensm_starts()
{
	(cd "$SIM" && exec env LD_PRELOAD="$UMAD" SIM_HOST=Hca1 OSM_TMP_DIR="$SIM" OSM_CACHE_DIR="$SIM" \
		opensm -P "$CONF" -f "$SIM/osm.log") >"$SIM/osm.out" 2>&1 &
	echo $! >"$W/opensm.pid"
}
# lids: of the ports of Hca2 to Hca4, once opensm gave each one.
lids()
{
	local name lid
	simulated Hca2 timeout 10 ibnetdiscover >"$SIM/topology" 2>/dev/null || return
	for name in Hca2 Hca3 Hca4; do
		lid=$(sed -n "s/.*\"$name\" lid \([1-9][0-9]*\) .*/\1/p" "$SIM/topology" | head -n 1)
		[ -n "$lid" ] || return
		LID[$name]=$lid
	done
}

# table HCA: its P_Key table without zeros and the default partition.
table()
{
	simulated Hca2 timeout 10 smpquery pkeys "${LID[$1]}" | sed -n 's/^ *[0-9]*: //p' | tr ' ' '\n' | grep -v '^0x0000$\|^0xffff$\|^$' | sort | xargs
}
table_is() { [ "$(table "$1")" = "$2" ]; }
has_table() { eventually table_is "$1" "$2" || fail "the table of $1 is: $(table "$1"); opensm: $(tail -n 5 "$SIM/osm.log")"; }
file_is() { eq "partitions.conf" "$(cat "$CONF")" "$1"; }

test_opensm_membership_comes_and_goes()
{
	fabric
	has_table Hca2 ''
	works sm-opensm add 0x8001 full $ONE
	has_table Hca2 0x8001
	eq "the table of another port" "$(table Hca3)" ''
	works sm-opensm add 0x8001 full $ONE # a second time changes nothing
	has_table Hca2 0x8001
	works sm-opensm remove 0x8001 full $ONE
	has_table Hca2 ''
	file_is "$RULE"
	works sm-opensm remove 0x8001 full $ONE
}

test_opensm_several_partitions_and_limited_members()
{
	fabric
	works sm-opensm add 0x8001 full $ONE
	works sm-opensm add 0x0002 limited $ONE
	works sm-opensm add 0x8001 full $TWO id-2
	has_table Hca2 '0x0002 0x8001'
	has_table Hca3 0x8001
	works sm-opensm remove 0x8001 full $ONE
	has_table Hca2 0x0002
	has_table Hca3 0x8001
}

test_opensm_lines_of_the_administrator_stay()
{
	local before
	fabric
	before=$(printf '%s\n\nStorage=0x8005,ipoib,mtu=5 : %s=full ; # of ours\n# no line break at the end' "$RULE" 0x0000000000100007)
	printf '%s' "$before" >"$CONF"
	works sm-opensm add 0x8001 full $ONE
	has_table Hca4 0x8005
	has_table Hca2 0x8001
	has "the section is behind it" "$(cat "$CONF")" "$before"$'\n# railhead: begin'
	eq "the mode" "$(chmod 640 "$CONF"; works sm-opensm remove 0x8001 full $ONE; stat -c %a "$CONF")" 640
	has_table Hca2 ''
	has_table Hca4 0x8005
	file_is "$before"
}

test_opensm_a_late_removal_leaves_the_line_of_the_new_pod()
{
	fabric
	works sm-opensm add 0x8001 full $ONE id-old
	works sm-opensm add 0x8001 full $ONE id-new
	works sm-opensm remove 0x8001 full $ONE id-old
	has_table Hca2 0x8001
	works sm-opensm remove 0x8001 full $ONE id-new
	has_table Hca2 ''
}

test_opensm_sixteen_at_once()
{
	local i pids=()
	fabric
	for i in {0..15}; do
		message add "$(printf '0x80%02x' $((i + 1)))" full $THREE "id-$i" | "$W/bin/sm-opensm" >"$W/hook.$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || fail "one failed: $(cat "$W"/hook.*)"; done
	eq "the lines" "$(grep -c '^railhead=' "$CONF")" 16
	has_table Hca4 "$(printf '0x80%02x\n' {1..16} | xargs)"
}

test_opensm_a_file_without_a_rule_is_refused()
{
	fabric
	echo '# Default=0x7fff' >"$CONF"
	refuses 'no rule for the default partition' sm-opensm add 0x8001 full $ONE
	file_is '# Default=0x7fff'
	rm "$CONF"
	refuses 'make it first' sm-opensm add 0x8001 full $ONE
	[ ! -e "$CONF" ] || fail "it made the file"
	printf '%s\n# railhead: begin\n' "$RULE" >"$CONF"
	refuses 'it has no end' sm-opensm add 0x8001 full $ONE
}

test_opensm_that_does_not_run_fails_an_ADD_but_no_removal()
{
	fabric
	kill -KILL "$(cat "$W/opensm.pid")"
	wait "$(cat "$W/opensm.pid")" 2>/dev/null
	refuses 'opensm does not run on this host' sm-opensm add 0x8001 full $ONE
	works sm-opensm remove 0x8001 full $ONE
	file_is "$RULE"
	# and one that starts reads what the hook left
	hook sm-opensm add 0x8001 full $TWO
	opensm_starts
	has_table Hca3 0x8001
}

test_opensm_of_a_pid_file()
{
	fabric
	jq -n --arg p "$CONF" --arg f "$W/opensm.pid" '{partitions: $p, pidFile: $f, ipoib: false}' >/etc/railhead/sm-opensm.json
	works sm-opensm add 0x8001 full $ONE
	has_table Hca2 0x8001
	has "no flag" "$(cat "$CONF")" 'railhead=0x0001 : 0x0000000000100003=full ;'
	echo 1 >"$W/other.pid.txt"
	jq -n --arg p "$CONF" --arg f "$W/other.pid.txt" '{partitions: $p, pidFile: $f}' >/etc/railhead/sm-opensm.json
	refuses 'opensm does not run' sm-opensm add 0x8001 full $TWO
	echo '{"partition":"x"}' >/etc/railhead/sm-opensm.json
	refuses 'partition: there is no such key' sm-opensm add 0x8001 full $TWO
}
