/* What the pictures have in common. */
#ifndef ALO_SVG_H
#define ALO_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* The document's beginning: its size, title and style, `style` besides the text's own. */
void alo_svg_begin(int width, int height, const char *title, const char *style, FILE *file);
void alo_svg_text(int x, int y, const char *kind, const char *text, FILE *file);
void alo_svg_end(FILE *file);

/* Opens `path`, lets `draw` write, and closes it. False, reported: it cannot be written. */
bool alo_svg_write(const char *path, void (*draw)(const void *picture, FILE *file),
                   const void *picture);

#endif
