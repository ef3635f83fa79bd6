#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Between the two nearest of sorted samples, in proportion. */
static double quantile(const double *sorted, size_t count, double part) {
  double at = part * (double)(count - 1);
  size_t low = (size_t)at;
  size_t high = low + 1 < count ? low + 1 : low;
  return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

static double fence(const double *sorted, size_t count) {
  double first = quantile(sorted, count, 0.25), third = quantile(sorted, count, 0.75);
  return third + 1.5 * (third - first);
}

double alo_outlier_fence(const double *samples, size_t count) {
  double sorted[ALO_SAMPLES_MAX];
  memcpy(sorted, samples, count * sizeof *samples);
  qsort(sorted, count, sizeof *sorted, compare);
  return fence(sorted, count);
}

double alo_percentile(double *samples, size_t count, double part) {
  qsort(samples, count, sizeof *samples, compare);
  double rank = ceil(part * (double)count);
  size_t index = rank < 1 ? 0 : (size_t)rank - 1;
  return samples[index < count ? index : count - 1];
}

double alo_trimmed_deviation(double *samples, size_t count) {
  if (count < 4)
    return 0;
  qsort(samples, count, sizeof *samples, compare);
  const double *kept = samples + 1;
  size_t left = count - 2;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < left; i++)
    sum += kept[i];
  double mean = sum / (double)left;
  for (size_t i = 0; i < left; i++)
    squares += (kept[i] - mean) * (kept[i] - mean);
  return sqrt(squares / (double)left);
}

/* ---- Student's t ---- */

/* The probability of -t to t: Abramowitz and Stegun, 26.7.3 and 26.7.4. */
static double within(double t, size_t freedom) {
  const double pi = 3.14159265358979323846;
  double angle = atan(t / sqrt((double)freedom));
  double cosine = cos(angle), sine = sin(angle);
  bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1, sum = freedom == 1 ? 0 : term;
  for (size_t i = odd ? 3 : 2; i < freedom; i += 2) {
    term *= cosine * cosine * (double)(i - 1) / (double)i;
    sum += term;
  }
  return odd ? 2 / pi * (angle + sine * sum) : sine * sum;
}

double alo_student_quantile(size_t freedom) {
  double low = 0, high = 1024; /* 637 with one degree, and less with more */
  for (int i = 0; i < 64; i++) {
    double middle = (low + high) / 2;
    if (within(middle, freedom) < 0.999)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* ---- statistics ---- */

static alo_statistics of_kept(double *kept, size_t count, size_t outliers) {
  alo_statistics out = {.count = count, .outliers = outliers};
  double squares = 0;
  for (size_t i = 0; i < count; i++)
    out.mean += kept[i] / (double)count;
  for (size_t i = 0; i < count; i++)
    squares += (kept[i] - out.mean) * (kept[i] - out.mean);
  if (count > 1) {
    out.deviation = sqrt(squares / (double)(count - 1));
    out.error = alo_student_quantile(count - 1) * out.deviation / sqrt((double)count);
  }
  qsort(kept, count, sizeof *kept, compare);
  out.median = quantile(kept, count, 0.5);
  return out;
}

alo_statistics alo_statistics_of(const double *samples, size_t count) {
  double kept[ALO_SAMPLES_MAX], limit = alo_outlier_fence(samples, count);
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    if (samples[i] <= limit)
      kept[size++] = samples[i];
  }
  return of_kept(kept, size, count - size);
}

alo_statistics alo_statistics_of_ratio(const double *samples, const double *base, size_t count) {
  double kept[ALO_SAMPLES_MAX];
  double limit = alo_outlier_fence(samples, count), base_limit = alo_outlier_fence(base, count);
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    if (samples[i] <= limit && base[i] <= base_limit && base[i] > 0)
      kept[size++] = samples[i] / base[i];
  }
  if (size == 0)
    return (alo_statistics){.outliers = count};
  return of_kept(kept, size, count - size);
}
