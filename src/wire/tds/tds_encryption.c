/* What client and server agree on, MS-TDS 2.2.6.5. */
#include "tds_request.h"

static bool asks(uint8_t encryption) {
  return encryption == ALO_TDS_ENCRYPT_ON || encryption == ALO_TDS_ENCRYPT_REQ;
}

alo_tds_protection alo_tds_agree(uint8_t client, uint8_t server) {
  if (client > ALO_TDS_ENCRYPT_REQ || server > ALO_TDS_ENCRYPT_REQ)
    return ALO_TDS_NO_AGREEMENT;
  if (client == ALO_TDS_ENCRYPT_NOT_SUP)
    return asks(server) ? ALO_TDS_NO_AGREEMENT : ALO_TDS_PLAIN;
  if (asks(server))
    return ALO_TDS_ALL_ENCRYPTED;
  if (asks(client))
    return ALO_TDS_NO_AGREEMENT;
  return server == ALO_TDS_ENCRYPT_OFF ? ALO_TDS_LOGIN_ENCRYPTED : ALO_TDS_PLAIN;
}

uint8_t alo_tds_answer_encryption(uint8_t client, bool able, bool demanding) {
  if (!able)
    return ALO_TDS_ENCRYPT_NOT_SUP;
  if (asks(client))
    return ALO_TDS_ENCRYPT_ON;
  if (demanding)
    return ALO_TDS_ENCRYPT_REQ;
  return client == ALO_TDS_ENCRYPT_OFF ? ALO_TDS_ENCRYPT_OFF : ALO_TDS_ENCRYPT_NOT_SUP;
}
