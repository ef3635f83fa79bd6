/* The variables in a T-SQL text, so that a misspelt parameter is found when a file is loaded and
 * not by its first request. Comments, strings and quoted names are passed over; nothing else of
 * the language is checked. */
#ifndef ALO_SQL_SCAN_H
#define ALO_SQL_SCAN_H

#include <aloft/base.h>

typedef enum alo_sql_use {
  ALO_SQL_END,
  ALO_SQL_USED,     /* a variable's value is read or set */
  ALO_SQL_DECLARED, /* a name in DECLARE */
  ALO_SQL_WRONG     /* see `wrong`; nothing follows */
} alo_sql_use;

typedef struct alo_sql_scan {
  aloft_text name; /* of the variable, without its "@"; a view of the text */
  size_t line;     /* of the name, or of what is wrong; the first is 1 */
  const char *wrong;
  struct {
    const char *at, *end, *line_begin;
    size_t line, depth, mode_depth;
    int mode;
    bool expects_name, some;
  } own;
} alo_sql_scan;

void alo_sql_scan_init(alo_sql_scan *scan, aloft_text text);

/* The next variable. Names after EXEC that stand before "=", which are the procedure's own, and
 * global ones (@@ROWCOUNT) are not shown. Wrong are: a comment, string or quoted name without end,
 * and a line with GO, which belongs to tools and not to the language. */
alo_sql_use alo_sql_scan_next(alo_sql_scan *scan);

/* True once something that is not a comment has been passed. */
bool alo_sql_scan_some(const alo_sql_scan *scan);

/* True when two names are the same, ASCII case ignored. */
bool alo_sql_name_equal(aloft_text a, aloft_text b);

#endif
