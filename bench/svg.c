#include "svg.h"

#include <errno.h>
#include <string.h>

#include "report.h"

static void put_text(const char *text, FILE *file) {
  for (; *text != '\0'; text++) {
    if (*text == '<')
      fputs("&lt;", file);
    else if (*text == '&')
      fputs("&amp;", file);
    else
      fputc(*text, file);
  }
}

void alo_svg_begin(int width, int height, const char *title, const char *style, FILE *file) {
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
          "height=\"%d\">\n<title>",
          width, height, width, height);
  put_text(title, file);
  fprintf(file,
          "</title>\n<style>text{font:12px sans-serif;fill:#222}.title{font-size:15px}%s"
          "@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>\n",
          style);
}

void alo_svg_text(int x, int y, const char *kind, const char *text, FILE *file) {
  fprintf(file, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, kind);
  put_text(text, file);
  fputs("</text>\n", file);
}

void alo_svg_end(FILE *file) {
  fputs("</svg>\n", file);
}

bool alo_svg_write(const char *path, void (*draw)(const void *picture, FILE *file),
                   const void *picture) {
  FILE *file = fopen(path, "w");
  if (!file) {
    alo_report("cannot write %s: %s", path, strerror(errno));
    return false;
  }
  draw(picture, file);
  bool good = !ferror(file);
  good = fclose(file) == 0 && good;
  if (!good)
    alo_report("cannot write %s: %s", path, strerror(errno));
  return good;
}
