/* What BenchmarkDotNet's columns say about samples, computed as it does. */
#ifndef ALO_STATISTICS_H
#define ALO_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Outliers are samples above the third quartile by more than 1.5 times the distance between the
 * quartiles. A shared machine makes some samples slower, never faster, so these are left out, and
 * low ones are kept. */
typedef struct alo_statistics {
  size_t count;    /* samples kept */
  size_t outliers; /* samples left out */
  double mean;
  double
      error; /* half of the 99.9 % confidence interval of the mean (Student's t); 0: one sample */
  double deviation; /* of the samples, with count - 1 */
  double median;
} alo_statistics;

enum { ALO_SAMPLES_MAX = 256 };

/* Of `count` samples, 1 to ALO_SAMPLES_MAX. */
alo_statistics alo_statistics_of(const double *samples, size_t count);

/* Of samples[i] / base[i], which were measured next to each other. Pairs in which either one is an
 * outlier of its own series are left out. */
alo_statistics alo_statistics_of_ratio(const double *samples, const double *base, size_t count);

/* The largest sample that is no outlier. */
double alo_outlier_fence(const double *samples, size_t count);

/* The value that Student's t with `freedom` degrees stays below with a probability of 0.9995. */
double alo_student_quantile(size_t freedom);

/* The population standard deviation of the samples without the best and the worst; 0 when they are
 * three or fewer. Sorts them. */
double alo_trimmed_deviation(double *samples, size_t count);

/* The value that a share `part` (0 to 1) of the samples does not exceed; sorts them. For latencies:
 * alo_percentile(samples, count, 0.999). */
double alo_percentile(double *samples, size_t count, double part);

#endif
