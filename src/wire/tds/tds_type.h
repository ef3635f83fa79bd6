/* The data types of TDS: TYPE_INFO and values (MS-TDS 2.2.5.4 to 2.2.5.6), shared by the client
 * and by lite. */
#ifndef ALO_TDS_TYPE_H
#define ALO_TDS_TYPE_H

#include <aloft/base.h>

/* Type tokens, as MS-TDS 2.2.5.4 names them. */
enum {
  ALO_TDS_NULLTYPE = 0x1F,
  ALO_TDS_INT1 = 0x30,
  ALO_TDS_BIT = 0x32,
  ALO_TDS_INT2 = 0x34,
  ALO_TDS_INT4 = 0x38,
  ALO_TDS_DATETIM4 = 0x3A,
  ALO_TDS_FLT4 = 0x3B,
  ALO_TDS_MONEY = 0x3C,
  ALO_TDS_DATETIME = 0x3D,
  ALO_TDS_FLT8 = 0x3E,
  ALO_TDS_MONEY4 = 0x7A,
  ALO_TDS_INT8 = 0x7F,
  ALO_TDS_GUID = 0x24,
  ALO_TDS_INTN = 0x26,
  ALO_TDS_BITN = 0x68,
  ALO_TDS_DECIMALN = 0x6A,
  ALO_TDS_NUMERICN = 0x6C,
  ALO_TDS_FLTN = 0x6D,
  ALO_TDS_MONEYN = 0x6E,
  ALO_TDS_DATETIMN = 0x6F,
  ALO_TDS_DATEN = 0x28,
  ALO_TDS_TIMEN = 0x29,
  ALO_TDS_DATETIME2N = 0x2A,
  ALO_TDS_DATETIMEOFFSETN = 0x2B,
  ALO_TDS_BIGVARBINARY = 0xA5,
  ALO_TDS_BIGVARCHAR = 0xA7,
  ALO_TDS_BIGBINARY = 0xAD,
  ALO_TDS_BIGCHAR = 0xAF,
  ALO_TDS_NVARCHAR = 0xE7,
  ALO_TDS_NCHAR = 0xEF,
  ALO_TDS_XML = 0xF1,
  ALO_TDS_UDT = 0xF0,
  ALO_TDS_TEXT = 0x23,
  ALO_TDS_IMAGE = 0x22,
  ALO_TDS_NTEXT = 0x63,
  ALO_TDS_SSVARIANT = 0x62
};

/* TYPE_INFO, decoded. `size` is the largest length in bytes as sent: 0xFFFF means (max), sent as
 * partially length-prefixed data (PLP). For fixed-length types it is their length. */
typedef struct alo_tds_type {
  uint8_t token;
  uint8_t precision;    /* decimal and numeric: 1 to 38 */
  uint8_t scale;        /* decimal, numeric: 0 to 38; time types: 0 to 7 */
  uint8_t collation[5]; /* char types: LCID and flags (4 bytes, little endian), sort id */
  uint32_t size;
} alo_tds_type;

#define ALO_TDS_MAX_SIZE 0xFFFFu

/* True for the types whose values are PLP: (max) types, xml, UDT. */
bool alo_tds_type_is_plp(const alo_tds_type *type);

/* SQL's name of the type: "int" for INT4 and INTN of 4, "nvarchar", "numeric"... without length,
 * but "nvarchar(max)" for the (max) types. A constant; "unknown" for a token not above. */
const char *alo_tds_type_name(const alo_tds_type *type);

#endif
