/* `aloft lite`: a TDS server on SQLite. See docs/lite.md. */
#ifndef ALOFT_LITE_H
#define ALOFT_LITE_H

/* The command, with argv[0] its name. Returns the exit code: 0 stopped by SIGINT or SIGTERM, 2
 * usage, 3 it cannot listen or open the database. */
int aloft_lite_main(int argc, char **argv);

#endif
