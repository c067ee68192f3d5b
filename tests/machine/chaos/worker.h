/* worker.h - a task that exchanges messages with all others until it is killed or told to end. */
#ifndef WORKER_H
#define WORKER_H

enum {
    /* master to workers */
    TAG_PEERS = 1, /* int n, int tids[n]: further peers */
    TAG_CHECK,     /* int number: answer with TAG_STATUS once every peer has sent something since the last one */
    TAG_END,       /* finish */
    /* workers to master */
    TAG_HELLO,  /* int pid */
    TAG_DEATH,  /* int tid: a notify arrived */
    TAG_STATUS, /* int number, descriptors, mappings of memfds, resident KiB */
    TAG_TOTALS, /* int messages, KiB, messages received after the sender's notify, direct links made */
    /* between workers */
    TAG_DATA, /* bytes: see history.h */
    TAG_ACK,  /* int count of messages received */
    TAG_LAST, /* int count of messages sent: no more will come */
    /* notifies */
    TAG_EXIT,
    TAG_ROUTE,
};

/* The role "worker" of check_main(). */
void worker(int argc, char **argv);

#endif
