#!/bin/sh
# A client of your own that is a program: chaosproxy check -- sh template.sh
# It prints the text that it has received, and leaves with 0 only if it takes it for the whole answer.
exec your-client --base-url "$OPENAI_BASE_URL" --prompt hi
