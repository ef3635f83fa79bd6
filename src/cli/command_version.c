#include "command.h"

#include <stdio.h>

#include "option.h"
#include "report.h"

int alo_command_version(int argc, char **argv) {
  alo_command_line line = {
      .synopsis = "aloft version",
      .summary = "Prints the version of aloft.",
  };
  alo_report_name("aloft version");
  alo_exit code = alo_command_line_read(&line, argc, argv);
  if (code == ALO_EXIT_OK && line.help)
    alo_command_line_help(&line);
  else if (code == ALO_EXIT_OK)
    printf("aloft %s\n", ALOFT_VERSION);
  return (int)code;
}
