/*
 * outbox.h - frames of reliable channels that wait to leave together with one system call, which costs about as much as
 * the rest of a frame's way. They wait only while a program does nothing but write, see dp_write(): any other call of
 * it sends them. They leave in the order in which they came.
 */
#ifndef PVMI_DP_OUTBOX_H
#define PVMI_DP_OUTBOX_H

#include <stddef.h>
#include <sys/uio.h>

#define PVMI_OUTBOX_FRAMES 16

struct pvmi_endpoint;
struct pvmi_parcel;

struct pvmi_outbox {
    unsigned count;
    struct iovec frames[PVMI_OUTBOX_FRAMES];
    struct pvmi_parcel *parcels[PVMI_OUTBOX_FRAMES]; /* whose frames they are */
};

/*
 * Adds the first `length` bytes of a parcel's frame, which stays as it is until it has left or is forgotten. 0, or the
 * error that keeps those before it from leaving: PVMI_EAGAIN, PVMI_EDOWN (those are lost).
 */
int pvmi_outbox_add(struct pvmi_endpoint *e, struct pvmi_parcel *parcel, size_t length);

/* Sends all that wait, and notes whether the interface is down. 0; PVMI_EAGAIN: some still wait; or as it was lost. */
int pvmi_outbox_flush(struct pvmi_endpoint *e);

/* The parcel is about to be freed: it does not leave any more. */
void pvmi_outbox_forget(struct pvmi_endpoint *e, const struct pvmi_parcel *parcel);

#endif
