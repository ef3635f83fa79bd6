/* Words of ASCII without regard to case, as connection strings have them. */
#ifndef ALO_ASCII_WORDS_H
#define ALO_ASCII_WORDS_H

#include <aloft/base.h>

char alo_lower(char c);
bool alo_is_blank(char c);   /* blank, tab, line ends */
bool alo_is_control(char c); /* other control characters */
/* Without the blanks around it. */
aloft_text alo_trim(aloft_text text);
/* `word` is in lower case. */
bool alo_same_word(aloft_text text, const char *word, size_t size);
/* Whether the text, trimmed, is one of "a|b|c" (in lower case). */
bool alo_one_of(aloft_text text, const char *words);
/* Whether the text, trimmed, is a number of one to nine digits. */
bool alo_number_of(aloft_text text, uint32_t *number);

#endif
