/*
 * proto.h - the protocol between tasks, group server and group members. All messages are ordinary ones, packed in the
 * default encoding, in two contexts that user programs do not use and with tags that they cannot use.
 *
 * Task -> server, context PVMG_GROUP_CTX_SERVER, tag = operation: int serial, int tag of the answer, name (int length,
 * bytes), then ints:
 *
 *   JOIN      -                          answer: own instance, then the list (below)
 *   LEAVE     number of the next call    answer: 0
 *   LIST      known generation, counted, number
 *                                        answer: 0, then the list; or PVMG_LIST_AT_BOARD
 *   BARRIER   count                      answer, when all have arrived: 0; or at once PVMG_BARRIER_AMONG_MEMBERS
 *   FREEZE    size                       answer, when all have arrived: size, then the list
 *   WATCH     1 on, 0 off                none: a member waits in a barrier among the members of a frozen group
 *   DUMP      -                          answer: number of groups, then for each: name, int size, int barrier count
 *                                        (-1: none), int reached, size x {int instance, int tid}, reached x int tid
 *
 * An answer: int serial, int code; nothing follows when code < 0. The answers to BARRIER and FREEZE are multicast to
 * all waiting members, so their tag is PVMG_GROUP_ANSWER, their serial 0, and the name follows the code. Messages from
 * a daemon with the tag of an answer are notices of the server's exit. A request from a message handler, while another
 * request waits, uses the next answer tag.
 *
 * A list: ints id, generation, frozen, broken (0 or error), loss (0, or the error of the first barrier after that:
 * PvmNoTask or PvmNoGroup), epoch of the barriers among members, the number after that of the caller's last collective
 * call that the server knows of, size. If the caller's known generation differs, size instances (ascending) and size
 * tids follow. Then int n and n tids of those in the list that are no longer members. Generations are unique in a
 * group. "counted" marks the start of a collective call, whose number the caller knows, or -1: the server counts these
 * for each member until the group is frozen; then members count themselves. All members that enter the same call get
 * the same list, taken when the first one entered it. If they meet at a board (board.h) they count there, without the
 * server, calls whose numbers it has set aside: it answers PVMG_LIST_AT_BOARD to the others who ask. The first call
 * that it counts after that has a number behind these. So the number of a request may be that of a call that nobody has
 * made: the server looks for the next one in progress, or begins one, and its answer tells the number.
 *
 * When the server ends, each task that waits for its answer sends the request again, with the same serial, to the next
 * server. This one has the groups from their records in the mailbox (server/record.h), which the old one wrote before
 * it sent an answer. A record has the serial of each member's last JOIN, BARRIER or FREEZE and its answer, so that the
 * answer is the same if the old server has sent it to some.
 *
 * Two requests without a body come from PVM 3.4's own tools: LEGACY_PRINT prints all groups on the server's stdout;
 * LEGACY_LIST is answered with its own tag: number of groups, then for each: int length of the name, the name as a
 * string, ints size, instances, barrier count (-1: none), reached, a tid for each instance (-1: free), reached x int
 * tid.
 *
 * Among members, context PVMG_GROUP_CTX_MEMBERS, tag PVMG_GROUP_TRAFFIC: int kind, then a packet (packet.h); or, from
 * the server, PVMG_PACKET_EVENT: ints group id, event (enum pvmg_group_event), value; or PVMG_PACKET_BOARD: ints group
 * id, generation of the list, ticket (board.c), which older libraries ignore, so that the board is never opened. WAKE,
 * a packet without values, only wakes its receiver, for which a part is in a slot (slots.h). Messages from a daemon
 * with this tag are notices of the server's exit. There is only one tag, because a handler of ours for any tag would
 * keep the user from adding handlers for any context.
 */
#ifndef PVMG_GROUP_PROTO_H
#define PVMG_GROUP_PROTO_H

#include <limits.h>

#define PVMG_GROUP_CTX_SERVER  0x7fffc
#define PVMG_GROUP_CTX_MEMBERS 0x7fffd

#define PVMG_GROUP_PROTOCOL 2 /* protocol version */

#define PVMG_GROUP_SERVER_CLASS "pvmgs"       /* mailbox class of the running server: ints tid, PVMG_GROUP_PROTOCOL */
#define PVMG_GROUP_START_CLASS  "pvmgs_start" /* held by the task that starts it */
#define PVMG_GROUP_RECORD_CLASS "pvmgs:"      /* and a group's id: its record, see server/record.h */

#define PVMG_GROUP_NAME_MAX    1023 /* bytes of a group's name */
#define PVMG_GROUPS_MAX        65536
#define PVMG_GROUP_MEMBERS_MAX (1 << 20)
#define PVMG_CALL_NUMBER_MAX   (INT_MAX - (1 << 20)) /* collective calls of a group */

enum pvmg_group_tag {
    PVMG_GROUP_LEGACY_PRINT = 9,
    PVMG_GROUP_LEGACY_LIST = 10,
    PVMG_GROUP_JOIN = (int)0x80050001,
    PVMG_GROUP_LEAVE,
    PVMG_GROUP_LIST,
    PVMG_GROUP_BARRIER,
    PVMG_GROUP_FREEZE,
    PVMG_GROUP_WATCH,
    PVMG_GROUP_DUMP,
    PVMG_GROUP_GONE, /* to the server: a task has ended */
    PVMG_GROUP_TRAFFIC,
    PVMG_GROUP_ANSWER, /* and the following numbers, one per session depth */
};

/* Kinds of messages among members. */
enum pvmg_packet_kind {
    PVMG_PACKET_EVENT = 1,
    PVMG_PACKET_UP,       /* contribution to a reduce or gather, sent towards the root */
    PVMG_PACKET_DOWN,     /* parts of a scatter, sent from the root */
    PVMG_PACKET_ARRIVE,   /* the sender's subtree has reached the barrier */
    PVMG_PACKET_RELEASE,  /* the barrier is over */
    PVMG_PACKET_PROBE,    /* asks whether the receiver has finished this call */
    PVMG_PACKET_FINISHED, /* it has: the sender will neither send nor take anything more for it */
    PVMG_PACKET_RESERVED, /* was BOARD, without a generation */
    PVMG_PACKET_WAKE,     /* look at the slots */
    PVMG_PACKET_BOARD,    /* from the server: a board on which the members of a group may meet */
};

enum pvmg_group_event {
    PVMG_EVENT_DIED = 1, /* value: tid of a member that ended without leaving */
    PVMG_EVENT_LEFT,     /* value: tid of a member that left; sent in frozen groups and during collective calls */
    PVMG_EVENT_MISMATCH, /* value: new epoch. Members of a frozen group wait in barriers with different counts */
};

/* Answer to BARRIER: the group is frozen and the count is its size, so the members synchronise without the server. */
#define PVMG_BARRIER_AMONG_MEMBERS 1

/* Answer to LIST: the members count this call themselves. */
#define PVMG_LIST_AT_BOARD 1

/* Order of the ints of a list. */
enum pvmg_group_list {
    PVMG_LIST_ID,
    PVMG_LIST_GENERATION,
    PVMG_LIST_FROZEN,
    PVMG_LIST_BROKEN,
    PVMG_LIST_LOSS,
    PVMG_LIST_EPOCH,
    PVMG_LIST_CALLS,
    PVMG_LIST_SIZE,
    PVMG_LIST_INTS
};

#endif
