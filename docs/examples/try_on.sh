#!/usr/bin/env bash
# Try a garment on: try_on.sh PERSON GARMENT CATEGORY RESULT, such as me.jpg shirt.jpg upper_body out.jpg.
# VTO_BASE_URL and VTO_API_KEY say where the service is and who is calling.
set -euo pipefail

person=$1 garment=$2 category=$3 result=$4
patience=600 # seconds that a poll of the job is tried again for, after a refusal or without an answer
folder=$(mktemp -d) job=
# Whatever stops this program, the job goes on and is billed: whoever has its id need not start another.
trap '[ -z "$job" ] || echo "Job: $job" >&2; rm -rf "$folder"' EXIT

# curl reads the key from here, so that it is not in the list of processes.
printf 'header = "Authorization: Bearer %s"\n' "$VTO_API_KEY" >"$folder/curl"

# Prints the status and leaves the body in a file. A pause for which --retry-max-time has no room is not waited for.
call() {
  curl --silent --show-error --config "$folder/curl" --output "$folder/answer" --write-out '%{http_code}' \
    --retry-all-errors "$@"
}

# The value of a string in the answer.
field() {
  sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$folder/answer"
}

# The service looks at the bytes, not at the label: PNG and WebP are as good.
inline() {
  printf 'data:image/jpeg;base64,%s' "$(base64 <"$1" | tr -d '\n')"
}

printf '{"customerPhotoBase64": "%s", "garmentImageUrl": "%s", "category": "%s"}' \
  "$(inline "$person")" "$(inline "$garment")" "$category" >"$folder/body"

# The same key in every retry: whatever is lost on the way, one job is started and billed.
key=$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)
# An earlier try, whose answer was lost, may still have the key: for a minute at most.
for pause in 1 2 4 8 8 8 8 8 8 8; do
  status=$(call "$VTO_BASE_URL/api/v1/tryon" --retry 3 --retry-max-time 60 --data-binary "@$folder/body" \
    --header "Content-Type: application/json" --header "Idempotency-Key: $key")
  [ "$status" = 409 ] || break
  sleep "$pause"
done
if [ "$status" != 202 ]; then
  echo "Refused with $status: $(field error)" >&2
  exit 1
fi
job=$(field jobId)

while :; do
  # The server holds the answer until the job has ended, or 25 seconds have passed.
  status=$(call "$VTO_BASE_URL/api/v1/tryon/$job" --header "Prefer: wait=25" \
    --retry "$patience" --retry-delay 2 --retry-max-time "$patience")
  if [ "$status" != 200 ]; then
    echo "Refused with $status: $(field error)" >&2
    exit 1
  fi
  case $(field status) in
    completed)
      field resultImageBase64 | sed 's/^[^,]*,//' | base64 -d >"$result"
      echo "$result"
      job=
      exit 0
      ;;
    failed)
      echo "No picture: $(field error)" >&2
      exit 1
      ;;
  esac
  sleep 2
done
