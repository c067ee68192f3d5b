/*
 * packet.h - the messages between members of a group: data and signals of collective calls.
 *
 * A packet is self-describing, so that a member can forward it without knowing the group. It covers `reach` positions
 * of the call's tree (tree.h), from `start` on. Its values are
 *   UP:     n, the sender's own contribution, for one position;
 *   DOWN:   n for each of these positions.
 */
#ifndef PVMG_PACKET_H
#define PVMG_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include "groups/proto.h"

enum pvmg_operation { PVMG_REDUCE = 1, PVMG_GATHER, PVMG_SCATTER, PVMG_SYNCHRONISE };

/* A collective call: all its callers must agree on these fields. */
struct pvmg_call {
    int group;      /* id */
    int generation; /* of the member list from which the tree was built; barrier: its epoch, see barrier.c */
    int number;     /* counts a member's calls on the group */
    int operation;  /* enum pvmg_operation */
    int root;       /* tid */
    int tag, type, n;
};

struct pvmg_packet {
    struct pvmg_packet *prev, *next; /* in the queue of unexpected packets, or of pieces */
    int kind;                        /* PVMG_PACKET_UP .. PVMG_PACKET_FINISHED */
    int from;                        /* sender's tid, if received */
    int code;                        /* negative: the call failed, there are no values */
    struct pvmg_call call;
    int start, reach;
    int *tids;    /* UP, DOWN: the members at these positions; the first is the receiver of a DOWN packet */
    size_t bytes; /* of data */
    void *data;
};

/* A packet with room for its tids and values; NULL when out of memory. The caller frees it. */
struct pvmg_packet *pvmg_packet_new(int kind, const struct pvmg_call *call, int code, int start, int reach);
void pvmg_packet_free(struct pvmg_packet *p);

/* Bytes of the values of one position. */
size_t pvmg_packet_part_bytes(const struct pvmg_packet *p);

/* Whether two members' calls of the same number agree. */
bool pvmg_call_agrees(const struct pvmg_call *a, const struct pvmg_call *b);

/* Send the packet. The members' context must be current. 0 or the error of pvm_send() or pvm_mcast(). */
int pvmg_packet_send(const struct pvmg_packet *p, int tid);
int pvmg_packet_mcast(const struct pvmg_packet *p, int *tids, int count);

/* Sends a packet without values. */
int pvmg_packet_signal(int kind, const struct pvmg_call *call, int code, int tid);

/* A part of a DOWN packet: `reach` positions from index `first` on. It borrows p's memory. */
struct pvmg_packet pvmg_packet_slice(const struct pvmg_packet *p, int first, int reach);

/* Forwards the parts of a DOWN packet that are not for its first receiver to the children in the tree of
 * PVMG_TREE_RADIX. */
void pvmg_packet_forward(const struct pvmg_packet *p);

/* Unpacks the rest of the message in the active receive buffer, after `kind`. NULL: malformed, or out of memory. */
struct pvmg_packet *pvmg_packet_receive(int kind);

#endif
