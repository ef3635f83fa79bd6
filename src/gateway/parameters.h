/* The parameters of one request: a JSON object becomes what the query is started with. */
#ifndef ALO_PARAMETERS_H
#define ALO_PARAMETERS_H

#include "endpoint.h"

enum { ALO_PARAMETERS_ERROR_MAX = 512 };

/* Memory for the texts of parameters, kept from request to request. */
typedef struct alo_parameter_texts {
  char *memory;
  size_t room, size;
} alo_parameter_texts;

/* Reads `body` [call], one JSON object (or nothing, which is an empty one), into
 * endpoint->parameter_count elements of `params`, in the order of the declarations; their texts are
 * in `texts` until its next use. False: one line in `error` says what is wrong: not JSON, not an
 * object, an unknown, repeated or missing parameter, a value of the wrong type or out of range. */
bool alo_parameters_read(const alo_endpoint *endpoint, aloft_text body, alo_parameter_texts *texts,
                         aloft_tds_param *params, char error[ALO_PARAMETERS_ERROR_MAX]);

void alo_parameter_texts_free(alo_parameter_texts *texts);

#endif
