/* Types whose TYPE_INFO or value is made of parts: UDT and sql_variant. */
#include "tds_value.h"

#include "utf16.h"

enum { NAME_UNITS_MAX = 128 };

/* ---- UDT, 2.2.5.5.2 ---- */

bool alo_tds_udt_parts(aloft_text name, aloft_text parts[ALO_TDS_UDT_PARTS]) {
  size_t end = name.size;
  for (size_t part = 0; part < ALO_TDS_UDT_PARTS; part++) {
    parts[part] = (aloft_text){"", 0};
  }
  if (name.size == 0) {
    return false;
  }
  for (size_t part = ALO_TDS_UDT_PARTS; part > 0; part--) {
    size_t begin = end;
    while (begin > 0 && name.data[begin - 1] != '.') {
      begin--;
    }
    parts[part - 1] = (aloft_text){name.data + begin, end - begin};
    if (alo_utf8_utf16_count(name.data + begin, end - begin) > NAME_UNITS_MAX) {
      return false;
    }
    if (begin == 0) {
      return true;
    }
    end = begin - 1;
  }
  return false;
}

void alo_tds_put_udt_type(alo_tds_writer *writer, const alo_tds_type *type, aloft_text name) {
  aloft_text parts[ALO_TDS_UDT_PARTS];
  bool reply = writer->type == ALO_TDS_REPLY;
  if (type->token != ALO_TDS_UDT || !alo_tds_udt_parts(name, parts)) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  alo_tds_put_u8(writer, ALO_TDS_UDT);
  if (reply) {
    alo_tds_put_u16(writer, (uint16_t)type->size);
  }
  for (size_t part = 0; part < ALO_TDS_UDT_PARTS; part++) {
    alo_tds_put_b_varchar(writer, parts[part]);
  }
  if (reply) {
    alo_tds_put_us_varchar(writer, (aloft_text){"", 0}); /* the assembly's name */
  }
}

/* ---- sql_variant, 2.2.5.5.4 ---- */

static size_t time_size(uint8_t scale) {
  return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

/* Bytes of a value of that type; `size` where the type does not tell. */
static size_t value_size(const alo_tds_type *base, size_t size) {
  uint8_t precision = base->precision;
  switch (base->token) {
  case ALO_TDS_BIT:
  case ALO_TDS_INT1:
    return 1;
  case ALO_TDS_INT2:
    return 2;
  case ALO_TDS_DATEN:
    return 3;
  case ALO_TDS_INT4:
  case ALO_TDS_FLT4:
  case ALO_TDS_MONEY4:
  case ALO_TDS_DATETIM4:
    return 4;
  case ALO_TDS_INT8:
  case ALO_TDS_FLT8:
  case ALO_TDS_MONEY:
  case ALO_TDS_DATETIME:
    return 8;
  case ALO_TDS_GUID:
    return 16;
  case ALO_TDS_TIMEN:
    return time_size(base->scale);
  case ALO_TDS_DATETIME2N:
    return time_size(base->scale) + 3;
  case ALO_TDS_DATETIMEOFFSETN:
    return time_size(base->scale) + 5;
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
  default:
    return size;
  }
}

static void put_properties(alo_tds_writer *writer, const alo_tds_type *base) {
  switch (base->token) {
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
    alo_tds_put_u8(writer, base->scale);
    return;
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    alo_tds_put_u8(writer, base->precision);
    alo_tds_put_u8(writer, base->scale);
    return;
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGCHAR:
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_NCHAR:
    alo_tds_put(writer, base->collation, sizeof base->collation);
    alo_tds_put_u16(writer, (uint16_t)base->size);
    return;
  case ALO_TDS_BIGVARBINARY:
  case ALO_TDS_BIGBINARY:
    alo_tds_put_u16(writer, (uint16_t)base->size);
    return;
  default:
    return;
  }
}

void alo_tds_put_variant(alo_tds_writer *writer, const alo_tds_type *base, size_t size) {
  int properties = alo_tds_variant_properties(base->token);
  size_t bytes = value_size(base, size);
  if (properties < 0 || alo_tds_type_is_plp(base) || bytes > 8000) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  alo_tds_put_u32(writer, (uint32_t)(2 + (size_t)properties + bytes));
  alo_tds_put_u8(writer, base->token);
  alo_tds_put_u8(writer, (uint8_t)properties);
  put_properties(writer, base);
  writer->bare = alo_tds_type_form(base) != ALO_TDS_FORM_FIXED;
}
