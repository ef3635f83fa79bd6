/* T-SQL's data types and the rules by which an expression gets one. */
#ifndef ALO_TSQL_TYPE_H
#define ALO_TSQL_TYPE_H

#include <aloft/base.h>

#include "tds_type.h"

/* In T-SQL's order of precedence, lowest first; char kinds are four neighbours. */
typedef enum tsql_kind {
  TSQL_BINARY,
  TSQL_VARBINARY,
  TSQL_CHAR,
  TSQL_VARCHAR,
  TSQL_NCHAR,
  TSQL_NVARCHAR,
  TSQL_GUID,
  TSQL_BIT,
  TSQL_TINYINT,
  TSQL_SMALLINT,
  TSQL_INT,
  TSQL_BIGINT,
  TSQL_DECIMAL,
  TSQL_REAL,
  TSQL_FLOAT,
  TSQL_TIME,
  TSQL_DATE,
  TSQL_SMALLDATETIME,
  TSQL_DATETIME,
  TSQL_DATETIME2,
  TSQL_DATETIMEOFFSET,
  TSQL_PREDICATE /* true, false, unknown: no type of T-SQL's */
} tsql_kind;

#define TSQL_MAX UINT32_MAX /* the length of (max) types */

enum { TSQL_PRECISION_MAX = 38, TSQL_NARROW_MAX = 8000, TSQL_WIDE_MAX = 4000 };

typedef struct tsql_type {
  tsql_kind kind;
  uint8_t precision; /* decimal */
  uint8_t scale;     /* decimal: digits after the point; time types: 0 to 7 */
  bool numeric;      /* a decimal spelt numeric */
  uint32_t length;   /* char and binary types: characters (UTF-16 units, bytes), or TSQL_MAX */
} tsql_type;

bool alo_kind_is_text(tsql_kind kind);
bool alo_kind_is_wide(tsql_kind kind); /* nchar, nvarchar */
bool alo_kind_is_binary(tsql_kind kind);
bool alo_kind_is_integer(tsql_kind kind); /* bit included */
bool alo_kind_is_number(tsql_kind kind);
bool alo_kind_is_time(tsql_kind kind);  /* the date and time types */
bool alo_kind_is_fixed(tsql_kind kind); /* char, nchar, binary: padded */

tsql_type alo_type_plain(tsql_kind kind);
tsql_type alo_type_decimal(int precision, int scale);
/* `length` above the kind's limit is the limit; TSQL_MAX stays. */
tsql_type alo_type_sized(tsql_kind kind, uint64_t length);
bool alo_type_equal(tsql_type a, tsql_type b);

/* As error messages have it: "varchar", "numeric", "int". */
aloft_text alo_type_name(tsql_type type);

/* The decimal that holds an integer type, or a float's nearest: int is (10,0). */
tsql_type alo_type_as_decimal(tsql_type type);

/* The type of `a op b` for + - * / % on numbers; both must be numbers. */
tsql_type alo_type_arithmetic(char op, tsql_type a, tsql_type b);

/* The type that both sides of a comparison, of CASE, UNION and COALESCE take. */
tsql_type alo_type_common(tsql_type a, tsql_type b);

typedef enum tsql_conversion {
  TSQL_CONVERT_NEVER,    /* 206, 529 */
  TSQL_CONVERT_EXPLICIT, /* CAST only */
  TSQL_CONVERT_IMPLICIT,
  TSQL_CONVERT_MISSING /* SQL Server has it, lite has not: 40510 */
} tsql_conversion;
tsql_conversion alo_type_conversion(tsql_type from, tsql_type to);

/* TDS's and back. False for a type that lite does not have (money, xml, text...). */
alo_tds_type alo_type_to_tds(tsql_type type, bool nullable);
bool alo_type_from_tds(const alo_tds_type *from, tsql_type *type);

#endif
