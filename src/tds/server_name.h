/* The server as SqlClient and sqlcmd name it: "host", "host,port", "tcp:host,port", "(local)", ".".
 */
#ifndef ALO_SERVER_NAME_H
#define ALO_SERVER_NAME_H

#include <aloft/base.h>

enum { ALO_SERVER_PORT = 1433 };

/* `*host` is a view of the text or a constant, without the brackets of an IPv6 address; `*port` is
 * 1433 when none is given. NULL, or why it is not one that Aloft can dial: a constant that does not
 * show the text (named pipes, shared memory, named instances, a port after ":"...). */
const char *alo_server_name_parse(aloft_text text, aloft_text *host, uint16_t *port);

#endif
