#include "tsql_token.h"

#include <string.h>

#include "engine.h"
#include "tsql_error.h"
#include "tsql_text.h"

static int peek(const tsql_lexer *lexer, size_t ahead) {
  size_t at = lexer->at + ahead;
  return at < lexer->text.size ? (uint8_t)lexer->text.data[at] : -1;
}

static _Noreturn void fail(tsql_lexer *lexer, int number, size_t start) {
  aloft_text near = {lexer->text.data + start, lexer->text.size - start};
  near.size = alo_text_prefix(near, 60);
  alo_tsql_error_set(&lexer->context->error, number, ALOFT_PRINT(near));
  lexer->context->error.line = lexer->line;
  alo_rethrow(lexer->context, &lexer->context->error);
}

/* A comment opens another one inside it. */
static void skip_comment(tsql_lexer *lexer) {
  size_t start = lexer->at;
  int depth = 0;
  do {
    int c = peek(lexer, 0);
    if (c < 0)
      fail(lexer, 113, start);
    if (c == '\n')
      lexer->line++;
    int step = 2;
    if (c == '/' && peek(lexer, 1) == '*')
      depth++;
    else if (c == '*' && peek(lexer, 1) == '/')
      depth--;
    else
      step = 1;
    lexer->at += (size_t)step;
  } while (depth > 0);
}

static void skip_blanks(tsql_lexer *lexer) {
  for (;;) {
    int c = peek(lexer, 0);
    if (c == '-' && peek(lexer, 1) == '-') {
      while (peek(lexer, 0) >= 0 && peek(lexer, 0) != '\n')
        lexer->at++;
    } else if (c == '/' && peek(lexer, 1) == '*') {
      skip_comment(lexer);
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      lexer->line += c == '\n';
      lexer->at++;
    } else if (c == 0xC2 && peek(lexer, 1) == 0xA0) {
      lexer->at += 2;
    } else if (c == 0xEF && peek(lexer, 1) == 0xBB && peek(lexer, 2) == 0xBF) {
      lexer->at += 3;
    } else {
      return;
    }
  }
}

static bool is_digit(int c) {
  return c >= '0' && c <= '9';
}

static bool is_name_start(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#' || c >= 0x80;
}

static bool is_name_part(int c) {
  return is_name_start(c) || is_digit(c) || c == '@' || c == '$';
}

static bool is_hex(int c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Text up to `close`, which is written twice inside. The opening one is behind. */
static aloft_text quoted(tsql_lexer *lexer, char close, size_t start) {
  size_t begin = lexer->at;
  size_t doubled = 0;
  for (;; lexer->at++) {
    int c = peek(lexer, 0);
    if (c < 0) {
      lexer->at = begin;
      fail(lexer, 105, start + 1);
    }
    lexer->line += c == '\n';
    if (c != close)
      continue;
    if (peek(lexer, 1) != close)
      break;
    doubled++;
    lexer->at++;
  }
  aloft_text raw = {lexer->text.data + begin, lexer->at - begin};
  lexer->at++;
  if (doubled == 0)
    return raw;
  char *copy = alo_take(lexer->context, raw.size - doubled + 1);
  size_t size = 0;
  for (size_t i = 0; i < raw.size; i++) {
    copy[size++] = raw.data[i];
    i += raw.data[i] == close;
  }
  return (aloft_text){copy, size};
}

static void number(tsql_lexer *lexer, tsql_token *token) {
  token->kind = TOKEN_INTEGER;
  while (is_digit(peek(lexer, 0)))
    lexer->at++;
  if (peek(lexer, 0) == '.') {
    token->kind = TOKEN_DECIMAL;
    lexer->at++;
    while (is_digit(peek(lexer, 0)))
      lexer->at++;
  }
  if (peek(lexer, 0) != 'e' && peek(lexer, 0) != 'E')
    return;
  token->kind = TOKEN_FLOAT;
  lexer->at++;
  if (peek(lexer, 0) == '+' || peek(lexer, 0) == '-')
    lexer->at++;
  while (is_digit(peek(lexer, 0)))
    lexer->at++;
}

static void sign(tsql_lexer *lexer, tsql_token *token) {
  static const char *const pairs[] = {
      "<=", ">=", "<>", "!=", "!<", "!>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::"};
  token->kind = TOKEN_SIGN;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    if (peek(lexer, 0) == pairs[i][0] && peek(lexer, 1) == pairs[i][1]) {
      lexer->at += 2;
      return;
    }
  }
  lexer->at++;
}

static void word(tsql_lexer *lexer, tsql_token *token) {
  token->kind = peek(lexer, 0) == '@' ? TOKEN_VARIABLE : TOKEN_WORD;
  do
    lexer->at++;
  while (is_name_part(peek(lexer, 0)));
}

static void check_name(tsql_lexer *lexer, const tsql_token *token, size_t start) {
  bool name =
      token->kind == TOKEN_WORD || token->kind == TOKEN_NAME || token->kind == TOKEN_VARIABLE;
  if (name && alo_text_units(token->text) > ALO_ENGINE_NAME_MAX)
    fail(lexer, 103, start);
  if (token->kind == TOKEN_NAME && token->text.size == 0)
    fail(lexer, 102, start);
}

tsql_token alo_lexer_next(tsql_lexer *lexer) {
  skip_blanks(lexer);
  size_t start = lexer->at;
  tsql_token token = {.line = lexer->line};
  int c = peek(lexer, 0);
  bool has_text = false;
  if (c < 0)
    return token;
  if (c == '\'' || ((c == 'N' || c == 'n') && peek(lexer, 1) == '\'')) {
    token.kind = c == '\'' ? TOKEN_STRING : TOKEN_NSTRING;
    lexer->at += c == '\'' ? 1 : 2;
    token.text = quoted(lexer, '\'', start);
    has_text = true;
  } else if (c == '[' || c == '"') {
    token.kind = TOKEN_NAME;
    lexer->at++;
    token.text = quoted(lexer, c == '[' ? ']' : '"', start);
    has_text = true;
  } else if (c == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X')) {
    token.kind = TOKEN_BINARY;
    lexer->at += 2;
    while (is_hex(peek(lexer, 0)))
      lexer->at++;
  } else if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
    number(lexer, &token);
  } else if (is_name_start(c) || c == '@') {
    word(lexer, &token);
  } else {
    sign(lexer, &token);
  }
  token.source = (aloft_text){lexer->text.data + start, lexer->at - start};
  if (!has_text)
    token.text = token.source;
  check_name(lexer, &token, start);
  return token;
}

bool alo_word_is(aloft_text text, const char *wanted) {
  for (size_t i = 0; i < text.size; i++, wanted++) {
    char c = text.data[i];
    if (c >= 'a' && c <= 'z')
      c = (char)(c - 32);
    if (*wanted == 0 || c != *wanted)
      return false;
  }
  return *wanted == 0;
}

static const char *const reserved_words[] = {"ADD",
                                             "ALL",
                                             "ALTER",
                                             "AND",
                                             "ANY",
                                             "AS",
                                             "ASC",
                                             "AUTHORIZATION",
                                             "BACKUP",
                                             "BEGIN",
                                             "BETWEEN",
                                             "BREAK",
                                             "BROWSE",
                                             "BULK",
                                             "BY",
                                             "CASCADE",
                                             "CASE",
                                             "CHECK",
                                             "CHECKPOINT",
                                             "CLOSE",
                                             "CLUSTERED",
                                             "COALESCE",
                                             "COLLATE",
                                             "COLUMN",
                                             "COMMIT",
                                             "COMPUTE",
                                             "CONSTRAINT",
                                             "CONTAINS",
                                             "CONTAINSTABLE",
                                             "CONTINUE",
                                             "CONVERT",
                                             "CREATE",
                                             "CROSS",
                                             "CURRENT",
                                             "CURRENT_DATE",
                                             "CURRENT_TIME",
                                             "CURRENT_TIMESTAMP",
                                             "CURRENT_USER",
                                             "CURSOR",
                                             "DATABASE",
                                             "DBCC",
                                             "DEALLOCATE",
                                             "DECLARE",
                                             "DEFAULT",
                                             "DELETE",
                                             "DENY",
                                             "DESC",
                                             "DISK",
                                             "DISTINCT",
                                             "DISTRIBUTED",
                                             "DOUBLE",
                                             "DROP",
                                             "DUMP",
                                             "ELSE",
                                             "END",
                                             "ERRLVL",
                                             "ESCAPE",
                                             "EXCEPT",
                                             "EXEC",
                                             "EXECUTE",
                                             "EXISTS",
                                             "EXIT",
                                             "EXTERNAL",
                                             "FETCH",
                                             "FILE",
                                             "FILLFACTOR",
                                             "FOR",
                                             "FOREIGN",
                                             "FREETEXT",
                                             "FREETEXTTABLE",
                                             "FROM",
                                             "FULL",
                                             "FUNCTION",
                                             "GOTO",
                                             "GRANT",
                                             "GROUP",
                                             "HAVING",
                                             "HOLDLOCK",
                                             "IDENTITY",
                                             "IDENTITY_INSERT",
                                             "IDENTITYCOL",
                                             "IF",
                                             "IN",
                                             "INDEX",
                                             "INNER",
                                             "INSERT",
                                             "INTERSECT",
                                             "INTO",
                                             "IS",
                                             "JOIN",
                                             "KEY",
                                             "KILL",
                                             "LEFT",
                                             "LIKE",
                                             "LINENO",
                                             "LOAD",
                                             "MERGE",
                                             "NATIONAL",
                                             "NOCHECK",
                                             "NONCLUSTERED",
                                             "NOT",
                                             "NULL",
                                             "NULLIF",
                                             "OF",
                                             "OFF",
                                             "OFFSETS",
                                             "ON",
                                             "OPEN",
                                             "OPENDATASOURCE",
                                             "OPENQUERY",
                                             "OPENROWSET",
                                             "OPENXML",
                                             "OPTION",
                                             "OR",
                                             "ORDER",
                                             "OUTER",
                                             "OVER",
                                             "PERCENT",
                                             "PIVOT",
                                             "PLAN",
                                             "PRECISION",
                                             "PRIMARY",
                                             "PRINT",
                                             "PROC",
                                             "PROCEDURE",
                                             "PUBLIC",
                                             "RAISERROR",
                                             "READ",
                                             "READTEXT",
                                             "RECONFIGURE",
                                             "REFERENCES",
                                             "REPLICATION",
                                             "RESTORE",
                                             "RESTRICT",
                                             "RETURN",
                                             "REVERT",
                                             "REVOKE",
                                             "RIGHT",
                                             "ROLLBACK",
                                             "ROWCOUNT",
                                             "ROWGUIDCOL",
                                             "RULE",
                                             "SAVE",
                                             "SCHEMA",
                                             "SECURITYAUDIT",
                                             "SELECT",
                                             "SESSION_USER",
                                             "SET",
                                             "SETUSER",
                                             "SHUTDOWN",
                                             "SOME",
                                             "STATISTICS",
                                             "SYSTEM_USER",
                                             "TABLE",
                                             "TABLESAMPLE",
                                             "TEXTSIZE",
                                             "THEN",
                                             "TO",
                                             "TOP",
                                             "TRAN",
                                             "TRANSACTION",
                                             "TRIGGER",
                                             "TRUNCATE",
                                             "TRY_CONVERT",
                                             "TSEQUAL",
                                             "UNION",
                                             "UNIQUE",
                                             "UNPIVOT",
                                             "UPDATE",
                                             "UPDATETEXT",
                                             "USE",
                                             "USER",
                                             "VALUES",
                                             "VARYING",
                                             "VIEW",
                                             "WAITFOR",
                                             "WHEN",
                                             "WHERE",
                                             "WHILE",
                                             "WITH",
                                             "WITHIN",
                                             "WRITETEXT"};

bool alo_word_is_reserved(aloft_text text) {
  for (size_t i = 0; i < sizeof reserved_words / sizeof *reserved_words; i++)
    if (alo_word_is(text, reserved_words[i]))
      return true;
  return false;
}
