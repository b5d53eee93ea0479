#!/bin/sh
# Programs of curl against a running product, and nginx as an upstream. Each case prints a line of JSON; the runner in ../runner says
# what the world file holds.
set -u

member() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",]*\).*/\1/p" "$CLIENTS_WORLD"; }
http=$(member http)
https=$(member https)
ca=$(member ca)
desk=$(member desk)
bytes=$(member download_bytes)
digest=$(member download_sha256)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
head -c 16777216 /dev/urandom >"$folder/body"
body=$(sha256sum "$folder/body" | cut -d ' ' -f 1)

# run CLIENT FLOW COMMAND...: runs a case and prints how it ended.
run() {
  client=$1 flow=$2
  shift 2
  if told=$("$@" 2>&1); then
    printf '{"client":"%s","flow":"%s"}\n' "$client" "$flow"
  else
    told=$(printf '%s' "$told" | tail -c 500 | tr '\n\t"\\' "  ''" | tr -d '\000-\037')
    printf '{"client":"%s","flow":"%s","failed":"%s"}\n' "$client" "$flow" "$told"
  fi
}

ask() { curl -sS --fail-with-body --max-time 60 --cacert "$ca" "$@"; }

# same WANTED GOT
same() { [ "$1" = "$2" ] || { echo "wanted $1, got $2"; return 1; }; }

download() {
  got=$(ask "$@" -w '%{stderr}%{http_version}' "$base/files/bytes/$bytes" 2>"$folder/version" | sha256sum | cut -d ' ' -f 1)
  same "$digest" "$got" && same "$version" "$(cat "$folder/version")"
}

uploaded() { case $1 in *"$body"*) ;; *) echo "the upstream got something else: $1"; return 1 ;; esac; }
upload() { uploaded "$(ask "$@" --data-binary "@$folder/body" "$base/files/upload")"; }
put_file() { uploaded "$(ask "$@" -T "$folder/body" "$base/files/upload")"; }
put_stream() { uploaded "$(ask "$@" -T - "$base/files/upload" <"$folder/body")"; }
ranges() { same 206 "$(ask "$@" -r 10-19 -o /dev/null -w '%{http_code}' "$base/nginx/bytes/4000000")"; }

# One connection for all, on an upstream that ends its own.
again() { same "$(printf 'ok%.0s' $(seq 50))" "$(ask "$@" "$base/files/last?[1-50]")"; }
at_once() { same 30 "$(ask "$@" -Z --parallel-max 10 -o /dev/null -w '%{http_code}\n' "$base/files/bytes/500000?[1-30]" | grep -c '^200$')"; }

# The upstream gets what a URL of a browser holds, in the query as it was sent.
characters() {
  same '/target?a={b}|c^d[e]`f\g%&' "$(ask -g "$@" "$base/files/target?a={b}|c^d[e]\`f\\g%&")" &&
    same '/a//b/%79' "$(ask -g --path-as-is "$@" "$base/files/a//b/%79" -o /dev/null -D - | sed -n 's/^x-target: \(.*\)\r$/\1/ip')"
}

through() {
  name=$1
  shift
  same 4000000 "$(ask "$@" "$base/$name/bytes/4000000" | wc -c)" || return
  ask "$@" --compressed "$base/$name/bytes/4000000" | cmp - "$served/bytes/4000000" || return
  ask "$@" -I "$base/$name/bytes/4000000" >/dev/null || return
  ask "$@" -T "$folder/body" "$base/$name/put/$name" >/dev/null || return
  same "$body" "$(ask "$@" "$base/$name/put/$name" | sha256sum | cut -d ' ' -f 1)" || return
  ask "$@" -T - "$base/$name/put/$name" <"$folder/body" >/dev/null || return
  same "$body" "$(ask "$@" "$base/$name/put/$name" | sha256sum | cut -d ' ' -f 1)" || return
  case $* in *prior-knowledge*) return ;; esac
  same 50 "$(ask "$@" -o /dev/null -w '%{http_code}\n' "$base/$name/bytes/10?[1-50]" | grep -c '^200$')"
}

token() { printf '%s' "$1" | sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p'; }

oauth() {
  made=$(curl -sS --max-time 60 -d '{}' "$desk/clients/opaque")
  client=$(printf '%s' "$made" | sed -n 's/.*"client_id":"\([^"]*\)".*/\1/p')
  secret=$(printf '%s' "$made" | sed -n 's/.*"client_secret":"\([^"]*\)".*/\1/p')
  at=$https/opaque/oauth
  access=$(token "$(ask -u "$client:$secret" -d grant_type=client_credentials -d scope=read "$at/token")")
  ask -H "Authorization: Bearer $access" "$https/opaque/things" >/dev/null || return
  ask -u "$client:$secret" -d "token=$access" "$at/introspect" | grep -q '"active":true' || return
  ask -u "$client:$secret" -d "token=$access" "$at/revoke" || return
  ask -u "$client:$secret" -d "token=$access" "$at/introspect" | grep -q '"active":false' || return
  same 401 "$(curl -sS --cacert "$ca" -H "Authorization: Bearer $access" -o /dev/null -w '%{http_code}' "$https/opaque/things")"
}

all() {
  way=$1 base=$2 version=$3
  shift 3
  run curl "download of 64 MiB, $way" download "$@"
  run curl "upload of 16 MiB from memory, $way" upload "$@"
  run curl "upload of 16 MiB from a file, $way" put_file "$@"
  run curl "upload of 16 MiB without a length, $way" put_stream "$@"
  # With prior knowledge curl 7.88 fails with the second request of a connection, to any server.
  case $* in *prior-knowledge*) ;; *)
    run curl "50 requests on an upstream that ends each connection, $way" again "$@"
    run curl "30 requests, 10 at once, $way" at_once "$@" ;;
  esac
  run curl "characters of URLs as they are written, $way" characters "$@"
  run curl "a range, $way" ranges "$@"
  run nginx "as upstream of curl: download, compressed too, HEAD, upload, 50 requests, $way" through nginx "$@"
  run nginx "over HTTP/2, as upstream of curl: download, compressed too, HEAD, upload, 50 requests, $way" through nginx2 "$@"
}

all 'HTTP/1.1' "$http" 1.1 --http1.1
all 'HTTP/1.1 over TLS' "$https" 1.1 --http1.1
all 'HTTP/2 over TLS' "$https" 2 --http2
all 'HTTP/2 by prior knowledge' "$http" 2 --http2-prior-knowledge
# Upgrade: h2c is left alone (RFC 9113 section 3.1).
all 'an upgrade to HTTP/2 offered without TLS' "$http" 1.1 --http2
run curl 'HTTP/1.0: download of 64 MiB' sh -c "[ \"\$(curl -sS -0 --max-time 60 $http/files/bytes/$bytes | sha256sum | cut -d ' ' -f 1)\" = $digest ]"
run curl 'client credentials, introspection, revocation' oauth
