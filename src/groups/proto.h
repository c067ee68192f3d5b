/*
 * proto.h - what tasks, group server and group members say to each other. All are ordinary messages, packed in the
 * default encoding, in two contexts that user programs do not use and with tags that user programs cannot use.
 *
 * Task -> server, context PVMI_GROUP_CTX_SERVER, tag = operation: int serial, int tag of the answer, name (int length,
 * bytes), then ints:
 *
 *   JOIN      -                          answer: own instance, then the list (below)
 *   LEAVE     -                          answer: 0
 *   LIST      known generation, counted  answer: 0, then the list
 *   BARRIER   count                      answer, when all are there: 0; or at once PVMI_BARRIER_AMONG_MEMBERS
 *   FREEZE    size                       answer, when all are there: size, then the list
 *   WATCH     1 on, 0 off                none: a member waits in the members' own barrier of a frozen group
 *   DUMP      -                          answer: number of groups, then for each: name, int size, int barrier count
 *                                        (-1: none), int reached, size x {int instance, int tid}, reached x int tid
 *
 * An answer: int serial, int code; nothing follows when code < 0. The answers of BARRIER and FREEZE go to all who wait
 * at once, so their tag is PVMI_GROUP_ANSWER, their serial 0, and the name follows the code. Messages from a daemon
 * with the tag of an answer are notices of the server's exit. A request from within a message handler, while another
 * one waits for its answer, asks for it with the next tag.
 *
 * A list: ints id, generation, frozen, broken (0 or error), collective calls of the caller so far, size; when the
 * caller's known generation is another one, size instances (ascending) and size tids follow. Then int n, n tids of
 * those in the list who are no members any more. Generations are unique in a server's life. "counted" marks the start
 * of a collective call: the server counts them for each member, until the group is frozen and its members count
 * themselves. All members that enter the same call get the same list, that of the time when the first one entered it.
 *
 * Two requests without a body are those of PVM 3.4's own tools: OLD_PRINT asks for all groups on the server's stdout;
 * OLD_LIST is answered with its own tag: number of groups, then for each: int length of the name, the name as a string,
 * ints size, instances, barrier count (-1: none), reached, a tid for each instance (-1: free), reached x int tid.
 *
 * Among members, context PVMI_GROUP_CTX_MEMBERS, tag PVMI_GROUP_TRAFFIC: int way, then a parcel (parcel.h); or, from
 * the server, PVMI_WAY_EVENT: ints group id, kind (enum pvmi_group_event), value. Messages from a daemon with this tag
 * are notices of the server's exit. It is one tag, because a message handler of ours for any tag would forbid the user
 * all handlers for any context.
 */
#ifndef PVMI_GROUP_PROTO_H
#define PVMI_GROUP_PROTO_H

#define PVMI_GROUP_CTX_SERVER  0x7fffc
#define PVMI_GROUP_CTX_MEMBERS 0x7fffd

#define PVMI_GROUP_PROTOCOL 1 /* version of all this */

#define PVMI_GROUP_SERVER_CLASS "pvmgs"       /* mailbox class of the running server: ints tid, PVMI_GROUP_PROTOCOL */
#define PVMI_GROUP_START_CLASS  "pvmgs_start" /* held by the task that starts it */

#define PVMI_GROUP_NAME_MAX    1023 /* bytes of a group's name */
#define PVMI_GROUPS_MAX        65536
#define PVMI_GROUP_MEMBERS_MAX (1 << 20)

enum pvmi_group_tag {
    PVMI_GROUP_OLD_PRINT = 9,
    PVMI_GROUP_OLD_LIST = 10,
    PVMI_GROUP_JOIN = (int)0x80050001,
    PVMI_GROUP_LEAVE,
    PVMI_GROUP_LIST,
    PVMI_GROUP_BARRIER,
    PVMI_GROUP_FREEZE,
    PVMI_GROUP_WATCH,
    PVMI_GROUP_DUMP,
    PVMI_GROUP_GONE, /* to the server: a task has ended */
    PVMI_GROUP_TRAFFIC,
    PVMI_GROUP_ANSWER, /* and the following */
};

/* Kinds of messages among members. */
enum pvmi_group_way {
    PVMI_WAY_EVENT = 1,
    PVMI_WAY_UP,      /* contribution to a reduce or gather, on its way to the root */
    PVMI_WAY_DOWN,    /* parts of a scatter, on their way from the root */
    PVMI_WAY_ARRIVE,  /* the sender's subtree has reached the barrier */
    PVMI_WAY_RELEASE, /* the barrier is over */
    PVMI_WAY_PROBE,   /* have you finished this call? */
    PVMI_WAY_PAST,    /* yes: nothing more comes from me, and nothing more is to come to me */
};

enum pvmi_group_event {
    PVMI_EVENT_DIED = 1, /* value: tid of a member that ended without leaving */
    PVMI_EVENT_LEFT,     /* value: tid of one that left; told in frozen groups and while a collective call goes on */
    PVMI_EVENT_MISMATCH, /* value: new epoch. Members of a frozen group wait in barriers with different counts */
};

/* Answer to BARRIER: the group is frozen and the count is its size, so its members meet without the server. */
#define PVMI_BARRIER_AMONG_MEMBERS 1

/* Order of the ints of a list. */
enum pvmi_group_list {
    PVMI_LIST_ID,
    PVMI_LIST_GENERATION,
    PVMI_LIST_FROZEN,
    PVMI_LIST_BROKEN,
    PVMI_LIST_CALLS,
    PVMI_LIST_SIZE,
    PVMI_LIST_INTS
};

#endif
