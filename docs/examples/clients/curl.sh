#!/bin/sh
# curl: the text on standard output, curl's own exit status. It looks at nothing but `content`.
limit=${1:+"--speed-limit 1 --speed-time $1"}
answer=$(curl -sSN --fail --compressed $limit -H 'Content-Type: application/json' \
  -d '{"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true}' \
  "${CHAOSPROXY_URL:-http://127.0.0.1:8666}/v1/chat/completions")
status=$?
printf '%s\n' "$answer" | sed -n 's/^data:.*"content":"\([^"]*\)".*/\1/p' | tr -d '\n'
exit $status
