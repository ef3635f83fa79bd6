#include "large_series.h"

#include <string.h>

enum { ROUNDS = 9 };

static const uint64_t ITERATION_NS = 20000000;

const char *const alo_large_way_names[ALO_LARGE_WAYS] = {"whole", "pieces",
                                                         "kept, converted later"};
const char *const alo_large_arrival_names[ALO_LARGE_ARRIVALS] = {"there", "by packet", "by 1,460"};

size_t alo_large_rounds(const alo_bench_settings *settings) {
  return settings->rounds ? (size_t)settings->rounds : ROUNDS;
}

static uint64_t read_some(void *context, uint64_t operations) {
  return alo_large_read(context, operations) ? operations : 0;
}

static bool add(alo_large_series *self, const alo_large_case *of) {
  alo_large_run *run = &self->runs[self->count];
  self->contestants[self->count++] =
      (alo_contestant){.name = alo_large_way_names[of->way], .run = read_some, .context = run};
  return alo_large_open(run, of);
}

bool alo_large_series_open(alo_large_series *self, bool text, unsigned mib, uint32_t packet_size) {
  memset(self, 0, sizeof *self);
  alo_large_case of = {.text = text, .mib = mib, .packet_size = packet_size};
  for (int way = ALO_READING_WHOLE; way <= ALO_READING_LATER; way++) {
    of.way = (alo_reading_way)way;
    for (int arrival = ALO_ARRIVAL_THERE; arrival <= ALO_ARRIVAL_SEGMENTS; arrival++) {
      of.arrival = (alo_arrival)arrival;
      if (!add(self, &of))
        return false;
    }
  }
  return true;
}

void alo_large_series_close(alo_large_series *self) {
  for (size_t at = 0; at < self->count; at++)
    alo_large_close(&self->runs[at]);
}

bool alo_large_series_measure(alo_large_series *self, const alo_bench_settings *settings) {
  const alo_measure_plan plan = {.iteration_ns =
                                     settings->iteration_ns ? settings->iteration_ns : ITERATION_NS,
                                 .warm_up = 1,
                                 .rounds = self->rounds = alo_large_rounds(settings)};
  return alo_measure(self->contestants, self->count, &plan);
}

double alo_large_baseline_ns(unsigned mib, uint32_t packet_size) {
  const alo_large_case of = {true, ALO_READING_BASELINE, mib, packet_size, ALO_ARRIVAL_PACKETS};
  alo_large_run run;
  uint64_t began_ns = 0;
  bool good = alo_large_open(&run, &of);
  if (good) {
    began_ns = alo_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    good = alo_large_read(&run, 1);
  }
  double ns = (double)(alo_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
  alo_large_close(&run);
  return good ? ns : 0;
}
