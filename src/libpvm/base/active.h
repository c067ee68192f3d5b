/*
 * active.h - what calls of the present thread find as "active" or "current". With several threads, lock.c puts the set
 * of the thread that takes the lock into these variables.
 */
#ifndef PVMI_ACTIVE_H
#define PVMI_ACTIVE_H

struct pvmc_message;
struct pvmi_wanted;

struct pvmi_active {
    int mid; /* 0: none */
    struct pvmc_message *m;
};

extern struct pvmi_active pvmi_send_buffer;    /* what pvm_pk* fills */
extern struct pvmi_active pvmi_receive_buffer; /* what pvm_upk* reads */

/* The match function that pvm_recvf() has set; NULL: the default one. */
extern int (*pvmi_receive_match)(int mid, int tid, int tag);

extern struct pvmi_wanted *pvmi_inbox_ours; /* what this thread waits for, see inbox.h */
extern unsigned pvmi_handler_deferred;      /* how often this thread has deferred handlers, see handler.h */

/* The receive that offers its buffer, see offer.h; the only one in the process. */
extern struct pvmi_wanted *pvmi_offer_receive;

#endif
