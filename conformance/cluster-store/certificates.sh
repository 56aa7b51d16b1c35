# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# certificates.sh: a CA and certificates in the folder $W. Sourced.

certificate() # NAME SUBJECT EXTENSIONS [DAYS]: signed by the CA; 0 days: it has ended
{
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$W/$1.key" -subj "$2" 2>/dev/null |
		openssl x509 -req -CA "$W/ca.pem" -CAkey "$W/ca.key" -days "${4:-2}" -extfile <(echo "$3") -out "$W/$1.pem" 2>/dev/null
}

# certificates [ADDRESS...]: of a server at 127.0.0.1 and these addresses, and of a client.
# The CN of a client's certificate would be a user of etcd, so it has none.
certificates()
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$W/ca.key" -out "$W/ca.pem" -days 2 \
		-subj "/CN=contract" 2>/dev/null
	certificate server /CN=server "subjectAltName=IP:127.0.0.1$(printf ',IP:%s' "$@" | sed 's/,IP:$//')
extendedKeyUsage=serverAuth,clientAuth"
	certificate client /CN= 'extendedKeyUsage=clientAuth'
}
