#include "sql_scan.h"

/* Where the scan stands: in a DECLARE, in an EXEC, or in neither. */
enum { ELSEWHERE, IN_DECLARE, IN_EXEC };

void alo_sql_scan_init(alo_sql_scan *scan, aloft_text text) {
  *scan = (alo_sql_scan){.line = 1};
  scan->own.at = scan->own.line_begin = text.data;
  scan->own.end = text.data + text.size;
  scan->own.line = 1;
}

bool alo_sql_scan_some(const alo_sql_scan *scan) {
  return scan->own.some;
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool alo_sql_name_equal(aloft_text a, aloft_text b) {
  if (a.size != b.size)
    return false;
  for (size_t i = 0; i < a.size; i++) {
    if (lower(a.data[i]) != lower(b.data[i]))
      return false;
  }
  return true;
}

static bool is_name(char c) {
  unsigned char byte = (unsigned char)c;
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '@' ||
         c == '#' || c == '$' || byte >= 0x80;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static char peek(const alo_sql_scan *scan, size_t ahead) {
  size_t left = (size_t)(scan->own.end - scan->own.at);
  return ahead < left ? scan->own.at[ahead] : '\0';
}

static void advance(alo_sql_scan *scan) {
  if (*scan->own.at++ == '\n') {
    scan->own.line++;
    scan->own.line_begin = scan->own.at;
  }
}

static bool more(const alo_sql_scan *scan) {
  return scan->own.at < scan->own.end;
}

static alo_sql_use wrong(alo_sql_scan *scan, size_t line, const char *what) {
  scan->own.at = scan->own.end;
  scan->wrong = what;
  scan->line = line;
  return ALO_SQL_WRONG;
}

/* ---- what is passed over: ALO_SQL_END when it has an end ---- */

static alo_sql_use skip_line(alo_sql_scan *scan) {
  while (more(scan) && *scan->own.at != '\n')
    advance(scan);
  return ALO_SQL_END;
}

/* Comments nest. */
static alo_sql_use skip_comment(alo_sql_scan *scan) {
  size_t begin = scan->own.line, depth = 0;
  do {
    int change = 0;
    if (peek(scan, 0) == '/' && peek(scan, 1) == '*')
      change = 1;
    if (peek(scan, 0) == '*' && peek(scan, 1) == '/')
      change = -1;
    depth = change < 0 ? depth - 1 : depth + (size_t)change;
    if (change != 0)
      advance(scan);
    advance(scan);
  } while (depth > 0 && more(scan));
  return depth == 0 ? ALO_SQL_END : wrong(scan, begin, "the comment that begins here has no end");
}

/* The closing mark written twice stands for itself. */
static alo_sql_use skip_quoted(alo_sql_scan *scan, char close) {
  size_t begin = scan->own.line;
  for (advance(scan); more(scan); advance(scan)) {
    if (*scan->own.at != close)
      continue;
    advance(scan);
    if (peek(scan, 0) != close)
      return ALO_SQL_END;
  }
  return wrong(scan, begin, "what is quoted from here on has no closing quote");
}

/* ---- words ---- */

static bool is_word(aloft_text word, const char *name) {
  return alo_sql_name_equal(word, aloft_text_of(name));
}

static bool begins_statement(aloft_text word) {
  /* Not "else" and "end": CASE has them inside an expression. */
  static const char *const words[] = {
      "select", "insert", "update",   "delete", "merge", "set",     "if",        "while",   "begin",
      "return", "print",  "with",     "create", "alter", "drop",    "open",      "fetch",   "close",
      "throw",  "commit", "rollback", "go",     "save",  "waitfor", "raiserror", "truncate"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (is_word(word, words[i]))
      return true;
  }
  return false;
}

/* True when `word` is all that its line holds, but for a count. */
static bool is_alone(const alo_sql_scan *scan, aloft_text word) {
  for (const char *at = scan->own.line_begin; at < word.data; at++) {
    if (!is_blank(*at))
      return false;
  }
  const char *at = word.data + word.size;
  while (at < scan->own.end && *at != '\n' && (is_blank(*at) || (*at >= '0' && *at <= '9')))
    at++;
  return at == scan->own.end || *at == '\n';
}

static aloft_text take_name(alo_sql_scan *scan) {
  aloft_text name = {scan->own.at, 0};
  while (more(scan) && is_name(*scan->own.at)) {
    advance(scan);
    name.size++;
  }
  return name;
}

static alo_sql_use pass_word(alo_sql_scan *scan) {
  aloft_text word = take_name(scan);
  if (is_word(word, "go") && is_alone(scan, word))
    return wrong(scan, scan->own.line, "GO belongs to tools, not to SQL: a file is one batch");
  if (is_word(word, "declare") || is_word(word, "exec") || is_word(word, "execute")) {
    scan->own.mode = is_word(word, "declare") ? IN_DECLARE : IN_EXEC;
    scan->own.mode_depth = scan->own.depth;
    scan->own.expects_name = true;
  } else if (scan->own.depth <= scan->own.mode_depth && begins_statement(word)) {
    scan->own.mode = ELSEWHERE;
  }
  return ALO_SQL_END;
}

static void pass_mark(alo_sql_scan *scan) {
  bool level = scan->own.depth == scan->own.mode_depth;
  switch (*scan->own.at) {
  case '(':
    scan->own.depth++;
    break;
  case ')':
    scan->own.depth -= scan->own.depth > 0;
    break;
  case ',':
    scan->own.expects_name = scan->own.expects_name || level;
    break;
  case ';':
    scan->own.mode = ELSEWHERE;
    break;
  default:
    break;
  }
  advance(scan);
}

/* ---- variables ---- */

static bool is_before_equals(const alo_sql_scan *scan) {
  const char *at = scan->own.at;
  while (at < scan->own.end && is_blank(*at))
    at++;
  return at < scan->own.end && *at == '=';
}

/* ALO_SQL_END: not one to be shown. */
static alo_sql_use take_variable(alo_sql_scan *scan) {
  scan->line = scan->own.line;
  aloft_text name = take_name(scan);
  if (name.size < 2 || name.data[1] == '@')
    return ALO_SQL_END;
  scan->name = (aloft_text){name.data + 1, name.size - 1};
  bool level = scan->own.depth == scan->own.mode_depth;
  if (scan->own.mode == IN_EXEC && is_before_equals(scan))
    return ALO_SQL_END;
  if (scan->own.mode == IN_DECLARE && level && scan->own.expects_name) {
    scan->own.expects_name = false;
    return ALO_SQL_DECLARED;
  }
  return ALO_SQL_USED;
}

/* One piece of the text; ALO_SQL_END when it is nothing to show. */
static alo_sql_use pass_piece(alo_sql_scan *scan) {
  char c = *scan->own.at;
  if (c == '-' && peek(scan, 1) == '-')
    return skip_line(scan);
  if (c == '/' && peek(scan, 1) == '*')
    return skip_comment(scan);
  if (is_blank(c)) {
    advance(scan);
    return ALO_SQL_END;
  }
  scan->own.some = true;
  if (c == '\'' || c == '"')
    return skip_quoted(scan, c);
  if (c == '[')
    return skip_quoted(scan, ']');
  if (c == '@')
    return take_variable(scan);
  if (is_name(c))
    return pass_word(scan);
  pass_mark(scan);
  return ALO_SQL_END;
}

alo_sql_use alo_sql_scan_next(alo_sql_scan *scan) {
  while (more(scan)) {
    alo_sql_use use = pass_piece(scan);
    if (use != ALO_SQL_END)
      return use;
  }
  return ALO_SQL_END;
}
