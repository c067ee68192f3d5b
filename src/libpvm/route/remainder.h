/*
 * remainder.h - waits for what a call needs of a message that is received while it still comes
 * (core/message/partial.h).
 *
 * Messages that come meanwhile stay among the arrivals, so a call that unpacks changes nothing for calls that receive.
 * Another thread may free the buffer during the wait: look it up again afterwards.
 */
#ifndef PVMI_REMAINDER_H
#define PVMI_REMAINDER_H

#include <stdint.h>
#include "core/message/message.h"

/*
 * Waits until `bytes` bytes behind the position of the active receive buffer have come, or all that will. 0;
 * PVMC_EABORTED or PVMC_ENOMEM if they will never come; PVMC_EDOWN.
 */
int pvmi_remainder_await(uint64_t bytes);

/* For pvmi_remainder_await(): n items of that type. */
int pvmi_remainder_await_items(int type, int n);

/* The same until the message with that mid is whole. */
int pvmi_remainder_await_all(int mid);

/* The same for a message without a mid, to which the caller has a reference. */
int pvmi_remainder_await_message(const struct pvmc_message *m);

#endif
