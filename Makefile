# The everyday words. The build itself is CMake's: see CMakePresets.json and CONTRIBUTING.md.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export FUZZ_SECONDS JOBS

.PHONY: help demo test bench fuzz format lint install clean

help:
	@echo 'make demo      rows over NATS, on this machine, with nothing to set up'
	@echo 'make test      build with dev, release and the sanitizers, and run every test'
	@echo 'make bench     run all benchmarks, and make docs/benchmarks.md of what they say'
	@echo 'make fuzz      run each fuzz target for FUZZ_SECONDS (60)'
	@echo 'make format    format the C files'
	@echo 'make lint      check format, layering and hygiene; clang-tidy; warnings of gcc and clang'
	@echo 'make install   build release and install to PREFIX (/usr/local), under DESTDIR'
	@echo 'make clean     remove build/'
	@echo 'On Debian 12 each installs the packages that it needs and that are missing.'

demo:
	@build-aux/need.sh demo
	@build-aux/build.sh release -DBUILD_TESTING=OFF
	@demo/demo.sh

test:
	@build-aux/need.sh test
	@build-aux/test.sh

bench:
	@build-aux/need.sh bench
	@build-aux/need.sh npm && build-aux/npm.sh
	@build-aux/build.sh release -DBUILD_TESTING=ON
	@ctest --test-dir build/release -L '^bench$$' --output-on-failure --no-tests=error
	@build-aux/bench.sh

fuzz:
	@build-aux/need.sh fuzz
	@build-aux/fuzz.sh

format:
	@build-aux/need.sh format
	@build-aux/sources.sh | xargs clang-format -i

lint:
	@build-aux/need.sh lint
	@build-aux/lint.sh

install:
	@build-aux/need.sh install
	@build-aux/build.sh release -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
	@cmake --install build/release

clean:
	rm -rf build
