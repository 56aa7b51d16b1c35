# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ufm.sh: sm-ufm against ufm.py, a stand-in. It shows what the hook sends and how it takes answers. It says nothing
# about the real UFM.
# shellcheck disable=SC2154

GUID=02:00:00:00:00:00:0a:01

certificates() # for localhost
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
		-keyout "$W/ufm.key" -out "$W/ufm.pem" >/dev/null 2>&1
}
conf() # JQ-FILTER: of the hook's configuration
{
	jq -n --arg u "https://localhost:$(cat "$W/ufm.port")" --arg w "$W" \
		'{url: $u, user: "admin", passwordFile: ($w + "/ufm.password"), ca: ($w + "/ufm.pem")} | '"${1-.}" >/etc/railhead/sm-ufm.json
}
ufm()
{
	command -v python3 openssl >/dev/null || skip "python3 or openssl is not installed"
	is "a certificate" certificates
	(umask 077; echo s3cret >"$W/ufm.password"; echo dG9rZW4 >"$W/ufm.token")
	mode ok
	python3 "$HERE/ufm.py" "$W" >"$W/ufm.out" 2>&1 &
	echo $! >"$W/ufm.pid"
	eventually test -s "$W/ufm.port" || return
	conf
}
mode() { echo "$1" >"$W/ufm.mode.new" && mv "$W/ufm.mode.new" "$W/ufm.mode"; }
members_are() { eq "the members" "$(jq -c . "$W/ufm.members")" "$1"; }
requests_are() { eq "the requests" "$(cat "$W/ufm.log" 2>/dev/null | xargs)" "$1"; }

test_ufm_adds_and_removes()
{
	ufm
	works sm-ufm add 0x8001 full $GUID
	members_are '{"0x1":{"0200000000000a01":["full",true,true]}}'
	works sm-ufm add 0x8001 full 02:00:00:00:00:00:0a:02
	works sm-ufm remove 0x8001 full $GUID
	members_are '{"0x1":{"0200000000000a02":["full",true,true]}}'
	works sm-ufm remove 0x8001 full $GUID # which UFM does not have any more
	requests_are 'POST /ufmRest/resources/pkeys POST /ufmRest/resources/pkeys POST /ufmRest/actions/remove_guids_from_pkey POST /ufmRest/actions/remove_guids_from_pkey'
}

test_ufm_limited_members_and_settings()
{
	ufm
	conf '. + {index0: false, ipOverIb: false}'
	works sm-ufm add 0x0002 limited $GUID
	members_are '{"0x2":{"0200000000000a01":["limited",false,false]}}'
}

test_ufm_with_a_token()
{
	ufm
	conf "del(.user, .passwordFile) + {tokenFile: \"$W/ufm.token\"}"
	works sm-ufm add 0x8001 full $GUID
	requests_are 'POST /ufmRestV3/resources/pkeys'
}

test_ufm_refuses_a_wrong_password()
{
	ufm
	echo wrong >"$W/ufm.password"
	refuses 'UFM refused the user with status 401' sm-ufm add 0x8001 full $GUID
	has "what to do" "$ERR" passwordFile
	hasnt "the secret" "$ERR" wrong
}

test_ufm_with_another_certificate_is_not_asked()
{
	ufm
	conf 'del(.ca)'
	refuses 'certificate' sm-ufm add 0x8001 full $GUID
	conf '.url |= sub("localhost"; "127.0.0.1")'
	refuses '127.0.0.1' sm-ufm add 0x8001 full $GUID
	conf '.url |= sub("https"; "http")'
	refuses 'must begin with https://' sm-ufm add 0x8001 full $GUID
	requests_are ''
}

test_ufm_that_fails_or_answers_garbage()
{
	local how
	ufm
	mode fail
	refuses 'UFM answered with status 500: {"error": "no leader"}' sm-ufm add 0x8001 full $GUID
	refuses 'status 500' sm-ufm remove 0x8001 full $GUID
	mode redirect
	refuses 'status 302' sm-ufm add 0x8001 full $GUID
	for how in garbage close huge; do
		mode $how
		refuses "https://localhost" sm-ufm add 0x8001 full $GUID
	done
	kill -KILL "$(cat "$W/ufm.pid")"
	wait "$(cat "$W/ufm.pid")" 2>/dev/null
	refuses 'is UFM up' sm-ufm remove 0x8001 full $GUID
}

test_ufm_that_hangs_is_given_up()
{
	ufm
	mode hang
	refuses 'https://localhost' sm-ufm add 0x8001 full $GUID
}

test_ufm_without_the_partition_has_no_member()
{
	ufm
	works sm-ufm remove 0x8007 full $GUID
	requests_are 'POST /ufmRest/actions/remove_guids_from_pkey GET /ufmRest/resources/pkeys'
	# A proxy that knows no path proves nothing.
	mode proxy
	refuses 'status 404' sm-ufm remove 0x8007 full $GUID
	refuses 'status 404' sm-ufm add 0x8007 full $GUID
}

test_ufm_files_that_others_may_read_or_write_are_refused()
{
	ufm
	chmod 644 "$W/ufm.password"
	refuses 'may be read by others than root' sm-ufm add 0x8001 full $GUID
	chmod 600 "$W/ufm.password"
	chmod 666 /etc/railhead/sm-ufm.json
	refuses '/etc/railhead/sm-ufm.json' sm-ufm add 0x8001 full $GUID
	rm /etc/railhead/sm-ufm.json
	refuses 'No such file' sm-ufm add 0x8001 full $GUID
	requests_are ''
}
