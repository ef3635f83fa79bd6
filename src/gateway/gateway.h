/* The `aloft gateway` subcommand. */
#ifndef ALO_GATEWAY_H
#define ALO_GATEWAY_H

/* argv[0] is "gateway"; returns the exit status of aloft(1). */
int aloft_gateway_main(int argc, char **argv);

#endif
