#include "output.h"

#include <errno.h>
#include <string.h>

#include "interrupt.h"
#include "report.h"

bool alo_output_open(alo_output *output, const char *path) {
  *output = (alo_output){.file = stdout, .name = "standard output"};
  if (path == NULL)
    return true;
  output->name = path;
  output->file = fopen(path, "w");
  if (output->file == NULL)
    alo_report("output file %s: %s; give a file that you can write", path, strerror(errno));
  return output->file != NULL;
}

void alo_output_put(alo_output *output, aloft_text text) {
  if (output->error != 0 || text.size == 0)
    return;
  if (fwrite(text.data, 1, text.size, output->file) != text.size)
    output->error = errno != 0 ? errno : EIO;
}

void alo_output_put_string(alo_output *output, const char *string) {
  alo_output_put(output, (aloft_text){string, strlen(string)});
}

void alo_output_fill(alo_output *output, char c, size_t count) {
  char run[64];
  memset(run, c, sizeof run);
  while (count > 0) {
    size_t part = count < sizeof run ? count : sizeof run;
    alo_output_put(output, (aloft_text){run, part});
    count -= part;
  }
}

void alo_output_put_quoted(alo_output *output, aloft_text text) {
  alo_output_put(output, ALOFT_TEXT("\""));
  for (size_t i = 0; i < text.size; i++) {
    unsigned char c = (unsigned char)text.data[i];
    char escape[8];
    if (c == '"' || c == '\\')
      snprintf(escape, sizeof escape, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      snprintf(escape, sizeof escape, "\\x%02x", c);
    else
      snprintf(escape, sizeof escape, "%c", c);
    alo_output_put_string(output, escape);
  }
  alo_output_put(output, ALOFT_TEXT("\""));
}

bool alo_output_flush(alo_output *output) {
  if (output->error == 0 && fflush(output->file) != 0)
    output->error = errno != 0 ? errno : EIO;
  return output->error == 0;
}

alo_exit alo_output_close(alo_output *output) {
  alo_output_flush(output);
  if (output->file != stdout && fclose(output->file) != 0 && output->error == 0)
    output->error = errno;
  bool stopped = output->error == EINTR && alo_interrupt_signal() != 0;
  if (output->error == 0 || output->error == EPIPE || stopped)
    return ALO_EXIT_OK;
  alo_report("%s: %s; what was printed is not complete", output->name, strerror(output->error));
  return ALO_EXIT_LOCAL;
}
