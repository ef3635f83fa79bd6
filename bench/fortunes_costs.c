#include "fortunes_costs.h"

#include <stdio.h>
#include <string.h>

#include "report.h"

/* More than warms up: memory grows in the first answers only. */
enum { FEW = 20, MANY = 220, FEW_LARGE = 4, MANY_LARGE = 24, NAME_MAX_SIZE = 32 };

typedef struct case_name {
  char text[NAME_MAX_SIZE];
} case_name;

static case_name name_of(const char *first, const char *second) {
  case_name name;
  snprintf(name.text, sizeof name.text, "%s_%s", first, second);
  return name;
}

static case_name decoded_name(alo_design_answer answer) {
  return name_of(alo_answer_names[answer], "decoded");
}

/* ---- a run to be counted ---- */

static alo_design_query *open_named(const char *name) {
  for (alo_design_answer answer = 0; answer < ALO_ANSWERS; answer++) {
    for (alo_design design = 0; design < ALO_DESIGNS; design++) {
      if (strcmp(name_of(alo_design_names[design], alo_answer_names[answer]).text, name) == 0)
        return alo_design_open(design, answer);
    }
    if (strcmp(decoded_name(answer).text, name) != 0)
      continue;
    alo_design_query *query = alo_design_open(ALO_DESIGN_CURRENT, answer);
    if (query)
      alo_design_keep_nothing(query);
    return query;
  }
  return NULL;
}

static uint64_t execute(void *context, uint64_t operations) {
  alo_design_query *query = context;
  for (uint64_t i = 0; i < operations; i++) {
    bool good = alo_design_execute(query);
    alo_design_drop(query);
    if (!good) {
      alo_report("an answer was not read to its end");
      return 0;
    }
  }
  return operations;
}

bool alo_fortunes_count(const char *name, uint64_t operations) {
  alo_design_query *query = open_named(name);
  if (!query)
    alo_report("fortunes has no case '%s', or there is no memory for it", name);
  bool good = query && execute(query, operations) == operations;
  alo_design_close(query);
  return good;
}

/* ---- counting ---- */

static alo_count_case case_of(const case_name *name, alo_design_answer answer,
                              const char *const *inside) {
  bool large = answer != ALO_ANSWER_PACKET;
  return (alo_count_case){"fortunes", name->text, large ? FEW_LARGE : FEW,
                          large ? MANY_LARGE : MANY, inside};
}

/* A string is one allocation and one release. */
static bool heap_of_strings(alo_design_answer answer, alo_design_figures *strings) {
  alo_design_query *query = alo_design_open(ALO_DESIGN_CURRENT, answer);
  bool good = query && alo_design_execute(query);
  const alo_fortune_list *rows = good ? alo_design_rows(query) : NULL;
  for (size_t i = 0; good && i < rows->count; i++) {
    strings->heap_calls += 2;
    strings->heap_bytes += (double)rows->rows[i].size + 1;
  }
  alo_design_close(query);
  return good;
}

static bool count_heap(const case_name *name, alo_design_answer answer, alo_design_cost *cost,
                       alo_reason *why) {
  alo_count_case all = case_of(name, answer, NULL);
  alo_heap_cost heap = {0};
  if (!heap_of_strings(answer, &cost->strings) || !alo_count_heap(&all, &heap, why))
    return false;
  cost->rest.heap_calls = heap.calls - cost->strings.heap_calls;
  cost->rest.heap_bytes = heap.bytes - cost->strings.heap_bytes;
  return true;
}

/* Decoding, keeping and freeing the strings. None of these calls another: large values are decoded
 * as they arrive, others when they are asked for. */
static const char *const text_strings[] = {"alo_fortunes_keep", "alo_fortunes_drop",
                                           "alo_tds_value_text_by", NULL};
static const char *const utf16_strings[] = {"alo_fortunes_keep", "alo_fortunes_drop",
                                            "alo_utf16_to_utf8", NULL};

/* Parsing and decoding; what stands for the network and the caller is outside. */
static const char *const reader_calls[] = {"alo_tds_reader_next", "alo_tds_reader_cell",
                                           "alo_tds_value_int64", "alo_tds_value_text_by", NULL};

static bool count_instructions(alo_design design, const case_name *name, alo_design_answer answer,
                               alo_design_cost *cost, alo_reason *why) {
  bool by_text = design == ALO_DESIGN_CURRENT && answer != ALO_ANSWER_VALUE;
  alo_count_case all = case_of(name, answer, NULL),
                 inside = case_of(name, answer, by_text ? text_strings : utf16_strings);
  double whole = 0;
  if (!alo_count_instructions(&all, &whole, why) ||
      !alo_count_instructions(&inside, &cost->strings.instructions, why))
    return false;
  cost->rest.instructions = whole - cost->strings.instructions;
  return true;
}

void alo_design_count(alo_design design, alo_design_answer answer, alo_design_cost *cost,
                      alo_reason *why) {
  case_name name = name_of(alo_design_names[design], alo_answer_names[answer]);
  cost->strings = cost->rest = (alo_design_figures){0};
  cost->heap_counted = count_heap(&name, answer, cost, why);
  cost->instructions_counted = count_instructions(design, &name, answer, cost, why);
}

bool alo_design_decoded(alo_design_answer answer, double *instructions, alo_reason *why) {
  case_name name = decoded_name(answer);
  alo_count_case inside = case_of(&name, answer, reader_calls);
  return alo_count_instructions(&inside, instructions, why);
}

/* ---- measuring ---- */

static void keep_rate(const alo_contestant *of, size_t rounds, alo_design_cost *cost) {
  double rates[ALO_SAMPLES_MAX], ns = 0;
  for (size_t i = 0; i < rounds; i++) {
    rates[i] = of->cpu_ns[i] > 0 ? 1e9 / of->cpu_ns[i] : 0;
    ns += of->cpu_ns[i];
  }
  cost->per_second = ns > 0 ? (double)rounds * 1e9 / ns : 0;
  cost->deviation = alo_trimmed_deviation(rates, rounds);
}

bool alo_designs_measure(const bool wanted[ALO_DESIGNS], const alo_measure_plan *plan,
                         alo_design_cost costs[ALO_DESIGNS][ALO_ANSWERS]) {
  static alo_contestant contestants[ALO_DESIGNS * ALO_ANSWERS];
  alo_design_cost *of[ALO_DESIGNS * ALO_ANSWERS];
  size_t count = 0;
  bool good = true;
  for (alo_design design = 0; design < ALO_DESIGNS; design++) {
    for (alo_design_answer answer = 0; wanted[design] && answer < ALO_ANSWERS; answer++) {
      of[count] = &costs[design][answer];
      contestants[count] = (alo_contestant){.name = alo_answer_names[answer],
                                            .run = execute,
                                            .context = alo_design_open(design, answer)};
      good = good && contestants[count++].context;
    }
  }
  alo_measure_plan full = alo_measure_defaults(plan);
  if (!good)
    alo_report("out of memory");
  good = good && alo_measure(contestants, count, &full);
  for (size_t i = 0; i < count; i++) {
    if (good)
      keep_rate(&contestants[i], full.rounds, of[i]);
    alo_design_close(contestants[i].context);
  }
  return good;
}
