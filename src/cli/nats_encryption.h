/* TLS of a command's NATS connection: its options, and what is said of it. */
#ifndef ALO_NATS_ENCRYPTION_H
#define ALO_NATS_ENCRYPTION_H

#include "nats_session.h"

/* What the options say. Reports a usage error. */
alo_exit alo_nats_encryption_check(const alo_nats_settings *settings);
/* Puts them into `config`, as views. */
void alo_nats_encryption_ask(const alo_nats_settings *settings, aloft_nats_config *config);
/* Puts the options' names where the failure has those of the library's settings. */
void alo_nats_encryption_name_options(alo_failure *failure);
/* Tells how the connection is encrypted, and whose certificate the server has shown. */
void alo_nats_encryption_tell(const aloft_nats *nats);

#endif
