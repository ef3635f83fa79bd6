#include "fortunes.h"

#include <stdlib.h>
#include <string.h>

const char alo_fortunes_query[] = "SELECT id, message FROM fortune";

static const char *const messages[ALO_FORTUNES] = {
    "fortune: No such file or directory",
    "A computer scientist is someone who fixes things that aren't broken.",
    "After enough decimal places, nobody gives a damn.",
    "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
    "A computer program does what you tell it to do, not what you want it to do.",
    "Emacs is a nice operating system, but I prefer UNIX. \xE2\x80\x94 Tom Christaensen",
    "Any program that runs right is obsolete.",
    "A list is only as strong as its weakest link. \xE2\x80\x94 Donald Knuth",
    "Feature: A bug with seniority.",
    "Computers make very fast, very accurate mistakes.",
    "<script>alert(\"This should not be displayed in a browser alert box.\");</script>",
    ("\xE3\x83\x95\xE3\x83\xAC\xE3\x83\xBC\xE3\x83\xA0\xE3\x83\xAF\xE3\x83\xBC\xE3\x82\xAF"
     "\xE3\x81\xAE\xE3\x83\x99\xE3\x83\xB3\xE3\x83\x81\xE3\x83\x9E\xE3\x83\xBC\xE3\x82\xAF"),
};

aloft_text alo_fortunes_message(int32_t id) {
  if (id < 1 || id > ALO_FORTUNES)
    return (aloft_text){0};
  return (aloft_text){messages[id - 1], strlen(messages[id - 1])};
}

/* ---- what the caller keeps ---- */

bool alo_fortunes_keep(alo_fortune_list *list, int32_t id, aloft_text message) {
  if (list->count == list->room)
    return false;
  char *copy = malloc(message.size + 1);
  if (!copy)
    return false;
  if (message.size > 0)
    memcpy(copy, message.data, message.size);
  copy[message.size] = '\0';
  list->rows[list->count++] = (alo_fortune){id, copy, message.size};
  return true;
}

void alo_fortunes_drop(alo_fortune_list *list) {
  for (size_t i = 0; i < list->count; i++)
    free(list->rows[i].message);
  list->count = 0;
}

const char *alo_fortunes_wrong(const alo_fortune_list *list) {
  uint32_t seen = 0;
  if (list->count != ALO_FORTUNES)
    return "not 12 rows";
  for (size_t i = 0; i < list->count; i++) {
    const alo_fortune *row = &list->rows[i];
    aloft_text wanted = alo_fortunes_message(row->id);
    if (!wanted.data || seen >> row->id & 1)
      return "an id that is not from 1 to 12, or came twice";
    if (row->size != wanted.size || memcmp(row->message, wanted.data, wanted.size) != 0)
      return "a row with another text";
    seen |= UINT32_C(1) << row->id;
  }
  return NULL;
}
