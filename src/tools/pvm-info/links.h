/*
 * links.h - asks tasks for their traffic with each peer, by route; for pvm-info, pvm-perf and the console. The request
 * is a message that any program can send, see "Routes" in doc/protocol.md.
 */
#ifndef LINKS_H
#define LINKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct links_traffic {
    long tx_frames, tx_bytes, rx_frames, rx_bytes;
};

struct links_peer {
    int tid;
    char route[32]; /* transport in use, or "daemon" */
    struct links_traffic direct, daemon;
    int refused;      /* times that a direct link was full */
    int opened, lost; /* number of direct links */
};

enum links_status {
    LINKS_TOLD,
    LINKS_LATE,    /* no answer: computes, or waits for something other than messages */
    LINKS_STRANGE, /* not a PVM program, or has not called PVM yet */
    LINKS_GONE,    /* no such task */
    LINKS_FAILED,  /* the request failed, see error */
};

struct links_report {
    int tid;
    enum links_status status;
    int error;        /* PvmXxx */
    char choice[256]; /* its PVM_TRANSPORT */
    int option;       /* its PvmRoute */
    int count;
    struct links_peer *peers;
};

/*
 * Asks the tasks whose tids are in reports[n], all at once, and waits at most limit_s seconds. The caller must be a
 * task. Fills all reports; free them with links_free().
 */
void links_ask(struct links_report *reports, int n, double limit_s);

/*
 * The two halves of it, for those who must not wait: asks one task, 0 or a PvmXxx code; and reads its answer, a message
 * with this context and tag, from the active receive buffer. False if that is malformed; to be freed in any case.
 */
int links_request(int tid, int context, int tag);
bool links_read(struct links_report *report);

void links_free(struct links_report *reports, int n);

/* Why there is no answer, as a sentence that starts with the task; "" for LINKS_TOLD. Static storage. */
const char *links_excuse(const struct links_report *report, double limit_s);

void links_print(FILE *out, const struct links_report *report);
json_t *links_json(const struct links_report *report);

#endif
