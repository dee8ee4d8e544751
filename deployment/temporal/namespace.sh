#!/bin/sh
# Registers the namespace and its search attributes with a running Temporal. Safe at any time.
# Reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, RETENTION, and SEARCH_ATTRIBUTES: names of keyword attributes with
# spaces between.
set -eu

# The command reads the address from the environment, and the namespace only where it is told.
operator() {
  temporal operator "$@" --address "$TEMPORAL_ADDRESS" --namespace "$TEMPORAL_NAMESPACE"
}

attempts=0
until operator cluster health >/dev/null 2>&1; do
  attempts=$((attempts + 1))
  if [ "$attempts" -ge 60 ]; then
    echo "Temporal at $TEMPORAL_ADDRESS is not healthy after $attempts attempts." >&2
    exit 1
  fi
  sleep 1
done

if ! operator namespace describe >/dev/null 2>&1; then
  operator namespace create --retention "$RETENTION"
fi

# A new namespace is known to every part of the server a few seconds later.
attempts=0
until known=$(operator search-attribute list 2>/dev/null); do
  attempts=$((attempts + 1))
  if [ "$attempts" -ge 60 ]; then
    echo "The namespace $TEMPORAL_NAMESPACE cannot be read." >&2
    exit 1
  fi
  sleep 1
done
for name in $SEARCH_ATTRIBUTES; do
  if ! echo "$known" | grep -qw "$name"; then
    operator search-attribute create --name "$name" --type Keyword
  fi
done
echo "The namespace $TEMPORAL_NAMESPACE has its search attributes: $SEARCH_ATTRIBUTES"
