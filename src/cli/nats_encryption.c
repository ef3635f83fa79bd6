#include "nats_encryption.h"

#include <stdio.h>
#include <string.h>

alo_exit alo_nats_encryption_check(const alo_nats_settings *settings) {
  if ((settings->tls_certificate == NULL) != (settings->tls_key == NULL))
    return alo_report_usage("--tlscert and --tlskey belong together: give both");
  return ALO_EXIT_OK;
}

void alo_nats_encryption_ask(const alo_nats_settings *settings, aloft_nats_config *config) {
  config->tls_first = settings->tls_first;
  config->tls_ca_file = aloft_text_of(settings->tls_authorities);
  config->tls_certificate_file = aloft_text_of(settings->tls_certificate);
  config->tls_key_file = aloft_text_of(settings->tls_key);
}

/* The longer ones first. There is no option for the name, as the nats tool has none. */
static const alo_option_name names[] = {
    {", or set tls_server_name", ""},
    {"set tls_server_name", "give another host"},
    {"tls_certificate_file", "--tlscert and --tlskey"},
    {"tls_ca_file", "--tlsca"},
    {"tls_first", "--tlsfirst"},
};

void alo_nats_encryption_name_options(alo_failure *failure) {
  alo_failure_name_options(failure, names, sizeof names / sizeof *names);
}

void alo_nats_encryption_tell(const aloft_nats *nats) {
  aloft_nats_encryption told = {.size = sizeof told};
  aloft_nats_get_encryption(nats, &told);
  if (told.encrypted)
    alo_report("encrypted with %s, %s; the certificate: %s, expires %s, SHA-256 %s", told.protocol,
               told.cipher, told.subject, told.expires, told.fingerprint);
  else
    alo_report("not encrypted");
}
