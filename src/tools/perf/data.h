/*
 * data.h - sending and receiving the messages that are measured, in the encoding of the point, and comparing them.
 *
 * The contents of a message follow from the job's serial number, the message's number in it and the sender's rank. In
 * a job that is not checked nothing is written into or read from the data besides packing and unpacking.
 */
#ifndef PERF_DATA_H
#define PERF_DATA_H

#include "test.h"

/* Makes memory for the point's messages. data_close() frees it. */
void data_open(const struct member *m);
void data_close(void);

/* Message `number` of the job to, or from, the member of this rank. */
void data_send(const struct member *m, int rank, int number);
void data_receive(const struct member *m, int rank, int number);

/* Message `number` to all other members in one pvm_mcast(). */
void data_mcast(const struct member *m, int number);

/* Messages compared since data_open(). */
double data_verified(void);

/* ---- short control messages ---- */

void signal_send(int tid, int tag);
void signal_receive(int tid, int tag); /* tid -1: from anybody */

#endif
