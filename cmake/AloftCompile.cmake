# Warnings, sanitizers and coverage, shared by every target through aloft_compile.
option(ALOFT_WERROR "Treat warnings as errors" OFF)
set(ALOFT_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
option(ALOFT_COVERAGE "Instrument for coverage" OFF)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(aloft_compile INTERFACE)
target_compile_definitions(aloft_compile INTERFACE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
target_compile_options(aloft_compile INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wvla -Wcast-qual -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<BOOL:${ALOFT_WERROR}>:-Werror>
  # Pairs of pointers are stored one by one: gathering them in a vector register first costs more
  # instructions than it saves stores.
  -fno-tree-slp-vectorize)
# A function that is bound at its first call has the linker put all vector registers on the stack,
# where what was last copied, maybe a password, would stay.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  target_link_options(aloft_compile INTERFACE LINKER:-z,now)
endif()
if(ALOFT_SANITIZE)
  target_compile_options(aloft_compile INTERFACE -fsanitize=${ALOFT_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(aloft_compile INTERFACE -fsanitize=${ALOFT_SANITIZE})
endif()
if(ALOFT_FUZZ)
  # The library too: a fuzzer learns only from instrumented code.
  target_compile_options(aloft_compile INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ALOFT_COVERAGE)
  target_compile_options(aloft_compile INTERFACE --coverage)
  target_link_options(aloft_compile INTERFACE --coverage)
endif()
