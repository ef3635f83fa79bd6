/* The words of a T-SQL text. */
#ifndef ALO_TSQL_TOKEN_H
#define ALO_TSQL_TOKEN_H

#include "tsql_context.h"

typedef enum tsql_token_kind {
  TOKEN_END,
  TOKEN_WORD,     /* a keyword or a plain name */
  TOKEN_NAME,     /* [name] or "name": `text` is what lies between, undoubled */
  TOKEN_VARIABLE, /* @x, @@x */
  TOKEN_STRING,   /* 'text', undoubled */
  TOKEN_NSTRING,  /* N'text' */
  TOKEN_BINARY,   /* 0x...: the digits */
  TOKEN_INTEGER,
  TOKEN_DECIMAL,
  TOKEN_FLOAT,
  TOKEN_SIGN /* one or two characters */
} tsql_token_kind;

typedef struct tsql_token {
  tsql_token_kind kind;
  aloft_text text;   /* in the source, or a copy in the context's memory */
  aloft_text source; /* as it is written */
  uint32_t line;     /* from 1 */
} tsql_token;

typedef struct tsql_lexer {
  tsql_context *context;
  aloft_text text;
  size_t at;
  uint32_t line;
} tsql_lexer;

/* The next token. Throws 102, 103, 105, 113. */
tsql_token alo_lexer_next(tsql_lexer *lexer);

/* True for the words that T-SQL reserves: they are not names unless in brackets. */
bool alo_word_is_reserved(aloft_text word);
/* ASCII, ignoring case. `word` in capitals. */
bool alo_word_is(aloft_text text, const char *word);

#endif
