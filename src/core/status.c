#include <aloft/status.h>

struct entry {
  const char *name;
  const char *meaning;
  const char *advice;
  aloft_class class;
  aloft_error error;
};

#define ENTRY(status_, name_, class_, meaning_, advice_)                                           \
  {                                                                                                \
    .name = (name_), .meaning = (meaning_), .advice = (advice_), .class = (class_),                \
    .error = {.status = (status_),                                                                 \
              .message = {meaning_ "; " advice_, sizeof(meaning_ "; " advice_) - 1}},              \
  }
#define TABLE_ENTRY(name, number, class, meaning, advice)                                          \
  [INDEX_##name] = ENTRY(name, #name, ALOFT_CLASS_##class, meaning, advice),
#define TABLE_INDEX(name, number, class, meaning, advice) INDEX_##name,
#define TABLE_CASE(name, number, class, meaning, advice)                                           \
  case name:                                                                                       \
    return &entries[INDEX_##name];

/* Numbers have gaps, so that the table needs an index of its own. */
enum { ALOFT_STATUS_TABLE(TABLE_INDEX) INDEX_UNKNOWN };

static const struct entry entries[] = {
    ALOFT_STATUS_TABLE(TABLE_ENTRY)[INDEX_UNKNOWN] =
        ENTRY(ALOFT_ARGUMENT, "ALOFT_UNKNOWN", ALOFT_CLASS_ARGUMENT,
              "a number that is no status of this library",
              "check that the library is the one whose header was compiled"),
};

static const struct entry *find(aloft_status status) {
  switch (status) { ALOFT_STATUS_TABLE(TABLE_CASE) }
  return &entries[INDEX_UNKNOWN];
}

const char *aloft_status_name(aloft_status status) {
  return find(status)->name;
}

const char *aloft_status_meaning(aloft_status status) {
  return find(status)->meaning;
}

const char *aloft_status_advice(aloft_status status) {
  return find(status)->advice;
}

aloft_class aloft_status_class(aloft_status status) {
  return find(status)->class;
}

const aloft_error *aloft_status_error(aloft_status status) {
  return &find(status)->error;
}
