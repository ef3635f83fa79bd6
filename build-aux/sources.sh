#!/bin/sh
# The C files of the project, one a line.
find bench examples fuzz include src tests -name '*.[ch]' -type f | sort
