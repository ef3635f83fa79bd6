#include "tds_param.h"

#include <string.h>

#include "utf16.h"

enum {
  UNITS_MAX = 4000,     /* of nvarchar(n), in UTF-16 units */
  BYTES_MAX = 8000,     /* of varbinary(n) and varchar(n) */
  NAME_UNITS_MAX = 127, /* without "@" */
  PRECISION_MAX = 38,
  VARIANT_SIZE = 8009,
  ROWVERSION_SIZE = 8,

  BY_REF_VALUE = 0x01,
  DEFAULT_VALUE = 0x02
};

/* The work of a check. */
typedef struct checking {
  alo_tds_writer *writer;
  const aloft_tds_param *param;
  const alo_tds_param_way *way;
  aloft_status status;
  bool variant; /* it is the value in a sql_variant */
} checking;

static const char *fail(checking *work, aloft_status status, const char *why) {
  work->status = status;
  return why;
}

static const char ill_formed[] = "its text is not well-formed UTF-8";

/* ---- sizes ---- */

static bool is_absent(const checking *work) {
  return work->param->null || work->param->by_default;
}

/* The size of a type for a value of `size`, in its unit, of which it takes `most`; 0: (max). A type
 * of fixed size pads, so it is as small as the value lets it be, and (max) stands for it where the
 * size of what comes back is not known. */
static const char *choose_size(checking *work, size_t size, uint32_t most, bool *fixed,
                               uint32_t *chosen) {
  const aloft_tds_param *param = work->param;
  bool open = param->output && !param->size;
  *chosen = 0;
  if (param->size && size > param->size)
    return fail(work, ALOFT_TOO_LARGE, "the value is larger than the size declared for it");
  if ((*fixed || work->variant) && (size > most || param->size > most))
    return fail(work, ALOFT_TOO_LARGE, "its type has at most 8,000 bytes");
  *fixed = *fixed && !open;
  if (open || size > most || param->size > most)
    return NULL;
  *chosen = param->size ? param->size : *fixed ? (uint32_t)size + !size : most;
  return NULL;
}

/* nchar, nvarchar, and all text with sp_executesql. */
static const char *type_of_units(checking *work, bool fixed, alo_tds_type *type) {
  const aloft_text *text = &work->param->value.text;
  size_t units = is_absent(work) ? 0 : alo_utf8_utf16_count(text->data, text->size);
  uint32_t chosen;
  if (units == SIZE_MAX)
    return fail(work, ALOFT_ARGUMENT, ill_formed);
  const char *wrong = choose_size(work, units, UNITS_MAX, &fixed, &chosen);
  *type = (alo_tds_type){.token = fixed ? ALO_TDS_NCHAR : ALO_TDS_NVARCHAR,
                         .size = chosen ? 2 * chosen : ALO_TDS_MAX_SIZE};
  memcpy(type->collation, alo_tds_collation_default, sizeof type->collation);
  return wrong;
}

/* char and varchar of a procedure, in the server's code page. */
static const char *type_of_characters(checking *work, bool fixed, alo_tds_type *type) {
  size_t size = 0;
  uint32_t chosen;
  if (!work->way->collation)
    return type_of_units(work, fixed, type);
  *type = (alo_tds_type){.token = ALO_TDS_BIGVARCHAR};
  memcpy(type->collation, work->way->collation, sizeof type->collation);
  if (!is_absent(work) && work->param->value.text.data)
    size = alo_tds_text_size(work->writer, type, work->param->value.text);
  if (size == SIZE_MAX)
    return fail(work, ALOFT_ARGUMENT, ill_formed);
  const char *wrong = choose_size(work, size, BYTES_MAX, &fixed, &chosen);
  type->token = fixed ? ALO_TDS_BIGCHAR : ALO_TDS_BIGVARCHAR;
  type->size = chosen ? chosen : ALO_TDS_MAX_SIZE;
  return wrong;
}

static const char *type_of_bytes(checking *work, bool fixed, alo_tds_type *type) {
  size_t size = is_absent(work) ? 0 : work->param->value.bytes.size;
  uint32_t chosen;
  const char *wrong = choose_size(work, size, BYTES_MAX, &fixed, &chosen);
  *type = (alo_tds_type){.token = fixed ? ALO_TDS_BIGBINARY : ALO_TDS_BIGVARBINARY,
                         .size = chosen ? chosen : ALO_TDS_MAX_SIZE};
  return wrong;
}

/* text, ntext and image, which a procedure only takes. */
static const char *type_of_lob(checking *work, uint8_t token, alo_tds_type *type) {
  const uint8_t *collation = work->way->collation;
  if (token == ALO_TDS_TEXT && !collation)
    token = ALO_TDS_NTEXT;
  *type = (alo_tds_type){.token = token, .size = INT32_MAX};
  if (token != ALO_TDS_IMAGE)
    memcpy(type->collation, token == ALO_TDS_TEXT ? collation : alo_tds_collation_default,
           sizeof type->collation);
  return NULL;
}

/* ---- the others ---- */

static const char *type_of_decimal(checking *work, alo_tds_type *type) {
  const aloft_tds_decimal *value = &work->param->value.decimal;
  uint8_t precision = value->precision ? value->precision : PRECISION_MAX;
  *type = (alo_tds_type){.token = work->param->type == ALOFT_TDS_NUMERIC ? ALO_TDS_NUMERICN
                                                                         : ALO_TDS_DECIMALN,
                         .precision = precision,
                         .scale = value->scale};
  if (precision > PRECISION_MAX || value->scale > precision)
    return fail(work, ALOFT_ARGUMENT, "a decimal's precision is 1 to 38, its scale at most that");
  return NULL;
}

static const char *type_of_time(checking *work, uint8_t token, alo_tds_type *type) {
  *type = (alo_tds_type){.token = token, .scale = work->param->scale};
  if (work->param->scale > 7)
    return fail(work, ALOFT_ARGUMENT, "its scale is 0 to 7 digits of the second");
  return NULL;
}

static const char *type_of_rowversion(checking *work, alo_tds_type *type) {
  *type = (alo_tds_type){.token = ALO_TDS_BIGBINARY, .size = ROWVERSION_SIZE};
  const aloft_bytes *value = &work->param->value.bytes;
  if (!is_absent(work) && value->data && value->size != ROWVERSION_SIZE)
    return fail(work, ALOFT_ARGUMENT, "a rowversion has 8 bytes");
  return NULL;
}

static const char *type_of_udt(checking *work, alo_tds_type *type) {
  aloft_text parts[ALO_TDS_UDT_PARTS];
  *type = (alo_tds_type){.token = ALO_TDS_UDT, .size = ALO_TDS_MAX_SIZE};
  if (!alo_tds_udt_parts(work->param->udt_name, parts) || !parts[ALO_TDS_UDT_PARTS - 1].size)
    return fail(work, ALOFT_ARGUMENT,
                "a UDT needs udt_name, \"database.schema.type\", \"schema.type\" or \"type\", each "
                "at most 128 characters");
  return NULL;
}

static const char *plain(uint8_t token, uint32_t size, alo_tds_type *type) {
  *type = (alo_tds_type){.token = token, .size = size};
  return NULL;
}

/* NULL and `*type`, for types whose size says all; false for the others. */
static bool type_of_plain(aloft_tds_type asked, alo_tds_type *type) {
  static const struct {
    uint8_t token, size;
  } types[ALOFT_TDS_JSON + 1] = {
      [ALOFT_TDS_BIT] = {ALO_TDS_BITN, 1},
      [ALOFT_TDS_TINYINT] = {ALO_TDS_INTN, 1},
      [ALOFT_TDS_SMALLINT] = {ALO_TDS_INTN, 2},
      [ALOFT_TDS_INT] = {ALO_TDS_INTN, 4},
      [ALOFT_TDS_BIGINT] = {ALO_TDS_INTN, 8},
      [ALOFT_TDS_REAL] = {ALO_TDS_FLTN, 4},
      [ALOFT_TDS_FLOAT] = {ALO_TDS_FLTN, 8},
      [ALOFT_TDS_SMALLMONEY] = {ALO_TDS_MONEYN, 4},
      [ALOFT_TDS_MONEY] = {ALO_TDS_MONEYN, 8},
      [ALOFT_TDS_DATE] = {ALO_TDS_DATEN, 0},
      [ALOFT_TDS_DATETIME] = {ALO_TDS_DATETIMN, 8},
      [ALOFT_TDS_UNIQUEIDENTIFIER] = {ALO_TDS_GUID, 16},
      [ALOFT_TDS_SMALLDATETIME] = {ALO_TDS_DATETIMN, 4},
  };
  if ((unsigned)asked > ALOFT_TDS_JSON || !types[asked].token)
    return false;
  (void)plain(types[asked].token, types[asked].size, type);
  return true;
}

/* What is text, with sp_executesql: nvarchar whatever it is called. */
static const char *type_of_text(checking *work, alo_tds_type *type) {
  aloft_tds_type asked = work->param->type;
  if (!work->way->by_name || asked == ALOFT_TDS_NVARCHAR)
    return type_of_units(work, false, type);
  switch (asked) {
  case ALOFT_TDS_JSON:
    return work->way->json ? plain(ALO_TDS_JSON, ALO_TDS_MAX_SIZE, type)
                           : type_of_units(work, false, type);
  case ALOFT_TDS_CHAR:
  case ALOFT_TDS_VARCHAR:
    return type_of_characters(work, asked == ALOFT_TDS_CHAR, type);
  case ALOFT_TDS_NCHAR:
    return type_of_units(work, true, type);
  case ALOFT_TDS_TEXT:
    return type_of_lob(work, ALO_TDS_TEXT, type);
  case ALOFT_TDS_NTEXT:
    return type_of_lob(work, ALO_TDS_NTEXT, type);
  default:
    return plain(ALO_TDS_XML, ALO_TDS_MAX_SIZE, type);
  }
}

static const char *type_of_other(checking *work, alo_tds_type *type) {
  switch (work->param->type) {
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    return type_of_decimal(work, type);
  case ALOFT_TDS_CHAR:
  case ALOFT_TDS_VARCHAR:
  case ALOFT_TDS_NCHAR:
  case ALOFT_TDS_NVARCHAR:
  case ALOFT_TDS_TEXT:
  case ALOFT_TDS_NTEXT:
  case ALOFT_TDS_XML:
  case ALOFT_TDS_JSON:
    return type_of_text(work, type);
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
    return type_of_bytes(work, work->way->by_name && work->param->type == ALOFT_TDS_BINARY, type);
  case ALOFT_TDS_IMAGE:
    return work->way->by_name ? type_of_lob(work, ALO_TDS_IMAGE, type)
                              : type_of_bytes(work, false, type);
  case ALOFT_TDS_ROWVERSION:
    return type_of_rowversion(work, type);
  case ALOFT_TDS_UDT:
    return type_of_udt(work, type);
  case ALOFT_TDS_TIME:
    return type_of_time(work, ALO_TDS_TIMEN, type);
  case ALOFT_TDS_DATETIME2:
    return type_of_time(work, ALO_TDS_DATETIME2N, type);
  case ALOFT_TDS_DATETIMEOFFSET:
    return type_of_time(work, ALO_TDS_DATETIMEOFFSETN, type);
  default:
    return fail(work, ALOFT_UNSUPPORTED, "there is no parameter of its type");
  }
}

static const char *type_of(checking *work, alo_tds_type *type) {
  return type_of_plain(work->param->type, type) ? NULL : type_of_other(work, type);
}

/* ---- sql_variant ---- */

/* In a variant a type that may be NULL stands as the one that may not. */
static uint8_t token_in_variant(const alo_tds_type *type) {
  switch (type->token) {
  case ALO_TDS_BITN:
    return ALO_TDS_BIT;
  case ALO_TDS_INTN:
    return type->size == 1   ? ALO_TDS_INT1
           : type->size == 2 ? ALO_TDS_INT2
           : type->size == 4 ? ALO_TDS_INT4
                             : ALO_TDS_INT8;
  case ALO_TDS_FLTN:
    return type->size == 4 ? ALO_TDS_FLT4 : ALO_TDS_FLT8;
  case ALO_TDS_MONEYN:
    return type->size == 4 ? ALO_TDS_MONEY4 : ALO_TDS_MONEY;
  case ALO_TDS_DATETIMN:
    return type->size == 4 ? ALO_TDS_DATETIM4 : ALO_TDS_DATETIME;
  default:
    return type->token;
  }
}

static bool may_be_in_variant(aloft_tds_type type) {
  return type != ALOFT_TDS_VARIANT && type != ALOFT_TDS_TEXT && type != ALOFT_TDS_NTEXT &&
         type != ALOFT_TDS_IMAGE && type != ALOFT_TDS_XML && type != ALOFT_TDS_JSON &&
         type != ALOFT_TDS_UDT && type != ALOFT_TDS_ROWVERSION;
}

static const char *check_variant(checking *work, alo_tds_param_type *of) {
  const aloft_tds_param *held = work->param->value.variant;
  (void)plain(ALO_TDS_SSVARIANT, VARIANT_SIZE, &of->type);
  if (is_absent(work) || !held || held->null)
    return NULL;
  if (!may_be_in_variant(held->type))
    return fail(work, ALOFT_ARGUMENT, "a sql_variant cannot hold a value of that type");
  checking inner = {.writer = work->writer, .param = held, .way = work->way, .variant = true};
  const char *wrong = type_of(&inner, &of->base);
  of->base.token = token_in_variant(&of->base);
  work->status = inner.status;
  return wrong;
}

/* ---- names ---- */

aloft_text alo_tds_param_name(const aloft_tds_param *param) {
  aloft_text name = param->name;
  if (name.size > 0 && name.data[0] == '@') {
    name.data++;
    name.size--;
  }
  return name;
}

/* It may go into SQL, so nothing may end it early. Outside ASCII every character may stand in a
 * T-SQL name or is refused by the server; none of them separates. */
static bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '@' || c == '$' || c == '#' || (uint8_t)c >= 0x80;
}

static bool name_is_valid(aloft_text name) {
  for (size_t i = 0; i < name.size; i++)
    if (!name_character(name.data[i]))
      return false;
  return alo_utf8_utf16_count(name.data, name.size) <= NAME_UNITS_MAX;
}

static bool is_lob(aloft_tds_type type) {
  return type == ALOFT_TDS_TEXT || type == ALOFT_TDS_NTEXT || type == ALOFT_TDS_IMAGE;
}

static const char *check_head(checking *work) {
  aloft_text name = alo_tds_param_name(work->param);
  if (!name_is_valid(name))
    return fail(work, ALOFT_ARGUMENT,
                "a name is letters, digits and _ @ $ #, at most 127 without its \"@\"");
  if (!name.size && (!work->way->by_name || work->param->name.size))
    return fail(work, ALOFT_ARGUMENT, "it has no name");
  if (work->param->by_default && !work->way->by_name)
    return fail(work, ALOFT_ARGUMENT,
                "by_default is for a procedure's parameters: call it by `procedure`, or give a "
                "value");
  if (work->param->output && is_lob(work->param->type))
    return fail(work, ALOFT_ARGUMENT,
                "text, ntext and image cannot be output: use varchar, nvarchar or varbinary, which "
                "are (max) with size 0");
  return NULL;
}

const char *alo_tds_param_check(alo_tds_writer *writer, const aloft_tds_param *param,
                                const alo_tds_param_way *way, alo_tds_param_type *of,
                                aloft_status *status) {
  checking work = {.writer = writer, .param = param, .way = way, .status = ALOFT_OK};
  *of = (alo_tds_param_type){.base = {.token = 0}};
  const char *wrong = check_head(&work);
  if (!wrong)
    wrong = param->type == ALOFT_TDS_VARIANT ? check_variant(&work, of) : type_of(&work, &of->type);
  *status = wrong ? work.status : ALOFT_OK;
  return wrong;
}

/* ---- declarations ---- */

typedef struct declaration {
  alo_tds_writer *writer; /* NULL: it is only measured */
  size_t units;           /* UTF-16 */
} declaration;

static void add(declaration *out, aloft_text text) {
  out->units += alo_utf8_utf16_count(text.data, text.size);
  if (out->writer)
    alo_tds_put_utf16(out->writer, text);
}

static void add_number(declaration *out, uint32_t number) {
  char digits[10];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  add(out, (aloft_text){digits + at, sizeof digits - at});
}

static void add_in_brackets(declaration *out, uint32_t number) {
  add(out, ALOFT_TEXT("("));
  add_number(out, number);
  add(out, ALOFT_TEXT(")"));
}

static void add_precision(declaration *out, const alo_tds_type *type) {
  add(out, ALOFT_TEXT("("));
  add_number(out, type->precision);
  add(out, ALOFT_TEXT(","));
  add_number(out, type->scale);
  add(out, ALOFT_TEXT(")"));
}

static void add_arguments(declaration *out, const alo_tds_type *type) {
  bool max = type->size == ALO_TDS_MAX_SIZE; /* "(max)" is in the name */
  switch (type->token) {
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    add_precision(out, type);
    return;
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
    add_in_brackets(out, type->scale);
    return;
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_BIGVARBINARY:
  case ALO_TDS_BIGBINARY:
    if (!max)
      add_in_brackets(out, type->token == ALO_TDS_NVARCHAR ? type->size / 2 : type->size);
    return;
  default:
    return;
  }
}

/* In brackets, so that nothing in it ends it early. */
static void add_quoted(declaration *out, aloft_text name) {
  size_t begin = 0;
  add(out, ALOFT_TEXT("["));
  for (size_t at = 0; at < name.size; at++)
    if (name.data[at] == ']') { /* twice: once with what is before it, once with what follows */
      add(out, (aloft_text){name.data + begin, at + 1 - begin});
      begin = at;
    }
  add(out, (aloft_text){name.data + begin, name.size - begin});
  add(out, ALOFT_TEXT("]"));
}

/* T-SQL names the types of the database that is in use, by their schema alone. */
static void add_udt(declaration *out, aloft_text name) {
  aloft_text parts[ALO_TDS_UDT_PARTS];
  (void)alo_tds_udt_parts(name, parts);
  if (parts[1].size) {
    add_quoted(out, parts[1]);
    add(out, ALOFT_TEXT("."));
  }
  add_quoted(out, parts[2]);
}

size_t alo_tds_param_declare(alo_tds_writer *writer, const aloft_tds_param *param,
                             const alo_tds_param_type *of) {
  declaration out = {.writer = writer};
  add(&out, ALOFT_TEXT("@"));
  add(&out, alo_tds_param_name(param));
  add(&out, ALOFT_TEXT(" "));
  if (of->type.token == ALO_TDS_UDT) {
    add_udt(&out, param->udt_name);
  } else {
    add(&out, aloft_text_of(alo_tds_type_name(&of->type)));
    add_arguments(&out, &of->type);
  }
  if (param->output)
    add(&out, ALOFT_TEXT(" OUTPUT"));
  return out.units;
}

/* ---- values ---- */

static void put_value(alo_tds_writer *writer, const alo_tds_type *type,
                      const aloft_tds_param *param) {
  switch (type->token) {
  case ALO_TDS_BIT:
  case ALO_TDS_BITN:
  case ALO_TDS_INT1:
  case ALO_TDS_INT2:
  case ALO_TDS_INT4:
  case ALO_TDS_INT8:
  case ALO_TDS_INTN:
    alo_tds_put_int64(writer, type, param->value.integer);
    return;
  case ALO_TDS_FLT4:
  case ALO_TDS_FLT8:
  case ALO_TDS_FLTN:
    alo_tds_put_double(writer, type, param->value.real);
    return;
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
  case ALO_TDS_MONEY:
  case ALO_TDS_MONEY4:
  case ALO_TDS_MONEYN:
    alo_tds_put_decimal(writer, type, &param->value.decimal);
    return;
  case ALO_TDS_GUID:
    alo_tds_put_uuid(writer, type, &param->value.uuid);
    return;
  case ALO_TDS_BIGBINARY:
  case ALO_TDS_BIGVARBINARY:
  case ALO_TDS_IMAGE:
  case ALO_TDS_UDT:
    alo_tds_put_bytes(writer, type, param->value.bytes);
    return;
  default:
    if (alo_tds_type_charset(type) == ALO_TDS_CHARSET_NONE)
      alo_tds_put_moment(writer, type, &param->value.moment);
    else
      alo_tds_put_text(writer, type, param->value.text);
  }
}

/* Bytes of a value whose type does not tell them. */
static size_t size_in_variant(alo_tds_writer *writer, const alo_tds_type *base,
                              const aloft_tds_param *held) {
  if (alo_tds_type_charset(base) != ALO_TDS_CHARSET_NONE)
    return alo_tds_text_size(writer, base, held->value.text);
  return held->value.bytes.size;
}

static bool holds_bytes(const alo_tds_type *base) {
  return base->token == ALO_TDS_BIGBINARY || base->token == ALO_TDS_BIGVARBINARY;
}

static bool is_absent_data(const alo_tds_type *base, const aloft_tds_param *held) {
  if (holds_bytes(base))
    return !held->value.bytes.data;
  return alo_tds_type_charset(base) != ALO_TDS_CHARSET_NONE && !held->value.text.data;
}

static void put_variant(alo_tds_writer *writer, const alo_tds_param_type *of,
                        const aloft_tds_param *held) {
  bool sized = holds_bytes(&of->base) || alo_tds_type_charset(&of->base) != ALO_TDS_CHARSET_NONE;
  if (is_absent_data(&of->base, held)) {
    alo_tds_put_null(writer, &of->type);
    return;
  }
  alo_tds_put_variant(writer, &of->base, sized ? size_in_variant(writer, &of->base, held) : 0);
  put_value(writer, &of->base, held);
}

static void put_param_type(alo_tds_writer *writer, const aloft_tds_param *param,
                           const alo_tds_type *type) {
  if (type->token == ALO_TDS_UDT)
    alo_tds_put_udt_type(writer, type, param->udt_name);
  else
    alo_tds_put_type(writer, type);
}

static void put_param_name(alo_tds_writer *writer, const aloft_tds_param *param) {
  aloft_text name = alo_tds_param_name(param);
  if (!name.size) {
    alo_tds_put_u8(writer, 0);
    return;
  }
  alo_tds_put_u8(writer, (uint8_t)(1 + alo_utf8_utf16_count(name.data, name.size)));
  alo_tds_put_utf16(writer, ALOFT_TEXT("@"));
  alo_tds_put_utf16(writer, name);
}

void alo_tds_put_param(alo_tds_writer *writer, const aloft_tds_param *param,
                       const alo_tds_param_type *of) {
  put_param_name(writer, param);
  alo_tds_put_u8(writer, (uint8_t)((param->output ? BY_REF_VALUE : 0) |
                                   (param->by_default ? DEFAULT_VALUE : 0)));
  put_param_type(writer, param, &of->type);
  if (param->null || param->by_default || (of->type.token == ALO_TDS_SSVARIANT && !of->base.token))
    alo_tds_put_null(writer, &of->type);
  else if (of->base.token)
    put_variant(writer, of, param->value.variant);
  else
    put_value(writer, &of->type, param);
}

static bool is_text(aloft_tds_type type) {
  return (type >= ALOFT_TDS_CHAR && type <= ALOFT_TDS_NVARCHAR) || type == ALOFT_TDS_TEXT ||
         type == ALOFT_TDS_NTEXT || type == ALOFT_TDS_XML || type == ALOFT_TDS_JSON;
}

const char *alo_tds_param_failed(const aloft_tds_param *param, aloft_status status) {
  switch (status) {
  case ALOFT_ARGUMENT:
    return is_text(param->type) ? ill_formed : "its value is not one that its type can hold";
  case ALOFT_TOO_LARGE:
    return "its value is over 2 GiB";
  default:
    return NULL;
  }
}
