#include "benchmark.h"

#include "measure.h"
#include "report.h"

#define AT(member) offsetof(alo_bench_settings, member)

static const alo_option options[] = {
    {.name = "format",
     .kind = ALO_OPTION_TEXT,
     .value = "FORMAT",
     .help =
         "table (the default), markdown, or json: an array with an object for each row that was "
         "measured.",
     .offset = AT(format_name)},
    {.name = "check",
     .kind = ALO_OPTION_FLAG,
     .help = "Print no tables but the bars, a line for each: figure, bound, and ok or short. The "
             "exit status is 1 when one is short or cannot be had.",
     .offset = AT(check)},
    {.name = "counted",
     .kind = ALO_OPTION_FLAG,
     .help = "Print the counted figures and nothing else, as bench/baseline keeps them.",
     .offset = AT(counted)},
    {.name = "baseline",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Compare the counted figures with FILE. The exit status is 1 when instructions have "
             "risen by more than 2 %, or anything else at all.",
     .offset = AT(baseline)},
    {.name = "rounds",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "Iterations of each contestant that are kept; how many without this depends on the "
             "benchmark.",
     .min = 1,
     .max = ALO_SAMPLES_MAX,
     .offset = AT(rounds)},
    {.name = "iteration",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "What an iteration takes, about, where it can be chosen.",
     .offset = AT(iteration_ns)},
};

static alo_exit check(alo_bench_settings *settings) {
  if (settings->format_name && !alo_format_read(settings->format_name, &settings->format))
    return alo_report_usage("--format wants table, markdown or json, not '%s'",
                            settings->format_name);
  if (settings->check + settings->counted + (settings->baseline != NULL) > 1)
    return alo_report_usage("--check, --counted and --baseline print different things: leave all "
                            "but one of them out");
  if (settings->format_name && (settings->check || settings->baseline))
    return alo_report_usage("--format is for tables and --counted: leave it out");
  return ALO_EXIT_OK;
}

alo_exit alo_bench_read(alo_bench_settings *settings, alo_option_group *own, const char *synopsis,
                        const char *summary, const char *notes, int argc, char **argv, bool *done) {
  alo_option_group groups[2] = {{.title = "Options",
                                 .options = options,
                                 .count = sizeof options / sizeof options[0],
                                 .values = settings}};
  if (own)
    groups[1] = *own;
  alo_command_line line = {.synopsis = synopsis,
                           .summary = summary,
                           .notes = notes,
                           .groups = groups,
                           .group_count = own ? 2 : 1};
  alo_exit code = alo_command_line_read(&line, argc, argv);
  if (own)
    own->given = groups[1].given;
  *done = code == ALO_EXIT_OK && line.help;
  if (*done)
    alo_command_line_help(&line);
  return code == ALO_EXIT_OK && !*done ? check(settings) : code;
}
