#!/bin/sh
# The fault to keep: 1 says that the input in $1 still shows it.
if grep -q arith.divsi "$1"; then exit 1; fi
exit 0
