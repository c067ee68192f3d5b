/*
 * data.h - sends, receives and verifies the measured messages, in the encoding of the point.
 *
 * The contents of a message are a function of the job's serial number, the message's number in the job and the sender's
 * rank. In an unchecked job only packing and unpacking access the data.
 */
#ifndef PERF_DATA_H
#define PERF_DATA_H

#include "test.h"

/* Allocate and free memory for the point's messages. */
void data_open(const struct member *m);
void data_close(void);

/* Send message `number` of the job to the member of this rank, or receive it from there. */
void data_send(const struct member *m, int rank, int number);
void data_receive(const struct member *m, int rank, int number);

/* Sends message `number` to all other members with one pvm_mcast(). */
void data_mcast(const struct member *m, int number);

/* Number of messages verified since data_open(). */
double data_verified(void);

/* ---- short control messages ---- */

void signal_send(int tid, int tag);
void signal_receive(int tid, int tag); /* tid -1: from any task */

#endif
