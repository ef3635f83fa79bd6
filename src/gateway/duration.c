#include "duration.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct unit {
  const char *name;
  uint64_t ns;
} units[] = {
    /* A unit that another begins with comes after it. */
    {"ns", 1},
    {"us", 1000},
    {"\xc2\xb5s", 1000},
    {"\xce\xbcs", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
};

static const struct unit *find_unit(const char *text) {
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strncmp(text, units[i].name, strlen(units[i].name)) == 0)
      return &units[i];
  }
  return NULL;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* value * unit + fraction / 10^digits * unit, refused above 2^63 - 1. */
static bool scale(uint64_t value, uint64_t fraction, uint64_t power, uint64_t unit, uint64_t *ns) {
  if (value > (uint64_t)INT64_MAX / unit)
    return false;
  uint64_t part = (uint64_t)((double)fraction * ((double)unit / (double)power));
  if (part >= unit)
    part = unit - 1;
  *ns = value * unit + part;
  return *ns <= (uint64_t)INT64_MAX;
}

/* One number with its unit; moves `*text` past it. */
static bool parse_part(const char **text, uint64_t *ns) {
  const char *at = *text;
  uint64_t value = 0, fraction = 0, power = 1;
  size_t digits = 0;
  for (; is_digit(*at); at++, digits++) {
    if (value > (UINT64_MAX - 9) / 10)
      return false;
    value = value * 10 + (uint64_t)(*at - '0');
  }
  if (*at == '.') {
    for (at++; is_digit(*at); at++, digits++) {
      if (power >= UINT64_C(1000000000000000))
        continue;
      fraction = fraction * 10 + (uint64_t)(*at - '0');
      power *= 10;
    }
  }
  const struct unit *unit = find_unit(at);
  if (digits == 0 || unit == NULL)
    return false;
  *text = at + strlen(unit->name);
  return scale(value, fraction, power, unit->ns, ns);
}

bool alo_duration_parse(const char *text, uint64_t *ns) {
  if (*text == '+')
    text++;
  if (strcmp(text, "0") == 0) {
    *ns = 0;
    return true;
  }
  uint64_t sum = 0;
  if (*text == '\0')
    return false;
  while (*text != '\0') {
    uint64_t part = 0;
    if (!parse_part(&text, &part) || part > (uint64_t)INT64_MAX - sum)
      return false;
    sum += part;
  }
  *ns = sum;
  return true;
}

void alo_duration_write(uint64_t ns, char text[ALO_DURATION_TEXT]) {
  static const struct unit steps[] = {
      {"s", 1000000000}, {"ms", 1000000}, {"\xc2\xb5s", 1000}, {"ns", 1}};
  const struct unit *step = steps;
  while (step->ns > 1 && ns < step->ns)
    step++;
  uint64_t whole = ns / step->ns;
  unsigned thousandths = step->ns == 1 ? 0 : (unsigned)((ns % step->ns) / (step->ns / 1000));
  int size = snprintf(text, ALO_DURATION_TEXT, "%" PRIu64 ".%03u", whole, thousandths);
  while (size > 0 && text[size - 1] == '0')
    text[--size] = '\0';
  if (size > 0 && text[size - 1] == '.')
    text[--size] = '\0';
  snprintf(text + size, ALO_DURATION_TEXT - (size_t)size, "%s", step->name);
}
