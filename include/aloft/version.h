/* The version of these headers. CMakeLists.txt reads it from here: there is no other place. */
#ifndef ALOFT_VERSION_H
#define ALOFT_VERSION_H

#define ALOFT_VERSION_MAJOR 0
#define ALOFT_VERSION_MINOR 1
#define ALOFT_VERSION_PATCH 0

#define ALOFT_VERSION "0.1.0"

/* For comparisons: ALOFT_VERSION_NUMBER >= ALOFT_VERSION_OF(0, 2, 0) */
#define ALOFT_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define ALOFT_VERSION_NUMBER                                                                       \
  ALOFT_VERSION_OF(ALOFT_VERSION_MAJOR, ALOFT_VERSION_MINOR, ALOFT_VERSION_PATCH)

#endif
