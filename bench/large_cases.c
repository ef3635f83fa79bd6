#include "large_cases.h"

#include <stdio.h>
#include <string.h>

#include "report.h"

enum { BLOCK = 64 << 10, SEGMENT = 1460 };

static const char *const kind_words[] = {"varbinary", "nvarchar"};
static const char *const way_words[] = {"whole", "pieces", "later", "baseline"};
static const char *const arrival_words[] = {"there", "packets", "segments"};
static const uint32_t packet_sizes[] = {512, 4096, 32767};

enum { WAYS = 4, ARRIVALS = 3, PACKET_SIZES = 3, MIB_MAX = 64 };

void alo_large_case_name(const alo_large_case *of, char name[ALO_LARGE_NAME_MAX]) {
  snprintf(name, ALO_LARGE_NAME_MAX, "%s_%s_%u_%u_%s", kind_words[of->text], way_words[of->way],
           (unsigned)of->packet_size, of->mib, arrival_words[of->arrival]);
}

bool alo_large_case_find(const char *name, alo_large_case *found) {
  const unsigned all = 2 * WAYS * ARRIVALS * PACKET_SIZES * MIB_MAX;
  for (unsigned at = 0; at < all; at++) {
    unsigned rest = at;
    char own[ALO_LARGE_NAME_MAX];
    *found = (alo_large_case){.text = rest % 2};
    found->way = (alo_reading_way)((rest /= 2) % WAYS);
    found->arrival = (alo_arrival)((rest /= WAYS) % ARRIVALS);
    found->packet_size = packet_sizes[(rest /= ARRIVALS) % PACKET_SIZES];
    found->mib = rest / PACKET_SIZES + 1;
    alo_large_case_name(found, own);
    if (strcmp(own, name) == 0)
      return true;
  }
  return false;
}

/* ---- running ---- */

static size_t arrival_of(const alo_large_case *of) {
  return of->arrival == ALO_ARRIVAL_THERE     ? BLOCK
         : of->arrival == ALO_ARRIVAL_PACKETS ? of->packet_size
                                              : SEGMENT;
}

bool alo_large_open(alo_large_run *run, const alo_large_case *of) {
  *run = (alo_large_run){.of = *of};
  if (!alo_answer_large(&run->answer, of->text, (size_t)of->mib << 20, of->packet_size)) {
    alo_report("no memory for an answer of %u MiB", of->mib);
    return false;
  }
  run->reading = alo_reading_open(of->way);
  return run->reading != NULL;
}

void alo_large_close(alo_large_run *run) {
  alo_reading_close(run->reading);
  alo_answer_drop(&run->answer);
}

bool alo_large_read(alo_large_run *run, uint64_t times) {
  uint64_t wanted = ((uint64_t)run->of.mib << 20) / (run->of.text ? 2 : 1);
  for (; times; times--) {
    uint64_t seen = alo_reading_run(run->reading, &run->answer, run->of.text, arrival_of(&run->of));
    if (seen == UINT64_MAX)
      return false;
    if (seen != wanted) {
      alo_report("%llu bytes were read, and %llu sent", (unsigned long long)seen,
                 (unsigned long long)wanted);
      return false;
    }
  }
  return true;
}

/* ---- counting ---- */

static alo_count_case counted(const alo_large_case *of, char name[ALO_LARGE_NAME_MAX]) {
  alo_large_case_name(of, name);
  static const char *const library[] = {"alo_tds_reader_next", "alo_tds_reader_read", "pass_on",
                                        "keep_part",           "convert_kept",        NULL};
  return (alo_count_case){
      .benchmark = "large", .name = name, .few = 1, .many = 2, .inside = library};
}

bool alo_large_instructions(const alo_large_case *of, double *figure, alo_reason *why) {
  char name[ALO_LARGE_NAME_MAX];
  const alo_count_case as = counted(of, name);
  return alo_count_instructions(&as, figure, why);
}

bool alo_large_heap(const alo_large_case *of, alo_heap_cost *figure, alo_reason *why) {
  char name[ALO_LARGE_NAME_MAX];
  const alo_count_case as = counted(of, name);
  return alo_count_heap(&as, figure, why);
}
