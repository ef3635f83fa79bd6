/* sql_variant (MS-TDS 2.2.5.5.4): base type, properties, value. */
#include "tds_value.h"

#include <string.h>

int alo_tds_variant_properties(uint8_t token) {
  switch (token) {
  case ALO_TDS_GUID:
  case ALO_TDS_BIT:
  case ALO_TDS_INT1:
  case ALO_TDS_INT2:
  case ALO_TDS_INT4:
  case ALO_TDS_INT8:
  case ALO_TDS_DATETIME:
  case ALO_TDS_DATETIM4:
  case ALO_TDS_FLT4:
  case ALO_TDS_FLT8:
  case ALO_TDS_MONEY:
  case ALO_TDS_MONEY4:
  case ALO_TDS_DATEN:
    return 0;
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
    return 1; /* scale */
  case ALO_TDS_BIGVARBINARY:
  case ALO_TDS_BIGBINARY:
  case ALO_TDS_NUMERICN:
  case ALO_TDS_DECIMALN:
    return 2; /* largest size; precision and scale */
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGCHAR:
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_NCHAR:
    return 7; /* collation, largest size */
  default:
    return -1;
  }
}

/* The TYPE_INFO that a column of the base type would have. */
static const char *read_base(alo_tds_type *base, uint8_t token, const uint8_t *properties,
                             size_t value_size) {
  uint8_t tail[9] = {0};
  switch (alo_tds_variant_properties(token)) {
  case 1:
    tail[0] = properties[0];
    break;
  case 2:
    if (token == ALO_TDS_NUMERICN || token == ALO_TDS_DECIMALN) {
      tail[0] = 17;
      memcpy(tail + 1, properties, 2);
    } else {
      memcpy(tail, properties, 2);
    }
    break;
  case 7:
    memcpy(tail, properties + 5, 2);
    memcpy(tail + 2, properties, 5);
    break;
  default:
    tail[0] = 16; /* uniqueidentifier has a size; the others have no tail */
  }
  const char *wrong = alo_tds_type_read(base, token, tail);
  if (!wrong && alo_tds_type_is_plp(base)) {
    return "a (max) type in a sql_variant";
  }
  if (!wrong && alo_tds_type_form(base) == ALO_TDS_FORM_SHORT && value_size > base->size) {
    return "a value longer than its type in a sql_variant";
  }
  return wrong;
}

const char *alo_tds_value_variant(const uint8_t *data, size_t size, alo_tds_type *base,
                                  aloft_bytes *value) {
  if (size < 2) {
    return "a sql_variant without a type";
  }
  int properties = alo_tds_variant_properties(data[0]);
  if (properties < 0) {
    return "an unknown base type in a sql_variant";
  }
  size_t begin = (size_t)2 + data[1];
  if (data[1] < properties || begin > size) {
    return "properties of a wrong size in a sql_variant";
  }
  *value = (aloft_bytes){data + begin, size - begin};
  return read_base(base, data[0], data + 2, value->size);
}
