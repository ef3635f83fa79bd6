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
  ALO_TDS_SSVARIANT = 0x62,
  ALO_TDS_JSON = 0xF4 /* UTF-8; negotiated with the feature JSONSUPPORT of LOGIN7 */
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

/* How a value of a type carries its length (MS-TDS 2.2.5.2.2, 2.2.5.2.3). */
typedef enum alo_tds_form {
  ALO_TDS_FORM_FIXED, /* no length: `size` bytes */
  ALO_TDS_FORM_BYTE,  /* one byte; 0 is NULL */
  ALO_TDS_FORM_SHORT, /* two bytes; 0xFFFF is NULL */
  ALO_TDS_FORM_LONG,  /* four bytes; 0 is NULL: sql_variant */
  ALO_TDS_FORM_LOB,   /* text, ntext, image: pointer (0 is NULL), timestamp, four bytes */
  ALO_TDS_FORM_PLP    /* chunks */
} alo_tds_form;
alo_tds_form alo_tds_type_form(const alo_tds_type *type);

/* What the bytes of a character type mean. */
typedef enum alo_tds_charset {
  ALO_TDS_CHARSET_NONE, /* not a character type */
  ALO_TDS_CHARSET_UTF16,
  ALO_TDS_CHARSET_UTF8,
  ALO_TDS_CHARSET_1252,
  ALO_TDS_CHARSET_OTHER /* another code page, or one that is not known */
} alo_tds_charset;
alo_tds_charset alo_tds_type_charset(const alo_tds_type *type);

/* The Windows code page of a collation (2.2.5.1.2): 437, 850, 874, 932, 936, 949, 950, 1250 to
 * 1258; 0: it has none, or none that is known. */
#define ALO_TDS_PAGE_UTF8 65001u
uint16_t alo_tds_code_page(const uint8_t collation[5]);

/* TYPE_INFO from its parts. The token comes first, then a tail of fixed size, which tail_size
 * tells (-1: no such type). For xml and UDT the tail is the first byte or two of theirs, and
 * alo_tds_type_strings counted strings follow: all with one byte of count but the last, which has
 * two. read fills `type`; NULL, or what is wrong with the tail (a constant). */
int alo_tds_type_tail_size(uint8_t token);
/* Why a token that MS-TDS has for old clients' sake is not read, which no server sends since TDS
 * 7.0 (2.2.5.4.2, "legacy support"); NULL: it is none of these. */
const char *alo_tds_type_legacy(uint8_t token);
const char *alo_tds_type_read(alo_tds_type *type, uint8_t token, const uint8_t *tail);
unsigned alo_tds_type_strings(const alo_tds_type *type, const uint8_t *tail);

/* The lengths in bytes that a value of FORM_BYTE may have: bit n for n bytes. */
uint32_t alo_tds_type_lengths(const alo_tds_type *type);

/* True for the types whose values are PLP: (max) types, xml, json, UDT. */
bool alo_tds_type_is_plp(const alo_tds_type *type);

/* SQL's name of the type: "int" for INT4 and INTN of 4, "nvarchar", "numeric"... without length,
 * but "nvarchar(max)" for the (max) types. A constant; "unknown" for a token not above. */
const char *alo_tds_type_name(const alo_tds_type *type);

#endif
