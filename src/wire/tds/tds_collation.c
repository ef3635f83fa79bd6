/* The code page of a collation (MS-TDS 2.2.5.1.2): by sort id for SQL collations, by LCID for
 * Windows collations. */
#include "tds_type.h"

enum {
  FLAG_UTF8 = 0x04, /* of the fourth byte */
  CHINESE = 0x04,
  AZERI = 0x2C,
  SERBO_CROATIAN = 0x1A,
  UZBEK = 0x43
};

/* ---- sort ids, as sys.fn_helpcollations and Sybase before it count them ---- */

static const struct {
  uint8_t first, last;
  uint16_t page;
} sort_ids[] = {{30, 34, 437},    {40, 44, 850},    {49, 49, 850},    {50, 54, 1252},
                {55, 61, 850},    {71, 75, 1252},   {80, 98, 1250},   {104, 108, 1251},
                {112, 124, 1253}, {128, 130, 1254}, {136, 138, 1255}, {144, 146, 1256},
                {152, 160, 1257}, {183, 186, 1252}, {192, 193, 932},  {194, 195, 949},
                {196, 197, 950},  {198, 199, 936},  {200, 200, 932},  {201, 201, 949},
                {202, 202, 950},  {203, 203, 936},  {204, 206, 874},  {210, 217, 1252}};

static uint16_t page_of_sort_id(uint8_t sort) {
  for (size_t at = 0; at < sizeof sort_ids / sizeof *sort_ids; at++) {
    if (sort >= sort_ids[at].first && sort <= sort_ids[at].last) {
      return sort_ids[at].page;
    }
  }
  return 0;
}

/* ---- languages: the low ten bits of an LCID. Where one is written in two scripts, it is the
 * sublanguage above them that tells ---- */

static const uint16_t languages[] = {
    [0x01] = 1256, [0x02] = 1251, [0x03] = 1252, [0x05] = 1250, [0x06] = 1252, [0x07] = 1252,
    [0x08] = 1253, [0x09] = 1252, [0x0A] = 1252, [0x0B] = 1252, [0x0C] = 1252, [0x0D] = 1255,
    [0x0E] = 1250, [0x0F] = 1252, [0x10] = 1252, [0x11] = 932,  [0x12] = 949,  [0x13] = 1252,
    [0x14] = 1252, [0x15] = 1250, [0x16] = 1252, [0x17] = 1252, [0x18] = 1250, [0x19] = 1251,
    [0x1B] = 1250, [0x1C] = 1250, [0x1D] = 1252, [0x1E] = 874,  [0x1F] = 1254, [0x20] = 1256,
    [0x21] = 1252, [0x22] = 1251, [0x23] = 1251, [0x24] = 1250, [0x25] = 1257, [0x26] = 1257,
    [0x27] = 1257, [0x29] = 1256, [0x2A] = 1258, [0x2D] = 1252, [0x2E] = 1252, [0x2F] = 1251,
    [0x36] = 1252, [0x37] = 1252, [0x38] = 1252, [0x3B] = 1252, [0x3C] = 1252, [0x3E] = 1252,
    [0x3F] = 1251, [0x40] = 1251, [0x41] = 1252, [0x42] = 1250, [0x44] = 1251, [0x50] = 1251,
    [0x52] = 1252, [0x56] = 1252, [0x5F] = 1252, [0x62] = 1252, [0x64] = 1252, [0x6D] = 1251,
    [0x6E] = 1252, [0x78] = 1252, [0x7A] = 1252, [0x7C] = 1252, [0x7E] = 1252, [0x80] = 1256,
    [0x83] = 1252, [0x84] = 1252, [0x85] = 1251, [0x86] = 1252, [0x8C] = 1256};

static uint16_t page_of_locale(unsigned locale) {
  unsigned language = locale & 0x3FF;
  unsigned sublanguage = locale >> 10;
  switch (language) {
  case CHINESE: /* People's Republic and Singapore write simplified characters */
    return sublanguage == 2 || sublanguage == 4 ? 936 : 950;
  case SERBO_CROATIAN: /* Serbian and Bosnian Cyrillic */
    return sublanguage == 3 || sublanguage == 7 || sublanguage == 8 ? 1251 : 1250;
  case AZERI:
  case UZBEK:
    return sublanguage == 2 ? 1251 : 1254;
  default:
    return language < sizeof languages / sizeof *languages ? languages[language] : 0;
  }
}

uint16_t alo_tds_code_page(const uint8_t collation[5]) {
  if (collation[3] & FLAG_UTF8) {
    return ALO_TDS_PAGE_UTF8;
  }
  return collation[4] ? page_of_sort_id(collation[4])
                      : page_of_locale((unsigned)collation[0] | (unsigned)collation[1] << 8);
}
