/* All of Aloft. */
#ifndef ALOFT_ALOFT_H
#define ALOFT_ALOFT_H

#include <aloft/base.h>
#include <aloft/inflight.h>
#include <aloft/json.h>
#include <aloft/loop.h>
#include <aloft/nats.h>
#include <aloft/op.h>
#include <aloft/status.h>
#include <aloft/tds.h>
#include <aloft/version.h>

#endif
