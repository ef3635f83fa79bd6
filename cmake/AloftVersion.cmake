# The version lives in include/aloft/version.h alone, so that headers and package cannot differ.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/aloft/version.h version_lines
     REGEX "^#define ALOFT_VERSION(_MAJOR|_MINOR|_PATCH)? [\"0-9]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/../include/aloft/version.h)
foreach(line IN LISTS version_lines)
  string(REGEX MATCH "ALOFT_VERSION[A-Z_]*" version_name "${line}")
  string(REGEX MATCH "[0-9.]+" ${version_name} "${line}")
endforeach()
if(NOT ALOFT_VERSION STREQUAL
   "${ALOFT_VERSION_MAJOR}.${ALOFT_VERSION_MINOR}.${ALOFT_VERSION_PATCH}")
  message(FATAL_ERROR "include/aloft/version.h: ALOFT_VERSION does not agree with its numbers")
endif()
