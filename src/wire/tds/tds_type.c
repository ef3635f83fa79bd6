#include "tds_type.h"

#include <string.h>

enum {
  SIZE_MAX_SHORT = 8000,   /* of a value that is not (max) */
  SIZE_MAX_VARIANT = 8016, /* header and properties included */
  UDT_STRINGS = 4,
  XML_STRINGS = 3
};

int alo_tds_type_tail_size(uint8_t token) {
  switch (token) {
  case ALO_TDS_NULLTYPE:
  case ALO_TDS_INT1:
  case ALO_TDS_BIT:
  case ALO_TDS_INT2:
  case ALO_TDS_INT4:
  case ALO_TDS_DATETIM4:
  case ALO_TDS_FLT4:
  case ALO_TDS_MONEY:
  case ALO_TDS_DATETIME:
  case ALO_TDS_FLT8:
  case ALO_TDS_MONEY4:
  case ALO_TDS_INT8:
  case ALO_TDS_DATEN:
  case ALO_TDS_JSON:
    return 0;
  case ALO_TDS_GUID:
  case ALO_TDS_INTN:
  case ALO_TDS_BITN:
  case ALO_TDS_FLTN:
  case ALO_TDS_MONEYN:
  case ALO_TDS_DATETIMN:
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
  case ALO_TDS_XML:
    return 1;
  case ALO_TDS_BIGVARBINARY:
  case ALO_TDS_BIGBINARY:
  case ALO_TDS_UDT:
    return 2;
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    return 3;
  case ALO_TDS_SSVARIANT:
  case ALO_TDS_IMAGE:
    return 4;
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGCHAR:
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_NCHAR:
    return 7;
  case ALO_TDS_TEXT:
  case ALO_TDS_NTEXT:
    return 9;
  default:
    return -1;
  }
}

const char *alo_tds_type_legacy(uint8_t token) {
  switch (token) {
  case 0x25:
    return "a column of type 0x25, varbinary of before TDS 7, is not supported";
  case 0x27:
    return "a column of type 0x27, varchar of before TDS 7, is not supported";
  case 0x2D:
    return "a column of type 0x2D, binary of before TDS 7, is not supported";
  case 0x2F:
    return "a column of type 0x2F, char of before TDS 7, is not supported";
  case 0x37:
    return "a column of type 0x37, decimal of before TDS 7, is not supported";
  case 0x3F:
    return "a column of type 0x3F, numeric of before TDS 7, is not supported";
  default:
    return NULL;
  }
}

static uint32_t fixed_size(uint8_t token) {
  switch (token) {
  case ALO_TDS_NULLTYPE:
    return 0;
  case ALO_TDS_JSON:
    return ALO_TDS_MAX_SIZE;
  case ALO_TDS_INT1:
  case ALO_TDS_BIT:
    return 1;
  case ALO_TDS_INT2:
    return 2;
  case ALO_TDS_DATEN:
    return 3;
  case ALO_TDS_INT4:
  case ALO_TDS_DATETIM4:
  case ALO_TDS_FLT4:
  case ALO_TDS_MONEY4:
    return 4;
  default:
    return 8;
  }
}

static const char *read_byte_size(alo_tds_type *type, uint8_t size) {
  uint32_t allowed;
  switch (type->token) {
  case ALO_TDS_GUID:
    allowed = 1u << 16;
    break;
  case ALO_TDS_BITN:
    allowed = 1u << 1;
    break;
  case ALO_TDS_INTN:
    allowed = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8;
    break;
  default: /* FLTN, MONEYN, DATETIMN */
    allowed = 1u << 4 | 1u << 8;
  }
  type->size = size;
  return size < 32 && allowed >> size & 1 ? NULL : "a size that its type does not have";
}

/* Bytes of a time of that scale, MS-TDS 2.2.5.5.1.8. */
static uint32_t time_size(uint8_t scale) {
  return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

static const char *read_scale(alo_tds_type *type, uint8_t scale) {
  if (scale > 7) {
    return "a time scale above 7";
  }
  type->scale = scale;
  type->size = time_size(scale);
  type->size += type->token == ALO_TDS_DATETIME2N        ? 3
                : type->token == ALO_TDS_DATETIMEOFFSETN ? 5
                                                         : 0;
  return NULL;
}

static const char *read_decimal(alo_tds_type *type, const uint8_t *tail) {
  type->size = tail[0];
  type->precision = tail[1];
  type->scale = tail[2];
  if (type->size != 5 && type->size != 9 && type->size != 13 && type->size != 17) {
    return "a decimal of a size other than 5, 9, 13 and 17";
  }
  if (type->precision < 1 || type->precision > 38) {
    return "a decimal precision outside 1 to 38";
  }
  return type->scale > type->precision ? "a decimal scale above its precision" : NULL;
}

static const char *read_short_size(alo_tds_type *type, const uint8_t *tail) {
  bool varying = type->token == ALO_TDS_NVARCHAR || type->token == ALO_TDS_BIGVARCHAR ||
                 type->token == ALO_TDS_BIGVARBINARY;
  bool utf16 = type->token == ALO_TDS_NVARCHAR || type->token == ALO_TDS_NCHAR;
  type->size = (uint32_t)(tail[0] | tail[1] << 8);
  if (type->size == ALO_TDS_MAX_SIZE && varying) {
    return NULL;
  }
  if (type->size > SIZE_MAX_SHORT) {
    return "a size above 8,000 bytes";
  }
  return utf16 && type->size % 2 ? "an odd size for a type of UTF-16" : NULL;
}

static const char *read_long_size(alo_tds_type *type, const uint8_t *tail) {
  type->size = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 |
               (uint32_t)tail[3] << 24;
  if (type->token == ALO_TDS_SSVARIANT) {
    return type->size > SIZE_MAX_VARIANT ? "a sql_variant above 8,016 bytes" : NULL;
  }
  return type->size > INT32_MAX ? "a size above 2,147,483,647 bytes" : NULL;
}

const char *alo_tds_type_read(alo_tds_type *type, uint8_t token, const uint8_t *tail) {
  *type = (alo_tds_type){.token = token};
  switch (alo_tds_type_tail_size(token)) {
  case 0:
    type->size = fixed_size(token);
    return NULL;
  case 1:
    if (token == ALO_TDS_XML) {
      type->size = ALO_TDS_MAX_SIZE;
      return tail[0] > 1 ? "an xml schema mark other than 0 and 1" : NULL;
    }
    return token == ALO_TDS_TIMEN || token == ALO_TDS_DATETIME2N || token == ALO_TDS_DATETIMEOFFSETN
               ? read_scale(type, tail[0])
               : read_byte_size(type, tail[0]);
  case 2:
    if (token == ALO_TDS_UDT) {
      type->size = (uint32_t)(tail[0] | tail[1] << 8);
      return NULL;
    }
    return read_short_size(type, tail);
  case 3:
    return read_decimal(type, tail);
  case 4:
    return read_long_size(type, tail);
  case 7:
    memcpy(type->collation, tail + 2, sizeof type->collation);
    return read_short_size(type, tail);
  case 9:
    memcpy(type->collation, tail + 4, sizeof type->collation);
    return read_long_size(type, tail);
  default:
    return "an unknown type";
  }
}

unsigned alo_tds_type_strings(const alo_tds_type *type, const uint8_t *tail) {
  if (type->token == ALO_TDS_UDT) {
    return UDT_STRINGS;
  }
  return type->token == ALO_TDS_XML && tail[0] ? XML_STRINGS : 0;
}

alo_tds_form alo_tds_type_form(const alo_tds_type *type) {
  switch (type->token) {
  case ALO_TDS_XML:
  case ALO_TDS_UDT:
  case ALO_TDS_JSON:
    return ALO_TDS_FORM_PLP;
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGVARBINARY:
    return type->size == ALO_TDS_MAX_SIZE ? ALO_TDS_FORM_PLP : ALO_TDS_FORM_SHORT;
  case ALO_TDS_NCHAR:
  case ALO_TDS_BIGCHAR:
  case ALO_TDS_BIGBINARY:
    return ALO_TDS_FORM_SHORT;
  case ALO_TDS_TEXT:
  case ALO_TDS_NTEXT:
  case ALO_TDS_IMAGE:
    return ALO_TDS_FORM_LOB;
  case ALO_TDS_SSVARIANT:
    return ALO_TDS_FORM_LONG;
  case ALO_TDS_DATEN:
    return ALO_TDS_FORM_BYTE;
  default:
    return alo_tds_type_tail_size(type->token) == 0 ? ALO_TDS_FORM_FIXED : ALO_TDS_FORM_BYTE;
  }
}

uint32_t alo_tds_type_lengths(const alo_tds_type *type) {
  if (type->token == ALO_TDS_DECIMALN || type->token == ALO_TDS_NUMERICN) {
    uint32_t all = 1u << 5 | 1u << 9 | 1u << 13 | 1u << 17;
    return all & ((2u << type->size) - 1);
  }
  return 1u << type->size;
}

bool alo_tds_type_is_plp(const alo_tds_type *type) {
  return alo_tds_type_form(type) == ALO_TDS_FORM_PLP;
}

/* ---- characters ---- */

static alo_tds_charset collation_charset(const uint8_t collation[5]) {
  uint16_t page = alo_tds_code_page(collation);
  return page == ALO_TDS_PAGE_UTF8 ? ALO_TDS_CHARSET_UTF8
         : page == 1252            ? ALO_TDS_CHARSET_1252
                                   : ALO_TDS_CHARSET_OTHER;
}

alo_tds_charset alo_tds_type_charset(const alo_tds_type *type) {
  switch (type->token) {
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_NCHAR:
  case ALO_TDS_NTEXT:
  case ALO_TDS_XML:
    return ALO_TDS_CHARSET_UTF16;
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGCHAR:
  case ALO_TDS_TEXT:
    return collation_charset(type->collation);
  case ALO_TDS_JSON:
    return ALO_TDS_CHARSET_UTF8;
  default:
    return ALO_TDS_CHARSET_NONE;
  }
}

/* ---- names ---- */

static const char *sized_name(const alo_tds_type *type) {
  bool small = type->size == 4;
  switch (type->token) {
  case ALO_TDS_INTN:
    return type->size == 1 ? "tinyint" : type->size == 2 ? "smallint" : small ? "int" : "bigint";
  case ALO_TDS_FLTN:
    return small ? "real" : "float";
  case ALO_TDS_MONEYN:
    return small ? "smallmoney" : "money";
  case ALO_TDS_DATETIMN:
    return small ? "smalldatetime" : "datetime";
  case ALO_TDS_NVARCHAR:
    return type->size == ALO_TDS_MAX_SIZE ? "nvarchar(max)" : "nvarchar";
  case ALO_TDS_BIGVARCHAR:
    return type->size == ALO_TDS_MAX_SIZE ? "varchar(max)" : "varchar";
  case ALO_TDS_BIGVARBINARY:
    return type->size == ALO_TDS_MAX_SIZE ? "varbinary(max)" : "varbinary";
  default:
    return "unknown";
  }
}

static const struct {
  uint8_t token;
  const char *name;
} plain_names[] = {{ALO_TDS_NULLTYPE, "null"},
                   {ALO_TDS_INT1, "tinyint"},
                   {ALO_TDS_BIT, "bit"},
                   {ALO_TDS_INT2, "smallint"},
                   {ALO_TDS_INT4, "int"},
                   {ALO_TDS_DATETIM4, "smalldatetime"},
                   {ALO_TDS_FLT4, "real"},
                   {ALO_TDS_MONEY, "money"},
                   {ALO_TDS_DATETIME, "datetime"},
                   {ALO_TDS_FLT8, "float"},
                   {ALO_TDS_MONEY4, "smallmoney"},
                   {ALO_TDS_INT8, "bigint"},
                   {ALO_TDS_GUID, "uniqueidentifier"},
                   {ALO_TDS_BITN, "bit"},
                   {ALO_TDS_DECIMALN, "decimal"},
                   {ALO_TDS_NUMERICN, "numeric"},
                   {ALO_TDS_DATEN, "date"},
                   {ALO_TDS_TIMEN, "time"},
                   {ALO_TDS_DATETIME2N, "datetime2"},
                   {ALO_TDS_DATETIMEOFFSETN, "datetimeoffset"},
                   {ALO_TDS_BIGBINARY, "binary"},
                   {ALO_TDS_BIGCHAR, "char"},
                   {ALO_TDS_NCHAR, "nchar"},
                   {ALO_TDS_XML, "xml"},
                   {ALO_TDS_UDT, "udt"},
                   {ALO_TDS_JSON, "json"},
                   {ALO_TDS_TEXT, "text"},
                   {ALO_TDS_IMAGE, "image"},
                   {ALO_TDS_NTEXT, "ntext"},
                   {ALO_TDS_SSVARIANT, "sql_variant"}};

const char *alo_tds_type_name(const alo_tds_type *type) {
  for (size_t at = 0; at < sizeof plain_names / sizeof *plain_names; at++) {
    if (plain_names[at].token == type->token) {
      return plain_names[at].name;
    }
  }
  return sized_name(type);
}
