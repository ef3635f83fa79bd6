/* The `aloft lite` subcommand. */
#ifndef ALO_LITE_H
#define ALO_LITE_H

/* argv[0] is "lite"; returns the exit status of aloft(1). */
int aloft_lite_main(int argc, char **argv);

#endif
