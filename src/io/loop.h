/* The loop from the inside: its phases, and what lives on it. See <aloft/loop.h>. */
#ifndef ALO_LOOP_H
#define ALO_LOOP_H

#include <aloft/loop.h>

#include "chain.h"
#include "code_pages.h"
#include "driver.h"
#include "ops.h"

/* Something with output to write at the end of the turn. */
typedef struct alo_output {
  struct alo_output *next;
  bool queued;
  void (*write)(struct alo_output *output);
} alo_output;

/* Something with input at hand that no descriptor shows: read again in the next turn's input phase,
 * which then does not wait. */
typedef struct alo_input {
  struct alo_input *next;
  bool queued;
  void (*read)(struct alo_input *input);
} alo_input;

/* Something opened on the loop that ends with it. */
typedef struct alo_resident {
  struct alo_resident *next, **back;
  /* Ends at once: finishes its operations with ALOFT_CLOSED; its memory is freed by the
   * completions that follow, or when the loop closes by its burials. */
  void (*evict)(struct alo_resident *resident);
  /* Whether anything can happen to it, so that aloft_loop_run goes on; NULL: always. */
  bool (*awake)(struct alo_resident *resident);
} alo_resident;

struct aloft_loop {
  alo_op_kind sleeps;
  alo_ops ops;
  aloft_allocator heap;
  alo_driver *driver;
  alo_blocks blocks;
  alo_page_store code_pages;
  alo_output *outputs;
  alo_input *inputs, *inputs_now; /* queued; being read in this phase */
  alo_resident *residents;
  bool turning, stopped, closing;
  bool input_left;      /* a stream stopped reading at its share of the turn */
  unsigned inputs_held; /* clients that hold received bytes until callbacks have run */
  unsigned input_left_turns;
  uint64_t turns;
  aloft_loop_changed *changed; /* a foreign loop's, may be NULL */
  void *changed_context;
  bool changed_told;   /* and its wants not asked for since */
  aloft_error refused; /* of the last open that was refused: there is no object to keep it */
  char refused_text[256];
};

/* aloft_loop_open over any driver, which the loop then owns (also when this fails). */
aloft_status alo_loop_open_on(aloft_loop **loop, const aloft_loop_config *config,
                              alo_driver *driver);

/* Keeps the error of an open that is refused until the next one is: a copy of `error`, its message
 * cut at 255 bytes, without its other texts (NULL: the status's constant one). Returns it. */
const aloft_error *alo_loop_refuse(aloft_loop *loop, aloft_status status, const aloft_error *error);

void alo_loop_output(aloft_loop *loop, alo_output *output);
void alo_loop_output_forget(aloft_loop *loop, alo_output *output);
void alo_loop_input(aloft_loop *loop, alo_input *input);
void alo_loop_input_forget(aloft_loop *loop, alo_input *input);
void alo_loop_settle_in(aloft_loop *loop, alo_resident *resident);
void alo_loop_move_out(alo_resident *resident);

#endif
